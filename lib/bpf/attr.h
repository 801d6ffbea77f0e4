/* SPDX-License-Identifier: MIT */
/* The attr of the events through which BPF programs write, and the options of
 * their rings. */
#ifndef UVPERF_LIB_BPF_ATTR_H
#define UVPERF_LIB_BPF_ATTR_H

#include "uvperf/bpf.h"

#include "ring/cpu_rings.h"

/* Make the attr and the options of the rings from the reader's options. They
 * return 0, or a code and the error. The attr comes from uvperf__calloc. */
int uvperf__bpf_attr_make(struct perf_event_attr **attr,
                          const uvperf_bpf_reader_options_t *options,
                          uvperf_error_t *error);
int uvperf__bpf_attr_rings(uvperf__cpu_rings_options_t *rings,
                           const uvperf_bpf_reader_options_t *options,
                           const struct perf_event_attr *attr,
                           uvperf_error_t *error);

/* Adds PERF_FORMAT_LOST to read_format if this kernel has it. With `may_ask` it
 * asks the kernel with perf_event_open(2), but opens nothing. Call it before
 * the first event is opened with this attr. */
void uvperf__bpf_attr_ask_format(struct perf_event_attr *attr, int may_ask);

#endif
