/* SPDX-License-Identifier: MIT */
/* The stream that lines go to, which may be slower than what they tell. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include "common/buffer.h"

typedef struct common_output_s {
  int fd;
  common_buffer_t buffer; /* what is still to be written */
  int error;              /* 0, or the errno with which writing ended */
} common_output_t;

/* Opens a file, or stdout for NULL: 0, or 1 after a message. */
int common_output_open(common_output_t *output, const char *file);

/* Writes what is in the buffer, and waits at most so long in all for a reader
 * who does not read. 1, or 0 if something is left. After an error nothing is
 * written any more, and the buffer is empty. */
int common_output_push(common_output_t *output, int wait_ms);

/* The same, for the last time: waits as long as there is progress, for a while
 * each time, and until SIGINT or SIGTERM comes. */
int common_output_drain(common_output_t *output);

/* The same, and ends the stream, so that its reader need not wait for the end
 * of the program. Returns 0, or 1 after a message; a reader that has enough is
 * no failure. The file is what was opened. */
int common_output_finish(common_output_t *output, const char *file);

/* Whether writing to an fd would not wait. */
int common_output_is_ready(int fd);

#endif
