/* SPDX-License-Identifier: MIT */
/* Counts on all CPUs, and prints the counts of each second. */
#include <stdio.h>
#include <uvperf.h>

static void on_reading(uvperf_set_t *set, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  uvperf_count_t count;
  char line[128];
  size_t i;

  (void)reading; /* the same since the beginning */
  for (i = 0; status == 0 && i < uvperf_set_nr_attrs(set); i++) {
    uvperf_reading_total(delta, i, &count);
    uvperf_count_format(&count, uvperf_set_item(set, i), line, sizeof(line));
    puts(line);
  }
}

int main(void) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  uvperf_set_t set;

  setvbuf(stdout, NULL, _IOLBF, 0); /* each second, into a pipe too */
  options.names = "{cycles,instructions},cs";
  cpus.type = UVPERF_TARGET_CPUS; /* all online CPUs */
  options.targets = &cpus;
  options.nr_targets = 1;
  if (uvperf_set_init(uv_default_loop(), &set, &options, &error) != 0 ||
      uvperf_enable(&set.handle, UVPERF_ALL, &error) != 0 ||
      uvperf_set_read_start(&set, 1000, on_reading, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
