/* SPDX-License-Identifier: MIT */
/* Matches the begins and ends of system calls, and adds up the calls of each
 * process or thread. Expects begins and ends in time order. Opens nothing. */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "common/by_id.h"
#include "common/proc.h"

/* Each power of two has four buckets. Times of 2^44 ns (4.9 hours) or more are
 * in the last bucket. */
#define TRACE_LATENCY_POWERS 44
#define TRACE_LATENCY_PARTS  4

/* All zero at first. */
typedef struct trace_latency_s {
  uint64_t nr;
  uint64_t total, min, max; /* nanoseconds */
  double mean, squares;     /* squares of the distances from the mean */
  uint64_t buckets[TRACE_LATENCY_POWERS * TRACE_LATENCY_PARTS];
} trace_latency_t;

/* The number of groups from which on ended groups are joined, the smallest
 * first. */
#define TRACE_CALLS_GROUPS 1024

typedef enum trace_calls_by_e {
  TRACE_CALLS_BY_PROCESS,
  TRACE_CALLS_BY_THREAD,
  TRACE_CALLS_BY_ALL
} trace_calls_by_t;

/* A system call in one group. */
typedef struct trace_call_s {
  common_item_t item; /* private */
  int64_t nr;
  int is_compat;           /* the task's `long` has another size than ours */
  const char *name;        /* NULL: not known */
  trace_latency_t latency; /* of calls whose begin and end were seen */
  uint64_t errors;
  uint64_t interrupted;      /* restarted, or returned EINTR */
  uint64_t running;          /* not finished at the end of the trace */
  uint64_t ended;            /* ended with their thread, like exit_group */
  uint64_t no_begin, no_end; /* calls whose begin or end was not seen */
  /* private */
  int is_exec, is_sigreturn;
} trace_call_t;

typedef struct trace_group_s {
  uint32_t pid, tid; /* tid only if by thread, else pid */
  char comm[COMMON_PROC_COMM_BYTES];
  size_t nr_joined; /* > 0: the sum of this many ended groups, without ids */
  trace_latency_t sum;
  uint64_t errors;
  common_by_id_t calls; /* by their numbers and their sizes of `long` */
  size_t nr_threads;    /* that are alive */
} trace_group_t;

typedef struct trace_caller_s trace_caller_t;

/* All zero at first, except `by`. */
typedef struct trace_calls_s {
  trace_calls_by_t by;
  int is_foreign; /* another architecture: its numbers have no names here */
  trace_group_t **groups;
  size_t nr, capacity;
  uint64_t outsiders; /* records of tasks without an id of their own */
  /* private */
  trace_group_t *joined;
  common_by_id_t callers; /* by tid */
  uint64_t losses;
} trace_calls_t;

/* The calling thread, and the time. */
typedef struct trace_caller_now_s {
  uint32_t pid, tid;
  const char *comm; /* "" if it is not known */
  uint64_t time;
} trace_caller_now_t;

void trace_calls_free(trace_calls_t *calls);

/* Call these when a system call begins or ends. `name` must live as long as
 * `calls`. If `name` is NULL, the name is looked up by the number. */
void trace_calls_begin(trace_calls_t *calls, const trace_caller_now_t *now,
                       int64_t nr, const char *name, int is_compat);
void trace_calls_end(trace_calls_t *calls, const trace_caller_now_t *now,
                     int64_t nr, const char *name, int is_compat,
                     int64_t result);

/* Call these when a thread was created, got a name, has executed a program, or
 * has ended. */
void trace_calls_fork(trace_calls_t *calls, uint32_t pid, uint32_t tid);
void trace_calls_comm(trace_calls_t *calls, uint32_t pid, uint32_t tid,
                      const char *comm);
void trace_calls_exec(trace_calls_t *calls, uint32_t pid, uint32_t tid);
void trace_calls_exit(trace_calls_t *calls, uint32_t tid);

/* Call it when records of any thread were lost, because the next end of a
 * running call may belong to a later call. (The kernel reports a loss only with
 * the next record of that CPU. In the lost records a thread may end a call and
 * begin the same call again. If this thread continues on another CPU before the
 * report, the two calls are measured as one.) */
void trace_calls_lost(trace_calls_t *calls);

/* Counts running calls, and sorts the groups by their numbers of calls. Call it
 * once, at the end. */
void trace_calls_finish(trace_calls_t *calls);

/* Returns the calls of a group. Calls that took most time come first. Release
 * the array with free(). */
const trace_call_t **trace_calls_sorted(const trace_group_t *group);

void trace_latency_add(trace_latency_t *latency, uint64_t ns);

/* Adds everything from another histogram. */
void trace_latency_join(trace_latency_t *latency, const trace_latency_t *other);

/* Returns the percentile, or 0 if there are no calls. The result can be up to a
 * quarter too large, but is never above the maximum. */
uint64_t trace_latency_percentile(const trace_latency_t *latency,
                                  unsigned percent);

double trace_latency_stddev(const trace_latency_t *latency);

#endif
