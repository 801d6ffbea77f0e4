/* SPDX-License-Identifier: MIT */
/* The command that is run under the profiler. */
#ifndef PROFILE_COMMAND_H
#define PROFILE_COMMAND_H

#include <sys/types.h>

typedef struct profile_command_s {
  pid_t pid;    /* 0 once it was reaped, or if there is none */
  int go_fd;    /* -1, or where a byte lets the child go on to exec */
  int error_fd; /* -1, or where the child tells the errno of exec */
} profile_command_t;

#define PROFILE_COMMAND_INIT                                                   \
  { 0, -1, -1 }

/* Forks a child that waits. 0, or -errno. */
int profile_command_fork(profile_command_t *command, char **argv);

/* Lets the child exec and waits until it has. 0, or the -errno of exec. */
int profile_command_go(profile_command_t *command);

/* Reaps the child if it has ended: 1 and its wait status, else 0. */
int profile_command_reap(profile_command_t *command, int *status);

/* Ends a child that still waits or runs, and reaps it. */
void profile_command_end(profile_command_t *command);

#endif
