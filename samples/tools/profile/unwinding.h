/* SPDX-License-Identifier: MIT */
/* User stacks of samples that have a copy of the stack: unwound by the worker
 * process, and counted when they come back. */
#ifndef PROFILE_UNWINDING_H
#define PROFILE_UNWINDING_H

#include "common/symbols/unwind_queue.h"
#include "profile/account.h"

typedef struct profile_unwinding_s {
  profile_account_t *account;
  unwind_queue_t *queue;
  uint64_t nr_32_bit; /* samples of 32-bit processes, which are not unwound */
  /* private */
  int machine;
} profile_unwinding_t;

/* From now on the account has such samples unwound. `arch` is the machine they
 * are of, as uname -m has it; NULL is this one. -1 if its stacks cannot be
 * unwound. */
int profile_unwinding_init(profile_unwinding_t *unwinding,
                           profile_account_t *account, const char *arch);

/* What an event must have for it; 0 bytes: nothing. */
void profile_unwinding_ask(struct perf_event_attr *attr, uint32_t stack_bytes);

/* Whether samples of this machine can be unwound. */
int profile_unwinding_can(const char *arch);

/* Takes a sample whose kernel frames, and the place in user code if it was
 * interrupted there, are `stack`. 0, or -1 if it has to be counted as it is. */
int profile_unwinding_take(profile_unwinding_t *unwinding,
                           const uvperf_record_t *record,
                           const profile_stack_t *stack, uint64_t weight);

/* Has samples unwound that wait for more of them: call it about once a
 * second. */
void profile_unwinding_flush(profile_unwinding_t *unwinding);

/* Called back on the loop when all that was taken is counted, never inside this
 * call. */
void profile_unwinding_wait(profile_unwinding_t *unwinding,
                            void (*cb)(void *arg), void *arg);

/* After the end of the account's symbols, whose worker it is. */
void profile_unwinding_free(profile_unwinding_t *unwinding);

#endif
