/* SPDX-License-Identifier: MIT */
/* Measures one call of a function: instructions per cycle, page faults,
 * time. */
#include <stdio.h>
#include <uvperf.h>

static void work(void *sum) {
  for (int i = 1; i < 1000000; i++)
    *(volatile double *)sum += 1.0 / i;
}

int main(void) {
  const char *names = "{instructions,cycles}:u,page-faults:u,task-clock:u";
  uvperf_count_t counts[4];
  uvperf_error_t error;
  double sum = 0;

  if (uvperf_measure_events(names, work, &sum, counts, 4, &error) != 0) {
    fprintf(stderr, "%s\n", error.reason);
    return 1;
  }
  if (counts[0].state == UVPERF_COUNT_COUNTING &&
      counts[1].state == UVPERF_COUNT_COUNTING)
    printf("%.2f instructions per cycle\n",
           (double)counts[0].value / (double)counts[1].value);
  else
    printf("%s\n", error.code != 0 ? error.reason : "cycles did not count");
  printf("%llu page faults, %.3f ms\n", (unsigned long long)counts[2].value,
         (double)counts[3].value / 1e6);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "stdout could not be written\n");
    return 1;
  }
  return 0;
}
