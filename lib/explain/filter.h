/* SPDX-License-Identifier: MIT */
/* What the kernel does not say of a tracepoint's filter: perf events get EINVAL
 * alone, and the `filter` file of tracefs explains only what is written there.
 */
#ifndef UVPERF_LIB_EXPLAIN_FILTER_H
#define UVPERF_LIB_EXPLAIN_FILTER_H

#include <stddef.h>

/* Looks each field that a filter compares up in the format of a tracepoint,
 * "category:name", and puts into `text` the first that it lacks and the fields
 * that it has; or, if it has all, these. 0, or -errno where the format cannot
 * be read. Cut, never overrun. */
int uvperf__filter_describe(const char *root, const char *tracepoint,
                            const char *filter, char *text, size_t size);

#endif
