/* SPDX-License-Identifier: MIT */
/* Opens each event of the library: by perf_event_open(2) or by a function of
 * the program. */
#ifndef UVPERF_LIB_SYS_OPENER_H
#define UVPERF_LIB_SYS_OPENER_H

#include <sys/types.h>

#include "uvperf/attr.h"

typedef struct uvperf__opener_s {
  uvperf_open_fn open; /* NULL: perf_event_open(2) */
  void *arg;
  /* With `open`: the greatest id of the events that the handle has. */
  uint64_t *newest;
} uvperf__opener_t;

/* Opens an event. Returns the fd, which is close-on-exec, or -errno. On E2BIG
 * the kernel writes its own size into the attr. The program's function does not
 * write it.
 *
 * The program's function gets the id of the calling thread instead of 0,
 * because 0 would mean a thread of the process that opens the event.
 * uvperf__open checks the function's result. It returns -ENOTTY if the result
 * is not the fd of a perf event, and -EEXIST if the event is not newer than
 * *newest. In both cases it does not close the fd. */
int uvperf__open(const uvperf__opener_t *opener, struct perf_event_attr *attr,
                 pid_t pid, int cpu, int group_fd, unsigned long flags);

/* Checks that an fd belongs to a perf event. Returns 0 and the event's id, or
 * -errno. */
int uvperf__open_id(int fd, uint64_t *id);

#endif
