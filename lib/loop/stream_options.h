/* SPDX-License-Identifier: MIT */
/* The delivery options of an event, a set or a BPF reader: their defaults, and
 * the options of a watch that follow from them. */
#ifndef UVPERF_LIB_LOOP_STREAM_OPTIONS_H
#define UVPERF_LIB_LOOP_STREAM_OPTIONS_H

#include "uvperf/error.h"
#include "uvperf/stream.h"

#include "loop/watch.h"

/* The default of flush_ms if records can wait below a watermark. */
#define UVPERF__DEFAULT_FLUSH_MS 100

/* Copies the caller's options over the defaults. Returns 0, or -E2BIG or
 * -EINVAL and the error. */
int uvperf__stream_options_copy(uvperf_stream_options_t *own,
                                const uvperf_stream_options_t *options,
                                uvperf_error_t *error);

/* Sets the options of a watch from these options. flush_ms 0 becomes
 * default_flush_ms. */
void uvperf__stream_options_for_watch(const uvperf_stream_options_t *options,
                                      uint64_t default_flush_ms,
                                      uvperf__watch_options_t *watch);

#endif
