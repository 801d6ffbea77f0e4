/* SPDX-License-Identifier: MIT */
/* Puts the standard streams into the state that a program on a libuv loop
 * needs, whatever state they got from the parent. */
#include "common/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/say.h"

/* uv_loop_close asserts that no fd of the loop is 0, 1 or 2. So these three fds
 * must be open before the loop opens its own fds. If a stream was closed,
 * writing to it must fail, because the output is lost. A command that is run
 * still gets a closed stream. */
static void fill_standard_fds(void) {
  int fd;

  for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0)
      open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void common_stdio_init(void) {
  fill_standard_fds();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

static int is_writable(int fd) {
  int flags = fcntl(fd, F_GETFL);

  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int common_stdio_has_stdout(void) {
  if (is_writable(STDOUT_FILENO))
    return 1;
  common_say("stdout is closed\n");
  return 0;
}

/* The error of an earlier write is forgotten, but a pipe keeps its error. */
static int has_reader(int fd) {
  struct pollfd poller = {fd, POLLOUT, 0};

  return poll(&poller, 1, 0) <= 0 || (poller.revents & POLLERR) == 0;
}

int common_stdio_close(FILE *file, const char *name) {
  int fd = fileno(file), failed = ferror(file) != 0, error = 0, is_gone,
      is_open;

  if (fflush(file) != 0)
    failed = error = errno;
  is_gone = !has_reader(fd);
  is_open = is_writable(fd);
  if (fclose(file) != 0)
    failed = error = errno;
  if (!failed || is_gone)
    return 0;
  if (!is_open)
    common_say("%s is closed\n", name);
  else if (error != 0)
    common_say("%s could not be written: %s\n", name, strerror(error));
  else
    common_say("%s could not be written\n", name);
  return 1;
}
