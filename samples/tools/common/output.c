/* SPDX-License-Identifier: MIT */
/* Writes without blocking, even if the reader does not read. So signals and
 * timers are still handled. Does not use O_NONBLOCK, because this would affect
 * other processes with the same open file, for example the shell. */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/out_file.h"
#include "common/say.h"
#include "common/stdio.h"

/* At the end, if the reader does not read for this time, the rest is
 * dropped. */
#define END_WAIT_MS 2000

/* Returns the events POLLOUT, POLLERR and POLLHUP that have come, or 0 if none
 * comes in time. */
static int wait_for(int fd, int wait_ms) {
  struct pollfd poller = {fd, POLLOUT, 0};

  return poll(&poller, 1, wait_ms) > 0 ? poller.revents : 0;
}

int common_output_is_ready(int fd) {
  return wait_for(fd, 0) != 0;
}

static void fail(common_output_t *output, int error) {
  output->error = error;
  output->buffer.used = 0;
}

/* A pipe with POLLOUT accepts PIPE_BUF bytes without blocking (pipe(7)). */
static int write_some(common_output_t *output) {
  common_buffer_t *buffer = &output->buffer;
  size_t done = 0, size;
  ssize_t nr;

  while (done < buffer->used && wait_for(output->fd, 0) != 0) {
    size = buffer->used - done < PIPE_BUF ? buffer->used - done : PIPE_BUF;
    nr = write(output->fd, buffer->text + done, size);
    if (nr < 0 && (errno == EINTR || errno == EAGAIN))
      break;
    if (nr < 0) {
      fail(output, errno);
      return 0;
    }
    done += (size_t)nr;
  }
  if (done > 0)
    common_buffer_drop(buffer, done);
  return done > 0;
}

int common_output_push(common_output_t *output, int wait_ms) {
  if (output->error != 0) {
    output->buffer.used = 0;
    return 1;
  }
  /* A pipe without a reader reports POLLERR, even if there is nothing to
   * write. */
  if (output->buffer.used == 0) {
    if (wait_for(output->fd, 0) & POLLERR)
      fail(output, EPIPE);
    return 1;
  }
  write_some(output);
  if (output->buffer.used > 0 && wait_ms > 0 &&
      wait_for(output->fd, wait_ms) != 0)
    write_some(output);
  return output->buffer.used == 0;
}

/* A second signal stops the wait for the reader. */
static int is_asked_to_end(void) {
  sigset_t pending;

  return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 ||
                                       sigismember(&pending, SIGTERM) == 1);
}

int common_output_drain(common_output_t *output) {
  sigset_t all, old;
  size_t before;
  int is_done;

  /* A signal would end the wait, which would look as if the reader did not
   * read. */
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &old);
  do {
    before = output->buffer.used;
    is_done = common_output_push(output, END_WAIT_MS);
  } while (!is_done && output->buffer.used < before && !is_asked_to_end());
  sigprocmask(SIG_SETMASK, &old, NULL);
  return is_done;
}

/* Does not use close(2): no other file may be opened as stdout. */
static void end_stream(int fd) {
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

  if (null < 0)
    return;
  dup2(null, fd);
  close(null);
}

int common_output_finish(common_output_t *output, const char *file) {
  int is_done = common_output_drain(output);

  end_stream(output->fd);
  if (!is_done)
    common_say("the reader has stopped reading: %zu bytes were not written\n",
               output->buffer.used);
  else if (output->error != 0 && output->error != EPIPE)
    common_say("%s: %s\n", file != NULL ? file : "stdout",
               strerror(output->error));
  else
    return 0;
  return 1;
}

int common_output_open(common_output_t *output, const char *file) {
  char reason[COMMON_OUT_REASON];

  output->fd = STDOUT_FILENO;
  if (file == NULL)
    return !common_stdio_has_stdout();
  output->fd = common_out_file_open(file, COMMON_OUT_TRUNCATE, reason);
  if (output->fd >= 0)
    return 0;
  common_say("%s: %s\n", file, reason);
  return 1;
}
