/* SPDX-License-Identifier: MIT */
/* Turns context switches into waits: how long threads were off the CPU, and in
 * which stacks. */
#ifndef PROFILE_WAITS_H
#define PROFILE_WAITS_H

#include <stdint.h>

#include "profile/account.h"

/* A wait whose stack is being unwound. */
typedef struct profile_pending_s {
  uint32_t tid;          /* 0: the wait has ended */
  uint64_t since, until; /* of a wait that has ended; until 0: not counted */
  int is_ready;          /* the thread was preempted */
} profile_pending_t;

typedef struct profile_waits_s {
  profile_account_t *account;
  uint64_t started_ns;             /* time before it is not counted */
  uint64_t sched_start, sched_end; /* code of the scheduler; 0: not known */
  uint64_t lost_ns;                /* when records were last lost; 0: never */
  uint64_t nr_unknown;             /* waits of unknown length */
} profile_waits_t;

/* `kallsyms` is the path of a file such as /proc/kallsyms. If the account
 * unwinds stacks, waits are counted with these stacks. */
void profile_waits_init(profile_waits_t *waits, profile_account_t *account,
                        const char *kallsyms);

/* Notes where the known threads wait. Call it before the first record. */
void profile_waits_look(profile_waits_t *waits);

/* Processes the next record, in time order. These are samples of context
 * switches, SWITCH, LOST, and the records that the account needs. */
void profile_waits_record(profile_waits_t *waits,
                          const uvperf_record_t *record);

/* Counts the waits that have not ended, as soon as their stacks are known. If
 * only some tasks are measured, those that never ran have waited all the
 * time. */
void profile_waits_end(profile_waits_t *waits, uint64_t now, int is_of_tasks);

#endif
