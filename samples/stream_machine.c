/* SPDX-License-Identifier: MIT */
/* Prints, for all CPUs and in time order, each fork, exit and new name of a
 * task. Also prints 99 times a second which task runs. Needs root, or
 * CAP_PERFMON and a tracefs that may be read. */
#include <stdio.h>
#include <uvperf.h>

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  char line[256];

  (void)handle;
  if (record->type == UVPERF_RECORD_NONE) {
    fprintf(stderr, "%s\n", uv_err_name(status));
  } else if (status == 0 && record->type == PERF_RECORD_SAMPLE &&
             record->source != NULL) {
    printf("%.6f cpu %u: %u %s\n", (double)record->time / 1e9, record->cpu,
           record->tid, record->source->item->label);
  } else { /* FORK, COMM, EXIT, and LOST if records did not fit */
    uvperf_record_format(record, status, line, sizeof(line));
    puts(line);
  }
}

int main(void) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  uvperf_set_t set;

  setvbuf(stdout, NULL, _IOLBF, 0); /* at once, into a pipe too */
  cpus.type = UVPERF_TARGET_CPUS;
  options.names = "sched:sched_process_fork,cpu-clock/freq=99/";
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  options.side_band = UVPERF_SIDE_BAND_TASKS;
  if (uvperf_set_init(uv_default_loop(), &set, &options, &error) != 0 ||
      uvperf_start(&set.handle, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
