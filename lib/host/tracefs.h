/* SPDX-License-Identifier: MIT */
/* Tracefs, at any mount point, in addition to the functions of
 * uvperf/system.h. Keeps no fds, allocates no memory, and does not
 * include uv.h. */
#ifndef UVPERF_LIB_HOST_TRACEFS_H
#define UVPERF_LIB_HOST_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

#include "util/file.h"
#include "uvperf/system.h"

/* Finds the "group:name" of a tracepoint, cut to `size`. Returns 0, -ENOENT if
 * no tracepoint has the id, or another -errno if tracefs cannot be read. Reads
 * some thousand files, which takes a tenth of a second. */
int uvperf__tracefs_name(uint64_t id, char *name, size_t size);

/* Calls `each` with each field of a tracepoint, "group:name", in the order of
 * its format file. Reads only the first 8 KiB, because the fields come first.
 * Returns 0, the result of `each`, or -errno. -EINVAL means that `tracepoint`
 * does not have the form "group:name". */
int uvperf__tracefs_each_field(const char *tracepoint, uvperf__name_fn each,
                               void *data);

/* The ids of all tracepoints, read by one walk at the first lookup. Must be all
 * zero before that. Keep the struct only during one call of a public function,
 * because tracepoints come and go. */
typedef struct uvperf__tracefs_ids_s {
  int is_read;
  int code; /* of the walk */
  /* A bit for each id. An id has 16 bits (struct trace_entry in
   * include/linux/trace_events.h). */
  uint64_t all[1024];
  /* The ids of the category ftrace: they come from enum trace_type in
   * kernel/trace/trace.h, which has fewer than 64. */
  uint64_t ftrace;
} uvperf__tracefs_ids_t;

/* Finds out whether a tracepoint has the id. If so, returns 0, and *is_ftrace
 * is 1 if the tracepoint belongs to the category ftrace. Returns -ENOENT if no
 * tracepoint has the id, or another -errno if not all of tracefs could be
 * read. */
int uvperf__tracefs_find(uvperf__tracefs_ids_t *ids, uint64_t id,
                         int *is_ftrace);

#endif
