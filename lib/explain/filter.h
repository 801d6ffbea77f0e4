/* SPDX-License-Identifier: MIT */
/* Finds details about a tracepoint's filter that the kernel refused. The kernel
 * does not report them: perf events get only EINVAL, and the `filter` file of
 * tracefs explains only filters that are written to it. */
#ifndef UVPERF_LIB_EXPLAIN_FILTER_H
#define UVPERF_LIB_EXPLAIN_FILTER_H

#include <stddef.h>

/* Looks up each field of a filter in the format of a tracepoint,
 * "category:name". Writes to `text` the first field that does not exist, and
 * the fields that the tracepoint has. If all fields exist, writes only the
 * second part. Returns 0, or -errno if the format cannot be read. The text is
 * cut, never overrun. */
int uvperf__filter_describe(const char *tracepoint, const char *filter,
                            char *text, size_t size);

#endif
