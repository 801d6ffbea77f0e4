/* SPDX-License-Identifier: MIT */
/* EINVAL and ENODEV for an event that does not fit its group's leader: what
 * perf_event_open of kernel/events/core.c asks of the two. */
#include <errno.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/system.h"
#include "host/task.h"

/* pid 0 is the calling thread, also for the leader: both are of one loop. */
static int thread_of(const uvperf__attempt_t *attempt, int pid) {
  int thread;

  if (pid != 0)
    return pid;
  thread = uvperf__system_thread(attempt->root);
  return thread > 0 ? thread : 0;
}

/* use_clockid 0 is a clock of its own, local_clock(). */
static int has_other_clock(const struct perf_event_attr *attr,
                           const struct perf_event_attr *leader) {
  uint64_t uses = uvperf__attr_value(attr, UVPERF_ATTR_USE_CLOCKID);

  if (uses != uvperf__attr_value(leader, UVPERF_ATTR_USE_CLOCKID))
    return 1;
  return uses && uvperf__attr_value(attr, UVPERF_ATTR_CLOCKID) !=
                     uvperf__attr_value(leader, UVPERF_ATTR_CLOCKID);
}

/* Whether it is sure that the kernel counts it by itself: software, tracepoint,
 * breakpoint. The others may each belong to another PMU. */
static int is_software(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE ||
         attr->type == PERF_TYPE_TRACEPOINT ||
         attr->type == PERF_TYPE_BREAKPOINT;
}

static const char *group_fault(const uvperf__attempt_t *attempt) {
  const uvperf__attempt_t *leader = attempt->leader;

  if (attempt->pid != -1 && attempt->cgroup < 0 &&
      leader->attr->inherit != attempt->attr->inherit)
    return "inherit must be the same as the leader's";
  if ((attempt->cgroup >= 0) != (leader->cgroup >= 0))
    return "a group is of one cgroup, or of none";
  if (leader->leader != NULL)
    return "the leader is itself a member of a group: join its leader";
  if (has_other_clock(attempt->attr, leader->attr))
    return "use_clockid and clockid must be the leader's";
  if (attempt->cpu != leader->cpu)
    return "the leader is on another cpu: open one group for each";
  if (attempt->cgroup < 0 &&
      thread_of(attempt, attempt->pid) != thread_of(attempt, leader->pid))
    return "the leader is of another thread: open one group for each";
  if (attempt->attr->exclusive || attempt->attr->pinned)
    return "only the leader may be pinned or exclusive, and that is for the "
           "whole group";
  if (attempt->cgroup >= 0 && attempt->cgroup != leader->cgroup)
    return "the leader is of another cgroup";
  if (!is_software(attempt->attr))
    return "the PMU cannot count this with the leader's group: a group has "
           "hardware events of one PMU, and no more than it has counters";
  return NULL;
}

/* The leader is looked at before the task is looked for. One whose task has
 * ended is ENODEV (PERF_EVENT_STATE_DEAD, Linux 6.15), and EINVAL for a moment
 * before that, while it is not of the task's context any more. */
int uvperf__attempt_dead_group(const uvperf__attempt_t *attempt) {
  uvperf__task_t task;
  int rc;

  if (attempt->leader == NULL || attempt->pid <= 0)
    return 0;
  rc = uvperf__task_look(attempt->root, attempt->pid, &task);
  if (rc != -ESRCH && (rc != 0 || !task.has_ended))
    return 0;
  uvperf__attempt_say(attempt, UVPERF_CAUSE_NO_TASK,
                      "the thread has ended since its group's leader was "
                      "opened");
  return 1;
}

int uvperf__attempt_group(const uvperf__attempt_t *attempt) {
  if (attempt->leader == NULL)
    return 0;
  return uvperf__attempt_dead_group(attempt) ||
         uvperf__attempt_fault(attempt, UVPERF_CAUSE_ARGUMENT,
                               group_fault(attempt));
}
