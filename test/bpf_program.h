/* SPDX-License-Identifier: MIT */
/* BPF programs of a few raw instructions, by bpf(2) itself. */
#ifndef UVPERF_TEST_BPF_PROGRAM_H
#define UVPERF_TEST_BPF_PROGRAM_H

#include <stdint.h>

/* The types of <linux/bpf.h> that perf events take. */
#define BPF_PROGRAM_TRACEPOINT 5
#define BPF_PROGRAM_PERF_EVENT 7

/* Loads a program that returns the verdict, always. Each gives an fd; where BPF
 * may not be loaded it skips the test, so call it before anything is opened. */
int bpf_program_constant(const char *test, uint32_t type, int32_t verdict);

/* Loads one for a tracepoint of a system call that returns the verdict if the
 * call's nth argument (0: the first) is this, and else 1. */
int bpf_program_by_argument(const char *test, int nth, int32_t argument,
                            int32_t verdict);

/* The id that the kernel gave it. */
uint32_t bpf_program_id(int fd);

#endif
