/* SPDX-License-Identifier: MIT */
/* What the profiler prints, picked apart. */
#ifndef UVPERF_TEST_PROFILE_RUN_H
#define UVPERF_TEST_PROFILE_RUN_H

#include "tool_run.h"

/* A row of the table. */
typedef struct profile_row_s {
  double self, total; /* percent */
  unsigned long samples;
  char object[64];
  char name[256];
} profile_row_t;

/* A row of the table: 1, or 0 if it has not so many. */
int profile_run_row(const tool_run_t *run, size_t index, profile_row_t *row);

/* The samples that the last line tells. */
unsigned long profile_run_samples(const tool_run_t *run);

/* Returns 1 if a row is spin() of profile_target, or an address in it. The
 * target prints these addresses. */
int profile_run_is_spin(const tool_run_t *run, const profile_row_t *row);

/* The first row is spin(). */
void profile_run_expect_spin(const tool_run_t *run);

#endif
