/* SPDX-License-Identifier: MIT */
/* Opens events that count nothing, for their side-band records. Does not know
 * what the records are for. */
#include "watch_events.h"

#include <string.h>

#include "watch_proc.h"

/* Each round looks for threads that were made by others while those were not
 * watched yet; what is watched hands it on to what it makes. */
#define MAX_ROUNDS 100

typedef struct open_plan_s {
  uv_loop_t *loop;
  const shared_ids_t *cpus;
  size_t ring_bytes; /* 0 if it may shrink */
  void *data;
} open_plan_t;

static void fill_attr(watch_events_t *events) {
  struct perf_event_attr *attr = &events->attr;

  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  /* Not IDENTIFIER: which event wrote a record does not matter here. */
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  shared_events_follow(attr);
  /* These records come all the same; without privileges nothing is allowed
   * without. */
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  attr->read_format = UVPERF_FORMAT_LOST;
}

static int settle_for_less(watch_events_t *events, const open_plan_t *plan,
                           const uvperf_error_t *error) {
  if (error->cause == UVPERF_CAUSE_LOCKED_MEMORY && plan->ring_bytes == 0)
    return shared_events_shrink(&events->all);
  /* PERF_FORMAT_LOST is of Linux 6.0. */
  if (error->cause != UVPERF_CAUSE_OLD_KERNEL || events->attr.read_format == 0)
    return 0;
  events->attr.read_format = 0;
  return 1;
}

/* One target on every CPU. A CPU or a thread that is gone is no failure. */
static int open_target(watch_events_t *events, const open_plan_t *plan,
                       int32_t pid, uvperf_error_t *error) {
  size_t i;
  int rc;

  for (i = 0; i < plan->cpus->nr; i++) {
    do {
      uvperf_attr_set_wakeup_bytes(&events->attr,
                                   (uint32_t)(events->all.ring_bytes / 4));
      rc = shared_events_open(&events->all, plan->loop, &events->attr, pid,
                              plan->cpus->ids[i], plan->data, error);
    } while (rc != 0 && settle_for_less(events, plan, error));
    if (rc != 0 && error->cause != UVPERF_CAUSE_NO_CPU &&
        error->cause != UVPERF_CAUSE_NO_TASK)
      return rc;
  }
  return 0;
}

/* Another user's thread, a setuid child for example, is left out, but for the
 * process that was asked for. */
static int open_threads(watch_events_t *events, const open_plan_t *plan,
                        int32_t process, int is_root, shared_ids_t *done,
                        uvperf_error_t *error) {
  shared_ids_t threads = {NULL, 0, 0};
  size_t i;
  int rc = 0;

  shared_threads_of(&threads, process);
  for (i = 0; i < threads.nr && rc == 0; i++) {
    if (shared_ids_has(done, threads.ids[i]))
      continue;
    shared_ids_add(done, threads.ids[i]);
    rc = open_target(events, plan, threads.ids[i], error);
    if (rc == 0 || is_root || error->cause != UVPERF_CAUSE_PERMISSION)
      continue;
    events->refused++;
    rc = 0;
  }
  shared_ids_free(&threads);
  return rc;
}

static size_t count_threads(const shared_ids_t *processes) {
  shared_ids_t threads = {NULL, 0, 0};
  size_t i;

  for (i = 0; i < processes->nr; i++)
    shared_threads_of(&threads, processes->ids[i]);
  i = threads.nr;
  shared_ids_free(&threads);
  return i;
}

/* The first rings must leave something to the last. Twice as many threads as
 * there are now may be found until all are watched. */
static void choose_rings(watch_events_t *events, const open_plan_t *plan,
                         const shared_ids_t *processes) {
  size_t nr = 2 * count_threads(processes) * plan->cpus->nr;

  if (plan->ring_bytes == 0 && nr > 0)
    shared_events_init(&events->all, nr, plan->cpus->nr);
}

/* The threads that a running process and its descendants have already are not
 * inherited, so they are looked for until none is new. */
static int open_tree(watch_events_t *events, const open_plan_t *plan,
                     int32_t pid, uvperf_error_t *error) {
  shared_ids_t done = {NULL, 0, 0}, processes = {NULL, 0, 0};
  size_t before, i;
  int round, rc = 0;

  /* Inherited events cannot be mapped with cpu -1 (kernel/events/core.c,
   * perf_mmap): hence one for each CPU. */
  events->attr.inherit = 1;
  events->of_tree = 1;
  for (round = 0; round < MAX_ROUNDS && rc == 0; round++) {
    before = done.nr;
    processes.nr = 0;
    watch_proc_tree(&processes, pid);
    if (round == 0)
      choose_rings(events, plan, &processes);
    for (i = 0; i < processes.nr && rc == 0; i++)
      rc = open_threads(events, plan, processes.ids[i], processes.ids[i] == pid,
                        &done, error);
    if (done.nr == before)
      break;
  }
  shared_ids_free(&done);
  shared_ids_free(&processes);
  return rc;
}

int watch_events_open(watch_events_t *events, uv_loop_t *loop,
                      const shared_ids_t *cpus, int32_t pid, size_t ring_bytes,
                      void *data, uvperf_error_t *error) {
  open_plan_t plan = {loop, cpus, ring_bytes, data};
  int rc;

  memset(events, 0, sizeof(*events));
  shared_events_init(&events->all, cpus->nr, cpus->nr);
  if (ring_bytes != 0)
    events->all.ring_bytes = ring_bytes;
  fill_attr(events);
  rc = open_target(events, &plan, -1, error);
  if (rc != 0 && error->cause == UVPERF_CAUSE_PERMISSION && pid != 0 &&
      events->all.nr == 0)
    rc = open_tree(events, &plan, pid, error);
  if (rc == 0 && events->all.nr == 0)
    return error->code;
  return rc;
}

uint64_t watch_events_lost(const watch_events_t *events) {
  uint64_t sum = 0;
  uvperf_count_t count;
  uvperf_stats_t stats;
  size_t i;

  /* The two overlap. */
  for (i = 0; i < events->all.nr; i++) {
    uvperf_event_stats(events->all.events[i], &stats);
    memset(&count, 0, sizeof(count));
    if (uvperf_event_read(events->all.events[i], &count) != 0 ||
        count.lost < stats.lost_records)
      sum += stats.lost_records;
    else
      sum += count.lost;
  }
  return sum;
}
