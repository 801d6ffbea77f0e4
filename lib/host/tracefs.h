/* SPDX-License-Identifier: MIT */
/* Tracefs, wherever it is mounted, under a root path that tests can
 * set ("" is the real one). No fds kept, no memory, no uv.h. */
#ifndef UVPERF_LIB_HOST_TRACEFS_H
#define UVPERF_LIB_HOST_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

#include "util/file.h"

/* Called with a tracepoint's category, name and id, as uvperf__name_fn. */
typedef int (*uvperf__tracefs_event_fn)(const char *category, const char *name,
                                        uint64_t id, void *data);

/* Where tracefs is, without the root: /sys/kernel/tracing, else
 * /sys/kernel/debug/tracing, else what mounts.h says for this root. A place
 * counts only if its events/ is there. 0; -ENODEV: not mounted; -EACCES: there,
 * but not for this process; -ENAMETOOLONG: `size` is too little room. */
int uvperf__tracefs_path(const char *root, char *path, size_t size);

/* The id of category:name. -EINVAL: one of them is no name of a directory (it
 * is empty, ".", ".." or has a slash); -ENOENT: no such tracepoint (or none
 * with an id: the kernel gives one to all that perf events can be opened of);
 * others as uvperf__tracefs_path. */
int uvperf__tracefs_id(const char *root, const char *category, const char *name,
                       uint64_t *id);

/* Each category, also one whose events may not be read; each event of a
 * category that has an id. In the order of the directory. -ENOENT and -EINVAL
 * as uvperf__tracefs_id. Events that may not be read are passed over, and told
 * by -EACCES at the end. */
int uvperf__tracefs_each_category(const char *root, uvperf__name_fn each,
                                  void *data);
int uvperf__tracefs_each_event(const char *root, const char *category,
                               uvperf__name_fn each, void *data);

/* Each event with an id whose category and name fit these patterns
 * (lib/util/glob.h; NULL: all). The others' ids are not read. */
int uvperf__tracefs_walk(const char *root, const char *category,
                         const char *name, uvperf__tracefs_event_fn each,
                         void *data);

/* The functions of uvperf/system.h under a root; their arguments are checked
 * there. Tracers' names have less than 4096 bytes in all, else -EFBIG. */
int uvperf__tracefs_current_tracer(const char *root, char *tracer,
                                   size_t *size);
int uvperf__tracefs_each_tracer(const char *root, uvperf__name_fn each,
                                void *data);

/* The "group:name" of a tracepoint, cut to `size`. 0; -ENOENT where no
 * tracepoint has the id; another -errno where tracefs cannot be read. Looks
 * into each of some thousand files, which takes a tenth of a second. */
int uvperf__tracefs_name(const char *root, uint64_t id, char *name,
                         size_t size);

/* Each field of a tracepoint, "group:name", in the order of its format file, of
 * which 16 KiB are read: they come first in it. 0, what `each` returned, or
 * -errno; -EINVAL: no such form of a name. */
int uvperf__tracefs_each_field(const char *root, const char *tracepoint,
                               uvperf__name_fn each, void *data);

/* The ids of all tracepoints, read by one walk when the first one is looked up.
 * Keep it during one call of a public function only, because tracepoints come
 * and go. All is 0 at first. */
typedef struct uvperf__tracefs_ids_s {
  int is_read;
  int code; /* of the walk */
  /* A bit for each id. An id has 16 bits (struct trace_entry in
   * include/linux/trace_events.h). */
  uint64_t all[1024];
  /* Those of the category ftrace: their ids come from enum trace_type in
   * kernel/trace/trace.h, which has fewer than 64. */
  uint64_t ftrace;
} uvperf__tracefs_ids_t;

/* Whether a tracepoint has the id: 0, and *is_ftrace if it is one of the
 * category ftrace; -ENOENT: none has it; another -errno if not all of tracefs
 * could be read. */
int uvperf__tracefs_find(uvperf__tracefs_ids_t *ids, const char *root,
                         uint64_t id, int *is_ftrace);

#endif
