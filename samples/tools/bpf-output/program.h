/* SPDX-License-Identifier: MIT */
/* The BPF program of exec.bpf.c in the kernel. */
#ifndef BPF_OUTPUT_PROGRAM_H
#define BPF_OUTPUT_PROGRAM_H

#include <stdint.h>

#include "bpf-output/options.h"

struct exec_bpf;
struct bpf_link;

typedef struct bpf_output_program_s {
  struct exec_bpf *skeleton;
  struct bpf_link *link; /* NULL: the program does not run */
} bpf_output_program_t;

/* Loads the program with the filters of the options. It does not run yet.
 * Returns 0, or an exit status after a message. */
int bpf_output_program_load(bpf_output_program_t *program,
                            const bpf_output_options_t *options);

/* Returns the fd of the map that the program writes to. The program owns it. */
int bpf_output_program_map(const bpf_output_program_t *program);

/* Starts the program. Returns 0, or an exit status after a message. */
int bpf_output_program_attach(bpf_output_program_t *program);

/* Stops the program. It outputs nothing afterwards. */
void bpf_output_program_detach(bpf_output_program_t *program);

/* Returns the number of execs that the program could not output, or did not see
 * because another BPF program ran on that CPU. */
uint64_t bpf_output_program_lost(const bpf_output_program_t *program);

/* Removes the program from the kernel. */
void bpf_output_program_unload(bpf_output_program_t *program);

/* Returns 1 if processes have other ids in the BPF program than here. The BPF
 * program uses the ids of the initial pid namespace. */
int bpf_output_program_has_other_pids(void);

#endif
