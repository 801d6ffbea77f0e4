/* SPDX-License-Identifier: MIT */
/* Text of any size on its way to a reader who may be slow. */
#ifndef FLIGHT_RECORDER_WRITER_H
#define FLIGHT_RECORDER_WRITER_H

#include "common/buffer.h"
#include "common/output.h"

/* The output is to be opened; the rest is zero. What is added to the text is
 * written by the next push. */
typedef struct flight_writer_s {
  common_output_t output;
  common_buffer_t text;
  size_t done; /* bytes of it that the output has */
} flight_writer_t;

/* Bytes that wait. */
size_t flight_writer_waiting(const flight_writer_t *writer);

/* Writes what can be written without waiting; what comes after an error is
 * dropped, see writer->output.error. */
void flight_writer_push(flight_writer_t *writer);

/* Writes all, see common_output_finish, whose result it gives. */
int flight_writer_finish(flight_writer_t *writer, const char *file);

void flight_writer_free(flight_writer_t *writer);

#endif
