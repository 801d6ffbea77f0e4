/* SPDX-License-Identifier: MIT */
/* The event loop of a tool. */
#ifndef COMMON_LOOP_H
#define COMMON_LOOP_H

#include <uv.h>

/* Opens a loop; 1, after a message, if there can be none, else 0. */
int common_loop_init(uv_loop_t *loop);

#endif
