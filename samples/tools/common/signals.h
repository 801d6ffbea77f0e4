/* SPDX-License-Identifier: MIT */
/* The signals that a sample handles or ignores, as they were before that. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

#include <signal.h>

typedef struct shared_signals_s {
  sigset_t blocked;
  sigset_t ignored;
} shared_signals_t;

/* Remembers how the signals are; to be called first of all. */
void shared_signals_take(shared_signals_t *signals);

/* Makes all of them be like that again, for a command, in the forked child. */
void shared_signals_give_back(const shared_signals_t *signals);

/* The same when a session has ended; SIGPIPE and SIGXFSZ are still
 * ignored. */
void shared_signals_end_session(const shared_signals_t *signals);

/* Whether this one is ignored now. */
int shared_signals_is_ignored(int number);

/* Makes those of a session wait, and come. */
void shared_signals_hold(void);
void shared_signals_let_come(void);

#endif
