/* SPDX-License-Identifier: MIT */
/* The benchmarks, each in its file. */
#ifndef UVPERF_BENCH_BENCHMARKS_H
#define UVPERF_BENCH_BENCHMARKS_H

#include "bench.h"

extern const bench_t bench_block;
extern const bench_t bench_bpf;
extern const bench_t bench_counting;
extern const bench_t bench_decode;
extern const bench_t bench_latency;
extern const bench_t bench_storm;
extern const bench_t bench_fairness;
extern const bench_t bench_scale;
extern const bench_t bench_order;

#endif
