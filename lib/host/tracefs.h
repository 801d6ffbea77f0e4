/* SPDX-License-Identifier: MIT */
/* Tracefs, at any mount point. Keeps no fds, allocates no memory, and does not
 * include uv.h. */
#ifndef UVPERF_LIB_HOST_TRACEFS_H
#define UVPERF_LIB_HOST_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

#include "util/file.h"

/* Called with a tracepoint's category, name and id. Its result has the same
 * meaning as the result of a uvperf__name_fn. */
typedef int (*uvperf__tracefs_event_fn)(const char *category, const char *name,
                                        uint64_t id, void *data);

/* Finds the path of tracefs. Tries /sys/kernel/tracing, then
 * /sys/kernel/debug/tracing, then the mounts (mounts.h). A place counts only if
 * it has a directory events/. Returns 0, -ENODEV if tracefs is not mounted,
 * -EACCES if it is mounted but this process may not access it, or -ENAMETOOLONG
 * if `size` is too small. */
int uvperf__tracefs_path(char *path, size_t size);

/* Finds the id of category:name. Returns 0, -EINVAL, -ENOENT, or another code
 * of uvperf__tracefs_path. -EINVAL means that the category or the name cannot
 * be a directory's name (it is empty, ".", ".." or has a slash). -ENOENT means
 * that there is no such tracepoint, or that it has no id. (The kernel assigns
 * an id to each tracepoint that perf events can be opened for.) */
int uvperf__tracefs_id(const char *category, const char *name, uint64_t *id);

/* The first function calls `each` with each category, even if its events may
 * not be read. The second function calls `each` with each event of a category
 * that has an id. Both follow the order of the directory. -ENOENT and -EINVAL
 * have the same meaning as for uvperf__tracefs_id. Events that may not be read
 * are skipped, and at the end the result is -EACCES. */
int uvperf__tracefs_each_category(uvperf__name_fn each, void *data);
int uvperf__tracefs_each_event(const char *category, uvperf__name_fn each,
                               void *data);

/* Calls `each` with each event that has an id and whose category and name match
 * these patterns (lib/util/glob.h; NULL matches all). The ids of other events
 * are not read. */
int uvperf__tracefs_walk(const char *category, const char *name,
                         uvperf__tracefs_event_fn each, void *data);

/* Do the same as the functions of uvperf/system.h. Those
 * functions check the arguments. If all names of tracers together have 4096
 * bytes or more, the result is -EFBIG. */
int uvperf__tracefs_current_tracer(char *tracer, size_t *size);
int uvperf__tracefs_each_tracer(uvperf__name_fn each, void *data);

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
