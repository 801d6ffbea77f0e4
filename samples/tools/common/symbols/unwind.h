/* SPDX-License-Identifier: MIT */
/* The callers of a function, from a copy of the user stack, the registers and
 * the unwind information in the ELF files (libdwfl). Files, registers and
 * stacks may be of another machine than this one. The files belong to
 * strangers: call this in a process that may die.
 *
 * Frames, time and what libdwfl evaluates are bounded; what it allocates and
 * how long it searches one file are not: the worker process has limits for
 * that. */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

/* As many as perf(1) and the kernel take by default. */
#define UNWIND_FRAMES 127

/* Why a stack ends where it does. */
typedef enum unwind_end_e {
  UNWIND_COMPLETE,
  UNWIND_CUT,     /* the next caller is past the end of the stack's copy */
  UNWIND_NO_INFO, /* no unwind information for the last address */
  UNWIND_LONG,    /* UNWIND_FRAMES are reached */
  UNWIND_SLOW,    /* UNWIND_MS are over */
  UNWIND_ABI,     /* registers of a 32-bit process, or none: no frames */
  UNWIND_DROPPED  /* unwind_queue.h: it did not fit, or the worker ended */
} unwind_end_t;

/* For one stack. */
#define UNWIND_MS 50

typedef struct unwind_stack_s {
  unwind_end_t end;
  uint32_t nr;
  uint64_t ips[UNWIND_FRAMES]; /* the innermost first */
  /* 1: where a call or a system call returns to, so that it is found at ip - 1.
   * Others were interrupted there, by the sample or by a signal. */
  unsigned char is_return[UNWIND_FRAMES];
} unwind_stack_t;

/* The registers that a sample needs, for perf_event_attr.sample_regs_user. 0:
 * no stack of this machine (EM_X86_64, EM_AARCH64 ...) is unwound. */
uint64_t unwind_regs_mask(int machine);

/* EM_* of what this program was built for, or of a name as uname -m has it;
 * NULL is this program. EM_NONE if it is not one that is unwound. */
int unwind_machine(const char *arch);

/* Where user code was, by the registers of a sample: 0, or -1 if they are not
 * those of a 64-bit process. */
int unwind_ip(int machine, const uvperf_regs_t *regs, uint64_t *ip);

/* An ELF file. NULL if it is none of this machine, or has not the build id
 * (with 0 bytes any will do); then the fd stays the caller's, else it is the
 * file's. It must outlive what it is mapped in. */
typedef struct unwind_file_s unwind_file_t;
unwind_file_t *unwind_file_new(int fd, int machine, const void *build_id,
                               size_t build_id_bytes);
void unwind_file_free(unwind_file_t *file);

/* An executable mapping; without file (a JIT's, or one that could not be read)
 * its functions are taken to have frame pointers. */
typedef struct unwind_mapping_s {
  uint64_t start, end, pgoff;
  const unwind_file_t *file;
} unwind_mapping_t;

/* One process. NULL without memory. */
typedef struct unwind_process_s unwind_process_t;
unwind_process_t *unwind_process_new(int machine);
void unwind_process_free(unwind_process_t *process);

/* Replaces the mappings; what is known of files that stay is kept. 0, or -1
 * without memory. */
int unwind_process_map(unwind_process_t *process,
                       const unwind_mapping_t *mappings, size_t nr);

/* Unwinds the stack of a sample: `bytes` of it were copied, from the stack
 * pointer on. There is at least one frame, except with UNWIND_ABI. */
void unwind_stack(unwind_process_t *process, const uvperf_regs_t *regs,
                  const void *copy, size_t bytes, unwind_stack_t *stack);

#endif
