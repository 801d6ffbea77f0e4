/* SPDX-License-Identifier: MIT */
/* Values in the format of read(2), which PERF_SAMPLE_READ and
 * PERF_RECORD_READ share. */
#ifndef UVPERF_LIB_DECODE_READ_FORMAT_H
#define UVPERF_LIB_DECODE_READ_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/record.h"

/* Parses `size` bytes, 8-byte aligned, that start with values of this format.
 * read->words points into them. Returns 0 and *used, the number of bytes that
 * the values take. If the values do not fit, returns -EPROTO and does not
 * change *used and *read. */
int uvperf__read_format_parse(uint64_t format, const void *bytes, size_t size,
                              size_t *used, uvperf_values_t *read);

/* A value and its other fields. Fields that the format lacks are 0. */
typedef struct uvperf__value_s {
  uint64_t value;
  uint64_t enabled; /* ns */
  uint64_t running; /* ns */
  uint64_t id;
  uint64_t lost;
} uvperf__value_t;

/* Reads the value of an index, which must be below read->nr. */
void uvperf__read_format_get(const uvperf_values_t *read, uint64_t index,
                             uvperf__value_t *value);

/* Finds the value of an id. The value number `likely` is tried first. Returns
 * 0, or -ENOENT if no value has that id or the format has no PERF_FORMAT_ID. */
int uvperf__read_format_find(const uvperf_values_t *read, uint64_t id,
                             uint64_t likely, uvperf__value_t *value);

/* The maximum number of words in a value without PERF_FORMAT_GROUP. */
#define UVPERF__READ_FORMAT_SINGLE 5

/* Reads the value of an event without PERF_FORMAT_GROUP. Returns 0, -EBADF if
 * the event is in error state (__perf_read returns end-of-file), -EPROTO, or
 * -errno. */
int uvperf__read_format_fd(int fd, uint64_t format, uvperf__value_t *value);

/* Whether the format has the lost count of a single event. */
static inline int uvperf__read_format_has_lost(uint64_t format) {
  return (format & (UVPERF_FORMAT_LOST | PERF_FORMAT_GROUP)) ==
         UVPERF_FORMAT_LOST;
}

#endif
