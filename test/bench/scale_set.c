/* SPDX-License-Identifier: MIT */
/* 1,000 events, of four counters and 250 waiting threads: opened as a set, read
 * once and closed. The yardstick is the necessary system calls. */
#include "scale.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "uvperf.h"

#define ATTRS   4
#define THREADS 250
#define EVENTS  (ATTRS * THREADS)

typedef struct waiter_s {
  uv_thread_t thread;
  struct fixture_s *fixture;
  pid_t tid;
} waiter_t;

typedef struct fixture_s {
  waiter_t waiters[THREADS];
  size_t nr_waiters;
  uv_sem_t is_known;
  uv_sem_t is_over;
  struct perf_event_attr attrs[ATTRS];
  const struct perf_event_attr *attr_list[ATTRS];
  uvperf_target_t targets[THREADS];
} fixture_t;

/* -- contenders ----------------------------------------------------------- */

static int read_set(uvperf_set_t *set) {
  uvperf_reading_t *reading;
  int rc;

  rc = uvperf_reading_new(&reading);
  if (rc != 0)
    return rc;
  rc = uvperf_set_read(set, reading, NULL);
  if (rc == 0 && uvperf_reading_info(reading)->nr_places != THREADS)
    rc = UV_EPROTO;
  uvperf_reading_free(reading);
  return rc;
}

static int run_set(void *arg, double *values) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  fixture_t *fixture = arg;
  uvperf_error_t error;
  uvperf_set_t set;
  uv_loop_t loop;
  double began;
  int rc;

  options.attrs = fixture->attr_list;
  options.nr_attrs = ATTRS;
  options.targets = fixture->targets;
  options.nr_targets = THREADS;
  options.flags = UVPERF_SET_STRICT;
  uv_loop_init(&loop);
  began = bench_cpu_ns();
  if (uvperf_set_init(&loop, &set, &options, &error) != 0)
    return bench_fail("a set", error.reason);
  rc = read_set(&set);
  uvperf_close(&set.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  values[0] = (bench_cpu_ns() - began) / EVENTS;
  uv_loop_close(&loop);
  return rc == 0 ? 0 : bench_fail("a reading", uv_strerror(rc));
}

/* With the read_format that a set needs for scaling. */
static int open_bare(const fixture_t *fixture, int *fds, size_t *nr) {
  struct perf_event_attr attr;
  int fd;

  for (*nr = 0; *nr < EVENTS; *nr += 1) {
    attr = fixture->attrs[*nr % ATTRS];
    attr.disabled = 1;
    attr.read_format =
        PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    fd = (int)syscall(SYS_perf_event_open, &attr,
                      fixture->waiters[*nr / ATTRS].tid, -1, -1,
                      PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
      return bench_fail("perf_event_open", strerror(errno));
    fds[*nr] = fd;
  }
  return 0;
}

static int run_bare(void *arg, double *values) {
  static int fds[EVENTS];
  const fixture_t *fixture = arg;
  double began = bench_cpu_ns();
  uint64_t counts[3];
  size_t nr, i;
  int rc;

  rc = open_bare(fixture, fds, &nr);
  for (i = 0; i < nr; i++)
    if (read(fds[i], counts, sizeof(counts)) != sizeof(counts))
      rc = bench_fail("read", "not three values");
  for (i = 0; i < nr; i++)
    close(fds[i]);
  values[0] = (bench_cpu_ns() - began) / EVENTS;
  return rc;
}

/* -- the threads ---------------------------------------------------------- */

static void wait_for_end(void *arg) {
  waiter_t *waiter = arg;

  waiter->tid = (pid_t)syscall(SYS_gettid);
  uv_sem_post(&waiter->fixture->is_known);
  uv_sem_wait(&waiter->fixture->is_over);
}

static int begin_waiter(fixture_t *fixture) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  waiter_t *waiter = &fixture->waiters[fixture->nr_waiters];
  int rc;

  waiter->fixture = fixture;
  rc = uv_thread_create(&waiter->thread, wait_for_end, waiter);
  if (rc != 0)
    return bench_fail("a thread", uv_strerror(rc));
  uv_sem_wait(&fixture->is_known);
  target.type = UVPERF_TARGET_THREAD;
  target.pid = waiter->tid;
  fixture->targets[fixture->nr_waiters++] = target;
  return 0;
}

static void end_waiters(fixture_t *fixture) {
  size_t i;

  for (i = 0; i < fixture->nr_waiters; i++)
    uv_sem_post(&fixture->is_over);
  for (i = 0; i < fixture->nr_waiters; i++)
    uv_thread_join(&fixture->waiters[i].thread);
}

static void fill_attrs(fixture_t *fixture) {
  static const uint64_t counters[ATTRS] = {
      PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_CONTEXT_SWITCHES,
      PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_PAGE_FAULTS};
  size_t i;

  for (i = 0; i < ATTRS; i++) {
    uvperf_attr_software(&fixture->attrs[i], counters[i]);
    fixture->attr_list[i] = &fixture->attrs[i];
  }
}

static int compare(bench_report_t *report, fixture_t *fixture) {
  static const bench_metric_t metric = {"CPU per event", "ns"};
  const bench_contender_t contenders[] = {
      {"uvperf_set_t", run_set, fixture, {0}},
      {"system calls", run_bare, fixture, {0}},
  };
  const bench_comparison_t comparison = {"1,000 events, open, read, close",
                                         &metric, 1, contenders, 2};

  return bench_compare(report, &comparison);
}

int scale_set(bench_report_t *report) {
  static fixture_t fixture;
  int rc = 0;

  memset(&fixture, 0, sizeof(fixture));
  fill_attrs(&fixture);
  if (uv_sem_init(&fixture.is_known, 0) != 0 ||
      uv_sem_init(&fixture.is_over, 0) != 0)
    return bench_fail("a semaphore", "cannot be made");
  while (fixture.nr_waiters < THREADS && rc == 0)
    rc = begin_waiter(&fixture);
  if (rc == 0)
    rc = compare(report, &fixture);
  end_waiters(&fixture);
  return rc;
}
