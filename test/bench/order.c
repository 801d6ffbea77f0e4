/* SPDX-License-Identifier: MIT */
/* The cost of time order over all CPUs. On each CPU a process makes system
 * calls as fast as it can, and a tracepoint writes a record for each. Two sets
 * of the same events take turns: one delivers in the order of time, the other
 * ring by ring, through the same callback.
 *
 * First the writers fill the rings and rest while the records are delivered, so
 * that only the delivery is measured. Then everything runs at once, the reader
 * on a CPU that it shares with a writer, and records that it cannot take in
 * time are lost. Each run checks the totals: the delivered and lost records are
 * the written ones, the set has counted each late record, and it has allocated
 * nothing meanwhile. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "benchmarks.h"
#include "traced_child.h"
#include "uvperf.h"

#define MOST_CPUS 64

/* For one writer, in a run. The records of a fill, some 450 KiB, fit into a
 * ring. */
#define FILLS      20
#define FILL_CALLS 6000
#define LIVE_CALLS 120000

#define RING_BYTES (512 * 1024)

typedef struct writer_s {
  traced_child_t child;
  uv_poll_t done;
  struct fixture_s *fixture;
} writer_t;

typedef struct subject_s {
  uvperf_set_t set;
  int is_ordered;
  struct fixture_s *fixture;
  uvperf_reading_t *reading;
  uint64_t delivered;
  uint64_t lost; /* up to the last run */
  uint64_t inversions;
  uint64_t newest; /* time of the youngest record so far */
  uint64_t failed; /* callbacks with a status */
} subject_t;

typedef struct fixture_s {
  uv_loop_t loop;
  writer_t writers[MOST_CPUS];
  size_t nr_writers;
  size_t nr_writing;
  subject_t ordered;
  subject_t by_ring;
} fixture_t;

/* -- writers --------------------------------------------------------------- */

static int fork_writers(fixture_t *fixture) {
  int cpus[MOST_CPUS];
  size_t nr = MOST_CPUS;
  size_t i;

  if (uvperf_cpus(UVPERF_CPUS_ONLINE, cpus, &nr) != 0)
    return bench_fail("the CPUs", "cannot be listed, or are too many");
  for (i = 0; i < nr; i++) {
    if (traced_child_start(&fixture->writers[i].child, cpus[i]) != 0)
      return 1;
    fixture->nr_writers += 1;
  }
  return 0;
}

static int begin_writing(fixture_t *fixture, uint32_t calls) {
  const traced_plan_t plan = {.nr = calls};
  size_t i;

  for (i = 0; i < fixture->nr_writers; i++)
    if (traced_child_go(&fixture->writers[i].child, &plan) != 0)
      return 1;
  fixture->nr_writing = fixture->nr_writers;
  return 0;
}

/* Waits for a writer unless libuv has made its fd nonblocking. */
static int take_done(fixture_t *fixture, const writer_t *writer) {
  int done = traced_child_is_done(&writer->child);

  if (done < 0)
    return bench_fail("a writer", "is gone");
  fixture->nr_writing -= (size_t)done;
  return 0;
}

static void end_writers(fixture_t *fixture) {
  size_t i;

  /* They have the ends of each other's sockets. */
  for (i = 0; i < fixture->nr_writers; i++)
    kill(fixture->writers[i].child.pid, SIGKILL);
  for (i = 0; i < fixture->nr_writers; i++)
    traced_child_end(&fixture->writers[i].child);
}

/* -- the sets -------------------------------------------------------------- */

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  subject_t *subject = handle->data;

  if (status != 0 || record->type == UVPERF_RECORD_NONE) {
    subject->failed += 1;
    return;
  }
  if (record->type == PERF_RECORD_SAMPLE)
    subject->delivered += 1;
  if (record->time < subject->newest)
    subject->inversions += 1;
  else
    subject->newest = record->time;
}

/* Only the writers, of all processes of this machine. */
static int filter_writers(subject_t *subject, uvperf_error_t *error) {
  const fixture_t *fixture = subject->fixture;
  char filter[MOST_CPUS * 32] = "";
  size_t used = 0;
  size_t i;

  for (i = 0; i < fixture->nr_writers; i++)
    used += (size_t)snprintf(filter + used, sizeof(filter) - used,
                             "%scommon_pid == %d", i == 0 ? "" : " || ",
                             (int)fixture->writers[i].child.pid);
  return uvperf_apply_filter(&subject->set.handle, 0, filter, error);
}

