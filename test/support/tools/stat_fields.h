/* SPDX-License-Identifier: MIT */
/* What stat, or perf stat, printed as fields, picked apart. */
#ifndef UVPERF_TEST_STAT_FIELDS_H
#define UVPERF_TEST_STAT_FIELDS_H

#include "tool_run.h"

/* A line of fields, as -x, or another character prints it. */
typedef struct stat_fields_s {
  char text[1024];
  const char *field[16];
  size_t nr;
} stat_fields_t;

/* The index-th line that has so many fields or more: 1, or 0 if there are not
 * so many. */
int stat_fields_line(const char *text, char separator, size_t least,
                     size_t index, stat_fields_t *line);

/* Of a table by "-x," alone: the value of an event, and the sum over all lines
 * of it (of CPUs or intervals, with so many fields before the value). Each
 * fails the test, and shows the text, if the event is not there or not
 * counted. */
uint64_t stat_fields_value(const char *text, const char *event);
uint64_t stat_fields_sum(const char *text, const char *event, size_t before);

#endif
