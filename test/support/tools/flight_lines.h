/* SPDX-License-Identifier: MIT */
/* What `flight-recorder --json` wrote, picked apart. */
#ifndef UVPERF_TEST_FLIGHT_LINES_H
#define UVPERF_TEST_FLIGHT_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct flight_lines_line_s {
  uint64_t time; /* ns */
  char type[16];
  int dump; /* which it is of, from 1 on */
  long cpu, from_pid, from_tid, to_pid, to_tid, preempted; /* -2: not there */
  char from_comm[32], to_comm[32]; /* as they stand in the line, escaped */
  uint64_t from; /* of a dump or a CPU, ns: since when it tells all */
  long number;   /* of a dump or a CPU: switches; of LOST: records */
} flight_lines_line_t;

typedef struct flight_lines_s {
  flight_lines_line_t *lines;
  size_t nr;
  int nr_dumps;
} flight_lines_t;

/* Reads all lines of a file, from its start, and asserts that each is JSON, and
 * what is so in any dump: that it begins and ends as it must, with as many
 * switches as it says, in the order of time, and each CPU goes on with the task
 * that came before. */
void flight_lines_read(flight_lines_t *lines, FILE *file);
void flight_lines_free(flight_lines_t *lines);

/* The first line of a dump, counted from 1, and its line of a CPU. */
const flight_lines_line_t *flight_lines_dump(const flight_lines_t *lines,
                                             int dump);
const flight_lines_line_t *flight_lines_cpu(const flight_lines_t *lines,
                                            int dump, long cpu);

/* How often a thread was switched out in a dump from one time to another. */
long flight_lines_count(const flight_lines_t *lines, int dump, long tid,
                        uint64_t from, uint64_t to);

#endif
