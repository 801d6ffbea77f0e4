/* SPDX-License-Identifier: MIT */
/* Checks what a user without privileges may do, line by line. The lines run in
 * one forked child that has dropped its privileges; they report to the test
 * through shared memory, because a child must not assert. */
#ifndef UVPERF_TEST_LIVE_UNPRIVILEGED_H
#define UVPERF_TEST_LIVE_UNPRIVILEGED_H

#include "check_explain.h"
#include "live.h"

/* What a line reports; only the first complaint is kept. */
typedef struct live_unprivileged_report_s {
  int has_run;
  char absent[128]; /* what this machine lacks; "" if nothing */
  char wrong[384];  /* "" if nothing */
} live_unprivileged_report_t;

typedef struct live_unprivileged_line_s {
  const char *name;
  void (*run)(live_unprivileged_report_t *report);
} live_unprivileged_line_t;

/* Skips the test unless perf_event_paranoid is 2 and the process can drop its
 * privileges or has none. Then runs the lines, and fails the test for any
 * complaint. A line that lacks something is named on standard output. */
void live_unprivileged_run(const char *test,
                           const live_unprivileged_line_t *lines, size_t nr);

/* The same for a child that has kept only CAP_PERFMON; needs root. */
void live_unprivileged_run_with_perfmon(const char *test,
                                        const live_unprivileged_line_t *lines,
                                        size_t nr);

void live_unprivileged_wrong(live_unprivileged_report_t *report,
                             const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void live_unprivileged_absent(live_unprivileged_report_t *report,
                              const char *what);

/* An event of the calling thread, delivered by a loop of its own. */
typedef struct live_unprivileged_stream_s {
  struct perf_event_attr attr;
  /* Causes the records; NULL: nothing can. */
  void (*provoke)(void);
  /* Returns 1 for a correct record, 0 for an unrelated one, -1 for a wrong
   * one. */
  int (*is_expected)(const uvperf_record_t *record);
  uint64_t least; /* correct records that must come */
  uint64_t most;  /* correct records that may come; 0: any number */
} live_unprivileged_stream_t;

/* Opens and starts it, provokes, and complains if records are missing or
 * wrong. */
void live_unprivileged_stream(live_unprivileged_report_t *report,
                              const live_unprivileged_stream_t *stream);

/* Counts what the function provokes: it must be from least to most. */
void live_unprivileged_count(live_unprivileged_report_t *report,
                             const struct perf_event_attr *attr,
                             void (*provoke)(void), uint64_t least,
                             uint64_t most);

/* Complains unless init succeeds; starts nothing. */
void live_unprivileged_opens(live_unprivileged_report_t *report,
                             const struct perf_event_attr *attr, int pid,
                             int cpu);

/* Complains unless init fails like this. */
void live_unprivileged_refused(live_unprivileged_report_t *report,
                               const struct perf_event_attr *attr, int pid,
                               int cpu, int code, const char *piece);

#endif
