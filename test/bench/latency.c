/* SPDX-License-Identifier: MIT */
/* How long a sample takes to its callback: from its time stamp, by
 * CLOCK_MONOTONIC, to the same clock in the callback. A thousand per second, on
 * another CPU, and each wakes its reader. */
#include <time.h>

#include "bench.h"
#include "benchmarks.h"
#include "sample_reader.h"

#define RING_BYTES ((size_t)64 * 1024)
#define SAMPLES    250

static const traced_plan_t warm_plan = {10, 1000000, 1, 0};
static const traced_plan_t plan = {SAMPLES, 1000000, 1, 0};

typedef struct subject_s {
  sample_subject_t sample;
  size_t nr;
  double ns[SAMPLES];
} subject_t;

/* -- callbacks ------------------------------------------------------------ */

static void note(subject_t *subject, uint64_t time) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  if (subject->nr < SAMPLES)
    subject->ns[subject->nr] = (double)((uint64_t)now.tv_sec * 1000000000 +
                                        (uint64_t)now.tv_nsec - time);
  subject->nr += 1;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  if (status == 0 && record->type == PERF_RECORD_SAMPLE)
    note(handle->data, record->time);
}

static void on_sample(void *arg, const bare_sample_t *sample) {
  note(arg, sample->time);
}

/* -- measuring ------------------------------------------------------------ */

static int measure(sample_reader_t *reader, double *values) {
  subject_t *subject = reader->subject->arg;
  sample_outcome_t outcome;

  if (sample_reader_run(reader, &warm_plan, &outcome) != 0)
    return 1;
  subject->nr = 0;
  if (sample_reader_run(reader, &plan, &outcome) != 0)
    return 1;
  if (subject->nr != SAMPLES)
    return bench_fail("a reader", "has not delivered all");
  values[0] = bench_quantile(subject->ns, SAMPLES, 0.5) / 1000;
  values[1] = bench_quantile(subject->ns, SAMPLES, 0.99) / 1000;
  values[2] = outcome.cpu_ns / SAMPLES / 1000;
  return 0;
}

static int run(bench_report_t *report) {
  static const bench_metric_t metrics[] = {
      {"median", "us"}, {"p99", "us"}, {"CPU per sample", "us"}};
  static const sample_case_t about = {
      "1,000 samples a second", metrics, 3, {1.05, 1.05, 0}, measure};
  static subject_t subject = {.sample = {.on_record = on_record,
                                         .on_sample = on_sample,
                                         .arg = &subject,
                                         .ring_bytes = RING_BYTES}};
  int rc = sample_subject_open(&subject.sample, report);

  if (rc != 0)
    return rc > 0;
  subject.sample.attr.wakeup_events = 1;
  subject.sample.attr.use_clockid = 1;
  subject.sample.attr.clockid = CLOCK_MONOTONIC;
  rc = sample_subject_compare(&subject.sample, report, &about);
  sample_subject_close(&subject.sample);
  return rc;
}

const bench_t bench_latency = {
    "latency", "from the time stamp of a sample to its callback", run};
