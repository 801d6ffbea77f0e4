/* SPDX-License-Identifier: MIT */
/* The signals that a tool handles or ignores, as they were before that. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

#include <signal.h>

typedef struct common_signals_s {
  sigset_t blocked;
  sigset_t ignored;
} common_signals_t;

/* Remembers how the signals are; to be called first of all. */
void common_signals_take(common_signals_t *signals);

/* Makes all of them be like that again, for a command, in the forked child. */
void common_signals_give_back(const common_signals_t *signals);

/* The same when a session has ended; SIGPIPE and SIGXFSZ are still
 * ignored. */
void common_signals_end_session(const common_signals_t *signals);

/* Whether this one is ignored now. */
int common_signals_is_ignored(int number);

/* Ends the program as this signal ends one that does not handle it. */
void common_signals_end_by(int number);

/* Makes those of a session wait, and come. */
void common_signals_hold(void);
void common_signals_let_come(void);

#endif
