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
  const char *names = "{cycles,instructions},cs";
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uvperf_event_list_t *events;
  uvperf_error_t error;
  uvperf_set_t set;
  int rc;

  setvbuf(stdout, NULL, _IOLBF, 0); /* each second, into a pipe too */
  if (uvperf_event_list_parse(&events, names, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  cpus.type = UVPERF_TARGET_CPUS; /* all online CPUs */
  options.events = events;
  options.targets = &cpus;
  options.nr_targets = 1;
  rc = uvperf_set_init(uv_default_loop(), &set, &options, &error);
  uvperf_event_list_free(events); /* the set has a copy */
  if (rc != 0 || uvperf_enable(&set.handle, UVPERF_ALL, &error) != 0 ||
      uvperf_set_read_start(&set, 1000, on_reading, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
