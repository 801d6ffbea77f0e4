/* SPDX-License-Identifier: MIT */
/* What counting costs the counting thread: reading, and measuring a function.
 * The yardsticks are the fewest possible system calls, by hand, with identical
 * events of their own. All are software events of the calling thread, which
 * every machine has. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "benchmarks.h"
#include "own_events.h"
#include "uvperf.h"

#define READS    40000 /* for one event, in a run */
#define MEASURES 10000
#define OPENS    200
#define PAGES    8 /* touched, each for the first time */
#define GROUP    OWN_GROUP
#define MANY     OWN_MOST

typedef struct subject_s {
  size_t nr; /* of events */
  uv_loop_t loop;
  char *pages;
  /* The library's. */
  uvperf_event_t events[GROUP];
  uvperf_event_t *group[GROUP]; /* these */
  uvperf_count_t event_counts[GROUP];
  uvperf_set_t set;
  uvperf_reading_t *reading;
  uvperf_meter_t *meter;
  uvperf_count_t counts[MANY];
  own_events_t own;
  uint64_t failures;
} subject_t;

/* Each page is a fault when it is touched again. */
static void touch(void *arg) {
  subject_t *subject = arg;
  long size = sysconf(_SC_PAGESIZE);
  int i;

  madvise(subject->pages, (size_t)(PAGES * size), MADV_DONTNEED);
  for (i = 0; i < PAGES; i++)
    *(volatile char *)(subject->pages + i * size) = 1;
}

static void nothing(void *arg) {
}

/* -- readers -------------------------------------------------------------- */

/* Reads everything once and stores the counts in `subject`. */
typedef void (*read_fn)(subject_t *subject);

static void read_event(subject_t *subject) {
  if (uvperf_event_read(&subject->events[0], &subject->event_counts[0], NULL) !=
      0)
    subject->failures++;
}

static void read_events(subject_t *subject) {
  if (uvperf_event_read_group(subject->group, GROUP, subject->event_counts,
                              NULL) != 0)
    subject->failures++;
}

static void read_set(subject_t *subject) {
  size_t i;

  if (uvperf_set_read(&subject->set, subject->reading, NULL) != 0)
    subject->failures++;
  for (i = 0; i < subject->nr; i++)
    if (uvperf_reading_total(subject->reading, i, &subject->counts[i]) != 0)
      subject->failures++;
}

static void read_own(subject_t *subject) {
  own_read_each(&subject->own);
}

static void read_own_group(subject_t *subject) {
  own_read_group(&subject->own);
}

static void read_own_scaled(subject_t *subject) {
  own_read_scaled(&subject->own);
}

/* The last count read for an event. */
typedef own_count_t (*look_fn)(const subject_t *subject, size_t i);

static own_count_t look_event(const subject_t *subject, size_t i) {
  const uvperf_count_t *count = &subject->event_counts[i];
  own_count_t own = {count->value, count->time_enabled, count->time_running, 0};

  return own;
}

static own_count_t look_set(const subject_t *subject, size_t i) {
  const uvperf_count_t *count = &subject->counts[i];
  own_count_t own = {count->value, count->time_enabled, count->time_running, 0};

  return own;
}

static own_count_t look_own(const subject_t *subject, size_t i) {
  return subject->own.counts[i];
}

/* -- reading -------------------------------------------------------------- */

/* Checks what was read: the touched pages, and times that advanced equally for
 * all events. */
static int check(const subject_t *subject, look_fn look,
                 const own_count_t *before) {
  own_count_t now = look(subject, 0);
  size_t i;

  if (subject->failures + subject->own.failures != 0)
    return bench_fail("a reader", "has not read all");
  if (now.value - before->value < PAGES)
    return bench_fail("a reader", "has not seen the page faults");
  for (i = 0; i < subject->nr; i++) {
    now = look(subject, i);
    if (now.enabled <= before->enabled || now.running != now.enabled)
      return bench_fail("a reader", "has not read the times");
  }
  return 0;
}

typedef struct reads_s {
  subject_t *subject;
  read_fn read_all;
  look_fn look;
} reads_t;

static int run_reads(void *arg, double *values) {
  const reads_t *reads = arg;
  subject_t *subject = reads->subject;
  size_t nr_events = subject->nr <= GROUP ? 1 : subject->nr;
  size_t nr = READS / nr_events;
  own_count_t before;
  double began;
  size_t i;

  subject->failures = 0;
  reads->read_all(subject);
  before = reads->look(subject, 0);
  touch(subject);
  began = bench_cpu_ns();
  for (i = 0; i < nr; i++)
    reads->read_all(subject);
  values[0] = (bench_cpu_ns() - began) / (double)(nr * nr_events);
  return check(subject, reads->look, &before);
}

