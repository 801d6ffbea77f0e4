/* SPDX-License-Identifier: MIT */
/* Checks what a user without privileges may do, line by line. The lines run in
 * one forked child that has dropped its privileges; they report to the test
 * through shared memory, because a child must not assert. */
#ifndef UVPERF_TEST_UNPRIVILEGED_H
#define UVPERF_TEST_UNPRIVILEGED_H

#include "explain_check.h"
#include "live.h"

/* What a line reports; only the first complaint is kept. */
typedef struct unprivileged_report_s {
  int has_run;
  char absent[128]; /* what this machine lacks; "" if nothing */
  char wrong[384];  /* "" if nothing */
} unprivileged_report_t;

typedef struct unprivileged_line_s {
  const char *name;
  void (*run)(unprivileged_report_t *report);
} unprivileged_line_t;

/* Skips the test unless perf_event_paranoid is 2 and the process can drop its
 * privileges or has none. Then runs the lines, and fails the test for any
 * complaint. A line that lacks something is named on standard output. */
void unprivileged_run(const char *test, const unprivileged_line_t *lines,
                      size_t nr);

/* The same for a child that has kept only CAP_PERFMON; needs root. */
void unprivileged_run_with_perfmon(const char *test,
                                   const unprivileged_line_t *lines, size_t nr);

void unprivileged_wrong(unprivileged_report_t *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void unprivileged_absent(unprivileged_report_t *report, const char *what);

/* An event of the calling thread, delivered by a loop of its own. */
typedef struct unprivileged_stream_s {
  struct perf_event_attr attr;
  /* Causes the records; NULL: nothing can. */
  void (*provoke)(void);
  /* Returns 1 for a correct record, 0 for an unrelated one, -1 for a wrong
   * one. */
  int (*is_expected)(const uvperf_record_t *record);
  uint64_t least; /* correct records that must come */
  uint64_t most;  /* correct records that may come; 0: any number */
} unprivileged_stream_t;

/* Opens and starts it, provokes, and complains if records are missing or
 * wrong. */
void unprivileged_stream(unprivileged_report_t *report,
                         const unprivileged_stream_t *stream);

/* Counts what the function provokes: it must be from least to most. */
void unprivileged_count(unprivileged_report_t *report,
                        const struct perf_event_attr *attr,
                        void (*provoke)(void), uint64_t least, uint64_t most);

/* Complains unless init succeeds; starts nothing. */
void unprivileged_opens(unprivileged_report_t *report,
                        const struct perf_event_attr *attr, int pid, int cpu);

/* Complains unless init fails like this. */
void unprivileged_refused(unprivileged_report_t *report,
                          const struct perf_event_attr *attr, int pid, int cpu,
                          int code, const char *piece);

#endif
