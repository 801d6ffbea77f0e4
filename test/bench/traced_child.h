/* SPDX-License-Identifier: MIT */
/* A child that repeats one system call on request, on one CPU: perf events on
 * it, and only on it, see nothing else. It ends when its parent does. */
#ifndef UVPERF_BENCH_TRACED_CHILD_H
#define UVPERF_BENCH_TRACED_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/* The system call: cheap, and not made by any other process here during the
 * measurement. */
#define TRACED_CHILD_EVENT   "syscalls:sys_enter_getuid"
#define TRACED_CHILD_SYSCALL SYS_getuid

typedef struct traced_child_s {
  pid_t pid;
  /* Readable when it has made its system calls. The caller may make it
   * nonblocking. */
  int fd;
  /* How many of its calls the reader has noted. The reader counts them, in
   * memory shared with the child. */
  uint64_t *taken;
} traced_child_t;

/* The child's task. */
typedef struct traced_plan_s {
  uint32_t nr; /* system calls */
  /* From one to the next; 0: at once. */
  uint32_t interval_ns;
  /* Sleeps between its calls; 0: spins. */
  uint32_t sleeps;
  /* The interval begins when the call before was noted. It stops early if none
   * is noted for ten seconds. */
  uint32_t follows;
} traced_plan_t;

/* Returns 0, or 1 after printing what failed. */
int traced_child_start(traced_child_t *child, int cpu);
/* Makes it carry out a plan. Returns 0, or 1 after printing what failed. */
int traced_child_go(const traced_child_t *child, const traced_plan_t *plan);
/* Takes its word that it is done. 1 if it is, 0 if it is not yet, or a negative
 * errno: it is gone. */
int traced_child_is_done(const traced_child_t *child);
/* Ends it. */
void traced_child_end(traced_child_t *child);

#endif
