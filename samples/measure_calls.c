/* SPDX-License-Identifier: MIT */
/* A benchmark without a loop. It measures the first call of a function, which
 * finds nothing in the caches, then each of many more calls. It also measures
 * the cost of measuring itself. The events are opened once. Needs no privileges
 * up to perf_event_paranoid 2. */
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

#define CALLS 1000
#define NR    3

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static void sort(void *arg) {
  int *numbers = arg;

  for (int i = 0; i < 1000; i++)
    numbers[i] = i * 7919 % 1000;
  qsort(numbers, 1000, sizeof(*numbers), compare);
}

static void nothing(void *arg) {
  (void)arg;
}

int main(void) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_runs_t runs[NR], empty[NR];
  uvperf_count_t first[NR];
  const uvperf_set_failure_t *failures;
  uvperf_meter_t *meter;
  uvperf_error_t error;
  int numbers[1000];
  size_t i, nr;

  options.names = "task-clock:u,{instructions,cycles}:u";
  if (uvperf_meter_new(&meter, &options, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  failures = uvperf_meter_failures(meter, &nr);
  for (i = 0; i < nr; i++)
    fprintf(stderr, "%s\n", failures[i].error.reason);
  if (uvperf_meter_measure(meter, sort, numbers, first, NR, &error) != 0 ||
      uvperf_meter_repeat(meter, CALLS, nothing, NULL, empty, NR, &error) !=
          0 ||
      uvperf_meter_repeat(meter, CALLS, sort, numbers, runs, NR, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  for (i = 0; i < NR; i++)
    if (runs[i].nr != 0) /* it counted */
      printf("%s: first %llu, least %llu, mean %.0f, deviation %.0f; "
             "%llu of that is measuring\n",
             uvperf_meter_item(meter, i)->label,
             (unsigned long long)first[i].scaled,
             (unsigned long long)runs[i].least, runs[i].mean, runs[i].deviation,
             (unsigned long long)empty[i].least);
  uvperf_meter_free(meter);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return 0;
}
