/* SPDX-License-Identifier: MIT */
/* Chooses the event and opens it wherever it is needed. Does not know what the
 * records are for. */
#include "profile_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "profile_memory.h"

#define MAX_RING_BYTES  ((size_t)512 << 10)
#define MAX_TOTAL_BYTES ((size_t)64 << 20)

/* /proc/sys/kernel/perf_event_mlock_kb is for each user and CPU; what goes
 * beyond counts against RLIMIT_MEMLOCK (kernel/events/core.c, perf_mmap). */
static size_t locked_budget(size_t nr_cpus) {
  FILE *file = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
  struct rlimit limit;
  unsigned long kb = 0;
  size_t bytes;

  if (file != NULL) {
    if (fscanf(file, "%lu", &kb) != 1)
      kb = 0;
    fclose(file);
  }
  if (kb > MAX_TOTAL_BYTES / 1024)
    return MAX_TOTAL_BYTES;
  bytes = (size_t)kb * 1024 * nr_cpus;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
    bytes += limit.rlim_cur < MAX_TOTAL_BYTES ? (size_t)limit.rlim_cur
                                              : MAX_TOTAL_BYTES;
  return bytes < MAX_TOTAL_BYTES ? bytes : MAX_TOTAL_BYTES;
}

/* All rings get the same size, so that the first do not leave the last without:
 * the largest power of two pages of which so many fit into the budget, each
 * with one page more for its head. */
static size_t choose_ring_bytes(size_t nr_rings, size_t nr_cpus) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t budget = geteuid() == 0 ? MAX_TOTAL_BYTES : locked_budget(nr_cpus);
  size_t bytes = MAX_RING_BYTES;

  while (bytes > page && bytes + page > budget / nr_rings)
    bytes /= 2;
  return bytes > page ? bytes : page;
}

/* Each event needs an fd; what the user allows is taken. */
static void raise_file_limit(void) {
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

static void fill_attr(profile_events_t *events, const profile_plan_t *plan) {
  struct perf_event_attr *attr = &events->attr;

  if (events->hardware)
    uvperf_attr_hardware(attr, PERF_COUNT_HW_CPU_CYCLES);
  else
    uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(attr, plan->frequency_hz);
  uvperf_attr_set_wakeup_bytes(attr, (uint32_t)(events->ring_bytes / 4));
  attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
                      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                      PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
  attr->sample_id_all = 1;
  attr->mmap = 1;
  attr->mmap2 = 1;
  attr->comm = 1;
  attr->comm_exec = 1;
  attr->task = 1;
  /* The clock of uv_hrtime. */
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
  attr->inherit = plan->threads != NULL;
  attr->enable_on_exec = plan->on_exec != 0;
  if (!events->kernel) {
    attr->exclude_kernel = 1;
    attr->exclude_hv = 1;
    attr->exclude_callchain_kernel = 1;
  }
  /* A CPU that idles is no place where time goes. Cycles do not count then; some
   * PMUs refuse the bit. */
  if (!events->hardware && plan->threads == NULL)
    attr->exclude_idle = 1;
}

static int open_one(profile_events_t *events, uv_loop_t *loop, int32_t pid,
                    int32_t cpu, uvperf_error_t *error) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.pid = pid;
  options.cpu = cpu;
  options.ring_bytes = events->ring_bytes;
  return uvperf_event_init(loop, &events->events[events->nr], &events->attr,
                           &options, error);
}

/* Gives up what the last attempt could not have. 0 if there is nothing to give
 * up. Only the first event chooses: the others must be like it. */
static int settle_for_less(profile_events_t *events, int cause) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);

  if (cause == UVPERF_CAUSE_LOCKED_MEMORY && events->ring_bytes > page) {
    events->ring_bytes /= 2;
    return 1;
  }
  if (events->nr > 0)
    return 0;
  if (cause == UVPERF_CAUSE_PERMISSION && events->kernel) {
    events->kernel = 0;
    return 1;
  }
  if ((cause == UVPERF_CAUSE_NO_EVENT || cause == UVPERF_CAUSE_NOT_SUPPORTED) &&
      events->hardware) {
    events->hardware = 0;
    return 1;
  }
  return 0;
}

static int open_target(profile_events_t *events, uv_loop_t *loop,
                       const profile_plan_t *plan, int32_t pid, int32_t cpu,
                       uvperf_error_t *error) {
  int rc;

  do {
    fill_attr(events, plan);
    rc = open_one(events, loop, pid, cpu, error);
  } while (rc != 0 && settle_for_less(events, error->cause));
  if (rc == 0)
    events->nr++;
  else if (error->cause == UVPERF_CAUSE_NO_CPU ||
           error->cause == UVPERF_CAUSE_NO_TASK)
    return 0;
  return rc;
}

int profile_events_open(profile_events_t *events, uv_loop_t *loop,
                        const profile_plan_t *plan, void *data,
                        uvperf_error_t *error) {
  int32_t every_task = -1;
  const profile_ids_t all = {&every_task, 1, 1};
  const profile_ids_t *threads = plan->threads ? plan->threads : &all;
  size_t cpu, thread, capacity = threads->nr * plan->cpus->nr;
  int rc;

  events->events = profile_calloc(capacity, sizeof(*events->events));
  events->hardware = events->kernel = 1;
  events->ring_bytes = choose_ring_bytes(capacity, plan->cpus->nr);
  raise_file_limit();
  /* Inherited events cannot be mapped with cpu -1 (kernel/events/core.c,
   * perf_mmap): hence one for each CPU even where it is about threads. */
  for (thread = 0; thread < threads->nr; thread++) {
    for (cpu = 0; cpu < plan->cpus->nr; cpu++) {
      events->events[events->nr].data = data;
      rc = open_target(events, loop, plan, threads->ids[thread],
                       plan->cpus->ids[cpu], error);
      if (rc != 0)
        return rc;
    }
  }
  /* The error is the one of the last target that was left out. */
  return events->nr > 0 ? 0 : error->code;
}

int profile_events_start(profile_events_t *events, uvperf_record_cb cb,
                         uvperf_error_t *error) {
  size_t i;
  int rc;

  for (i = 0; i < events->nr; i++) {
    rc = uvperf_event_start(&events->events[i], NULL, cb, error);
    if (rc != 0)
      return rc;
  }
  return 0;
}

void profile_events_stop(profile_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++)
    uvperf_event_stop(&events->events[i]);
  for (i = 0; i < events->nr; i++)
    uvperf_event_flush(&events->events[i]);
}

void profile_events_stats(const profile_events_t *events,
                          uvperf_stats_t *stats) {
  uvperf_stats_t one;
  size_t i;

  memset(stats, 0, sizeof(*stats));
  for (i = 0; i < events->nr; i++) {
    uvperf_event_stats(&events->events[i], &one);
    stats->records += one.records;
    stats->bytes += one.bytes;
    stats->corrupt += one.corrupt;
    stats->lost_records += one.lost_records;
  }
}

void profile_events_close(profile_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++)
    uvperf_event_close(&events->events[i], NULL);
}

void profile_events_free(profile_events_t *events) {
  free(events->events);
  memset(events, 0, sizeof(*events));
}
