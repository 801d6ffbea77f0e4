/* SPDX-License-Identifier: MIT */
/* The BPF program of bpf/exec.bpf.c in the kernel. */
#ifndef BPF_OUTPUT_PROGRAM_H
#define BPF_OUTPUT_PROGRAM_H

#include <stdint.h>

#include "bpf-output/options.h"

struct exec_bpf;
struct bpf_link;

typedef struct bpf_output_program_s {
  struct exec_bpf *skeleton;
  struct bpf_link *link; /* NULL: it does not run */
} bpf_output_program_t;

/* Loads it, for what the options want: 0, or, after a message, the status to
 * exit with. It does not run yet. */
int bpf_output_program_load(bpf_output_program_t *program,
                            const bpf_output_options_t *options);

/* The fd of the map by which it hands out; the program's. */
int bpf_output_program_map(const bpf_output_program_t *program);

/* Lets it run: 0, or, after a message, the status to exit with. */
int bpf_output_program_attach(bpf_output_program_t *program);

/* Lets it run no more; nothing comes afterwards. */
void bpf_output_program_detach(bpf_output_program_t *program);

/* Execs that it could not hand out, or, as another BPF program ran on that CPU
 * just then, not even look at. */
uint64_t bpf_output_program_lost(const bpf_output_program_t *program);

/* Takes it out of the kernel. */
void bpf_output_program_unload(bpf_output_program_t *program);

/* Whether processes have other ids for it than for us: it knows those of the
 * first pid namespace. */
int bpf_output_program_has_other_pids(void);

#endif
