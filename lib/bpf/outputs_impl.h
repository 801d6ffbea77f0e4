/* SPDX-License-Identifier: MIT */
/* What is behind a uvperf__bpf_outputs_t, for the bpf_outputs*.c
 * alone. */
#ifndef UVPERF_LIB_BPF_OUTPUTS_IMPL_H
#define UVPERF_LIB_BPF_OUTPUTS_IMPL_H

#include <stdint.h>

#include "bpf/map.h"
#include "bpf/outputs.h"

/* The event of a CPU. */
typedef struct bpf_output_s {
  int cpu;
  int fd;                   /* -1: it has none */
  int status;               /* 0, or why it has none */
  int is_put;               /* by us, into the map */
  uint64_t lost;            /* by that fd, and already added to ring->lost */
  uvperf__cpu_ring_t *ring; /* that fd writes into */
} bpf_output_t;

struct uvperf__bpf_outputs_s {
  const char *root;
  uint32_t process; /* that opened them */
  uvperf__bpf_map_t map;
  struct perf_event_attr *attr; /* as each event is opened */
  char *cpus;                   /* the list, or NULL */
  int is_fixed;
  uvperf__cpu_rings_t *rings;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  bpf_output_t *outputs; /* of each CPU that is to have an event */
  size_t nr;
  size_t room;
  int is_enabled;
  int is_put;
};

/* 0; or -EPERM and the error in a forked child. */
int uvperf__bpf_outputs_check(const uvperf__bpf_outputs_t *outputs,
                              uvperf_error_t *error);

/* attr.c: the attr by the options, and the rings that fit it. 0, or
 * a code and the error. */
int uvperf__bpf_outputs_shape(struct perf_event_attr **attr,
                              const uvperf__bpf_outputs_options_t *options,
                              uvperf_error_t *error);
int uvperf__bpf_outputs_shape_rings(
    uvperf__cpu_rings_options_t *rings,
    const uvperf__bpf_outputs_options_t *options,
    const struct perf_event_attr *attr, uvperf_error_t *error);

/* bpf_outputs_cpu.c: finds the CPUs, and opens their events and rings: 0, or a
 * code and the error, with none of them open. */
int uvperf__bpf_outputs_plan(uvperf__bpf_outputs_t *outputs,
                             uvperf_error_t *error);
int uvperf__bpf_outputs_open(uvperf__bpf_outputs_t *outputs,
                             uvperf_error_t *error);
/* How many CPUs that takes. */
size_t uvperf__bpf_outputs_nr_to_open(const uvperf__bpf_outputs_t *outputs);
/* Closes the event of a CPU, if it has one. */
void uvperf__bpf_output_close(bpf_output_t *output);

/* Adds the samples that the kernel has lost since the last call to the ring. */
void uvperf__bpf_output_count_lost(const uvperf__bpf_outputs_t *outputs,
                                   bpf_output_t *output);

/* bpf_outputs_put.c: one of them, into and out of the map: 0, or a code and the
 * error. */
int uvperf__bpf_output_put(const uvperf__bpf_outputs_t *outputs,
                           bpf_output_t *output, uvperf_error_t *error);
int uvperf__bpf_output_take(const uvperf__bpf_outputs_t *outputs,
                            bpf_output_t *output, uvperf_error_t *error);

#endif
