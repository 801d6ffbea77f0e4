/* SPDX-License-Identifier: MIT */
/* Tells each fork, each new name of a task, and 99 times a second what runs on
 * each CPU, in the order of time. */
#include <stdio.h>
#include <uvperf.h>

static void on_record(uvperf_set_t *set, int status,
                      const uvperf_record_t *record) {
  if (status != 0 || record == NULL)
    fprintf(stderr, "status %d\n", status);
  else if (record->type == PERF_RECORD_COMM)
    printf("%.6f cpu %u: %u is %s\n", (double)record->time / 1e9, record->cpu,
           record->tid, record->comm.comm);
  else if (record->type == PERF_RECORD_SAMPLE && record->source != NULL)
    printf("%.6f cpu %u: %u %s\n", (double)record->time / 1e9, record->cpu,
           record->tid,
           uvperf_set_item(set, record->source->attr_index)->label);
}

int main(void) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uvperf_event_list_t *events;
  uvperf_error_t error;
  uvperf_set_t set;

  if (uvperf_event_list_parse(&events,
                              "sched:sched_process_fork,cpu-clock/freq=99/",
                              &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  cpus.type = UVPERF_TARGET_CPUS;
  options.events = events;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags =
      UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER | UVPERF_SET_FOLLOW_CPUS;
  options.side_band = UVPERF_SIDE_BAND_TASKS;
  if (uvperf_set_init(uv_default_loop(), &set, &options, &error) != 0 ||
      uvperf_set_start(&set, NULL, on_record, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  uvperf_event_list_free(events);
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
