/* SPDX-License-Identifier: MIT */
/* Counters of this kernel's events: what they count is known exactly. */
#include "live.h"

#include "counters.h"

static void syscall_attr(const char *test, struct perf_event_attr *attr) {
  live_syscall_attr(attr, support_need_tracepoint(test, LIVE_SYSCALL), 0);
  attr->sample_period = 0;
}

static uvperf__counters_t *open_counters(const uvperf_set_options_t *options) {
  uvperf__counters_t *counters;
  uvperf_error_t error;
  int rc;

  error.reason[0] = '\0';
  rc = uvperf__counters_new(&counters, options, &error);
  if (rc != 0)
    fail_msg("%d: %s", rc, error.reason);
  return counters;
}

static uvperf_set_count_t total(uvperf__counters_t *counters, size_t attr) {
  uvperf_set_count_t count;
  uvperf_reading_t *reading;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__counters_read(counters, reading), 0);
  assert_int_equal(uvperf_reading_total(reading, attr, &count), 0);
  uvperf_reading_free(reading);
  return count;
}

static void own_thread_counts_exactly(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  const struct perf_event_attr *attrs[3];
  struct perf_event_attr attr, faults;
  size_t leaders[3] = {0, 0, 2};
  uvperf__counters_t *counters;
  size_t fds = support_count_fds();
  uvperf_set_count_t count;
  size_t i;

  (void)state;
  support_need_own_events(__func__);
  syscall_attr(__func__, &attr);
  live_touch_attr(&faults, 0);
  faults.sample_period = 0;
  attrs[0] = &attr;
  attrs[1] = &attr;
  attrs[2] = &faults;
  options.attrs = attrs;
  options.leaders = leaders;
  options.nr_attrs = 3;
  options.targets = &target;
  options.nr_targets = 1;
  counters = open_counters(&options);
  assert_int_equal(uvperf__counters_nr_open(counters), 3);
  live_syscall(3);
  count = total(counters, 0);
  assert_int_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(uvperf__counters_enable(counters, NULL), 0);
  live_syscall(5);
  assert_int_equal(uvperf__counters_disable(counters, NULL), 0);
  live_syscall(7);
  for (i = 0; i < 2; i++) {
    count = total(counters, i);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    assert_int_equal(count.value, 5);
  }
  assert_int_equal(uvperf__counters_reset(counters), 0);
  assert_int_equal(total(counters, 0).state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(total(counters, 0).time_enabled, 0);
  uvperf__counters_free(counters);
  assert_int_equal(support_count_fds(), fds);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_thread_counts_exactly),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
