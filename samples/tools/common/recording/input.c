/* SPDX-License-Identifier: MIT */
/* Reads files with pread(2) and pipes with read(2). Never waits for a pipe. */
#include "common/recording/input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"

void recording_input_init(recording_input_t *input, int fd, int is_pipe) {
  memset(input, 0, sizeof(*input));
  input->fd = fd;
  input->is_pipe = is_pipe;
  input->end = UINT64_MAX;
  input->buffer = common_calloc(1, RECORDING_INPUT_BYTES);
}

void recording_input_free(recording_input_t *input) {
  free(input->buffer);
  input->buffer = NULL;
}

void recording_input_seek(recording_input_t *input, uint64_t offset) {
  input->offset = offset;
  input->start = input->used = 0;
}

size_t recording_input_left(const recording_input_t *input) {
  return input->used - input->start;
}

/* Reads without waiting. Returns the number of bytes, 0 at the end, -EAGAIN or
 * another -errno. */
static ssize_t read_pipe(int fd, void *bytes, size_t size) {
  struct pollfd poll_fd = {fd, POLLIN, 0};
  ssize_t nr;

  if (poll(&poll_fd, 1, 0) == 0)
    return -EAGAIN;
  do
    nr = read(fd, bytes, size);
  while (nr < 0 && errno == EINTR);
  return nr < 0 ? -errno : nr;
}

static ssize_t read_file(int fd, void *bytes, size_t size, uint64_t offset) {
  ssize_t nr;

  if (offset > INT64_MAX)
    return 0;
  do
    nr = pread(fd, bytes, size, (off_t)offset);
  while (nr < 0 && errno == EINTR);
  return nr < 0 ? -errno : nr;
}

/* Reads once, after the bytes that are in the buffer. */
static recording_input_e fill(recording_input_t *input) {
  uint64_t at = input->offset + recording_input_left(input), room;
  ssize_t nr;

  memmove(input->buffer, input->buffer + input->start,
          recording_input_left(input));
  input->used -= input->start;
  input->start = 0;
  room = RECORDING_INPUT_BYTES - input->used;
  if (at >= input->end)
    return RECORDING_INPUT_END;
  if (room > input->end - at)
    room = input->end - at;
  if (input->is_pipe)
    nr = read_pipe(input->fd, input->buffer + input->used, (size_t)room);
  else
    nr = read_file(input->fd, input->buffer + input->used, (size_t)room, at);
  if (nr == -EAGAIN && input->is_pipe)
    return RECORDING_INPUT_WAIT;
  if (nr <= 0) {
    input->error = (int)-nr;
    return RECORDING_INPUT_END;
  }
  input->used += (size_t)nr;
  return RECORDING_INPUT_THERE;
}

static void drop(recording_input_t *input, size_t size) {
  input->start += size;
  input->offset += size;
}

static recording_input_e drop_skipped(recording_input_t *input) {
  recording_input_e state;
  size_t left;

  while (input->skip > 0) {
    left = recording_input_left(input);
    left = input->skip < left ? (size_t)input->skip : left;
    drop(input, left);
    input->skip -= left;
    if (input->skip == 0)
      break;
    state = fill(input);
    if (state != RECORDING_INPUT_THERE)
      return state;
  }
  return RECORDING_INPUT_THERE;
}

recording_input_e recording_input_peek(recording_input_t *input, size_t size,
                                       const unsigned char **bytes) {
  recording_input_e state = drop_skipped(input);

  while (state == RECORDING_INPUT_THERE && recording_input_left(input) < size)
    state = fill(input);
  *bytes = input->buffer + input->start;
  return state;
}

void recording_input_skip(recording_input_t *input, uint64_t size) {
  size_t left = recording_input_left(input);

  if (size <= left)
    drop(input, (size_t)size);
  else if (input->is_pipe)
    input->skip += size;
  else if (size <= input->end - input->offset)
    recording_input_seek(input, input->offset + size);
  else {
    input->skip = size - (input->end - input->offset);
    recording_input_seek(input, input->end);
  }
}

int recording_input_read_at(const recording_input_t *input, void *bytes,
                            size_t size, uint64_t offset) {
  size_t done = 0;
  ssize_t nr;

  while (done < size) {
    nr = read_file(input->fd, (char *)bytes + done, size - done, offset + done);
    if (nr <= 0)
      return -1;
    done += (size_t)nr;
  }
  return 0;
}
