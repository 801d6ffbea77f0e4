/* SPDX-License-Identifier: MIT */
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/out_file.h"
#include "common/say.h"
#include "common/signals.h"

int record_output_at(int fd, uint64_t offset, const void *bytes, size_t size,
                     size_t *done) {
  const char *from = bytes;
  ssize_t nr;

  *done = 0;
  while (*done < size) {
    nr = pwrite(fd, from + *done, size - *done, (off_t)(offset + *done));
    if (nr < 0 && errno == EINTR)
      continue;
    if (nr < 0)
      return -errno;
    if (nr == 0) /* POSIX allows 0 if nothing fits */
      return -ENOSPC;
    *done += (size_t)nr;
  }
  return 0;
}

static int refuse(const char *path, const char *reason) {
  common_say("cannot write to %s: %s\n", path, reason);
  return -1;
}

/* Returns a duplicate, so that all files are closed in the same way. */
static int open_stdout(void) {
  int fd;

  if (isatty(STDOUT_FILENO))
    return refuse("stdout",
                  "it is a terminal, and perf.data is not text: write to "
                  "a file with -o FILE");
  fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  return fd < 0 ? refuse("stdout", strerror(errno)) : fd;
}

/* open(2) of a FIFO waits for a reader. With libuv's handlers a signal would
 * only restart open(2). So signals end the program meanwhile. */
static int open_to_write(const char *path, int is_fifo,
                         char reason[COMMON_OUT_REASON]) {
  static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
  struct sigaction before[3], ends = {.sa_handler = SIG_DFL};
  int fd;
  size_t i;

  for (i = 0; is_fifo && i < 3; i++) {
    sigaction(numbers[i], NULL, &before[i]);
    if (before[i].sa_handler != SIG_IGN)
      sigaction(numbers[i], &ends, NULL);
  }
  if (is_fifo)
    common_signals_let_come();
  fd = common_out_file_open(path, COMMON_OUT_RENAME, reason);
  if (is_fifo)
    common_signals_hold();
  for (i = 0; is_fifo && i < 3; i++)
    sigaction(numbers[i], &before[i], NULL);
  return fd;
}

int record_output_open(const char *path, int *is_pipe) {
  char reason[COMMON_OUT_REASON];
  struct stat file;
  int fd;

  *is_pipe = strcmp(path, "-") == 0;
  if (*is_pipe)
    return open_stdout();
  fd = open_to_write(path, stat(path, &file) == 0 && S_ISFIFO(file.st_mode),
                     reason);
  if (fd < 0)
    return refuse(path, reason);
  if (fstat(fd, &file) == 0 && !S_ISREG(file.st_mode))
    *is_pipe = 1;
  if (*is_pipe && isatty(fd)) {
    close(fd);
    return refuse(path, "it is a terminal, and perf.data is not text: choose "
                        "another -o FILE");
  }
  return fd;
}
