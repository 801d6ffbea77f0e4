/* SPDX-License-Identifier: MIT */
/* Decompresses the data of perf record -z: one zstd stream, in pieces. */
#ifndef RECORDING_UNPACK_H
#define RECORDING_UNPACK_H

#include <stddef.h>

typedef struct recording_unpack_s recording_unpack_t;

/* Returns NULL if this program was built without libzstd. */
recording_unpack_t *recording_unpack_new(void);
void recording_unpack_free(recording_unpack_t *unpack);

/* Adds the next piece. The piece must stay valid until recording_unpack_more
 * has returned all of it. */
void recording_unpack_add(recording_unpack_t *unpack, const void *piece,
                          size_t size);

/* Fills a buffer from the piece. Returns the number of bytes, or 0 if nothing
 * is left of the piece, or -1 if the piece is damaged. */
long recording_unpack_more(recording_unpack_t *unpack, void *buffer,
                           size_t size);

#endif
