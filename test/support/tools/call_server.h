/* SPDX-License-Identifier: MIT */
/* A process of which as many system calls are made as the tests of stat ask
 * for, while stat counts. */
#ifndef UVPERF_TEST_CALL_SERVER_H
#define UVPERF_TEST_CALL_SERVER_H

#include "tool_run.h"

/* The event that stat_serve_calls makes. */
#define STAT_SERVE_EVENT "syscalls:sys_enter_sched_get_priority_max"

typedef struct stat_serve_s {
  pid_t pid;
  int in;  /* where it is told how many */
  int out; /* where it tells that it has */
  char id[16];
} stat_serve_t;

/* `path` is that of stat_target. */
void stat_serve_start(stat_serve_t *serve, const char *path);

/* Makes so many calls; returns when they are made. */
void stat_serve_calls(const stat_serve_t *serve, unsigned nr);

/* Ends it, and waits for its end. */
void stat_serve_end(stat_serve_t *serve);

#endif
