/* SPDX-License-Identifier: MIT */
/* Operations whose steps are measured one after the other, for block.c. */
#ifndef UVPERF_BENCH_BLOCK_H
#define UVPERF_BENCH_BLOCK_H

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>

#include "bench.h"
#include "uvperf.h"

#define BLOCK_STEPS 8

/* Shared by the steps of an operation. */
typedef struct block_s {
  uv_loop_t loop;
  uv_work_t work;
  const struct block_step_s *step; /* on the pool; NULL: none */
  int pool_rc;
  uvperf_set_t set;
  uvperf_event_t event;
  uvperf_event_list_t *list;
  uvperf_meter_t *meter;
  uvperf_reading_t *reading;
  pid_t child;
  char text[512]; /* for %s in commands */
  char name[128]; /* for steps whose own name is "" */
  int is_opened;
  int is_closed;
  int is_taken;
  size_t records;
  size_t nr_readings;
  size_t nr_asked; /* requests of uv_fs_stat that were answered in this step */
} block_t;

typedef struct block_step_s {
  const char *name; /* NULL: not reported; "": block_t.name */
  /* Runs on the loop's thread. Returns 0, or 1 after printing what failed. */
  int (*begin)(block_t *block);
  /* The loop runs until this is not 0; NULL: `begin` does it all. */
  int (*is_done)(const block_t *block);
  /* `begin` runs on libuv's thread pool instead, by uv_queue_work. */
  int on_pool;
  /* One request of uv_fs_stat after the other is under way meanwhile, and the
   * 99th percentile of their times is reported too. */
  int asks;
  const char *perf; /* a command that does the same; NULL: none */
} block_step_t;

typedef struct block_operation_s {
  size_t rounds; /* at most: some take long */
  int in_fresh_process;
  unsigned pause_us; /* before each round */
  block_step_t steps[BLOCK_STEPS];
} block_operation_t;

int block_begin(bench_report_t *report);
void block_end(void);

/* The calling thread, and those that it makes, may use both CPUs. */
void block_use_both_cpus(void);

/* Runs the rounds and reports the steps. 0, or 1 if a failure was printed. */
int block_measure(bench_report_t *report, const block_operation_t *operation);

#endif
