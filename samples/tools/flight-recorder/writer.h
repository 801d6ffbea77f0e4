/* SPDX-License-Identifier: MIT */
/* Writes text of any size to a reader that may be slow. */
#ifndef FLIGHT_RECORDER_WRITER_H
#define FLIGHT_RECORDER_WRITER_H

#include "common/buffer.h"
#include "common/output.h"

/* Open the output first, and set the other fields to zero. Add text to `text`;
 * the next push writes it. */
typedef struct flight_writer_s {
  common_output_t output;
  common_buffer_t text;
  size_t done; /* bytes of it that were passed to the output */
} flight_writer_t;

/* Returns the number of bytes that are not written yet. */
size_t flight_writer_waiting(const flight_writer_t *writer);

/* Writes as much as possible without waiting. After an error (see
 * writer->output.error) text is dropped. */
void flight_writer_push(flight_writer_t *writer);

/* Writes everything and returns the result of common_output_finish. */
int flight_writer_finish(flight_writer_t *writer, const char *file);

void flight_writer_free(flight_writer_t *writer);

#endif
