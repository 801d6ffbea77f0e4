/* SPDX-License-Identifier: MIT */
/* What the programs of this directory share: failing, pinning, the CPU time of
 * a thread, the memory that the library takes, medians. */
#ifndef UVPERF_BENCH_BENCH_H
#define UVPERF_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Says what failed and why. 1, for main to return. */
int bench_fail(const char *what, const char *why);

/* Keeps the calling thread on a CPU: 0 or -errno. */
int bench_pin(int cpu);
/* The CPUs that the calling thread may run on, at most `most`: how many. */
size_t bench_cpus(int *cpus, size_t most);

/* CPU time of the calling thread, in ns. */
typedef struct bench_time_s {
  uint64_t user;
  uint64_t sys;
} bench_time_t;

bench_time_t bench_time(void);
/* What has gone since an earlier one. */
bench_time_t bench_time_since(const bench_time_t *before);

/* Has the library take its memory by functions that count. */
void bench_count_allocations(void);
uint64_t bench_allocations(void);

/* Sorts the values and gives the one in the middle. */
double bench_median(double *values, size_t nr);

#endif
