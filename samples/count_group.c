/* SPDX-License-Identifier: MIT */
/* Counts a group of events in each part of a program. The events of a group
 * count at the same time or not at all, and one system call reads all of them.
 * So their counts can be compared. Needs no privileges up to
 * perf_event_paranoid 2. With a PMU, cycles:u and instructions:u are a good
 * group. */
#include <stdio.h>
#include <stdlib.h>
#include <uvperf.h>

#define NR         2
#define WORK_BYTES (1 << 20)

static void touch_memory(void) {
  volatile char *memory = malloc(WORK_BYTES);

  for (size_t i = 0; memory != NULL && i < WORK_BYTES; i += 1024)
    memory[i] = 1;
  free((void *)memory);
}

static void compute(void) {
  for (volatile int i = 0; i < WORK_BYTES; i++)
    continue;
}

int main(void) {
  const char *const names[NR] = {"task-clock:u", "page-faults:u"};
  void (*const parts[])(void) = {touch_memory, compute};
  const char *const titles[] = {"touch memory", "compute"};
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT; /* this thread */
  uvperf_count_t before[NR], now[NR], delta;
  uv_loop_t *loop = uv_default_loop();
  uvperf_event_t events[NR], *group[NR];
  struct perf_event_attr attr;
  uvperf_error_t error;
  char line[128];
  size_t i, part;

  for (i = 0; i < NR; i++) {
    if (uvperf_attr_parse(&attr, names[i], &error) != 0)
      goto failed;
    /* If the PMU was shared, both times are needed to scale a count. */
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                       PERF_FORMAT_TOTAL_TIME_RUNNING;
    group[i] = &events[i];
    options.leader = i == 0 ? NULL : group[0];
    if (uvperf_event_init(loop, group[i], &attr, &options, &error) != 0)
      goto failed;
  }
  if (uvperf_enable(&group[0]->handle, UVPERF_ALL, &error) != 0 ||
      uvperf_event_read_group(group, NR, before, &error) != 0)
    goto failed;
  for (part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
    parts[part]();
    if (uvperf_event_read_group(group, NR, now, &error) != 0)
      goto failed;
    for (i = 0; i < NR; i++) {
      uvperf_count_delta(&before[i], &now[i], &delta);
      uvperf_count_format(&delta, NULL, line, sizeof(line));
      printf("%s: %s %s\n", titles[part], names[i], line);
      before[i] = now[i]; /* printing is counted too */
    }
  }
  if (uvperf_disable(&group[0]->handle, UVPERF_ALL, &error) != 0)
    goto failed;
  for (i = NR; i-- > 0;)
    uvperf_close(&group[i]->handle, NULL);
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
