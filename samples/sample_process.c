/* SPDX-License-Identifier: MIT */
/* Samples the stacks of all threads of processes 99 times a second, until the
 * last of them has ended. Each line is a thread and its stack, innermost first.
 * Your own processes need no privileges up to perf_event_paranoid 2.
 *
 *   sample_process PID...
 *
 * fd:N instead of a PID is the pidfd N, which the caller has opened.
 *
 * The kernel follows frame pointers, so code that is compiled without them has
 * short stacks. tools/profile resolves addresses and can unwind without frame
 * pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  uint64_t i, ip;

  if (status == UV_EOF) /* all processes have ended */
    uvperf_close(handle, NULL);
  else if (status != 0)
    fprintf(stderr, "%s\n", uv_err_name(status));
  else if (record->type == PERF_RECORD_LOST)
    fprintf(stderr, "%llu are lost\n", (unsigned long long)record->lost.lost);
  if (status != 0 || record->type != PERF_RECORD_SAMPLE)
    return;
  printf("%u %s", record->tid, uvperf_record_cpu_mode_name(record->misc));
  for (i = 0; i < record->sample.callchain.nr; i++) {
    ip = record->sample.callchain.ips[i];
    if (ip < (uint64_t)PERF_CONTEXT_MAX) /* a mark between kernel and user */
      printf(" %#llx", (unsigned long long)ip);
  }
  printf("\n");
}

static void on_end(uvperf_set_t *set, uint32_t target) {
  (void)set;
  fprintf(stderr, "process %u of the command line has ended\n", target + 1);
}

int main(int argc, char **argv) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t init = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs[] = {&attr};
  uvperf_target_t *targets;
  uvperf_error_t error;
  uvperf_set_t set;
  int i, rc;

  if (argc < 2) {
    fprintf(stderr, "usage: %s PID|fd:PIDFD...\n", argv[0]);
    return 2;
  }
  targets = calloc((size_t)argc, sizeof(*targets));
  if (targets == NULL) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  for (i = 1; i < argc; i++) {
    targets[i - 1] = init;
    targets[i - 1].type = UVPERF_TARGET_PROCESS;
    targets[i - 1].pid = atoi(argv[i]);
    if (sscanf(argv[i], "fd:%d", &targets[i - 1].pid) == 1)
      targets[i - 1].flags = UVPERF_TARGET_PIDFD;
  }
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 99);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = targets;
  options.nr_targets = (size_t)argc - 1;
  options.flags = UVPERF_SET_RECORDS;
  options.fallbacks = UVPERF_FALLBACK_USER; /* without privileges */
  setvbuf(stdout, NULL, _IOLBF, 0);         /* at once, into a pipe too */
  rc = uvperf_set_init(loop, &set, &options, &error);
  free(targets);
  if (rc != 0 || uvperf_set_on_end(&set, on_end) != 0 ||
      uvperf_start(&set.handle, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
}
