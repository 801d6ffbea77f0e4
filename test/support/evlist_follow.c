/* SPDX-License-Identifier: MIT */
#include "evlist_follow.h"

fake_event_t *evlist_follow_events[COUNTERS_FOLLOW_EVENTS];

int evlist_follow_setup(void **state) {
  if (evlist_make_setup(state) != 0 || cpu_tree_begin(3) != 0)
    return -1;
  counters_script(evlist_follow_events, COUNTERS_FOLLOW_EVENTS);
  return 0;
}

int evlist_follow_teardown(void **state) {
  (void)state;
  return cpu_tree_end();
}

uvperf__evlist_t *evlist_follow_open(evlist_make_t *make) {
  return evlist_open(make);
}

void evlist_follow_end(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

void evlist_follow_come(uvperf__evlist_t *evlist, int cpu) {
  uvperf_error_t error;
  int rc;

  rc = uvperf__evlist_cpu_come(evlist, cpu, &error);
  if (rc != 0)
    fail_msg("%d: %s", rc, error.reason);
}

void evlist_follow_come_back(uvperf__evlist_t *evlist, int cpu) {
  uvperf__evlist_cpu_gone(evlist, cpu);
  evlist_follow_come(evlist, cpu);
}
