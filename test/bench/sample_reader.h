/* SPDX-License-Identifier: MIT */
/* Reads the samples of a child in one of two ways: with the library, and as its
 * yardstick by hand on a bare uv_poll. Both open the same attr, and wait for
 * the child's message that it is done in the same way as for the ring. */
#ifndef UVPERF_BENCH_SAMPLE_READER_H
#define UVPERF_BENCH_SAMPLE_READER_H

#include <uv.h>

#include "bare_ring.h"
#include "compare.h"
#include "report.h"
#include "traced_child.h"
#include "uvperf.h"

typedef struct sample_reader_s sample_reader_t;

/* Functions return 0, or 1 after printing what failed. */
typedef struct sample_way_s {
  /* Opens the event, enables it, and is ready to wait. On failure there is
   * nothing to close. */
  int (*open)(sample_reader_t *reader);
  /* Delivers until the child is done, and then the rest. */
  int (*wait)(sample_reader_t *reader);
  int (*count)(sample_reader_t *reader, bare_count_t *count);
  void (*close)(sample_reader_t *reader);
} sample_way_t;

extern const sample_way_t sample_by_uvperf;
extern const sample_way_t sample_by_uv_poll; /* bare_loop.c */

/* The source of the samples, and their receiver. The caller fills in the
 * receiver, and its wishes for the attr, before it opens a reader. */
typedef struct sample_subject_s {
  uvperf_record_cb on_record; /* event->handle.data is arg */
  bare_sample_cb on_sample;
  void *arg;
  size_t ring_bytes;
  struct perf_event_attr attr;
  traced_child_t child;
  /* Keeps the tracepoint in use, as the last to leave waits for all CPUs. */
  int holder;
} sample_subject_t;

/* An open reader. The fields after `way` are private to the ways. */
struct sample_reader_s {
  const sample_subject_t *subject;
  const sample_way_t *way;
  uint64_t wakeups;
  int over; /* result of traced_child_is_done */
  uv_loop_t loop;
  uv_poll_t done;
  uvperf_event_t event;
  bare_ring_t ring;
  uv_poll_t poll;
};

/* The result of a plan of the child. */
typedef struct sample_outcome_s {
  double cpu_ns;     /* of the reader, from the start to the last sample */
  uint64_t produced; /* samples */
  uint64_t lost;
  uint64_t wakeups;
  uint64_t id; /* of the event */
} sample_outcome_t;

/* Makes the child carry out a plan, and reads until everything is delivered.
 * Returns 0, or 1 after printing what failed. */
int sample_reader_run(sample_reader_t *reader, const traced_plan_t *plan,
                      sample_outcome_t *outcome);

/* The measurement of each way. */
typedef struct sample_case_s {
  const char *name;
  const bench_metric_t *metrics;
  size_t nr_metrics;
  double bounds[BENCH_MOST_METRICS]; /* against the loop on a bare uv_poll */
  /* Measures with a reader that was just opened. Returns 0, or 1 after printing
   * what failed. */
  int (*measure)(sample_reader_t *reader, double *values);
} sample_case_t;

/* Starts the child, and makes an attr that records each of its system calls,
 * with BARE_RING_SAMPLE_TYPE. Returns 0; 1 after printing what failed; or -1
 * after reporting that something needed is missing here. */
int sample_subject_open(sample_subject_t *subject, bench_report_t *report);
void sample_subject_close(sample_subject_t *subject);

/* Compares the ways. Returns 0, or 1 after printing what failed. */
int sample_subject_compare(const sample_subject_t *subject,
                           bench_report_t *report, const sample_case_t *about);

/* For the ways: the loop, which stops when the child is done. Returns 0, or 1
 * after printing what failed. */
int sample_loop_open(sample_reader_t *reader);
/* Runs it until all closing handles are closed. */
void sample_loop_close(sample_reader_t *reader);

#endif
