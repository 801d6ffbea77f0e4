/* SPDX-License-Identifier: MIT */
/* The library's memory for a ring: what its allocator has reserved, without the
 * mapping and without the caller's handle. For a ring of a set it is the
 * difference that one more CPU makes, including its event. */
#include "scale.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "uvperf.h"

#define LIMIT_BYTES 1024

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
}

/* -- events, each with a ring --------------------------------------------- */

static int open_event(uv_loop_t *loop, uvperf_event_t *event) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1;
  options.ring_bytes = SCALE_RING_BYTES;
  if (uvperf_event_init(loop, event, &attr, &options, &error) != 0)
    return bench_fail("an event", error.reason);
  return 0;
}

/* Started too, so that what start takes is seen. */
static int open_all(uv_loop_t *loop, uvperf_event_t *events, size_t *nr) {
  uvperf_error_t error;

  for (*nr = 0; *nr < SCALE_MOST_RINGS; *nr += 1) {
    if (open_event(loop, &events[*nr]) != 0)
      return 1;
    if (uvperf_start(&(&events[*nr])->handle, NULL, on_record, &error) != 0) {
      *nr += 1;
      return bench_fail("an event", error.reason);
    }
  }
  return 0;
}

static int run_events(void *arg, double *values) {
  static uvperf_event_t events[SCALE_MOST_RINGS];
  uint64_t before = bench_held_bytes();
  uv_loop_t loop;
  size_t nr;
  int rc;

  uv_loop_init(&loop);
  rc = open_all(&loop, events, &nr);
  uv_run(&loop, UV_RUN_NOWAIT);
  values[0] = (double)(bench_held_bytes() - before) / SCALE_MOST_RINGS;
  while (nr > 0)
    uvperf_close(&events[--nr].handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  if (rc == 0 && bench_held_bytes() != before)
    rc = bench_fail("memory", "is still held after all is closed");
  return rc;
}

/* -- a set ---------------------------------------------------------------- */

/* The memory of a set with one event on these CPUs. */
static int hold_set(const char *cpus, double *bytes) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  const struct perf_event_attr *attrs[1];
  uint64_t before = bench_held_bytes();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_set_t set;
  uv_loop_t loop;
  int rc;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1;
  attrs[0] = &attr;
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpus;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS;
  options.ring_bytes = SCALE_RING_BYTES;
  uv_loop_init(&loop);
  rc = uvperf_set_init(&loop, &set, &options, &error);
  if (rc == 0) {
    rc = uvperf_start(&set.handle, NULL, on_record, &error);
    uv_run(&loop, UV_RUN_NOWAIT);
    *bytes = (double)(bench_held_bytes() - before);
    uvperf_close(&set.handle, NULL);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  return rc == 0 ? 0 : bench_fail("a set", error.reason);
}

static int run_set(void *arg, double *values) {
  double one, two;
  char cpus[64];

  snprintf(cpus, sizeof(cpus), "%d", bench_producer_cpu);
  if (hold_set(cpus, &one) != 0)
    return 1;
  snprintf(cpus, sizeof(cpus), "%d,%d", bench_producer_cpu, bench_consumer_cpu);
  if (hold_set(cpus, &two) != 0)
    return 1;
  values[0] = two - one;
  return 0;
}

/* -- cases ---------------------------------------------------------------- */

static int run_limit(void *arg, double *values) {
  values[0] = LIMIT_BYTES;
  return 0;
}

static int compare(bench_report_t *report, const char *name,
                   int (*run)(void *arg, double *values)) {
  static const bench_metric_t metric = {"memory per ring", "B"};
  const bench_contender_t contenders[] = {
      {"uvperf", run, NULL, {0}},
      {"limit", run_limit, NULL, {1}},
  };
  const bench_comparison_t comparison = {name, &metric, 1, contenders, 2};

  return bench_compare(report, &comparison);
}

int scale_memory(bench_report_t *report) {
  int rc;

  bench_count_allocations();
  rc = compare(report, "1,000 events with a ring", run_events);
  if (rc == 0)
    rc = compare(report, "a CPU more of a set", run_set);
  return rc;
}
