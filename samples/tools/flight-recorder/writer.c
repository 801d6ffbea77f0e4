/* SPDX-License-Identifier: MIT */
/* Passes a long text to the output in pieces, because the output moves all of
 * its waiting text with each write. */
#include "flight-recorder/writer.h"

#define PIECE_BYTES ((size_t)256 << 10)

size_t flight_writer_waiting(const flight_writer_t *writer) {
  return writer->output.buffer.used + writer->text.used - writer->done;
}

/* Returns 1, or 0 if no text is left. */
static int take_piece(flight_writer_t *writer) {
  size_t size = writer->text.used - writer->done;

  if (size == 0)
    return 0;
  if (size > PIECE_BYTES)
    size = PIECE_BYTES;
  common_buffer_add(&writer->output.buffer, writer->text.text + writer->done,
                    size);
  writer->done += size;
  if (writer->done == writer->text.used) {
    common_buffer_free(&writer->text);
    writer->done = 0;
  }
  return 1;
}

void flight_writer_push(flight_writer_t *writer) {
  while (common_output_push(&writer->output, 0) && take_piece(writer))
    continue;
}

int flight_writer_finish(flight_writer_t *writer, const char *file) {
  while (common_output_drain(&writer->output) && take_piece(writer))
    continue;
  /* If the reader is gone, this passes on all bytes, so that the message counts
   * all unwritten bytes. */
  while (take_piece(writer))
    continue;
  return common_output_finish(&writer->output, file);
}

void flight_writer_free(flight_writer_t *writer) {
  common_buffer_free(&writer->output.buffer);
  common_buffer_free(&writer->text);
}