/* -- measuring ------------------------------------------------------------ */

/* A function is measured, so that `subject` has the counts. 0 or not. */
typedef int (*measure_fn)(subject_t *subject, uvperf_measure_fn fn);

static int measure_meter(subject_t *subject, uvperf_measure_fn fn) {
  return uvperf_meter_measure(subject->meter, fn, subject, subject->counts, 1,
                              NULL);
}

static int measure_own(subject_t *subject, uvperf_measure_fn fn) {
  return own_measure(&subject->own, fn, subject);
}

static int measure_open_own(subject_t *subject, uvperf_measure_fn fn) {
  return own_measure_opened(&subject->own, fn, subject);
}

static int measure_name(subject_t *subject, uvperf_measure_fn fn) {
  return uvperf_measure_events("page-faults:u", fn, subject, subject->counts, 1,
                               NULL);
}

typedef struct measures_s {
  subject_t *subject;
  measure_fn measure;
  look_fn look;
  size_t nr;
} measures_t;

static int run_measures(void *arg, double *values) {
  const measures_t *measures = arg;
  subject_t *subject = measures->subject;
  measure_fn measure = measures->measure;
  /* It is volatile so that no compiler sees which one is called. */
  uvperf_measure_fn volatile fn = nothing;
  double began;
  size_t i;
  int rc = 0;

  began = bench_cpu_ns();
  for (i = 0; i < measures->nr && rc == 0; i++)
    rc = measure(subject, fn);
  values[0] = (bench_cpu_ns() - began) / (double)measures->nr;
  if (rc != 0 || measures->look(subject, 0).value != 0)
    return bench_fail("a measurement", "of nothing has failed");
  rc = measure(subject, touch);
  if (rc != 0 || measures->look(subject, 0).value != PAGES)
    return bench_fail("a measurement", "has not counted the page faults");
  return 0;
}

/* -- cases ---------------------------------------------------------------- */

static int begin(subject_t *subject, size_t nr) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE) * PAGES;

  memset(subject, 0, sizeof(*subject));
  subject->nr = nr;
  subject->pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (subject->pages == MAP_FAILED)
    return bench_fail("mmap", "no memory");
  uv_loop_init(&subject->loop);
  return 0;
}

static int end(subject_t *subject, int rc) {
  uv_run(&subject->loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&subject->loop) != 0)
    rc = bench_fail("uv_loop_close", "a handle is left");
  munmap(subject->pages, (size_t)sysconf(_SC_PAGESIZE) * PAGES);
  return rc;
}

static int compare(bench_report_t *report, const char *name, const char *per,
                   const bench_contender_t *contenders, size_t nr) {
  const bench_metric_t metric = {per, "ns"};
  const bench_comparison_t comparison = {name, &metric, 1, contenders, nr};

  return bench_compare(report, &comparison);
}

static int open_set(subject_t *subject, int is_group) {
  uvperf_event_list_t *list = NULL;
  struct perf_event_attr attr;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < subject->nr; i++) {
    own_attr(&attr, i);
    if (uvperf_event_list_add(&list, &attr, NULL, is_group && i > 0 ? 0 : -1,
                              &error) < 0)
      return bench_fail("uvperf_event_list_add", error.reason);
  }
  options.events = list;
  options.targets = &self;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_STRICT;
  if (uvperf_reading_new(&subject->reading) != 0)
    return bench_fail("uvperf_reading_new", "no memory");
  if (uvperf_set_init(&subject->loop, &subject->set, &options, &error) != 0)
    return bench_fail("uvperf_set_init", error.reason);
  uvperf_event_list_free(list);
  return 0;
}

static void close_set(subject_t *subject) {
  uvperf_close(&subject->set.handle, NULL);
  uvperf_reading_free(subject->reading);
}

static int open_events(subject_t *subject) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < subject->nr; i++) {
    subject->group[i] = &subject->events[i];
    own_attr(&attr, i);
    if (subject->nr > 1)
      attr.read_format |= PERF_FORMAT_GROUP;
    if (uvperf_event_init(&subject->loop, subject->group[i], &attr, &options,
                          &error) != 0)
      return bench_fail("uvperf_event_init", error.reason);
    options.leader = subject->group[0];
  }
  if (uvperf_enable(&subject->group[0]->handle, UVPERF_ALL, &error) != 0)
    return bench_fail("uvperf_enable", error.reason);
  return 0;
}

