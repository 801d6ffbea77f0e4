/* SPDX-License-Identifier: MIT */
/* The bytes of a file or a pipe, from front to back, through a buffer. */
#ifndef RECORDING_INPUT_H
#define RECORDING_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* The largest size of a peek. */
#define RECORDING_INPUT_BYTES ((size_t)1 << 18)

typedef enum recording_input_e {
  RECORDING_INPUT_END,   /* there are fewer bytes before the end */
  RECORDING_INPUT_THERE, /* in *bytes */
  RECORDING_INPUT_WAIT   /* a pipe has fewer bytes now: poll fd */
} recording_input_e;

typedef struct recording_input_s {
  int fd;
  int is_pipe;     /* cannot seek */
  int error;       /* errno of a failed read, which counts as the end */
  uint64_t offset; /* of the next byte */
  uint64_t end;    /* no byte is read from here on */
  uint64_t skip;   /* bytes still to skip; at the end: missing bytes */
  /* private */
  unsigned char *buffer;
  size_t start, used;
} recording_input_t;

/* The caller still owns the fd. */
void recording_input_init(recording_input_t *input, int fd, int is_pipe);
void recording_input_free(recording_input_t *input);

/* Goes to an offset in a file. In a pipe, seeking is possible only before the
 * first byte is read. */
void recording_input_seek(recording_input_t *input, uint64_t offset);

/* Returns the next bytes without removing them. The pointer is valid until the
 * next call. */
recording_input_e recording_input_peek(recording_input_t *input, size_t size,
                                       const unsigned char **bytes);

/* Call it after RECORDING_INPUT_END. Returns the number of bytes before the
 * end. */
size_t recording_input_left(const recording_input_t *input);

/* Skips bytes; there may be fewer. */
void recording_input_skip(recording_input_t *input, uint64_t size);

/* Copies bytes from anywhere in a file. Returns 0, or -1 if there are fewer
 * bytes. */
int recording_input_read_at(const recording_input_t *input, void *bytes,
                            size_t size, uint64_t offset);

#endif
