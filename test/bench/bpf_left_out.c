/* SPDX-License-Identifier: MIT */
/* Replaces bpf.c without libbpf. */
#include "benchmarks.h"

static int run(bench_report_t *report) {
  bench_report_skip(report, "libbpf");
  return 0;
}

const bench_t bench_bpf = {"bpf", "what BPF programs hand out, beside libbpf",
                           run};
