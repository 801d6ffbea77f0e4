/* SPDX-License-Identifier: MIT */
/* What bpf-output tells on stderr. */
#ifndef BPF_OUTPUT_NOTES_H
#define BPF_OUTPUT_NOTES_H

#include "uvperf.h"

#include "bpf-output/options.h"

/* Says why there is no reader; gives the exit status. */
int bpf_output_notes_refused(const bpf_output_options_t *options,
                             const uvperf_error_t *error);

/* Says what is told, and how it ends. */
void bpf_output_notes_opened(const bpf_output_options_t *options,
                             const uvperf_bpf_reader_t *reader);

/* The last line. */
void bpf_output_notes_end(uint64_t execs, uint64_t lost, uint64_t unsound);

#endif
