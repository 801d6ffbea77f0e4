/* SPDX-License-Identifier: MIT */
/* A child that makes one system call over and over, when it is told to, on the
 * CPU of what produces: perf events on it, and only on it, see nothing else. It
 * is gone when whoever made it is. */
#ifndef UVPERF_BENCH_TRACED_CHILD_H
#define UVPERF_BENCH_TRACED_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/* The system call: cheap, and made by nobody else here while it is measured. */
#define TRACED_CHILD_EVENT   "syscalls:sys_enter_getuid"
#define TRACED_CHILD_SYSCALL SYS_getuid

typedef struct traced_child_s {
  pid_t pid;
  /* Readable when it has made its system calls. Whoever polls may make it
   * non-blocking. */
  int fd;
  /* How many of its calls somebody has taken note of: theirs to count, in
   * memory that the child sees. */
  uint64_t *taken;
} traced_child_t;

/* What it is to do. */
typedef struct traced_plan_s {
  uint32_t nr; /* system calls */
  /* From one to the next; 0: at once. */
  uint32_t interval_ns;
  /* Sleeps for so long, else it spins. */
  uint32_t sleeps;
  /* The interval begins when the call before was taken note of. It stops short
   * where none is for ten seconds. */
  uint32_t follows;
} traced_plan_t;

/* 0, or 1 when it has said what failed. */
int traced_child_start(traced_child_t *child);
/* Has it carry out a plan. 0, or 1 when it has said what failed. */
int traced_child_go(const traced_child_t *child, const traced_plan_t *plan);
/* Takes its word that it is done. 1 if it is, 0 if it is not yet, or a negative
 * errno: it is gone. */
int traced_child_is_done(const traced_child_t *child);
/* Ends it. */
void traced_child_end(traced_child_t *child);

#endif
