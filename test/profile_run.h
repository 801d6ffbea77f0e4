/* SPDX-License-Identifier: MIT */
/* Runs the profiler as a user would, for the tests of it. */
#ifndef UVPERF_TEST_PROFILE_RUN_H
#define UVPERF_TEST_PROFILE_RUN_H

#include "support.h"

#define PROFILE_RUN_ARGS 16

/* One run of the profiler. */
typedef struct profile_run_s {
  const char *args[PROFILE_RUN_ARGS]; /* the path of the profiler first */
  const char *interrupt_at;           /* a signal once this is on stderr */
  int interrupt_with;                 /* 0: SIGINT */
  int as_nobody;
  int status; /* exit status, or 128 + signal */
  char out[65536];
  char err[65536];
} profile_run_t;

/* A row of the table. */
typedef struct profile_row_s {
  double percent;
  unsigned long samples;
  char command[64];
  char place[256];
} profile_row_t;

/* Returns when nobody holds stdout and stderr any more, so that a command left
 * behind would be noticed. */
void profile_run(profile_run_t *run);

/* Reads what there is behind the text in an array; 0 at the end of the file. */
int profile_run_append(int fd, char *text, size_t size);

/* These fail the test, and show what the profiler wrote. */
void profile_run_expect_status(const profile_run_t *run, int status);
void profile_run_expect_text(const char *text, const char *part);

/* A row of the table: 1, or 0 if it has not so many. */
int profile_run_row(const profile_run_t *run, size_t index, profile_row_t *row);

/* The samples that the last line tells. */
unsigned long profile_run_samples(const profile_run_t *run);

/* kernel.perf_event_paranoid. */
long profile_run_paranoid(void);

#endif
