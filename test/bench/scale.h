/* SPDX-License-Identifier: MIT */
/* The parts of the benchmark `scale`, each in its file. They return 0, or 1
 * after printing what failed. */
#ifndef UVPERF_BENCH_SCALE_H
#define UVPERF_BENCH_SCALE_H

#include "bench.h"

#define SCALE_MOST_RINGS 1000
#define SCALE_RING_BYTES 4096

/* CPU per wakeup of a loop with many rings, of which one is active. */
int scale_wakeup(bench_report_t *report);

/* The library's memory for a ring. */
int scale_memory(bench_report_t *report);

#endif