static int compare_events(bench_report_t *report, subject_t *subject,
                          size_t nr) {
  reads_t reads[] = {{subject, read_event, look_event},
                     {subject, read_own, look_own},
                     {subject, read_events, look_event},
                     {subject, read_own_group, look_own}};
  const bench_contender_t one[] = {
      {"uvperf_event_read", run_reads, &reads[0], {0}},
      {"read(2)", run_reads, &reads[1], {1.05}},
  };
  const bench_contender_t group[] = {
      {"uvperf_event_read_group", run_reads, &reads[2], {0}},
      {"read(2)", run_reads, &reads[3], {1.05}},
  };
  size_t i;
  int rc;

  if (begin(subject, nr) != 0 || open_events(subject) != 0)
    return 1;
  rc = own_open(&subject->own, nr, nr > 1);
  if (rc == 0)
    rc = nr > 1 ? compare(report, "a group of 5", "CPU per read", group, 2)
                : compare(report, "one event", "CPU per read", one, 2);
  own_close(&subject->own);
  for (i = 0; i < nr; i++)
    uvperf_close(&subject->group[i]->handle, NULL);
  return end(subject, rc);
}

static int compare_set(bench_report_t *report, subject_t *subject, size_t nr,
                       int is_group) {
  reads_t reads[] = {{subject, read_set, look_set},
                     {subject, read_own_group, look_own},
                     {subject, read_own_scaled, look_own},
                     {subject, read_own, look_own}};
  const bench_contender_t group[] = {
      {"uvperf_set_read", run_reads, &reads[0], {0}},
      {"read(2)", run_reads, &reads[1], {1.05}},
      {"with time, scaled", run_reads, &reads[2], {0}},
  };
  const bench_contender_t many[] = {
      {"uvperf_set_read", run_reads, &reads[0], {0}},
      {"read(2) of each", run_reads, &reads[3], {0}},
  };
  int rc;

  if (begin(subject, nr) != 0 || open_set(subject, is_group) != 0)
    return 1;
  uvperf_enable(&subject->set.handle, UVPERF_ALL, NULL);
  rc = own_open(&subject->own, nr, is_group);
  if (rc == 0)
    rc = is_group
             ? compare(report, "a group of 5, a set", "CPU per read", group, 3)
             : compare(report, "256 events", "CPU per event", many, 2);
  own_close(&subject->own);
  close_set(subject);
  return end(subject, rc);
}

static int compare_measure(bench_report_t *report, subject_t *subject) {
  measures_t measures[] = {{subject, measure_meter, look_set, MEASURES},
                           {subject, measure_own, look_own, MEASURES},
                           {subject, measure_name, look_set, OPENS},
                           {subject, measure_open_own, look_own, OPENS}};
  const bench_contender_t reused[] = {
      {"uvperf_meter_measure", run_measures, &measures[0], {0}},
      {"by hand", run_measures, &measures[1], {0}},
  };
  const bench_contender_t opened[] = {
      {"uvperf_measure_events", run_measures, &measures[2], {0}},
      {"by hand", run_measures, &measures[3], {0}},
  };
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_error_t error;
  int rc;

  if (begin(subject, 1) != 0)
    return 1;
  options.names = "page-faults:u";
  if (uvperf_meter_new(&subject->meter, &options, &error) != 0)
    return bench_fail("uvperf_meter_new", error.reason);
  rc = own_open(&subject->own, 1, 0);
  if (rc == 0)
    own_stop(&subject->own);
  if (rc == 0)
    rc = compare(report, "an empty function", "CPU per call", reused, 2);
  own_close(&subject->own);
  if (rc == 0)
    rc = compare(report, "the same, opened each time", "CPU per call", opened,
                 2);
  uvperf_meter_free(subject->meter);
  return end(subject, rc);
}

static int run(bench_report_t *report) {
  static subject_t subject;
  int rc;

  if (!own_may_open()) {
    bench_report_skip(report, "perf_event_paranoid 2, or CAP_PERFMON");
    return 0;
  }
  rc = compare_events(report, &subject, 1);
  if (rc == 0)
    rc = compare_events(report, &subject, GROUP);
  if (rc == 0)
    rc = compare_set(report, &subject, GROUP, 1);
  if (rc == 0)
    rc = compare_set(report, &subject, MANY, 0);
  if (rc == 0)
    rc = compare_measure(report, &subject);
  return rc;
}

const bench_t bench_counting = {
    "counting", "reading counts, and measuring a function", run};
