/* SPDX-License-Identifier: MIT */
/* The command that a sample runs and looks at. */
#ifndef COMMON_COMMAND_H
#define COMMON_COMMAND_H

#include <stddef.h>
#include <sys/types.h>

#include "common/signals.h"

typedef struct shared_command_s {
  pid_t pid;    /* 0 once it was reaped, or if there is none */
  int go_fd;    /* -1, or where a byte lets the child go on to exec */
  int error_fd; /* -1, or where the child tells the errno of exec */
  const char *name;
  shared_signals_t signals; /* that it is to find; to be taken before */
} shared_command_t;

#define SHARED_COMMAND_INIT                                                    \
  { .go_fd = -1, .error_fd = -1 }

/* Forks a child that waits; the strings stay the caller's. 0, or -errno. */
int shared_command_fork(shared_command_t *command, char **argv);

/* Lets the child exec and waits until it has. 0, or the -errno of exec. */
int shared_command_go(shared_command_t *command);

/* Reaps the child if it has ended: 1 and its wait status, else 0. */
int shared_command_reap(shared_command_t *command, int *status);

/* Ends a child that still waits or runs, and reaps it. */
void shared_command_end(shared_command_t *command);

#endif
