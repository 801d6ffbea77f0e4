/* SPDX-License-Identifier: MIT */
/* Prints each new name in a process and its children (an exec is one) until the
 * last of them ends, from a poll(2) loop of its own: no callback, and libuv's
 * loop runs only to close. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

#define MOST_CPUS 256

static int fail(const char *reason) {
  fprintf(stderr, "%s\n", reason);
  return 1;
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t process = UVPERF_TARGET_INIT;
  struct pollfd fds[MOST_CPUS];
  const uvperf_record_t *record;
  uvperf_ring_info_t ring;
  uvperf_error_t error;
  uvperf_set_t set;
  nfds_t nr = 0;
  int rc;

  if (argc != 2)
    return fail("usage: own_loop PID");
  process.type = UVPERF_TARGET_PROCESS;
  process.pid = atoi(argv[1]);
  options.targets = &process;
  options.nr_targets = 1;
  options.flags =
      UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER | UVPERF_SET_ENABLED;
  options.side_band = UVPERF_SIDE_BAND_TASKS;
  options.wakeup_bytes = 1;
  if (uvperf_set_init(uv_default_loop(), &set, &options, &error) != 0)
    return fail(error.reason);
  while (nr < MOST_CPUS && uvperf_set_ring(&set, nr, &ring) == 0)
    fds[nr++] = (struct pollfd){ring.fd, POLLIN, 0};
  /* The timeout is for the end of the process, which wakes no ring. */
  while ((rc = uvperf_set_next(&set, &record)) != UV_EOF) {
    if (rc == UV_EAGAIN)
      poll(fds, nr, 100);
    else if (rc == 0 && record->type == PERF_RECORD_COMM)
      printf("%.6f %u is %s\n", (double)record->time / 1e9, record->tid,
             record->comm.comm);
    else if (rc != 0 && rc != UV_EPROTO)
      return fail(uv_strerror(rc));
  }
  uvperf_set_close(&set, NULL);
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
