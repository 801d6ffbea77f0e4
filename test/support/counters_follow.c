/* SPDX-License-Identifier: MIT */
#include "counters_follow.h"

fake_event_t *counters_follow_events[COUNTERS_FOLLOW_EVENTS];

int counters_follow_setup(void **state) {
  if (counters_make_setup(state) != 0 || cpu_tree_begin(3) != 0)
    return -1;
  counters_script(counters_follow_events, COUNTERS_FOLLOW_EVENTS);
  return 0;
}

int counters_follow_teardown(void **state) {
  (void)state;
  return cpu_tree_end();
}

uvperf__counters_t *counters_follow_open(counters_make_t *make) {
  return counters_open_on(cpu_tree_root(), make);
}

void counters_follow_end(uvperf__counters_t *counters) {
  uvperf__counters_free(counters);
  fake_assert_clean();
}

void counters_follow_come(uvperf__counters_t *counters, int cpu) {
  uvperf_error_t error;
  int rc;

  rc = uvperf__counters_cpu_come(counters, cpu, &error);
  if (rc != 0)
    fail_msg("%d: %s", rc, error.reason);
}

void counters_follow_come_back(uvperf__counters_t *counters, int cpu) {
  uvperf__counters_cpu_gone(counters, cpu);
  counters_follow_come(counters, cpu);
}
