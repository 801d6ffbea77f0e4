/* SPDX-License-Identifier: MIT */
/* Bytes of a file, which are read from the front in the byte order of the
 * machine that wrote the file. A read past the end returns 0 and sets
 * is_short. */
#ifndef RECORDING_BYTES_H
#define RECORDING_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

typedef struct recording_bytes_s {
  const unsigned char *at;
  size_t left;
  int is_foreign; /* of the other byte order */
  int is_short;   /* a read went past the end */
} recording_bytes_t;

/* Returns the next `size` bytes, or NULL if there are fewer bytes. */
const unsigned char *recording_bytes_take(recording_bytes_t *bytes,
                                          size_t size);
uint32_t recording_bytes_u32(recording_bytes_t *bytes);
uint64_t recording_bytes_u64(recording_bytes_t *bytes);

/* Reads the header of a record. */
void recording_bytes_header(recording_bytes_t *bytes,
                            struct perf_event_header *header);

/* Reads a perf_header_string: its length with padding, then the text. Returns a
 * copy that is safe to print, or NULL if it is damaged. Free the copy with
 * free(). */
char *recording_bytes_string(recording_bytes_t *bytes);

#endif
