/* SPDX-License-Identifier: MIT */
/* The formats of tracepoints, as tracefs had them where the file was recorded:
 * the feature TRACING_DATA. */
#ifndef RECORDING_FORMATS_H
#define RECORDING_FORMATS_H

#include <stddef.h>
#include <stdint.h>

#include "common/recording/bytes.h"
#include "common/recording/recording.h"

#define RECORDING_FORMATS_MAX 65536u

typedef struct recording_formats_s {
  /* private */
  unsigned char *data;
  struct recording_formats_entry_s *entries;
  size_t nr, capacity;
} recording_formats_t;

void recording_formats_free(recording_formats_t *formats);

/* Replaces the data. Formats after a damaged one are ignored. */
void recording_formats_take(recording_formats_t *formats,
                            const recording_bytes_t *bytes);

/* Returns 1 and the format, or 0. */
int recording_formats_find(const recording_formats_t *formats, uint64_t id,
                           recording_format_t *format);

#endif
