/* SPDX-License-Identifier: MIT */
/* What `trace --json` wrote, picked apart. */
#ifndef UVPERF_TEST_TRACE_LINES_H
#define UVPERF_TEST_TRACE_LINES_H

#include <stddef.h>
#include <stdio.h>

#include "tool_run.h"

typedef struct trace_lines_line_s {
  double time;
  char type[16];
  long pid, tid, cpu; /* -2 where there is none */
  long who;           /* of a getpriority(2): whose; -1 where there is none */
  char comm[128];     /* as it stands in the line, escaped */
  char event[128];
  char text[1024];
} trace_lines_line_t;

typedef struct trace_lines_s {
  trace_lines_line_t *lines;
  size_t nr;
} trace_lines_t;

/* Runs the sample, which must end with this status, and reads all its lines
 * instead of those that there are: each must be JSON, the last "end", and time
 * goes back as often as that says. */
void trace_lines_run(trace_lines_t *lines, tool_run_t *run, int status);

/* How many lines there are of an event. */
size_t trace_lines_count(const trace_lines_t *lines, const char *event);

/* A number of the line, which must have it. */
long trace_lines_number(const trace_lines_line_t *line, const char *key);

/* The last line. */
const trace_lines_line_t *trace_lines_end(const trace_lines_t *lines);

#endif
