/* SPDX-License-Identifier: MIT */
#include "call_server.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static void exec_target(const char *path, const char *mode, int in, int out) {
  if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
    _exit(125);
  execl(path, "stat_target", mode, (char *)NULL);
  _exit(125);
}

static void start(call_server_t *serve, const char *path, const char *mode) {
  int in[2], out[2];

  assert_int_equal(pipe2(in, O_CLOEXEC), 0);
  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  serve->pid = fork();
  assert_true(serve->pid >= 0);
  if (serve->pid == 0)
    exec_target(path, mode, in[0], out[1]);
  close(in[0]);
  close(out[1]);
  serve->in = in[1];
  serve->out = out[0];
  snprintf(serve->id, sizeof(serve->id), "%d", serve->pid);
  /* It is not forked any more, but runs, when it has answered. */
  call_server_calls(serve, 0);
}

void call_server_start(call_server_t *serve, const char *path) {
  start(serve, path, "serve");
}

void call_server_start_team(call_server_t *serve, const char *path) {
  start(serve, path, "team");
}

void call_server_calls(const call_server_t *serve, unsigned nr) {
  char text[32], answer[5];
  int size = snprintf(text, sizeof(text), "%u\n", nr);

  assert_int_equal(write(serve->in, text, (size_t)size), size);
  assert_int_equal(read(serve->out, answer, sizeof(answer)), 5);
}

void call_server_end(call_server_t *serve) {
  int status;

  close(serve->in);
  assert_int_equal(waitpid(serve->pid, &status, 0), serve->pid);
  assert_int_equal(status, 0);
  close(serve->out);
}
