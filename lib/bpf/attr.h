/* SPDX-License-Identifier: MIT */
/* The attr of the events by which BPF programs write, and the rings that fit
 * it. */
#ifndef UVPERF_LIB_BPF_ATTR_H
#define UVPERF_LIB_BPF_ATTR_H

#include "bpf/outputs.h"
#include "ring/cpu_rings.h"

/* By the options: 0, or a code and the error. The attr is of uvperf__calloc. */
int uvperf__bpf_attr_make(struct perf_event_attr **attr,
                          const uvperf__bpf_outputs_options_t *options,
                          uvperf_error_t *error);
int uvperf__bpf_attr_rings(uvperf__cpu_rings_options_t *rings,
                           const uvperf__bpf_outputs_options_t *options,
                           const struct perf_event_attr *attr,
                           uvperf_error_t *error);

/* Adds to read_format what this kernel has, which it takes an event to know:
 * before the first event is opened. */
void uvperf__bpf_attr_ask_format(struct perf_event_attr *attr, const char *root,
                                 int may_ask);

#endif
