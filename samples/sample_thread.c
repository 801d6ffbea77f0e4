/* SPDX-License-Identifier: MIT */
/* Samples a thread a thousand times a second and prints where it was, until it
 * ends. The thread is the one with the given id, or the parent's first
 * thread. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <uvperf.h>

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  if (status == 0 && record->type == PERF_RECORD_SAMPLE)
    printf("%u %#llx\n", record->tid, (unsigned long long)record->ip);
  else if (status == UV_EOF) /* the thread has ended */
    uvperf_close(handle, NULL);
}

static int sample(uv_loop_t *loop, pid_t thread) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1000000); /* ns */
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IP;
  attr.exclude_kernel = 1; /* works without privileges */
  options.pid = thread;
  if (uvperf_event_init(loop, &event, &attr, &options, &error) != 0 ||
      uvperf_start(&event.handle, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return -1;
  }
  return uv_run(loop, UV_RUN_DEFAULT);
}

int main(int argc, char **argv) {
  uv_loop_t *loop = uv_default_loop();
  pid_t thread = argc > 1 ? atoi(argv[1]) : getppid();

  if (thread <= 0) {
    fprintf(stderr, "usage: %s [thread-id]\n", argv[0]);
    return 2;
  }
  if (sample(loop, thread) != 0)
    return 1;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
