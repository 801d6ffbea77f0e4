/* SPDX-License-Identifier: MIT */
/* What bpf-output needs, and what `bpf-output --json` wrote, picked apart. */
#ifndef UVPERF_TEST_EXEC_LINES_H
#define UVPERF_TEST_EXEC_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct exec_line_s {
  double time;
  char type[16];
  long cpu, pid, ppid; /* -1 where there is none */
  long cut;            /* 0 where there is none */
  char comm[128];      /* as it stands in the line, escaped */
  char filename[8192];
  char *text;
} exec_line_t;

typedef struct exec_lines_s {
  exec_line_t *lines;
  size_t nr;
  uint64_t lost_in_lines; /* of the lines of the type "lost" */
  uint64_t execs, lost;   /* of the last line */
} exec_lines_t;

/* Skips the test where bpf-output has not what it needs. */
void exec_lines_need(const char *test);

/* Reads all lines of a file, from its start, and asserts that each is JSON,
 * that the last one, and no other, is an end, and that time does not go back on
 * any CPU. */
void exec_lines_read(exec_lines_t *lines, FILE *file);
void exec_lines_free(exec_lines_t *lines);

#endif
