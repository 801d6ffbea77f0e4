/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "uvperf.h"

int bench_producer_cpu;
int bench_consumer_cpu;

int bench_fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
  return 1;
}

int bench_has_files(unsigned nr) {
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return 0;
  if (limit.rlim_cur >= nr)
    return 1;
  limit.rlim_cur = nr;
  if (limit.rlim_max < nr)
    limit.rlim_max = nr;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int bench_pin(int cpu) {
  cpu_set_t cpus;

  CPU_ZERO(&cpus);
  CPU_SET((size_t)cpu, &cpus);
  return sched_setaffinity(0, sizeof(cpus), &cpus) == 0 ? 0 : -errno;
}

size_t bench_cpus(int *cpus, size_t most) {
  cpu_set_t set;
  size_t nr = 0;
  int cpu;

  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 0;
  for (cpu = 0; cpu < CPU_SETSIZE && nr < most; cpu++)
    if (CPU_ISSET((size_t)cpu, &set))
      cpus[nr++] = cpu;
  return nr;
}

/* -- CPU time ------------------------------------------------------------- */

/* Up to date, which getrusage(2) is not. */
double bench_cpu_ns(void) {
  struct timespec time;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* -- memory --------------------------------------------------------------- */

static uint64_t allocations;
static uint64_t held_bytes;

/* The size that malloc has really reserved for it. */
static void *taken(void *memory) {
  allocations++;
  if (memory != NULL)
    held_bytes += malloc_usable_size(memory);
  return memory;
}

static void *count_malloc(size_t size) {
  return taken(malloc(size));
}

static void *count_calloc(size_t nr, size_t size) {
  return taken(calloc(nr, size));
}

static void *count_realloc(void *old, size_t size) {
  size_t before = old != NULL ? malloc_usable_size(old) : 0;
  void *memory = taken(realloc(old, size));

  if (memory != NULL)
    held_bytes -= before;
  return memory;
}

static void count_free(void *memory) {
  if (memory != NULL)
    held_bytes -= malloc_usable_size(memory);
  free(memory);
}

void bench_count_allocations(void) {
  uvperf_replace_allocator(count_malloc, count_realloc, count_calloc,
                           count_free);
}

uint64_t bench_allocations(void) {
  return allocations;
}

uint64_t bench_held_bytes(void) {
  return held_bytes;
}

/* -- order statistics ----------------------------------------------------- */

static int compare(const void *left, const void *right) {
  double a = *(const double *)left;
  double b = *(const double *)right;

  return (a > b) - (a < b);
}

double bench_quantile(double *values, size_t nr, double part) {
  double place = part * (double)(nr - 1);
  size_t below = (size_t)place;

  qsort(values, nr, sizeof(values[0]), compare);
  if (place == (double)below || below + 1 >= nr)
    return values[below];
  /* Not by their difference: both may be infinite. */
  return values[below] * ((double)below + 1 - place) +
         values[below + 1] * (place - (double)below);
}
