/* SPDX-License-Identifier: MIT */
/* Opens a loop where libuv would end the program. */
#include "common/loop.h"

#include <unistd.h>

#include "common/say.h"

/* libuv aborts where it finds no fds for its first ones, a pipe and an epoll
 * set. */
static int has_fds(void) {
  int fds[4];
  size_t nr, i;

  for (nr = 0; nr < 4; nr++) {
    fds[nr] = dup(STDERR_FILENO);
    if (fds[nr] < 0)
      break;
  }
  for (i = 0; i < nr; i++)
    close(fds[i]);
  return nr == 4;
}

int common_loop_init(uv_loop_t *loop) {
  int rc = has_fds() ? uv_loop_init(loop) : UV_EMFILE;

  if (rc == 0)
    return 0;
  common_say("a loop cannot be opened: %s%s\n", uv_strerror(rc),
             rc == UV_EMFILE ? ": raise the limit of open files, ulimit -n"
                             : "");
  return 1;
}
