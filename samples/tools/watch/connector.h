/* SPDX-License-Identifier: MIT */
/* Finds the arguments of an exec and the status of an exit, which records do
 * not have. The kernel's proc connector reports an exec at once, so /proc can
 * be read in time. */
#ifndef WATCH_CONNECTOR_H
#define WATCH_CONNECTOR_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "watch/line.h"

/* Longer arguments are cut. */
#define WATCH_ARGS_BYTES 1024

#define WATCH_NEWS_BUCKETS 4096

typedef struct watch_news_s watch_news_t;

typedef struct watch_connector_s {
  uv_poll_t poll;
  int fd;
  int is_open;
  uint64_t pulled; /* when the socket was last read */
  watch_news_t *buckets[WATCH_NEWS_BUCKETS];
  size_t nr;
} watch_connector_t;

/* Listens to execs and exits, if `kinds` has them. Returns 0 or -errno. This
 * works only in the initial network, pid and user namespaces. Linux before 6.6
 * also requires CAP_NET_ADMIN. The struct must be zeroed. */
int watch_connector_open(watch_connector_t *connector, uv_loop_t *loop,
                         uint32_t kinds);

/* Adds the arguments to an exec, if they are known. If there was no message,
 * reads /proc now; the process must still have the same name. */
void watch_connector_args(void *connector, watch_event_t *event);

/* Adds the status to an exit. Returns 1, or 0 if the status is not known
 * yet. */
int watch_connector_status(void *connector, watch_event_t *event);

/* Waits up to 20 ms for the message that a process has ended. */
void watch_connector_await(watch_connector_t *connector, int32_t pid);

/* Frees old messages that were not used. Call it about once a second. */
void watch_connector_sweep(watch_connector_t *connector);

/* Closes the connector, if it is open. */
void watch_connector_close(watch_connector_t *connector);

#endif
