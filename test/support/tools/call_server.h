/* SPDX-License-Identifier: MIT */
/* A process of which as many system calls are made as the tests of stat ask
 * for, while stat counts. */
#ifndef UVPERF_TEST_CALL_SERVER_H
#define UVPERF_TEST_CALL_SERVER_H

#include "tool_run.h"

/* The event that call_server_calls makes. */
#define CALL_SERVER_EVENT "syscalls:sys_enter_sched_get_priority_max"

typedef struct call_server_s {
  pid_t pid;
  int in;  /* receives the number of calls */
  int out; /* where it tells that it has */
  char id[16];
} call_server_t;

/* `path` is that of stat_target. A team also has two threads, called one and
 * two, that make as many calls and twice as many, and each time a thread that
 * the first one makes, of three times as many. */
void call_server_start(call_server_t *serve, const char *path);
void call_server_start_team(call_server_t *serve, const char *path);

/* Makes so many calls; returns when they are made. */
void call_server_calls(const call_server_t *serve, unsigned nr);

/* Ends it, and waits for its end. */
void call_server_end(call_server_t *serve);

#endif
