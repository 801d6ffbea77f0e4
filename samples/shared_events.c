/* SPDX-License-Identifier: MIT */
/* Opens events one by one and treats them as one from then on. Does not know
 * what they measure nor what their records are for. */
#include "shared_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "shared_files.h"
#include "shared_memory.h"

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

void shared_events_init(shared_events_t *events, size_t nr_rings,
                        size_t nr_cpus) {
  memset(events, 0, sizeof(*events));
  events->ring_bytes = choose_ring_bytes(nr_rings, nr_cpus);
  shared_files_raise(NULL);
}

void shared_events_follow(struct perf_event_attr *attr) {
  attr->sample_id_all = 1;
  attr->task = 1;
  attr->comm = 1;
  attr->comm_exec = 1;
  attr->mmap = 1;
  attr->mmap2 = 1;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
}

int shared_events_open(shared_events_t *events, uv_loop_t *loop,
                       const struct perf_event_attr *attr, int32_t pid,
                       int32_t cpu, void *data, uvperf_error_t *error) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t *event = shared_calloc(1, sizeof(*event));
  int rc;

  event->data = data;
  options.pid = pid;
  options.cpu = cpu;
  options.ring_bytes = events->ring_bytes;
  rc = uvperf_event_init(loop, event, attr, &options, error);
  if (rc != 0) {
    free(event);
    return rc;
  }
  if (events->nr == events->capacity)
    events->events =
        shared_grow(events->events, &events->capacity, sizeof(*events->events));
  events->events[events->nr++] = event;
  return 0;
}

int shared_events_shrink(shared_events_t *events) {
  if (events->ring_bytes <= (size_t)sysconf(_SC_PAGESIZE))
    return 0;
  events->ring_bytes /= 2;
  return 1;
}

int shared_events_start(shared_events_t *events, uvperf_record_cb cb,
                        uvperf_error_t *error) {
  size_t i;
  int rc;

  for (i = 0; i < events->nr; i++) {
    rc = uvperf_event_start(events->events[i], NULL, cb, error);
    if (rc != 0)
      return rc;
  }
  return 0;
}

void shared_events_flush(shared_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++)
    uvperf_event_flush(events->events[i]);
}

void shared_events_stop(shared_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++)
    uvperf_event_stop(events->events[i]);
  shared_events_flush(events);
}

void shared_events_stats(const shared_events_t *events, uvperf_stats_t *stats) {
  uvperf_stats_t one;
  size_t i;

  memset(stats, 0, sizeof(*stats));
  for (i = 0; i < events->nr; i++) {
    uvperf_event_stats(events->events[i], &one);
    stats->records += one.records;
    stats->bytes += one.bytes;
    stats->corrupt += one.corrupt;
    stats->lost_records += one.lost_records;
  }
}

void shared_events_close(shared_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++)
    uvperf_event_close(events->events[i], NULL);
}

void shared_events_free(shared_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++)
    free(events->events[i]);
  free(events->events);
  memset(events, 0, sizeof(*events));
}
