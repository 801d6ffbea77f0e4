/* SPDX-License-Identifier: MIT */
/* The program's side of the worker: starts the process, sends requests to it,
 * and ends it if an answer takes too much time or memory. It blocks, so call it
 * on libuv's pool, one call at a time. */
#ifndef SYMBOLS_WORKER_H
#define SYMBOLS_WORKER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/symbols/wire.h"

typedef struct symbols_worker_s {
  uint64_t timeout_ms; /* the longest time for a request */
  uint64_t max_kib;    /* its own memory, without pages of files: 1 GiB */
  /* Called about 50 times a second while waiting for an answer. */
  void (*tick)(void *arg);
  void *arg;
  atomic_int is_stopped; /* set on the loop: ends a request at its next tick */
  /* private */
  pid_t pid; /* 0: not running */
  int socket;
  uint64_t deadline, next_tick; /* in milliseconds */
} symbols_worker_t;

void symbols_worker_init(symbols_worker_t *worker);

/* Sends a request and receives its response. First starts the worker if it does
 * not run. The caller still owns the fds of the request. Returns 0, or an error
 * with the reason in words. After an error the worker has been ended, and the
 * next request starts another worker. */
#define SYMBOLS_REASON_BYTES 160
int symbols_worker_ask(symbols_worker_t *worker, symbols_message_t *request,
                       symbols_message_t *response,
                       char reason[SYMBOLS_REASON_BYTES]);

/* Kills the worker if it runs, and waits for its end. */
void symbols_worker_end(symbols_worker_t *worker);

/* The hidden argument of the worker's program. */
#define SYMBOLS_WORKER_ARGUMENT "--symbols-worker"
/* The worker's socket. */
#define SYMBOLS_WORKER_SOCKET 3

#endif
