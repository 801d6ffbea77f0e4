/* SPDX-License-Identifier: MIT */
/* Puts the standard streams into the state that a program on a libuv loop
 * wants, whatever its parent left. */
#include "common/stdio.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "common/say.h"

/* uv_loop_close asserts that none of its fds is one of the first three, so none
 * of them may be free when the loop opens its own. A command finds them closed,
 * as they were. */
static void fill_standard_fds(void) {
  int fd;

  do
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    close(fd);
}

void common_stdio_init(void) {
  fill_standard_fds();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

int common_stdio_close(FILE *file, const char *name) {
  int failed = ferror(file) != 0;

  failed |= fclose(file) != 0;
  if (failed)
    common_say("%s could not be written\n", name);
  return failed;
}