static int init_set(subject_t *subject, const struct perf_event_attr *attr,
                    uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;

  cpus.type = UVPERF_TARGET_CPUS;
  options.attrs = &attr;
  options.nr_attrs = 1;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS;
  if (subject->is_ordered)
    options.flags |= UVPERF_SET_TIME_ORDER;
  options.ring_bytes = RING_BYTES;
  return uvperf_set_init(&subject->fixture->loop, &subject->set, &options,
                         error);
}

static int open_set(subject_t *subject, fixture_t *fixture, int is_ordered,
                    const struct perf_event_attr *attr) {
  uvperf_error_t error;

  subject->fixture = fixture;
  subject->is_ordered = is_ordered;
  subject->set.handle.data = subject;
  if (uvperf_reading_new(&subject->reading) != 0)
    return bench_fail("a reading", "no memory");
  if (init_set(subject, attr, &error) != 0)
    return bench_fail("the set", error.reason);
  if (filter_writers(subject, &error) != 0)
    return bench_fail("the filter", error.reason);
  return 0;
}

static int start_set(subject_t *subject) {
  uvperf_error_t error;

  if (uvperf_start(&subject->set.handle, NULL, on_record, &error) != 0 ||
      uvperf_enable(&subject->set.handle, UVPERF_ALL, &error) != 0)
    return bench_fail("the set", error.reason);
  return 0;
}

/* Otherwise it would have the records of the other set's runs. */
static void stop_set(subject_t *subject) {
  uvperf_disable(&subject->set.handle, UVPERF_ALL, NULL);
  uvperf_stop(&subject->set.handle);
}

static void close_set(subject_t *subject) {
  if (subject->set.handle.impl != NULL)
    uvperf_close(&subject->set.handle, NULL);
  if (subject->reading != NULL)
    uvperf_reading_free(subject->reading);
}

/* -- the account ----------------------------------------------------------- */

typedef struct account_s {
  uint64_t delivered;
  uint64_t lost;
  double cpu_ns;
  uint64_t allocations;
} account_t;

static void open_account(account_t *account, const subject_t *subject) {
  memset(account, 0, sizeof(*account));
  account->delivered = subject->delivered;
}

/* Asserts the totals after a run with this number of written records. */
static int close_account(account_t *account, subject_t *subject,
                         uint64_t written) {
  uvperf_count_t count;
  uvperf_stats_t stats;

  if (uvperf_set_read(&subject->set, subject->reading, NULL) != 0)
    return bench_fail("reading", "no memory");
  uvperf_reading_total(subject->reading, 0, &count);
  uvperf_stats(&subject->set.handle, &stats);
  account->delivered = subject->delivered - account->delivered;
  account->lost = count.lost - subject->lost;
  subject->lost = count.lost;
  if (subject->failed != 0)
    return bench_fail("a record", "came with a status");
  if (account->delivered + account->lost != written)
    return bench_fail("delivered + lost", "is not what was written");
  if (subject->is_ordered && subject->inversions != stats.late_records)
    return bench_fail("late_records", "is not the number of inversions");
  if (account->allocations != 0)
    return bench_fail("delivering", "has allocated memory");
  return 0;
}

/* -- while the writers rest ------------------------------------------------ */

static int fill(fixture_t *fixture) {
  int rc = begin_writing(fixture, FILL_CALLS);
  size_t i;

  for (i = 0; rc == 0 && i < fixture->nr_writers; i++)
    rc = take_done(fixture, &fixture->writers[i]);
  return rc;
}

/* The loop does not run, so that nothing comes but by flush. */
static int run_resting(void *arg, double *values) {
  subject_t *subject = arg;
  account_t account;
  uint64_t before;
  double began;
  int i;

  open_account(&account, subject);
  if (start_set(subject) != 0)
    return 1;
  for (i = 0; i < FILLS; i++) {
    if (fill(subject->fixture) != 0)
      return 1;
    before = bench_allocations();
    began = bench_cpu_ns();
    uvperf_flush(&subject->set.handle);
    account.cpu_ns += bench_cpu_ns() - began;
    account.allocations += bench_allocations() - before;
  }
  stop_set(subject);
  if (close_account(&account, subject,
                    subject->fixture->nr_writers * FILLS * FILL_CALLS) != 0)
    return 1;
  if (account.lost != 0)
    return bench_fail("a ring", "is too small");
  values[0] = account.cpu_ns / (double)account.delivered;
  return 0;
}

/* -- at full rate ---------------------------------------------------------- */

