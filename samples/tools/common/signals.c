/* SPDX-License-Identifier: MIT */
/* Keeps the state of signals that this program got from its parent: nohup(1)
 * ignores a signal, and some parents block SIGCHLD in all programs that they
 * start. A command gets this state again. Meanwhile this program can receive
 * its own signals. */
#include "common/signals.h"

#include <stddef.h>

/* The signals of a session come first, then the signals that common_stdio_init
 * ignores, then a signal that a tool may handle itself. */
static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP, SIGCHLD,
                              SIGPIPE, SIGXFSZ, SIGUSR2};

#define NR_NUMBERS    (sizeof(numbers) / sizeof(numbers[0]))
#define NR_OF_SESSION (NR_NUMBERS - 3)

int common_signals_is_ignored(int number) {
  struct sigaction action;

  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* If SIGCHLD is ignored, the kernel reaps children without a signal. */
void common_signals_take(common_signals_t *signals) {
  size_t i;

  sigprocmask(SIG_SETMASK, NULL, &signals->blocked);
  sigemptyset(&signals->ignored);
  for (i = 0; i < NR_NUMBERS; i++) {
    if (common_signals_is_ignored(numbers[i]))
      sigaddset(&signals->ignored, numbers[i]);
  }
  signal(SIGCHLD, SIG_DFL);
}

/* Ignoring a signal first drops a pending signal. */
static void give_back(const common_signals_t *signals, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++) {
    signal(numbers[i], SIG_IGN);
    if (!sigismember(&signals->ignored, numbers[i]))
      signal(numbers[i], SIG_DFL);
  }
  sigprocmask(SIG_SETMASK, &signals->blocked, NULL);
}

void common_signals_give_back(const common_signals_t *signals) {
  give_back(signals, NR_NUMBERS);
}

void common_signals_end_session(const common_signals_t *signals) {
  give_back(signals, NR_OF_SESSION);
}

void common_signals_end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

/* A blocked signal stays pending even if it is ignored. So if SIGHUP is
 * ignored, this does not touch it. */
static void mask_session(int how) {
  sigset_t set;
  size_t i;

  sigemptyset(&set);
  for (i = 0; i < NR_OF_SESSION; i++) {
    if (numbers[i] != SIGHUP || !common_signals_is_ignored(SIGHUP))
      sigaddset(&set, numbers[i]);
  }
  sigprocmask(how, &set, NULL);
}

void common_signals_hold(void) {
  mask_session(SIG_BLOCK);
}

void common_signals_let_come(void) {
  mask_session(SIG_UNBLOCK);
}
