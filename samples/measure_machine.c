/* SPDX-License-Identifier: MIT */
/* Measures all CPUs while a function runs, and leaves out the cost of measuring
 * itself. This can show, for example, how much other processes disturb a
 * benchmark. Needs root, CAP_PERFMON or perf_event_paranoid 0. */
#include <stdio.h>
#include <uvperf.h>

#define NR 3

static void work(void *sum) {
  for (int i = 1; i < 10000000; i++)
    *(volatile double *)sum += 1.0 / i;
}

static void nothing(void *arg) {
  (void)arg;
}

int main(void) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  uvperf_runs_t empty[NR];
  uvperf_count_t counts[NR];
  uvperf_meter_t *meter;
  uvperf_error_t error;
  char line[128];
  double sum = 0;
  uint64_t cost;

  options.names = "cs,migrations,page-faults";
  cpus.type = UVPERF_TARGET_CPUS;
  options.targets = &cpus;
  options.nr_targets = 1;
  if (uvperf_meter_new(&meter, &options, &error) != 0 ||
      uvperf_meter_repeat(meter, 100, nothing, NULL, empty, NR, &error) != 0 ||
      uvperf_meter_measure(meter, work, &sum, counts, NR, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  for (size_t i = 0; i < NR; i++) {
    cost = empty[i].least;
    counts[i].scaled -= cost < counts[i].scaled ? cost : counts[i].scaled;
    uvperf_count_format(&counts[i], uvperf_meter_item(meter, i), line,
                        sizeof(line));
    puts(line);
  }
  uvperf_meter_free(meter);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return 0;
}
