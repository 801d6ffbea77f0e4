/* SPDX-License-Identifier: MIT */
/* The number of records that BPF programs could not write, which the programs
 * count themselves in a map: options.lost. */
#ifndef UVPERF_LIB_BPF_COUNTER_H
#define UVPERF_LIB_BPF_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/bpf.h"

typedef struct uvperf__bpf_counter_s {
  int fd; /* -1: it is not open */
  uint32_t offset;
  size_t value_bytes; /* of one CPU */
  size_t nr_values;   /* 1, or one for each CPU */
  uint8_t *key;
  uint8_t *values;
} uvperf__bpf_counter_t;

/* Opens the counter that options.lost names. Returns 0. On failure returns a
 * code and the error; uvperf__bpf_counter_close is needed nevertheless. */
int uvperf__bpf_counter_open(uvperf__bpf_counter_t *counter,
                             const uvperf_bpf_counter_t *lost,
                             uvperf_error_t *error);

/* Reads the counter, and adds the values of all CPUs. Returns 0 or -errno. */
int uvperf__bpf_counter_read(const uvperf__bpf_counter_t *counter,
                             uint64_t *lost);

/* Closes the counter, if it is open. */
void uvperf__bpf_counter_close(uvperf__bpf_counter_t *counter);

#endif
