/* SPDX-License-Identifier: MIT */
/* Targets of a set, and the places that they stand for, from procfs
 * and sysfs under a root path that tests can set ("" is the real one). No perf
 * fds, no uv.h. Whether an event can be opened there is the kernel's to say. */
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
  /* As for perf_event_open(2), but never 0: the calling thread is its id; -1:
   * every task, also of a cgroup. */
  int pid;
  int cpu;
  /* Of a task: when it started, for uvperf__task_is_gone; 0: not known. */
  uint64_t start;
} uvperf__spot_t;

/* A target, as it is now. */
typedef struct uvperf__target_spots_s {
  uvperf__spot_t *spots; /* at least one; by pid, then cpu, each once */
  size_t nr_spots;
  int cgroup_fd; /* of the cgroup's directory, -1: none */
  int inherit;   /* attr.inherit is to be set */
  int on_exec;   /* attr.enable_on_exec is to be set on leaders */
} uvperf__target_spots_t;

/* Checks what can be wrong with a target on any machine; it is a full, own
 * copy. 0, or -EINVAL; or -E2BIG for fields of a later version. Explained. */
int uvperf__target_check(const uvperf_target_t *target, uvperf_error_t *error);

/* What the targets that are added together share. */
typedef struct uvperf__target_context_s {
  const char *root;
  int has_rings;
  int no_starts; /* of tasks: nobody is going to ask whether they are gone */
  /* 1 once root + /proc was found to show the own PID namespace: it is not
   * asked again, as that takes longer than to open an event. */
  int is_proc_own;
  int self; /* the id of the calling thread; 0: it is asked for */
} uvperf__target_context_t;

/* Finds out which places a target, which was checked, stands for. Where its
 * CPUs are not named a task has one place that follows it, or, with
 * `has_rings`, one for each CPU that is present, offline ones too: a ring is of
 * one CPU. 0, and spots is to be freed by uvperf__target_free; or a code,
 * explained:
 *   -ESRCH   there is no such process, or all its threads have ended (NO_TASK);
 *   -EACCES  /proc hides it, or the cgroup may not be opened (PERMISSION);
 *   -ENOENT  no such cgroup, or no hierarchy for it is mounted; CPUs were not
 *     named, and sysfs does not tell which are online;
 *   -EINVAL, -ENOTDIR, -ENAMETOOLONG  what is there is no cgroup;
 *   -EMFILE, -ENFILE (FILES), -ENOMEM (MEMORY); or what reading gives.
 * A thread, and the child that is about to be a command, are taken as named:
 * whether they are there is seen when they are opened. */
int uvperf__target_expand(uvperf__target_context_t *context,
                          const uvperf_target_t *target,
                          uvperf__target_spots_t *spots, uvperf_error_t *error);

/* Closes and frees; what was freed, or is all zero but cgroup_fd -1, is left
 * alone. */
void uvperf__target_free(uvperf__target_spots_t *spots);

#endif
