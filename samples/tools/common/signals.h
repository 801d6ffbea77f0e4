/* SPDX-License-Identifier: MIT */
/* The original state of the signals that a tool handles or ignores. */
#ifndef COMMON_SIGNALS_H
#define COMMON_SIGNALS_H

#include <signal.h>

typedef struct common_signals_s {
  sigset_t blocked;
  sigset_t ignored;
} common_signals_t;

/* Saves the state of the signals. Call it before any of them is changed. */
void common_signals_take(common_signals_t *signals);

/* Restores all signals for a command, in the forked child. */
void common_signals_give_back(const common_signals_t *signals);

/* Restores a session's signals at its end. SIGPIPE and SIGXFSZ stay ignored. */
void common_signals_end_session(const common_signals_t *signals);

/* Returns 1 if a signal is ignored now. */
int common_signals_is_ignored(int number);

/* Ends the program by the default action of a signal. */
void common_signals_end_by(int number);

/* Block and unblock the signals of a session. */
void common_signals_hold(void);
void common_signals_let_come(void);

#endif
