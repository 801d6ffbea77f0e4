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

/* Opens the output. Returns 0, or 1 after a message. */
int stat_output_open(stat_output_t *output, const stat_options_t *options);

/* Writes the table of a run or interval. `user_only` means: the names of some
 * events say that only the user side was counted. */
void stat_output_table(stat_output_t *output, const stat_report_t *report,
                       int user_only);

/* Writes the notes after the last interval, with its report. */
void stat_output_end(stat_output_t *output, const stat_report_t *report,
                     int user_only);

/* Closes the output. Returns 0, or 1 after a message if some output was not
 * written. */
int stat_output_close(stat_output_t *output);

#endif
