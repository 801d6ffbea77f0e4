/* SPDX-License-Identifier: MIT */
/* The command that a tool runs and looks at. */
#ifndef COMMON_COMMAND_H
#define COMMON_COMMAND_H

#include <stddef.h>
#include <sys/types.h>

#include "common/signals.h"

typedef struct common_command_s {
  pid_t pid;    /* 0 once it was reaped, or if there is none */
  int go_fd;    /* -1, or where a byte lets the child go on to exec */
  int error_fd; /* -1, or where the child tells the errno of exec */
  const char *name;
  common_signals_t signals; /* that it is to find; to be taken before */
} common_command_t;

#define COMMON_COMMAND_INIT                                                    \
  { .go_fd = -1, .error_fd = -1 }

/* Forks a child that waits; the strings stay the caller's. 0, or -errno. */
int common_command_fork(common_command_t *command, char **argv);

/* Lets the child exec and waits until it has. 0, or the -errno of exec. */
int common_command_go(common_command_t *command);

/* Reaps the child if it has ended: 1 and its wait status, else 0. */
int common_command_reap(common_command_t *command, int *status);

/* Ends a child that still waits or runs, and reaps it. */
void common_command_end(common_command_t *command);

#endif
