/* SPDX-License-Identifier: MIT */
/* Where and how stat writes its tables. */
#ifndef STAT_OUTPUT_H
#define STAT_OUTPUT_H

#include <stdint.h>
#include <stdio.h>

#include "stat/options.h"
#include "stat/report.h"

typedef struct stat_output_s {
  const stat_options_t *options;
  FILE *file;
  uint64_t nr_intervals;
} stat_output_t;

/* Opens it: 0, or 1 after a message. */
int stat_output_open(stat_output_t *output, const stat_options_t *options);

/* Writes a table, or that of an interval. `user_only`: the names of some events
 * say that their user side alone was counted. */
void stat_output_table(stat_output_t *output, const stat_report_t *report,
                       int user_only);

/* What is to be said after the last interval, with its report. */
void stat_output_end(stat_output_t *output, const stat_report_t *report,
                     int user_only);

/* 1, after a message, if not all could be written, else 0. */
int stat_output_close(stat_output_t *output);

#endif
