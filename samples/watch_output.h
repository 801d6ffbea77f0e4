/* SPDX-License-Identifier: MIT */
/* The stream that the story goes to, which may be slower than the story. */
#ifndef WATCH_OUTPUT_H
#define WATCH_OUTPUT_H

#include "watch_buffer.h"

typedef struct watch_output_s {
  int fd;
  watch_buffer_t buffer; /* what is still to be written */
  int error;             /* 0, or the errno with which writing ended */
} watch_output_t;

/* Writes what is in the buffer, and waits at most so long in all for a reader
 * who does not read. 1, or 0 if something is left. After an error nothing is
 * written any more, and the buffer is empty. */
int watch_output_push(watch_output_t *output, int wait_ms);

/* The same, for the last time: waits as long as there is progress every
 * wait_ms. */
int watch_output_finish(watch_output_t *output, int wait_ms);

/* Whether writing to an fd would not wait. */
int watch_output_is_ready(int fd);

#endif
