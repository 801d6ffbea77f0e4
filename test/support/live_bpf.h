/* SPDX-License-Identifier: MIT */
/* Small BPF programs, written as instructions and loaded by bpf(2) itself. */
#ifndef UVPERF_TEST_LIVE_BPF_H
#define UVPERF_TEST_LIVE_BPF_H

#include <linux/bpf.h>

#include "support.h"

#define LIVE_BPF_FUNCTIONS 4

/* A loaded program, and what the kernel reports about it. */
typedef struct live_bpf_s {
  int fd;
  uint32_t id;
  uint8_t tag[BPF_TAG_SIZE];
  /* The machine code of each function, the main one first. There is none
   * without a JIT, or if kernel addresses are hidden from the caller. */
  uint32_t nr_functions;
  uint64_t addr[LIVE_BPF_FUNCTIONS];
  uint32_t len[LIVE_BPF_FUNCTIONS]; /* bytes */
} live_bpf_t;

/* bpf(2). Returns -1 and sets errno on failure. */
int live_bpf_call(int command, union bpf_attr *attr);

/* Skips the test if no program of this BPF_PROG_TYPE_* can be loaded. */
void live_bpf_need(const char *test, uint32_t type);

/* Loads a program and asserts that this succeeded. The name is at most 15
 * letters, digits, '_' and '.', or "" for none. */
void live_bpf_load(live_bpf_t *program, uint32_t type, const char *name,
                   const struct bpf_insn *insns, uint32_t nr);

/* The same with the shortest program: it returns 0. */
void live_bpf_load_shortest(live_bpf_t *program, uint32_t type,
                            const char *name);

/* These two return the fd of a program. They skip the test if none can be
 * loaded: call them before anything is opened. */

/* A program that always returns the verdict. */
int live_bpf_constant(const char *test, uint32_t type, int32_t verdict);

/* A program for a tracepoint of a system call. It returns the verdict if the
 * call's nth argument (0: the first) is this, otherwise 1. */
int live_bpf_by_argument(const char *test, int nth, int32_t argument,
                         int32_t verdict);

/* A program that counts how often it ran on each CPU, and returns 1. */
typedef struct live_bpf_counter_s {
  int fd; /* the program's */
  int map;
} live_bpf_counter_t;

/* Skips the test if none can be loaded: call it before anything is opened. A
 * program of BPF_PROG_TYPE_TRACEPOINT is for a system call, and counts calls
 * with this first argument. */
void live_bpf_counter_open(const char *test, live_bpf_counter_t *counter,
                           uint32_t type, int32_t argument);
/* How often it ran on a CPU; with -1, on all CPUs. */
uint64_t live_bpf_counter_runs(const live_bpf_counter_t *counter, int cpu);
void live_bpf_counter_close(live_bpf_counter_t *counter);

/* The same with a program that stores the last result of
 * bpf_get_attach_cookie(). Skips the test also before Linux 5.15. */
void live_bpf_cookie_open(const char *test, live_bpf_counter_t *counter,
                          uint32_t type);
uint64_t live_bpf_cookie(const live_bpf_counter_t *counter);

/* The number of fds of this process that link perf events to the program. */
size_t live_bpf_links(int fd);

/* The id that the kernel gave the program with this fd. */
uint32_t live_bpf_id(int fd);

/* Makes the kernel measure the run time of BPF programs until this fd is
 * closed; the kernel patches its own code for that, and back. -1 if that is not
 * allowed. */
int live_bpf_enable_stats(void);

/* Closes the last fd of a program, which unloads it. */
void live_bpf_close(live_bpf_t *program);

#endif
