/* SPDX-License-Identifier: MIT */
/* BPF programs loaded by bpf(2) itself: small ones, given as instructions. */
#ifndef UVPERF_TEST_LIVE_BPF_H
#define UVPERF_TEST_LIVE_BPF_H

#include <linux/bpf.h>

#include "support.h"

#define LIVE_BPF_FUNCTIONS 4

/* A loaded program and what the kernel tells of it. */
typedef struct live_bpf_s {
  int fd;
  uint32_t id;
  uint8_t tag[BPF_TAG_SIZE];
  /* The machine code of each function, the main one first; none where there is
   * no JIT, or where kernel addresses are hidden from the caller. */
  uint32_t nr_functions;
  uint64_t addr[LIVE_BPF_FUNCTIONS];
  uint32_t len[LIVE_BPF_FUNCTIONS]; /* bytes */
} live_bpf_t;

/* bpf(2): -1 and errno on failure. */
int live_bpf_call(int command, union bpf_attr *attr);

/* Skips the test where no program of this BPF_PROG_TYPE_* can be loaded. */
void live_bpf_need(const char *test, uint32_t type);

/* Loads a program and asserts that this worked. The name is at most 15 letters,
 * digits, '_' and '.', or "" for none. */
void live_bpf_load(live_bpf_t *program, uint32_t type, const char *name,
                   const struct bpf_insn *insns, uint32_t nr);

/* The same with the shortest program that there is: it returns 0. */
void live_bpf_load_shortest(live_bpf_t *program, uint32_t type,
                            const char *name);

/* These two give the fd of a program, and skip the test where none can be
 * loaded: call them before anything is opened. */

/* One that returns the verdict, always. */
int live_bpf_constant(const char *test, uint32_t type, int32_t verdict);

/* One for a tracepoint of a system call that returns the verdict if the call's
 * nth argument (0: the first) is this, and else 1. */
int live_bpf_by_argument(const char *test, int nth, int32_t argument,
                         int32_t verdict);

/* A program that counts how often it ran on each CPU, and passes. */
typedef struct live_bpf_counter_s {
  int fd; /* of the program */
  int map;
} live_bpf_counter_t;

/* Skips the test where none can be loaded: call it before anything is opened.
 * One of BPF_PROG_TYPE_TRACEPOINT is for a system call, and counts those whose
 * first argument is this. */
void live_bpf_counter_open(const char *test, live_bpf_counter_t *counter,
                           uint32_t type, int32_t argument);
/* How often it ran on a CPU; on all, by -1. */
uint64_t live_bpf_counter_runs(const live_bpf_counter_t *counter, int cpu);
void live_bpf_counter_close(live_bpf_counter_t *counter);

/* The same with a program that notes what bpf_get_attach_cookie() returned
 * last; skips the test before Linux 5.15 too. */
void live_bpf_cookie_open(const char *test, live_bpf_counter_t *counter,
                          uint32_t type);
uint64_t live_bpf_cookie(const live_bpf_counter_t *counter);

/* How many links of perf events to the program this process has fds of. */
size_t live_bpf_links(int fd);

/* The id that the kernel gave the program behind an fd. */
uint32_t live_bpf_id(int fd);

/* Has the kernel measure the run time of BPF programs until this fd is closed:
 * it patches its own code to do so, and back. -1 where one may not. */
int live_bpf_enable_stats(void);

/* The last fd of a program that nothing else holds: it is unloaded. */
void live_bpf_close(live_bpf_t *program);

#endif
