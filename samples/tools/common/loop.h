/* SPDX-License-Identifier: MIT */
/* The event loop of a tool, and libuv's thread pool. */
#ifndef COMMON_LOOP_H
#define COMMON_LOOP_H

#include <uv.h>

/* Opens a loop. Returns 0, or 1 after a message. */
int common_loop_init(uv_loop_t *loop);

/* Starts the pool, whose threads live until the program ends. The threads block
 * all signals, so that a signal that the first thread blocks stays pending. If
 * threads cannot be created, there is no pool, and libuvperf works without a
 * pool. The request belongs to the loop until the loop has run it. */
void common_loop_start_pool(uv_loop_t *loop, uv_work_t *work);

#endif
