/* SPDX-License-Identifier: MIT */
/* The BPF programs that are loaded now. */
#ifndef COMMON_BPF_PROGRAMS_H
#define COMMON_BPF_PROGRAMS_H

#include <stdint.h>

/* One function of a program, as machine code. */
typedef struct common_bpf_function_s {
  uint64_t addr;  /* first address */
  uint32_t len;   /* bytes */
  char name[256]; /* as in KSYMBOL records: "bpf_prog_TAG_NAME" */
  uint32_t id;    /* of the program */
  uint8_t tag[8]; /* of the program */
  int is_last;    /* of its program */
} common_bpf_function_t;

/* Returns 0, or another value, which ends the walk. */
typedef int (*common_bpf_cb)(void *arg, const common_bpf_function_t *function);

/* Calls back for each function of each program. A program without machine code
 * is left out. So are all programs if this process may not list them: this
 * needs CAP_SYS_ADMIN, and kernel addresses that are not hidden. Images without
 * a program (trampolines, dispatchers) are not listed by the kernel. Returns 0,
 * or the value of `cb`. */
int common_bpf_walk(common_bpf_cb cb, void *arg);

#endif
