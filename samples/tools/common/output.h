/* SPDX-License-Identifier: MIT */
/* The stream to which lines are written. Its reader may be slower than the
 * events. */
#ifndef COMMON_OUTPUT_H
#define COMMON_OUTPUT_H

#include "common/buffer.h"

typedef struct common_output_s {
  int fd;
  common_buffer_t buffer; /* bytes that are not written yet */
  int error;              /* 0, or the errno that ended writing */
} common_output_t;

/* Opens a file, or stdout for NULL. Returns 0, or 1 after a message. */
int common_output_open(common_output_t *output, const char *file);

/* Writes the buffer, and waits at most wait_ms in total for a slow reader.
 * Returns 1, or 0 if something is left. After an error nothing more is written,
 * and the buffer is emptied. */
int common_output_push(common_output_t *output, int wait_ms);

/* Writes the buffer for the last time. Waits as long as the reader reads
 * something, but not after SIGINT or SIGTERM has arrived. */
int common_output_drain(common_output_t *output);

/* Does the same and closes the stream, so that the reader need not wait for the
 * end of the program. Returns 0, or 1 after a message. It is not a failure if
 * the reader is gone, but it is one if the reader stops reading. `file` is the
 * name that was opened. */
int common_output_finish(common_output_t *output, const char *file);

/* Returns 1 if writing to an fd would not block. */
int common_output_is_ready(int fd);

#endif
