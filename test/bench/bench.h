/* SPDX-License-Identifier: MIT */
/* Shared by the benchmarks: failing, pinning, the CPU time of a thread, the
 * memory that the library allocates, order statistics. */
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
  /* Runs its comparisons. Returns 0, also if it reports that something needed
   * is missing here; or 1 after printing what failed. */
  int (*run)(bench_report_t *report);
} bench_t;

/* Prints what failed and why. Returns 1, for the caller to return. */
int bench_fail(const char *what, const char *why);

/* The CPUs of producers and consumers: the first and the second of those that
 * the program may use. main finds them once. */
extern int bench_producer_cpu;
extern int bench_consumer_cpu;

/* Whether nr files can be open; root may raise the hard limit too. */
int bench_has_files(unsigned nr);

/* Keeps the calling thread on a CPU: 0 or -errno. */
int bench_pin(int cpu);
/* The CPUs that the calling thread may run on, at most `most`: how many. */
size_t bench_cpus(int *cpus, size_t most);

/* CPU time of the calling thread, user and system, in ns. */
double bench_cpu_ns(void);

/* Makes the library use counting functions for its memory: the number of
 * allocations, and the bytes held now. */
void bench_count_allocations(void);
uint64_t bench_allocations(void);
uint64_t bench_held_bytes(void);

/* Sorts the values and returns the one that `part` of all are below: 0.5 for
 * the median, 0.99 for p99. nr is not 0. */
double bench_quantile(double *values, size_t nr, double part);

#endif
