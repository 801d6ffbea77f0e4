/* SPDX-License-Identifier: MIT */
/* Turns records, given in the order of time, into counts of places. */
#ifndef PROFILE_ACCOUNT_H
#define PROFILE_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "common/symbols/kallsyms.h"
#include "profile/names.h"
#include "profile/tally.h"
#include "profile/tasks.h"

/* Where code runs, two words of a tally's key. `offset` is that of a kernel
 * function's first address (or any kernel address, if no function is known), or
 * bytes into a file; 0 where only the object is known. */
typedef struct profile_frame_s {
  uint64_t object; /* id of a name */
  uint64_t offset;
} profile_frame_t;

typedef struct profile_account_s {
  profile_names_t names;
  symbols_kallsyms_t symbols;
  profile_tasks_t tasks;
  profile_tally_t places; /* command, frame */
  profile_tally_t stacks; /* command, frames from the innermost on */
  int want_stacks;
  uint32_t kernel, anon, unknown; /* ids of names */
  uint64_t *words;                /* room for the key of a stack */
  size_t word_capacity;
} profile_account_t;

void profile_account_init(profile_account_t *account, int want_stacks);
void profile_account_free(profile_account_t *account);

/* Takes in a record: in the order of time. */
void profile_account_record(profile_account_t *account,
                            const uvperf_record_t *record);

/* Forgets tasks that died so long before a time that no more samples of them
 * come. */
void profile_account_reap(profile_account_t *account, uint64_t time);

/* Writes a frame such as "libc.so.6+0x2a0b0" or "do_syscall_64". */
void profile_account_frame(const profile_account_t *account,
                           const profile_frame_t *frame, char *text,
                           size_t size);

#endif