static void on_done(uv_poll_t *poll, int status, int events) {
  const writer_t *writer = poll->data;
  fixture_t *fixture = writer->fixture;

  if (status != 0 || take_done(fixture, writer) != 0 ||
      fixture->nr_writing == 0)
    uv_stop(poll->loop);
}

static int run_live(void *arg, double *values) {
  subject_t *subject = arg;
  fixture_t *fixture = subject->fixture;
  account_t account;
  uint64_t written = fixture->nr_writers * LIVE_CALLS;
  uint64_t before;
  double began;

  open_account(&account, subject);
  if (start_set(subject) != 0)
    return 1;
  before = bench_allocations();
  began = bench_cpu_ns();
  if (begin_writing(fixture, LIVE_CALLS) != 0)
    return 1;
  uv_run(&fixture->loop, UV_RUN_DEFAULT);
  uvperf_flush(&subject->set.handle);
  account.cpu_ns = bench_cpu_ns() - began;
  account.allocations = bench_allocations() - before;
  stop_set(subject);
  if (fixture->nr_writing != 0 ||
      close_account(&account, subject, written) != 0)
    return 1;
  values[0] = account.cpu_ns / (double)account.delivered;
  values[1] = 100 * (double)account.lost / (double)written;
  return 0;
}

/* -- the comparisons ------------------------------------------------------- */

static int compare_resting(bench_report_t *report, fixture_t *fixture) {
  static const bench_metric_t metric = {"CPU per record", "ns"};
  const bench_contender_t contenders[] = {
      {"in the order of time", run_resting, &fixture->ordered, {0}},
      {"ring by ring", run_resting, &fixture->by_ring, {1.5}},
  };
  const bench_comparison_t comparison = {"from full rings", &metric, 1,
                                         contenders, 2};

  return bench_compare(report, &comparison);
}

static int compare_live(bench_report_t *report, fixture_t *fixture) {
  static const bench_metric_t metrics[] = {{"CPU per record", "ns"},
                                           {"lost", "%"}};
  const bench_contender_t contenders[] = {
      {"in the order of time", run_live, &fixture->ordered, {0}},
      {"ring by ring", run_live, &fixture->by_ring, {1.5}},
  };
  const bench_comparison_t comparison = {"while all CPUs write", metrics, 2,
                                         contenders, 2};

  writer_t *writer;
  size_t i;

  /* Not earlier: libuv makes the fds nonblocking. */
  for (i = 0; i < fixture->nr_writers; i++) {
    writer = &fixture->writers[i];
    writer->fixture = fixture;
    writer->done.data = writer;
    if (uv_poll_init(&fixture->loop, &writer->done, writer->child.fd) != 0)
      return bench_fail("uv_poll_init", "refused");
    uv_poll_start(&writer->done, UV_READABLE, on_done);
  }
  return bench_compare(report, &comparison);
}

static int open_fixture(fixture_t *fixture,
                        const struct perf_event_attr *attr) {
  if (fork_writers(fixture) != 0 ||
      open_set(&fixture->ordered, fixture, 1, attr) != 0 ||
      open_set(&fixture->by_ring, fixture, 0, attr) != 0)
    return 1;
  return 0;
}

static void close_fixture(fixture_t *fixture) {
  size_t i;

  for (i = 0; i < fixture->nr_writers; i++)
    if (fixture->writers[i].done.loop != NULL)
      uv_close((uv_handle_t *)&fixture->writers[i].done, NULL);
  close_set(&fixture->ordered);
  close_set(&fixture->by_ring);
  uv_run(&fixture->loop, UV_RUN_DEFAULT);
  uv_loop_close(&fixture->loop);
  end_writers(fixture);
}

static int run(bench_report_t *report) {
  static fixture_t fixture;
  struct perf_event_attr attr;
  uvperf_error_t error;
  int rc;

  if (uvperf_attr_parse(&attr, TRACED_CHILD_EVENT, &error) != 0) {
    bench_report_skip(report, "tracefs");
    return 0;
  }
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
  memset(&fixture, 0, sizeof(fixture));
  bench_count_allocations();
  uv_loop_init(&fixture.loop);
  rc = open_fixture(&fixture, &attr);
  if (rc == 0)
    rc = compare_resting(report, &fixture);
  if (rc == 0)
    rc = compare_live(report, &fixture);
  close_fixture(&fixture);
  return rc;
}

const bench_t bench_order = {"order",
                             "the order of time over all CPUs, a record", run};
