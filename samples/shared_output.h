/* SPDX-License-Identifier: MIT */
/* The stream that lines go to, which may be slower than what they tell. */
#ifndef SHARED_OUTPUT_H
#define SHARED_OUTPUT_H

#include "shared_buffer.h"

typedef struct shared_output_s {
  int fd;
  shared_buffer_t buffer; /* what is still to be written */
  int error;              /* 0, or the errno with which writing ended */
} shared_output_t;

/* Writes what is in the buffer, and waits at most so long in all for a reader
 * who does not read. 1, or 0 if something is left. After an error nothing is
 * written any more, and the buffer is empty. */
int shared_output_push(shared_output_t *output, int wait_ms);

/* The same, for the last time: waits as long as there is progress every
 * wait_ms. */
int shared_output_finish(shared_output_t *output, int wait_ms);

/* Whether writing to an fd would not wait. */
int shared_output_is_ready(int fd);

#endif
