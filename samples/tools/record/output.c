/* SPDX-License-Identifier: MIT */
#include "record/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
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

/* Links in these directories, such as /dev/stdout, lead to files that the
 * program was given. These files are not the program's own. */
static int is_given(const char *path) {
  return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Follows check_backup of tools/perf/util/data.c: an empty file is not worth
 * keeping. */
static int keep_old(const char *path, const struct stat *stat) {
  size_t size = strlen(path) + sizeof(".old");
  char *old;
  int rc;

  if (!S_ISREG(stat->st_mode) || stat->st_size == 0 || is_given(path))
    return 0;
  old = common_calloc(1, size);
  snprintf(old, size, "%s.old", path);
  rc = rename(path, old);
  if (rc != 0)
    common_say("cannot keep %s as %s: %s\n", path, old, strerror(errno));
  free(old);
  return rc;
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
static int open_to_write(const char *path, int is_fifo) {
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
  fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
            S_IRUSR | S_IWUSR);
  if (is_fifo)
    common_signals_hold();
  for (i = 0; is_fifo && i < 3; i++)
    sigaction(numbers[i], &before[i], NULL);
  return fd;
}

int record_output_open(const char *path, int *is_pipe) {
  struct stat before;
  int fd, is_there;

  *is_pipe = strcmp(path, "-") == 0;
  if (*is_pipe)
    return open_stdout();
  is_there = stat(path, &before) == 0;
  if (is_there && keep_old(path, &before) != 0)
    return -1;
  fd = open_to_write(path, is_there && S_ISFIFO(before.st_mode));
  if (fd < 0)
    return refuse(path, strerror(errno));
  if (fstat(fd, &before) == 0 && !S_ISREG(before.st_mode))
    *is_pipe = 1;
  if (*is_pipe && isatty(fd)) {
    close(fd);
    return refuse(path, "it is a terminal, and perf.data is not text: choose "
                        "another -o FILE");
  }
  return fd;
}
