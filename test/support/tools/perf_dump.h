/* SPDX-License-Identifier: MIT */
/* What perf(1) reads out of a perf.data file, by perf script -D. */
#ifndef UVPERF_TEST_PERF_DUMP_H
#define UVPERF_TEST_PERF_DUMP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_DUMP_MAX_FRAMES 256

/* One record. */
typedef struct perf_dump_item_s {
  uint64_t offset; /* in the file */
  uint64_t size;
  char type[32]; /* "PERF_RECORD_MMAP2" */
  int has_time, has_cpu;
  uint64_t time, cpu;
  /* Of samples. */
  uint32_t pid, tid;
  uint64_t ip, period, addr;
  char comm[32];
  char event[128];
  size_t nr_ips;
  uint64_t *ips; /* with PERF_CONTEXT_* */
  uint64_t regs_mask;
  size_t nr_regs;
  uint64_t stack_bytes;
} perf_dump_item_t;

typedef struct perf_dump_s {
  perf_dump_item_t *items; /* in the order of their offsets */
  size_t nr;
  size_t capacity;
  /* 0, or how many lines perf script prints where that is not one of each
   * sample: then samples lack their events. */
  size_t nr_lines;
} perf_dump_t;

/* Skips the test if there is no perf(1). */
void perf_dump_need(const char *test);

/* Runs perf with these words of a shell; fails the test if it does not succeed,
 * or says anything on stderr, but for what it says of losses if these are to be
 * expected. late, unless NULL, is how many records it says came late: a kernel
 * whose CPU stops while it writes a record makes such. Its stdout, from the
 * beginning, for fclose. */
FILE *perf_dump_run(const char *words, int has_losses, uint64_t *late);

/* Whether these messages of perf are only about lost records. */
int perf_dump_is_of_losses(const char *messages);

/* Dumps a file; as perf_dump_run. */
void perf_dump_open(perf_dump_t *dump, const char *path, int has_losses);
void perf_dump_close(perf_dump_t *dump);

#endif
