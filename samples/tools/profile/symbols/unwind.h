/* SPDX-License-Identifier: MIT */
/* Finds the callers of a function from a copy of the user stack, the registers
 * and the unwind information in the ELF files (libdwfl). Files, registers and
 * stacks may be from another machine. The files are not trusted, so call this
 * in a process that may die.
 *
 * Frames, time and libdwfl's evaluation are bounded. libdwfl's memory, and its
 * time for searching one file, are not bounded. The worker process has limits
 * for these two. */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

/* The default of perf(1) and the kernel. */
#define UNWIND_FRAMES 127

/* Why a stack ends where it does. */
typedef enum unwind_end_e {
  UNWIND_COMPLETE,
  UNWIND_CUT,     /* the next caller is past the end of the stack's copy */
  UNWIND_NO_INFO, /* no unwind information for the last address */
  UNWIND_LONG,    /* UNWIND_FRAMES are reached */
  UNWIND_SLOW,    /* UNWIND_MS have passed */
  UNWIND_ABI,     /* registers of a 32-bit process, or none: no frames */
  /* Set by unwind_queue.h. */
  UNWIND_DROPPED, /* it did not fit, or the worker ended */
  UNWIND_NO_FILE  /* the file of the last address could not be read */
} unwind_end_t;

/* For one stack. */
#define UNWIND_MS 50

typedef struct unwind_stack_s {
  unwind_end_t end;
  int is_without_file; /* the last address is in a mapping without a file */
  uint32_t nr;
  uint64_t ips[UNWIND_FRAMES]; /* the innermost first */
  /* 1: a call or a system call returns to this ip, so the code of the call is
   * at ip - 1. 0: the code was interrupted at ip, by the sample or by a
   * signal. */
  unsigned char is_return[UNWIND_FRAMES];
} unwind_stack_t;

/* Returns the registers that a sample needs, for
 * perf_event_attr.sample_regs_user. Returns 0 if stacks of this machine
 * (EM_X86_64, EM_AARCH64 ...) cannot be unwound. */
uint64_t unwind_regs_mask(int machine);

/* Returns the EM_* of a machine, which is named as uname -m prints it. NULL
 * means the machine for which this program was built. Returns EM_NONE if its
 * stacks cannot be unwound. */
int unwind_machine(const char *arch);

/* Finds the address of user code from the registers of a sample. Returns 0, or
 * -1 if the registers are not from a 64-bit process. */
int unwind_ip(int machine, const uvperf_regs_t *regs, uint64_t *ip);

/* An ELF file. It owns the fd, and must outlive all mappings of the file. If
 * the fd is not an ELF file of this machine, or its build id differs (0 bytes:
 * any build id), unwind_file_new returns NULL and the caller still owns the
 * fd. */
typedef struct unwind_file_s unwind_file_t;
unwind_file_t *unwind_file_new(int fd, int machine, const void *build_id,
                               size_t build_id_bytes);
void unwind_file_free(unwind_file_t *file);

/* An executable mapping. The mapping has no file if it belongs to a JIT
 * compiler, or if the file could not be read. Functions of a mapping without a
 * file are assumed to have frame pointers. */
typedef struct unwind_mapping_s {
  uint64_t start, end, pgoff;
  const unwind_file_t *file;
} unwind_mapping_t;

/* One process. Returns NULL if out of memory. */
typedef struct unwind_process_s unwind_process_t;
unwind_process_t *unwind_process_new(int machine);
void unwind_process_free(unwind_process_t *process);

/* Replaces the mappings. If a file is still mapped, its data are kept. Returns
 * 0, or -1 if out of memory. */
int unwind_process_map(unwind_process_t *process,
                       const unwind_mapping_t *mappings, size_t nr);

/* Unwinds the stack of a sample. `bytes` were copied, starting at the stack
 * pointer. If these are all that were wanted, `is_full` is 1: the stack may go
 * on. There is at least one frame, except with UNWIND_ABI. */
void unwind_stack(unwind_process_t *process, const uvperf_regs_t *regs,
                  const void *copy, size_t bytes, int is_full,
                  unwind_stack_t *stack);

#endif
