/* SPDX-License-Identifier: MIT */
/* Opens dummy events, for their side-band records. */
#include "watch/events.h"

#include "common/targets.h"
#include "common/tasks.h"
#include "watch/proc.h"

/* Each round finds the threads that were created meanwhile by threads without
 * events. If a thread has events, its children inherit them. */
#define MAX_ROUNDS 100
/* A record reaches its ring just after its time stamp is taken. The record
 * comes later only if a virtual CPU is stopped in between. */
#define SLACK_US 5000

static int open_set(watch_events_t *events, uv_loop_t *loop,
                    const uvperf_target_t *target, size_t ring_bytes,
                    uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  const struct perf_event_attr *attrs[1];
  struct perf_event_attr attr;
  int rc;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  common_tasks_follow(&attr);
  /* Most records are mappings. An exec needs its first mapping. */
  if ((events->kinds & (WATCH_BIT(WATCH_EXEC) | WATCH_BIT(WATCH_MMAP))) == 0)
    attr.mmap = attr.mmap2 = 0;
  /* This does not change side-band records. Without privileges the kernel
   * requires it. */
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.inherit = events->of_tree != 0;
  attrs[0] = &attr;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = target;
  options.nr_targets = target != NULL;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  if (target == NULL)
    options.flags |= UVPERF_SET_TARGETS_LATER;
  options.ring_bytes = ring_bytes;
  options.slack_us = SLACK_US;
  rc = uvperf_set_init(loop, &events->set, &options, error);
  events->is_open = rc == 0;
  return rc;
}

/* A thread that has ended is not a failure. */
static int add_thread(watch_events_t *events, int32_t tid,
                      uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  int rc;

  target.type = UVPERF_TARGET_THREAD;
  target.pid = tid;
  rc = uvperf_set_add(&events->set, &target, NULL, NULL, error);
  return rc != 0 && error->cause == UVPERF_CAUSE_NO_TASK ? 0 : rc;
}

/* Leaves out threads of another user, for example of a setuid child. This is an
 * error only if the process of the command line has such threads. */
static int add_threads(watch_events_t *events, int32_t process, int is_root,
                       common_ids_t *done, uvperf_error_t *error) {
  common_ids_t threads = {NULL, 0, 0};
  size_t i;
  int rc = 0;

  common_threads_of(&threads, process);
  for (i = 0; i < threads.nr && rc == 0; i++) {
    if (common_ids_has(done, threads.ids[i]))
      continue;
    common_ids_add(done, threads.ids[i]);
    rc = add_thread(events, threads.ids[i], error);
    if (rc == 0 || is_root || error->cause != UVPERF_CAUSE_PERMISSION)
      continue;
    events->refused++;
    rc = 0;
  }
  common_ids_free(&threads);
  return rc;
}

/* Existing threads of the process and its descendants do not inherit events. So
 * this searches for such threads until it finds no new thread. */
static int add_tree(watch_events_t *events, int32_t pid,
                    uvperf_error_t *error) {
  common_ids_t done = {NULL, 0, 0}, processes = {NULL, 0, 0};
  size_t before, i;
  int round, rc = 0;

  for (round = 0; round < MAX_ROUNDS && rc == 0; round++) {
    before = done.nr;
    processes.nr = 0;
    watch_proc_tree(&processes, pid);
    for (i = 0; i < processes.nr && rc == 0; i++)
      rc = add_threads(events, processes.ids[i], processes.ids[i] == pid, &done,
                       error);
    if (done.nr == before)
      break;
  }
  common_ids_free(&done);
  common_ids_free(&processes);
  return rc;
}

/* Returns 0, or the code that says why nothing of the tree is watched. */
static int open_tree(watch_events_t *events, uv_loop_t *loop, int32_t pid,
                     size_t ring_bytes, uvperf_error_t *error) {
  int rc;

  events->of_tree = 1;
  rc = open_set(events, loop, NULL, ring_bytes, error);
  if (rc == 0)
    rc = add_tree(events, pid, error);
  if (rc == 0 && uvperf_set_nr_open(&events->set) == 0)
    return error->code;
  return rc;
}

int watch_events_open(watch_events_t *events, uv_loop_t *loop, int32_t pid,
                      size_t ring_bytes, uvperf_error_t *error) {
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  int rc;

  cpus.type = UVPERF_TARGET_CPUS;
  rc = open_set(events, loop, &cpus, ring_bytes, error);
  if (rc != 0 && error->cause == UVPERF_CAUSE_PERMISSION && pid != 0)
    rc = open_tree(events, loop, pid, ring_bytes, error);
  return rc;
}
