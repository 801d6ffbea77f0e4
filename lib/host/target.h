/* SPDX-License-Identifier: MIT */
/* Targets of a set, and the places at which their events are opened. The places
 * are found in procfs and sysfs. Opens no perf events and does not include
 * uv.h. Whether an event can be opened at such a place is known only to the
 * kernel. */
#ifndef UVPERF_LIB_HOST_TARGET_H
#define UVPERF_LIB_HOST_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "host/system.h"
#include "host/task.h"
#include "uvperf/error.h"
#include "uvperf/set_options.h"

/* One place where an event of a target is opened. */
typedef struct uvperf__spot_s {
  /* As for perf_event_open(2), but never 0: for the calling thread it is the
   * thread's id. -1 means every task, also for a cgroup. */
  int pid;
  int cpu;
  /* The start of a task, for uvperf__task_is_gone; 0: unknown. */
  uint64_t start;
} uvperf__spot_t;

/* The places of a target at this moment. */
typedef struct uvperf__target_spots_s {
  uvperf__spot_t *spots; /* at least one; sorted by pid, then cpu; each once */
  size_t nr_spots;
  int cgroup_fd; /* the cgroup's directory, -1: none */
  int inherit;   /* set attr.inherit */
  int on_exec;   /* set attr.enable_on_exec of leaders */
} uvperf__target_spots_t;

/* Checks a target for errors that do not depend on the machine. The target is
 * the library's own complete copy. Returns 0. Otherwise fills the error and
 * returns -EINVAL, or -E2BIG if fields of a later version are used. */
int uvperf__target_check(const uvperf_target_t *target, uvperf_error_t *error);

/* State that is shared by targets that are added together. */
typedef struct uvperf__target_context_s {
  int has_rings;
  int no_starts; /* leave spot.start 0: it is not used */
  /* 1 if /proc is known to show our own PID namespace. This is checked
   * once, because the check takes longer than opening an event. */
  int is_proc_own;
  int self; /* the id of the calling thread; 0: asked from the kernel */
  /* Of the next target to be listed: what uvperf__target_begin has found. */
  uint64_t start;
  const char *cpus_name; /* of target.cpus, for errors */
} uvperf__target_context_t;

/* Call it in the call that receives the target, which was checked. Replaces a
 * pidfd by the id of its task. If `is_deferred`, the target is listed later, so
 * its task is identified now, before another task can get the id. *start
 * receives the task's start, UVPERF__TASK_ENDED, or 0: unknown. Returns 0, or a
 * code of uvperf__task_of_pidfd and the error. */
int uvperf__target_begin(uvperf__target_context_t *context,
                         uvperf_target_t *target, int is_deferred,
                         uint64_t *start, uvperf_error_t *error);

/* Lists the places of a target that was checked. If the target does not list
 * CPUs, a task has one place that follows the task. With `has_rings` the task
 * has one place for each present CPU, even an offline one, because a ring
 * belongs to one CPU.
 *
 * Returns 0; free the spots with uvperf__target_free then. Otherwise fills the
 * error and returns a code:
 *   -ESRCH   there is no such process, or all its threads have ended (NO_TASK);
 *   -EACCES  /proc hides it, or the cgroup may not be opened (PERMISSION);
 *   -ENOENT  there is no such cgroup, or no hierarchy for it is mounted; or the
 *     target lists no CPUs, and sysfs does not show the online ones;
 *   -EINVAL, -ENOTDIR, -ENAMETOOLONG  the path does not name a cgroup;
 *   -EMFILE, -ENFILE (FILES), -ENOMEM (MEMORY); or the code of a read.
 * The ids of a thread, and of the child that is about to become a command, are
 * not checked: opening the events shows whether the task exists. */
int uvperf__target_expand(uvperf__target_context_t *context,
                          const uvperf_target_t *target,
                          uvperf__target_spots_t *spots, uvperf_error_t *error);

/* Closes and frees the places. Has no effect if this was done before, or if all
 * fields are zero and cgroup_fd is -1. */
void uvperf__target_free(uvperf__target_spots_t *spots);

#endif
