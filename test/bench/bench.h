/* SPDX-License-Identifier: MIT */
/* What the benchmarks share: failing, pinning, the CPU time of a thread, the
 * memory that the library takes, order statistics. */
#ifndef UVPERF_BENCH_BENCH_H
#define UVPERF_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "compare.h"
#include "report.h"

/* A benchmark: NAME.c has it as bench_NAME, and main.c lists it. */
typedef struct bench_s {
  const char *name;
  const char *what; /* it measures, for --list */
  /* Runs its comparisons. 0, also where a need is not met here, which it
   * reports; or 1 when it has said what failed. */
  int (*run)(bench_report_t *report);
} bench_t;

/* Says what failed and why. 1, for the caller to return. */
int bench_fail(const char *what, const char *why);

/* Where what produces runs, and what consumes: two CPUs, of those that the
 * program may use the first and the second. They are found once, by main. */
extern int bench_producer_cpu;
extern int bench_consumer_cpu;

/* Whether so many files can be open; root may raise the hard limit too. */
int bench_has_files(unsigned nr);

/* Keeps the calling thread on a CPU: 0 or -errno. */
int bench_pin(int cpu);
/* The CPUs that the calling thread may run on, at most `most`: how many. */
size_t bench_cpus(int *cpus, size_t most);

/* CPU time of the calling thread, user and system, in ns. */
double bench_cpu_ns(void);

/* Has the library take its memory by functions that count: how often, and how
 * many bytes are held now. */
void bench_count_allocations(void);
uint64_t bench_allocations(void);
uint64_t bench_held_bytes(void);

/* Sorts the values and gives the one of which `part` of all are below: 0.5 for
 * the median, 0.99 for p99. nr is not 0. */
double bench_quantile(double *values, size_t nr, double part);

#endif
