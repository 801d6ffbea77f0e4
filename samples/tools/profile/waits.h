/* SPDX-License-Identifier: MIT */
/* Turns switches into waits: how long threads were off the CPU, and in which
 * stacks. */
#ifndef PROFILE_WAITS_H
#define PROFILE_WAITS_H

#include <stdint.h>

#include "profile/account.h"

typedef struct profile_waits_s {
  profile_account_t *account;
  uint64_t started_ns;             /* no time before it is counted */
  uint64_t sched_start, sched_end; /* code of the scheduler; 0: not known */
  uint64_t lost_ns;                /* when records were last lost; 0: never */
  uint64_t
      nr_unknown; /* waits whose length is not known, as records are lost */
} profile_waits_t;

/* kallsyms is a file such as /proc/kallsyms. */
void profile_waits_init(profile_waits_t *waits, profile_account_t *account,
                        const char *kallsyms);

/* Looks where threads that are known already wait, before there are records. */
void profile_waits_look(profile_waits_t *waits);

/* Takes in a record, in the order of time: samples of context switches, SWITCH,
 * LOST and those that the account follows. */
void profile_waits_record(profile_waits_t *waits,
                          const uvperf_record_t *record);

/* Counts the waits that last until now. pid is the process that is measured, or
 * 0: its threads that never ran wait all the time. */
void profile_waits_end(profile_waits_t *waits, uint64_t now, int32_t pid);

#endif
