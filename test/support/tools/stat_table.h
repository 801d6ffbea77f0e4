/* SPDX-License-Identifier: MIT */
/* Reports for the tests of what stat prints: tables that are made line by line,
 * and their output. */
#ifndef UVPERF_TEST_STAT_TABLE_H
#define UVPERF_TEST_STAT_TABLE_H

#include "stat/report.h"

typedef struct stat_table_s {
  stat_event_t events[32];
  struct perf_event_attr attrs[32];
  stat_line_t lines[64];
  stat_report_t report;
} stat_table_t;

typedef void (*stat_table_print_fn)(FILE *file, const stat_report_t *report);

/* A report of one run of 'true' that took 2 s, without lines. */
void stat_table_init(stat_table_t *table);

/* Adds an event by its name, a raw one if the name is none of perf-list(1), and
 * a line of it: so much was counted, in 1.5 s in which it always was on a
 * counter. The unit is "ns" if it is called a clock. */
stat_line_t *stat_table_add(stat_table_t *table, const char *label,
                            uint64_t value);

/* Adds a line of an event that there is. */
stat_line_t *stat_table_line(stat_table_t *table, size_t event, int32_t cpu,
                             uint64_t value);

/* What is printed, for free(). */
char *stat_table_print(const stat_table_t *table, stat_table_print_fn print);

/* Fails unless exactly this is printed, or this so many times. */
void stat_table_expect(const stat_table_t *table, stat_table_print_fn print,
                       const char *expected);
void stat_table_expect_part(const stat_table_t *table,
                            stat_table_print_fn print, const char *part,
                            size_t times);

#endif
