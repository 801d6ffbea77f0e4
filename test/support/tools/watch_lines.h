/* SPDX-License-Identifier: MIT */
/* What `watch --json` wrote, picked apart. */
#ifndef UVPERF_TEST_WATCH_LINES_H
#define UVPERF_TEST_WATCH_LINES_H

#include <stddef.h>
#include <stdio.h>

typedef struct watch_lines_line_s {
  double time;
  char type[16];
  long pid, ppid, tid; /* 0 where there is none */
  char comm[128];      /* as it stands in the line, escaped */
  char path[512];      /* that, or exe */
  char text[1024];
} watch_lines_line_t;

typedef struct watch_lines_s {
  watch_lines_line_t *lines;
  size_t nr;
} watch_lines_t;

/* Reads all lines of a file, from its start, and asserts that each is JSON, and
 * that time goes back as often as the last line says. */
void watch_lines_read(watch_lines_t *lines, FILE *file);
void watch_lines_free(watch_lines_t *lines);

/* How many lines of a type there are of a process, since its fork if that has a
 * line, and which is the first. */
size_t watch_lines_count(const watch_lines_t *lines, const char *type, long pid,
                         size_t *first);

/* The same; asserts that it is exactly one. */
const watch_lines_line_t *watch_lines_one(const watch_lines_t *lines,
                                          const char *type, long pid);

/* A number of the line, 0 if it has none of that name. */
long watch_lines_number(const watch_lines_line_t *line, const char *key);

#endif
