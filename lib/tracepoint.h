/* SPDX-License-Identifier: MIT */
/* Layer 1: tracepoints by tracefs, under a root path that tests can set ("" is
 * the real one). No fds kept, no uv.h. */
#ifndef UVPERF_LIB_TRACEPOINT_H
#define UVPERF_LIB_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>

/* The "group:name" of a tracepoint, cut to `size`. 0; -ENOENT where no
 * tracepoint has the id; another -errno where tracefs cannot be read. Looks
 * into each of some thousand files, which takes a tenth of a second: for
 * failures only. */
int uvperf__tracepoint_name(const char *root, uint64_t id, char *name,
                            size_t size);

#endif
