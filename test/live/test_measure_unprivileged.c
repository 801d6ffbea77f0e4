/* SPDX-License-Identifier: MIT */
/* Which measurements of functions work without any privilege, at
 * perf_event_paranoid 2, and which are refused. */
#include "live_measure.h"
#include "live_unprivileged.h"

/* Made before the child drops its privileges. */
static char *regions[2];

static void
event_of_the_users_side_is_counted(live_unprivileged_report_t *report) {
  uvperf_count_t count;
  uvperf_error_t error;
  int i;

  for (i = 0; i < 2; i++) { /* the first for nothing: its code is new */
    error.reason[0] = '\0';
    if (uvperf_measure_events("page-faults:u", live_measure_touch, regions[i],
                              &count, 1, &error) != 0) {
      live_unprivileged_wrong(report, "page-faults:u: %s", error.reason);
      return;
    }
  }
  if (count.state != UVPERF_COUNT_COUNTING || count.value != LIVE_PAGES)
    live_unprivileged_wrong(report, "%s %llu",
                            uvperf_count_state_name(count.state),
                            (unsigned long long)count.value);
}

/* An error with a remedy, and no partial result. */
static void
event_of_the_kernels_side_is_refused(live_unprivileged_report_t *report) {
  uvperf_count_t count;
  uvperf_error_t error;
  int called = 0;
  int rc;

  memset(&error, 0, sizeof(error));
  rc = uvperf_measure_events("page-faults", live_measure_note, &called, &count,
                             1, &error);
  if (rc != UV_EACCES || error.code != rc || called != 0 ||
      error.cause != UVPERF_CAUSE_PERMISSION ||
      strstr(error.reason, "perf_event_paranoid") == NULL)
    live_unprivileged_wrong(report, "%d, called %d: %s", rc, called,
                            error.reason);
}

static void measure_without_privileges(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"event_of_the_users_side_is_counted",
       event_of_the_users_side_is_counted},
      {"event_of_the_kernels_side_is_refused",
       event_of_the_kernels_side_is_refused},
  };

  regions[0] = live_region();
  regions[1] = live_region();
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
  live_region_free(regions[0]);
  live_region_free(regions[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_without_privileges),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
