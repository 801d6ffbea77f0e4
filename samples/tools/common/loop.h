/* SPDX-License-Identifier: MIT */
/* The event loop of a tool, and libuv's thread pool. */
#ifndef COMMON_LOOP_H
#define COMMON_LOOP_H

#include <uv.h>

/* Opens a loop; 1, after a message, if there can be none, else 0. */
int common_loop_init(uv_loop_t *loop);

/* Starts the pool, whose threads live until the program ends. They block all
 * signals, so that one that the first thread blocks stays pending. If they
 * cannot be made there is no pool, and libuvperf does without. The request is
 * the loop's until that has run it. */
void common_loop_start_pool(uv_loop_t *loop, uv_work_t *work);

#endif
