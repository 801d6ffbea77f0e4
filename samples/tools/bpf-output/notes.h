/* SPDX-License-Identifier: MIT */
/* The messages of bpf-output on stderr. */
#ifndef BPF_OUTPUT_NOTES_H
#define BPF_OUTPUT_NOTES_H

#include "uvperf.h"

#include "bpf-output/options.h"

/* Prints why the reader could not be opened. Returns the exit status. */
int bpf_output_notes_refused(const bpf_output_options_t *options,
                             const uvperf_error_t *error);

/* Prints the number of CPUs and the size of their rings. */
void bpf_output_notes_opened(const bpf_output_options_t *options,
                             const uvperf_bpf_reader_t *reader);

/* Prints lost and invalid records, if any, and the last line. */
void bpf_output_notes_end(uint64_t execs, uint64_t lost, uint64_t unsound);

#endif
