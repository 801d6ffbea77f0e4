/* SPDX-License-Identifier: MIT */
/* Forks a child that waits on a socket. The child execs only when events are
 * open on it, so the whole command is measured. uv_spawn cannot wait between
 * fork and exec. Does not depend on events. */
#include "common/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static ssize_t read_all(int fd, void *bytes, size_t size) {
  ssize_t rc;

  do
    rc = read(fd, bytes, size);
  while (rc < 0 && errno == EINTR);
  return rc;
}

/* Never returns. Calls only async-signal-safe functions, and execvp. */
static void run_child(char **argv, const common_signals_t *signals, int go_fd,
                      int error_fd) {
  char byte;
  int error;

  common_signals_give_back(signals);
  /* The command also ends if this program dies, however that happens. */
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (read_all(go_fd, &byte, 1) != 1)
    _exit(1); /* This program gave up or died. */
  execvp(argv[0], argv);
  error = errno;
  if (write(error_fd, &error, sizeof(error)) < 0)
    _exit(126);
  _exit(127);
}

static void close_pair(const int fds[2]) {
  close(fds[0]);
  close(fds[1]);
}

int common_command_fork(common_command_t *command, char **argv) {
  int go[2], error[2], rc;

  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) != 0)
    return -errno;
  if (pipe2(error, O_CLOEXEC) != 0) {
    rc = -errno;
    close_pair(go);
    return rc;
  }
  command->pid = fork();
  if (command->pid < 0) {
    rc = -errno;
    command->pid = 0;
    close_pair(go);
    close_pair(error);
    return rc;
  }
  if (command->pid == 0) {
    /* Close the child's own copy of the writing end. Otherwise the child would
     * wait for ever. */
    close(go[1]);
    run_child(argv, &command->signals, go[0], error[1]);
  }
  close(go[0]);
  close(error[1]);
  command->name = argv[0];
  command->go_fd = go[1];
  command->error_fd = error[0];
  return 0;
}

static void close_fds(common_command_t *command) {
  if (command->go_fd >= 0)
    close(command->go_fd);
  if (command->error_fd >= 0)
    close(command->error_fd);
  command->go_fd = command->error_fd = -1;
}

int common_command_go(common_command_t *command) {
  int error = 0;
  ssize_t rc;

  /* If the child was killed while it waited, send(2) fails. MSG_NOSIGNAL: the
   * failure must not end this program by SIGPIPE. Reaping shows that the child
   * has ended. */
  (void)!send(command->go_fd, "g", 1, MSG_NOSIGNAL);
  /* A successful exec closes the pipe, so the end of the file means success. */
  rc = read_all(command->error_fd, &error, sizeof(error));
  close_fds(command);
  return rc == (ssize_t)sizeof(error) ? -error : 0;
}

int common_command_reap(common_command_t *command, int *status) {
  if (command->pid == 0 || waitpid(command->pid, status, WNOHANG) == 0)
    return 0;
  command->pid = 0;
  return 1;
}

int common_command_exit(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void common_command_end(common_command_t *command) {
  close_fds(command);
  if (command->pid == 0)
    return;
  kill(command->pid, SIGKILL);
  while (waitpid(command->pid, NULL, 0) < 0 && errno == EINTR)
    continue;
  command->pid = 0;
}
