/* SPDX-License-Identifier: MIT */
/* The cost of a tracepoint's sample for its reader, from the wakeup to the
 * callback: CPU time of the reading thread, and the losses. A child makes
 * system calls on another CPU. With a watermark of half the ring it is as fast
 * as it can; with a wakeup for each sample it makes each call after the sample
 * before was delivered. (Otherwise a slow reader would get fewer wakeups, and a
 * reader that never sleeps uses all of its CPU however good it is.) */
#include <string.h>
#include <sys/syscall.h>

#include "bench.h"
#include "benchmarks.h"
#include "sample_reader.h"

#define RING_BYTES ((size_t)512 * 1024)

/* The callbacks' sums of what they receive. */
typedef struct tally_s {
  uint64_t *delivered; /* the child sees it */
  uint64_t known;      /* sums of predictable values, */
  uint64_t other;      /* and of the rest */
} tally_t;

typedef struct subject_s {
  sample_subject_t sample;
  traced_plan_t warm;
  traced_plan_t plan;
  tally_t tally;
} subject_t;

/* -- callbacks ------------------------------------------------------------ */

/* The number of the system call, from the raw data. */
static uint32_t number_of(const void *raw) {
  uint32_t number;

  memcpy(&number, (const char *)raw + 8, sizeof(number));
  return number;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  subject_t *subject = handle->data;
  tally_t *tally = &subject->tally;

  if (status != 0 || record->type != PERF_RECORD_SAMPLE)
    return;
  *tally->delivered += 1;
  tally->known += record->pid + record->tid + record->id + record->cpu +
                  record->period + number_of(record->sample.raw.data);
  tally->other += record->ip + record->time + record->sample.raw.size;
}

static void on_sample(void *arg, const bare_sample_t *sample) {
  subject_t *subject = arg;
  tally_t *tally = &subject->tally;

  *tally->delivered += 1;
  tally->known += sample->pid + sample->tid + sample->id + sample->cpu +
                  sample->period + number_of(sample->raw.data);
  tally->other += sample->ip + sample->time + sample->raw.size;
}

/* -- measuring ------------------------------------------------------------ */

static int check(const subject_t *subject, const sample_outcome_t *outcome) {
  const tally_t *tally = &subject->tally;
  uint64_t pid = (uint64_t)subject->sample.child.pid;
  uint64_t each = 2 * pid + outcome->id + (uint64_t)bench_producer_cpu + 1 +
                  TRACED_CHILD_SYSCALL;

  if (*tally->delivered + outcome->lost != outcome->produced)
    return bench_fail("a reader",
                      "what was delivered and lost is not what was produced");
  if (tally->known != each * *tally->delivered || tally->other == 0)
    return bench_fail("a reader", "the fields are not those of the child");
  return 0;
}

static void reset(subject_t *subject) {
  subject->tally.delivered = subject->sample.child.taken;
  *subject->tally.delivered = 0;
  subject->tally.known = 0;
  subject->tally.other = 0;
}

static int measure(sample_reader_t *reader, double *values) {
  subject_t *subject = reader->subject->arg;
  sample_outcome_t outcome;
  double delivered;

  reset(subject);
  if (sample_reader_run(reader, &subject->warm, &outcome) != 0)
    return 1;
  reset(subject);
  if (sample_reader_run(reader, &subject->plan, &outcome) != 0 ||
      check(subject, &outcome) != 0)
    return 1;
  delivered = (double)*subject->tally.delivered;
  values[0] = outcome.cpu_ns / delivered;
  values[1] = 100 * (double)outcome.lost / (double)outcome.produced;
  values[2] = delivered / (double)outcome.wakeups;
  return 0;
}

static const bench_metric_t metrics[] = {
    {"CPU per sample", "ns"}, {"lost", "%"}, {"samples/wakeup", ""}};

static int compare_watermark(bench_report_t *report, subject_t *subject) {
  static const sample_case_t about = {
      "watermark of half a ring", metrics, 3, {1.05, 1, 0}, measure};

  subject->sample.attr.watermark = 1;
  subject->sample.attr.wakeup_watermark = RING_BYTES / 2;
  subject->warm = (traced_plan_t){.nr = 20000};
  subject->plan = (traced_plan_t){.nr = 100000};
  return sample_subject_compare(&subject->sample, report, &about);
}

static int compare_each(bench_report_t *report, subject_t *subject) {
  static const sample_case_t about = {
      "a wakeup for each", metrics, 3, {1.03, 1, 0}, measure};

  subject->sample.attr.watermark = 0;
  subject->sample.attr.wakeup_events = 1;
  subject->plan = (traced_plan_t){.follows = 1};
  subject->warm = subject->plan;
  subject->warm.nr = 100;
  subject->plan.nr = 5000;
  return sample_subject_compare(&subject->sample, report, &about);
}

static int run(bench_report_t *report) {
  static subject_t subject = {.sample = {.on_record = on_record,
                                         .on_sample = on_sample,
                                         .arg = &subject,
                                         .ring_bytes = RING_BYTES}};
  int rc = sample_subject_open(&subject.sample, report);

  if (rc != 0)
    return rc > 0;
  rc = compare_watermark(report, &subject);
  if (rc == 0)
    rc = compare_each(report, &subject);
  sample_subject_close(&subject.sample);
  return rc;
}

const bench_t bench_storm = {
    "storm", "samples of a tracepoint, from the kernel to the callback", run};
