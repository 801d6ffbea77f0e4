/* SPDX-License-Identifier: MIT */
/* Values in the format of read(2), which PERF_SAMPLE_READ and
 * PERF_RECORD_READ share. */
#ifndef UVPERF_LIB_DECODE_READ_FORMAT_H
#define UVPERF_LIB_DECODE_READ_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

/* Makes sense of `size` bytes, 8-byte aligned, that start with values of this
 * format. read->words points into them. 0 and *used, the bytes that the values
 * take; -EPROTO if they do not fit (*used and *read are left alone then). */
int uvperf__read_format_parse(uint64_t format, const void *bytes, size_t size,
                              size_t *used, uvperf_read_t *read);

/* uvperf_read_find, of a value that is mostly the `likely`-th. */
int uvperf__read_format_find(const uvperf_read_t *read, uint64_t id,
                             uint64_t likely, uvperf_count_t *count);

/* The most words of a value that is not of a group. */
#define UVPERF__READ_FORMAT_SINGLE 5

/* What those of a value that is not of a group mean, without going through a
 * uvperf_read_t: 0, or -EPROTO unless they are so many bytes. */
int uvperf__read_format_single(uint64_t format, const uint64_t *words,
                               size_t size, uvperf_count_t *count);

#endif
