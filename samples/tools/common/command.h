/* SPDX-License-Identifier: MIT */
/* The command that a tool runs and measures. */
#ifndef COMMON_COMMAND_H
#define COMMON_COMMAND_H

#include <sys/types.h>

#include "common/signals.h"

typedef struct common_command_s {
  pid_t pid;    /* 0: no command, or it has been reaped */
  int go_fd;    /* a byte written here starts the exec; -1: none */
  int error_fd; /* the child writes the errno of exec; -1: none */
  const char *name;
  common_signals_t signals; /* for the child; take them before the fork */
} common_command_t;

#define COMMON_COMMAND_INIT                                                    \
  { .go_fd = -1, .error_fd = -1 }

/* Forks a child that waits. The caller still owns the strings. Returns 0 or
 * -errno. */
int common_command_fork(common_command_t *command, char **argv);

/* Lets the child exec, and waits for the exec. Returns 0, or the -errno of
 * exec. */
int common_command_go(common_command_t *command);

/* Reaps the child if it has ended. Then returns 1 and its wait status,
 * otherwise 0. */
int common_command_reap(common_command_t *command, int *status);

/* Returns the exit status for the wait status of a command: 128 plus the signal
 * that ended it. */
int common_command_exit(int status);

/* Kills a child that still waits or runs, and reaps it. */
void common_command_end(common_command_t *command);

#endif
