/* SPDX-License-Identifier: MIT */
/* Measures all CPUs while a function runs, and leaves out the cost of measuring
 * itself. This can show, for example, how much other processes disturb a
 * benchmark. Needs root, CAP_PERFMON or perf_event_paranoid 0. */
#include <stdio.h>
#include <uvperf.h>

static void work(void *sum) {
  for (int i = 1; i < 10000000; i++)
    *(volatile double *)sum += 1.0 / i;
}

int main(void) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uv_loop_t *loop = uv_default_loop();
  uvperf_reading_t *reading, *overhead;
  uvperf_event_list_t *events;
  uvperf_error_t error;
  uvperf_count_t count;
  uvperf_set_t set;
  char line[128];
  double sum = 0;
  size_t i;
  int rc;

  if (uvperf_event_list_parse(&events, "cs,migrations,page-faults", &error) !=
      0)
    goto failed;
  cpus.type = UVPERF_TARGET_CPUS;
  options.events = events;
  options.targets = &cpus;
  options.nr_targets = 1;
  rc = uvperf_set_init(loop, &set, &options, &error);
  uvperf_event_list_free(events); /* the set has a copy */
  if (rc != 0)
    goto failed;
  if (uvperf_reading_new(&reading) != 0 || uvperf_reading_new(&overhead) != 0) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  if (uvperf_measure_overhead(&set, 0, overhead, &error) != 0 ||
      uvperf_measure(&set, work, &sum, reading, &error) != 0)
    goto failed;
  uvperf_reading_subtract(reading, overhead);
  for (i = 0; i < uvperf_set_nr_attrs(&set); i++) {
    uvperf_reading_total(reading, i, &count);
    uvperf_count_format(&count, uvperf_set_item(&set, i), line, sizeof(line));
    puts(line);
  }
  uvperf_reading_free(reading);
  uvperf_reading_free(overhead);
  uvperf_close(&set.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return uv_loop_close(loop) != 0;
failed:
  fprintf(stderr, "%s\n", error.reason);
  return 1;
}
