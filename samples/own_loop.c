/* SPDX-License-Identifier: MIT */
/* Takes records one by one in the program's own epoll(7) loop, beside its other
 * fds. Prints each new name of a task in a process and its children, until the
 * last task ends or until Ctrl-C. An exec also sets a new name. No callback is
 * called, and libuv's loop runs only to close. A process of your own needs no
 * privileges. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <uvperf.h>

static int fail(const char *reason) {
  fprintf(stderr, "own_loop: %s\n", reason);
  return 1;
}

/* Returns an fd that is readable after Ctrl-C. It stands for your other fds. */
static int open_interrupt(void) {
  sigset_t signals;

  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, NULL);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int watch(int epoll, int fd) {
  struct epoll_event interest = {.events = EPOLLIN, .data = {.fd = fd}};

  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest);
}

/* Takes at most 1000 records, so that other fds have their turn. */
static int take(uvperf_set_t *set) {
  const uvperf_record_t *record;
  int rc = 0;
  int i;

  for (i = 0; i < 1000 && rc == 0; i++) {
    rc = uvperf_next(&set->handle, &record);
    if (rc == UV_EPROTO) {
      if (record->type == UVPERF_RECORD_NONE) /* the ring, not a record */
        fprintf(stderr, "own_loop: the ring of CPU %u is damaged\n",
                record->cpu);
      rc = 0;
    } else if (rc == 0 && record->type == PERF_RECORD_COMM) {
      printf("%.6f %u is %.*s\n", (double)record->time / 1e9, record->tid,
             (int)record->comm.comm_size, record->comm.comm);
    } else if (rc == 0 && record->type == PERF_RECORD_LOST) {
      printf("%llu records lost\n", (unsigned long long)record->lost.lost);
    }
  }
  return rc == UV_EAGAIN ? 0 : rc;
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t process = UVPERF_TARGET_INIT;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int interrupt = open_interrupt();
  uvperf_ring_info_t ring;
  uvperf_error_t error;
  struct epoll_event ready;
  uvperf_set_t set;
  size_t i;
  int nr;
  int rc = 0;

  if (argc != 2 || (process.pid = atoi(argv[1])) <= 0)
    return fail("usage: own_loop PID");
  process.type = UVPERF_TARGET_PROCESS;
  options.targets = &process;
  options.nr_targets = 1;
  options.flags =
      UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER | UVPERF_SET_ENABLED;
  options.side_band = UVPERF_SIDE_BAND_TASKS;
  options.wakeup_bytes = 1; /* wakes for each record */
  if (uvperf_set_init(uv_default_loop(), &set, &options, &error) != 0)
    return fail(error.reason);
  if (watch(epoll, interrupt) != 0)
    return fail(strerror(errno));
  for (i = 0; uvperf_ring(&set.handle, i, &ring) == 0; i++)
    if (watch(epoll, ring.fd) != 0) /* the set's: do not close it */
      return fail(strerror(errno));
  setvbuf(stdout, NULL, _IOLBF, 0);
  fprintf(stderr, "own_loop: follows %d\n", process.pid);
  do {
    /* epoll reports a ring once, even if records are left in it. So ask the set
     * whether it has records. The end of the process wakes no ring, so there is
     * a timeout. */
    nr = epoll_wait(epoll, &ready, 1, uvperf_has_record(&set.handle) ? 0 : 100);
    if (nr < 0 && errno != EINTR)
      return fail(strerror(errno));
    rc = take(&set);
  } while (rc == 0 && (nr <= 0 || ready.data.fd != interrupt));
  if (rc != 0 && rc != UV_EOF) /* UV_EOF: the last of them has ended */
    return fail(uv_strerror(rc));
  uvperf_close(&set.handle, NULL);
  close(interrupt);
  close(epoll);
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout))
    return fail("stdout could not be written");
  return uv_loop_close(uv_default_loop()) != 0;
}
