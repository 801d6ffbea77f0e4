/* SPDX-License-Identifier: MIT */
/* Layer 0: which process has opened something, so that a forked child is told
 * from it without a system call: reading an event takes but one. */
#ifndef UVPERF_LIB_OPENER_H
#define UVPERF_LIB_OPENER_H

#include <sys/types.h>

typedef struct uvperf__opener_s {
  pid_t pid;
  int thread; /* uvperf__sys_thread */
} uvperf__opener_t;

/* The calling thread, and its process. */
void uvperf__opener_init(uvperf__opener_t *opener);

/* Whether this process is a forked child of that one. In the thread that has
 * opened it this takes no system call, in any other getpid(2). */
int uvperf__opener_is_forked(const uvperf__opener_t *opener);

#endif
