/* SPDX-License-Identifier: MIT */
/* Runs the worker. Does not depend on the kinds of requests. */
#include "profile/symbols/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "common/proc.h"

/* Time between two checks of the clock and of the worker's memory. */
#define TICK_MS 20
#define MAX_KIB ((uint64_t)1 << 20)

extern char **environ;

void symbols_worker_init(symbols_worker_t *worker) {
  memset(worker, 0, sizeof(*worker));
  worker->max_kib = MAX_KIB;
  worker->socket = -1;
}

static int spawn(symbols_worker_t *worker, int fd) {
  char *argv[] = {(char *)"symbols-worker", (char *)SYMBOLS_WORKER_ARGUMENT,
                  NULL};
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attr;
  sigset_t none, defaults;
  int rc;

  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attr);
  sigemptyset(&none);
  sigfillset(&defaults);
  posix_spawnattr_setsigmask(&attr, &none);
  posix_spawnattr_setsigdefault(&attr, &defaults);
  /* The worker has its own process group, so that Ctrl-C at the terminal
   * reaches only the program. */
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
                                      POSIX_SPAWN_SETSIGDEF |
                                      POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_adddup2(&actions, fd, SYMBOLS_WORKER_SOCKET);
  rc = posix_spawn(&worker->pid, "/proc/self/exe", &actions, &attr, argv,
                   environ);
  posix_spawnattr_destroy(&attr);
  posix_spawn_file_actions_destroy(&actions);
  return -rc;
}

static int start(symbols_worker_t *worker) {
  int fds[2], rc;

  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return -errno;
  rc = spawn(worker, fds[1]);
  close(fds[1]);
  if (rc == 0) {
    worker->socket = fds[0];
    return 0;
  }
  worker->pid = 0;
  close(fds[0]);
  return rc;
}

/* The deadline is for the whole answer, even if it comes byte by byte. */
static int wait_for(void *arg, int fd, short events) {
  symbols_worker_t *worker = arg;
  struct pollfd item = {fd, events, 0};
  uint64_t now;

  poll(&item, 1, TICK_MS);
  now = uv_hrtime() / 1000000;
  if (now < worker->next_tick)
    return 0;
  worker->next_tick = now + TICK_MS;
  if (worker->tick != NULL)
    worker->tick(worker->arg);
  if (atomic_load(&worker->is_stopped))
    return -ECANCELED;
  if (now >= worker->deadline)
    return -ETIMEDOUT;
  return common_proc_memory(worker->pid) > worker->max_kib ? -ENOMEM : 0;
}

/* Ends the worker. Returns the signal that had already ended it, or 0. */
static int end(symbols_worker_t *worker) {
  int status = 0;

  close(worker->socket);
  worker->socket = -1;
  kill(worker->pid, SIGKILL);
  while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
    continue;
  worker->pid = 0;
  return WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL ? WTERMSIG(status)
                                                            : 0;
}

void symbols_worker_end(symbols_worker_t *worker) {
  if (worker->pid != 0)
    end(worker);
}

static void explain(const symbols_worker_t *worker, int rc, int number,
                    char reason[SYMBOLS_REASON_BYTES]) {
  switch (rc) {
    case -ETIMEDOUT:
      snprintf(reason, SYMBOLS_REASON_BYTES, "took longer than %g s",
               (double)worker->timeout_ms / 1000);
      break;
    case -ENOMEM:
      snprintf(reason, SYMBOLS_REASON_BYTES,
               "reading its names took more than %g GiB of memory",
               (double)worker->max_kib / (1 << 20));
      break;
    case -ECONNRESET:
      if (number == SIGSYS)
        snprintf(reason, SYMBOLS_REASON_BYTES,
                 "damaged: the process that read its names made a system call "
                 "that it may not make");
      else if (number != 0)
        snprintf(reason, SYMBOLS_REASON_BYTES,
                 "damaged: the process that read its names was ended by "
                 "signal %d",
                 number);
      else
        snprintf(reason, SYMBOLS_REASON_BYTES,
                 "damaged: the process that read its names has ended");
      break;
    case -ECANCELED:
      snprintf(reason, SYMBOLS_REASON_BYTES, "not read");
      break;
    default:
      snprintf(reason, SYMBOLS_REASON_BYTES,
               "cannot ask the process that reads names: %s", strerror(-rc));
      break;
  }
}

int symbols_worker_ask(symbols_worker_t *worker, symbols_message_t *request,
                       symbols_message_t *response,
                       char reason[SYMBOLS_REASON_BYTES]) {
  uint64_t now = uv_hrtime() / 1000000;
  int rc = 0, fd;

  reason[0] = '\0';
  if (atomic_load(&worker->is_stopped)) {
    explain(worker, -ECANCELED, 0, reason);
    return -ECANCELED;
  }
  if (worker->pid == 0) {
    rc = start(worker);
    if (rc != 0) {
      snprintf(reason, SYMBOLS_REASON_BYTES,
               "cannot start the process that reads names: %s", strerror(-rc));
      return rc;
    }
  }
  worker->deadline = worker->timeout_ms < UINT64_MAX - now
                         ? now + worker->timeout_ms
                         : UINT64_MAX;
  worker->next_tick = now + TICK_MS;
  rc = symbols_wire_send(worker->socket, request, wait_for, worker);
  if (rc == 0)
    rc = symbols_wire_receive(worker->socket, response, wait_for, worker);
  if (rc == 0 && (response->type != request->type || response->nr_fds > 0))
    rc = -EPROTO;
  while (rc != 0 && (fd = symbols_get_fd(response)) >= 0)
    close(fd);
  if (rc != 0)
    explain(worker, rc, end(worker), reason);
  return rc;
}
