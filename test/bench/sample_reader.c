/* SPDX-License-Identifier: MIT */
#include "sample_reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

/* -- subjects ------------------------------------------------------------- */

int sample_subject_open(sample_subject_t *subject, bench_report_t *report) {
  struct perf_event_attr *attr = &subject->attr;

  if (uvperf_attr_parse(attr, TRACED_CHILD_EVENT, NULL) != 0) {
    bench_report_skip(report, "tracefs, and " TRACED_CHILD_EVENT " there");
    return -1;
  }
  attr->sample_period = 1;
  attr->sample_type = BARE_RING_SAMPLE_TYPE;
  attr->read_format = BARE_RING_READ_FORMAT;
  if (traced_child_start(&subject->child, bench_producer_cpu) != 0)
    return 1;
  subject->holder = bare_event_open(attr, subject->child.pid);
  if (subject->holder >= 0)
    return 0;
  traced_child_end(&subject->child);
  bench_report_skip(report, subject->holder == -EINVAL
                                ? "Linux 6.0 (PERF_FORMAT_LOST)"
                                : "root or CAP_PERFMON");
  return -1;
}

void sample_subject_close(sample_subject_t *subject) {
  close(subject->holder);
  traced_child_end(&subject->child);
}

/* -- the loop ------------------------------------------------------------- */

static void on_done(uv_poll_t *done, int status, int events) {
  sample_reader_t *reader = done->data;

  reader->over =
      status != 0 ? status : traced_child_is_done(&reader->subject->child);
  if (reader->over != 0)
    uv_stop(done->loop);
}

int sample_loop_open(sample_reader_t *reader) {
  int rc = uv_loop_init(&reader->loop);

  if (rc != 0)
    return bench_fail("uv_loop_init", uv_strerror(rc));
  reader->done.data = reader;
  rc = uv_poll_init(&reader->loop, &reader->done, reader->subject->child.fd);
  if (rc != 0) {
    uv_loop_close(&reader->loop);
    return bench_fail("uv_poll_init", uv_strerror(rc));
  }
  uv_poll_start(&reader->done, UV_READABLE, on_done);
  return 0;
}

void sample_loop_close(sample_reader_t *reader) {
  uv_close((uv_handle_t *)&reader->done, NULL);
  uv_run(&reader->loop, UV_RUN_DEFAULT);
  uv_loop_close(&reader->loop);
}

/* -- by uvperf ------------------------------------------------------------ */

static void event_close(sample_reader_t *reader) {
  uvperf_close(&reader->event.handle, NULL);
  sample_loop_close(reader);
}

static int event_open(sample_reader_t *reader) {
  const sample_subject_t *subject = reader->subject;
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_error_t error;

  if (sample_loop_open(reader) != 0)
    return 1;
  options.pid = subject->child.pid;
  options.ring_bytes = subject->ring_bytes;
  reader->event.handle.data = subject->arg;
  if (uvperf_event_init(&reader->loop, &reader->event, &subject->attr, &options,
                        &error) != 0) {
    sample_loop_close(reader);
    return bench_fail("uvperf_event_init", error.reason);
  }
  if (uvperf_start(&reader->event.handle, NULL, subject->on_record, &error) ==
      0)
    return 0;
  event_close(reader);
  return bench_fail("uvperf_start", error.reason);
}

static int event_wait(sample_reader_t *reader) {
  uvperf_stats_t stats;
  int rc;

  uv_run(&reader->loop, UV_RUN_DEFAULT);
  rc = uvperf_flush(&reader->event.handle);
  if (rc != 0)
    return bench_fail("uvperf_flush", uv_strerror(rc));
  uvperf_stats(&reader->event.handle, &stats);
  reader->wakeups = stats.wakeups;
  return 0;
}

static int event_count(sample_reader_t *reader, bare_count_t *count) {
  uvperf_count_t read;
  int rc = uvperf_event_read(&reader->event, &read, NULL);

  if (rc != 0)
    return bench_fail("uvperf_event_read", uv_strerror(rc));
  count->value = read.value;
  count->id = read.id;
  count->lost = read.lost;
  return 0;
}

const sample_way_t sample_by_uvperf = {event_open, event_wait, event_count,
                                       event_close};

/* -- readers -------------------------------------------------------------- */

static int run(sample_reader_t *reader, const traced_plan_t *plan,
               double *cpu) {
  double began = bench_cpu_ns();

  reader->over = 0;
  if (traced_child_go(&reader->subject->child, plan) != 0 ||
      reader->way->wait(reader) != 0)
    return 1;
  *cpu = bench_cpu_ns() - began;
  if (reader->over < 0)
    return bench_fail("the traced child", strerror(-reader->over));
  return 0;
}

int sample_reader_run(sample_reader_t *reader, const traced_plan_t *plan,
                      sample_outcome_t *outcome) {
  uint64_t wakeups = reader->wakeups;
  bare_count_t before, after;

  if (reader->way->count(reader, &before) != 0 ||
      run(reader, plan, &outcome->cpu_ns) != 0 ||
      reader->way->count(reader, &after) != 0)
    return 1;
  outcome->produced = after.value - before.value;
  outcome->lost = after.lost - before.lost;
  outcome->wakeups = reader->wakeups - wakeups;
  outcome->id = after.id;
  if (outcome->produced != plan->nr)
    return bench_fail("the traced child", "has not carried out its plan");
  return 0;
}

/* -- comparisons ---------------------------------------------------------- */

typedef struct contender_s {
  const sample_subject_t *subject;
  const sample_case_t *about;
  const sample_way_t *way;
} contender_t;

static int run_contender(void *arg, double *values) {
  const contender_t *contender = arg;
  static sample_reader_t reader;
  int rc;

  memset(&reader, 0, sizeof(reader));
  reader.subject = contender->subject;
  reader.way = contender->way;
  if (reader.way->open(&reader) != 0)
    return 1;
  rc = contender->about->measure(&reader, values);
  reader.way->close(&reader);
  return rc;
}

int sample_subject_compare(const sample_subject_t *subject,
                           bench_report_t *report, const sample_case_t *about) {
  contender_t ways[] = {{subject, about, &sample_by_uvperf},
                        {subject, about, &sample_by_uv_poll}};
  bench_contender_t contenders[] = {
      {"uvperf", run_contender, &ways[0], {0}},
      {"bare uv_poll", run_contender, &ways[1], {0}},
  };
  const bench_comparison_t comparison = {about->name, about->metrics,
                                         about->nr_metrics, contenders, 2};

  memcpy(contenders[1].bounds, about->bounds, sizeof(about->bounds));
  return bench_compare(report, &comparison);
}
