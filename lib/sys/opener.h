/* SPDX-License-Identifier: MIT */
/* Opens each event of the library: by perf_event_open(2) or by a function of
 * the program. */
#ifndef UVPERF_LIB_SYS_OPENER_H
#define UVPERF_LIB_SYS_OPENER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "uvperf/attr.h"

/* The calls of the program's function for a handle, or for a target that is
 * being opened. Zero it before the first call. */
typedef struct uvperf__calls_s {
  uint64_t newest; /* the greatest id of the events that the handle has */
  /* When the present call began; 0: no call runs. Or see
   * uvperf__calls_left. */
  _Atomic(uint32_t) began_ms;
} uvperf__calls_t;

typedef struct uvperf__opener_s {
  uvperf_open_fn open; /* NULL: perf_event_open(2) */
  void *arg;
  uvperf__calls_t *calls; /* used with `open` */
} uvperf__opener_t;

/* Opens an event. Returns the fd, which is close-on-exec, or -errno. On E2BIG
 * the kernel writes its own size into the attr. The program's function does not
 * write it.
 *
 * The program's function gets the id of the calling thread instead of 0,
 * because 0 would mean a thread of the process that opens the event.
 * uvperf__open checks the function's result. It returns -ENOTTY if the result
 * is not the fd of a perf event, and -EEXIST if the event is not newer than
 * calls->newest. In both cases it does not close the fd. */
int uvperf__open(const uvperf__opener_t *opener, struct perf_event_attr *attr,
                 pid_t pid, int cpu, int group_fd, unsigned long flags);

/* Called by another thread than the one that makes the calls. Each call may
 * take limit_ms. Returns how many milliseconds are left, or limit_ms if no call
 * runs. Returns 0 if the present call has taken longer. From then on
 * uvperf__open returns -ECANCELED and does not call the function. */
uint32_t uvperf__calls_left(uvperf__calls_t *calls, uint32_t limit_ms);

/* Checks that an fd belongs to a perf event. Returns 0 and the event's id, or
 * -errno. */
int uvperf__open_id(int fd, uint64_t *id);

#endif
