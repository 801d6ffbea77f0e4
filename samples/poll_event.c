/* SPDX-License-Identifier: MIT */
/* Takes the records of one event in a poll(2) loop. Samples a thread a thousand
 * times per second of its CPU time until the thread ends, and prints where it
 * was. No callback is called, and libuv's loop runs only to close. A thread of
 * your own needs no privileges. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

int main(int argc, char **argv) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uv_loop_t *loop = uv_default_loop();
  const uvperf_record_t *record;
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  struct pollfd fd;
  int rc = 0;

  if (argc != 2 || (options.pid = atoi(argv[1])) <= 0) {
    fprintf(stderr, "usage: %s TID\n", argv[0]);
    return 2;
  }
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  uvperf_attr_set_period(&attr, 1000000);   /* ns */
  uvperf_attr_set_wakeup_events(&attr, 10); /* not for each sample */
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  if (uvperf_event_init(loop, &event, &attr, &options, &error) != 0 ||
      uvperf_enable(&event.handle, 0, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  fd.fd = uvperf_event_fd(&event);
  fd.events = POLLIN;
  while (rc != UV_EOF) { /* the thread has ended */
    rc = uvperf_next(&event.handle, &record);
    if (rc == UV_EAGAIN) {
      /* Readiness is reported once for each wakeup, so all records are taken
       * first. The timeout is for the last samples: fewer than 10 samples cause
       * no wakeup. */
      poll(&fd, 1, 100);
    } else if (rc == 0 && record->type == PERF_RECORD_SAMPLE) {
      printf("%#llx\n", (unsigned long long)record->ip);
    } else if (rc != 0 && rc != UV_EPROTO && rc != UV_EOF) {
      fprintf(stderr, "%s\n", uv_strerror(rc));
      return 1;
    }
  }
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
