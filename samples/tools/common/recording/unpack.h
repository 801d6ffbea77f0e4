/* SPDX-License-Identifier: MIT */
/* What perf record -z has compressed: one stream of zstd, in pieces. */
#ifndef RECORDING_UNPACK_H
#define RECORDING_UNPACK_H

#include <stddef.h>

typedef struct recording_unpack_s recording_unpack_t;

/* NULL if this program was built without libzstd. */
recording_unpack_t *recording_unpack_new(void);
void recording_unpack_free(recording_unpack_t *unpack);

/* The next piece; it stays the caller's until recording_unpack_more has given
 * all of it. */
void recording_unpack_add(recording_unpack_t *unpack, const void *piece,
                          size_t size);

/* Fills a buffer from the piece: how many bytes, 0 if nothing is left of it, or
 * -1 if it is damaged. */
long recording_unpack_more(recording_unpack_t *unpack, void *buffer,
                           size_t size);

#endif
