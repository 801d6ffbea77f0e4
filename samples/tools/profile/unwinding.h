/* SPDX-License-Identifier: MIT */
/* Finds the user stacks of samples with a copy of the stack. The worker process
 * unwinds the stacks, and the samples are counted when its answers come. If
 * samples come faster than they are unwound, the rest have one user frame. */
#ifndef PROFILE_UNWINDING_H
#define PROFILE_UNWINDING_H

#include "profile/account.h"
#include "profile/symbols/unwind_queue.h"

typedef struct profile_unwinding_s {
  profile_account_t *account;
  unwind_queue_t *queue;
  uint64_t nr_32_bit; /* samples of 32-bit processes, which are not unwound */
  /* Called with the whole stack of a sample and its number. NULL: the stack is
   * counted as one sample, with the number as its weight. */
  void (*on_stack)(void *arg, uint64_t number, const profile_stack_t *stack);
  void *arg;
  /* private */
  int machine;
} profile_unwinding_t;

/* Makes the account unwind such samples from now on. `arch` is the machine that
 * recorded them, as uname -m prints it. NULL means this machine. Returns -1 if
 * stacks of that machine cannot be unwound. */
int profile_unwinding_init(profile_unwinding_t *unwinding,
                           profile_account_t *account, const char *arch);

/* Sets the fields of an attr that copied stacks need. Changes nothing for 0
 * bytes. */
void profile_unwinding_ask(struct perf_event_attr *attr, uint32_t stack_bytes);

/* Returns 1 if samples of a machine can be unwound. */
int profile_unwinding_can(const char *arch);

/* Takes a sample. `stack` has the sample's kernel frames, or its place in user
 * code if user code was interrupted. Returns 0 if the sample is counted once it
 * is unwound, or at once if the queue is full. Returns -1 if the caller must
 * count the sample with this stack. */
int profile_unwinding_take(profile_unwinding_t *unwinding,
                           const uvperf_record_t *record,
                           const profile_stack_t *stack, uint64_t number);

/* Sends the samples that wait for a full batch. Call it about once a second. */
void profile_unwinding_flush(profile_unwinding_t *unwinding);

/* Calls back on the loop when all queued samples are counted, never inside this
 * call. */
void profile_unwinding_wait(profile_unwinding_t *unwinding,
                            void (*cb)(void *arg), void *arg);

/* Call it after symbols_close, because the account's symbols own the worker. */
void profile_unwinding_free(profile_unwinding_t *unwinding);

#endif
