/* SPDX-License-Identifier: MIT */
/* Whether perf(1) and the library's decoder read the same out of a perf.data
 * file: every record by type and size, every sample field by field. */
#ifndef UVPERF_TEST_PERF_CHECK_H
#define UVPERF_TEST_PERF_CHECK_H

#include <stddef.h>

#include "perf_data.h"
#include "perf_dump.h"

#define PERF_CHECK_TYPES 96

/* What there was in the file. */
typedef struct perf_check_s {
  size_t nr_records;
  size_t nr_of_type[PERF_CHECK_TYPES]; /* PERF_RECORD_* */
  size_t nr_of_event[16];              /* samples, by the event's index */
  size_t nr_named;                     /* samples whose task has a name */
  size_t nr_lines;                     /* of perf script */
} perf_check_t;

/* Fails the test where the two differ, and where perf script, report or evlist
 * says anything on stderr; the second one not where they tell of losses. Which
 * event a sample is of is compared but where samples have the counts of a
 * group, which perf(1) takes apart. */
void perf_check_file(perf_check_t *check, const char *path);
void perf_check_file_with_losses(perf_check_t *check, const char *path);

#endif
