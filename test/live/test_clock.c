/* SPDX-License-Identifier: MIT */
/* Live: records have times of the clock that programs read by uv_hrtime. */
#include "live_set.h"

#include <time.h>

typedef struct seen_s {
  uint64_t nr;
  uint64_t least;
  uint64_t most;
} seen_t;

static void see(seen_t *seen, const uvperf_record_t *record) {
  if (record->type != PERF_RECORD_SAMPLE)
    return;
  seen->nr++;
  if (seen->least == 0 || record->time < seen->least)
    seen->least = record->time;
  if (record->time > seen->most)
    seen->most = record->time;
}

static void on_event(uvperf_handle_t *handle, int status,
                     const uvperf_record_t *record) {
  assert_int_equal(status, 0);
  see(handle->data, record);
}

static void fault_attr(struct perf_event_attr *attr) {
  live_touch_attr(attr, PERF_SAMPLE_TIME);
}

static void run_event(uv_loop_t *loop, const struct perf_event_attr *attr,
                      const uvperf_event_options_t *options, seen_t *seen) {
  uvperf_event_t event;
  char *region;

  memset(seen, 0, sizeof(*seen));
  assert_int_equal(uvperf_event_init(loop, &event, attr, options, NULL), 0);
  event.handle.data = seen;
  assert_int_equal(uvperf_start(&event.handle, NULL, on_event, NULL), 0);
  region = live_region();
  live_touch(region);
  assert_int_equal(uvperf_flush(&event.handle), 0);
  live_region_free(region);
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  assert_true(seen->nr > 0);
}

static void event_that_samples_time_has_the_clock_of_uv_hrtime(void **state) {
  struct perf_event_attr attr;
  uint64_t before;
  seen_t seen;

  support_need_own_events(__func__);
  fault_attr(&attr);
  before = uv_hrtime();
  run_event(*state, &attr, NULL, &seen);
  assert_in_range(seen.least, before, uv_hrtime());
  assert_in_range(seen.most, before, uv_hrtime());
}

static void event_with_perfs_clock_keeps_it(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;

  support_need_own_events(__func__);
  fault_attr(&attr);
  options.flags = UVPERF_EVENT_PERF_CLOCK;
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, NULL), 0);
  assert_false(uvperf_handle_attr(&event.handle, 0)->use_clockid);
  uvperf_close(&event.handle, NULL);
  attr.use_clockid = 1;
  attr.clockid = CLOCK_BOOTTIME;
  assert_int_equal(uvperf_event_init(*state, &event, &attr, NULL, NULL), 0);
  assert_int_equal(uvperf_handle_attr(&event.handle, 0)->clockid,
                   CLOCK_BOOTTIME);
  uvperf_close(&event.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
}

/* Whichever its leader has: the kernel refuses a group with two. */
static void event_of_a_group_has_the_clock_of_its_leader(void **state) {
  static const int clocks[] = {CLOCK_MONOTONIC, CLOCK_BOOTTIME, -1};
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t leader, member;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < 3; i++) {
    uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
    attr.exclude_kernel = 1;
    attr.use_clockid = clocks[i] == CLOCK_BOOTTIME;
    attr.clockid = attr.use_clockid ? clocks[i] : 0;
    options.leader = NULL;
    options.flags = clocks[i] == -1 ? UVPERF_EVENT_PERF_CLOCK : 0;
    assert_int_equal(uvperf_event_init(*state, &leader, &attr, &options, NULL),
                     0);
    fault_attr(&attr);
    options.leader = &leader;
    options.flags = 0;
    assert_int_equal(uvperf_event_init(*state, &member, &attr, &options, NULL),
                     0);
    assert_int_equal(uvperf_handle_attr(&member.handle, 0)->use_clockid,
                     clocks[i] != -1);
    if (clocks[i] != -1)
      assert_int_equal(uvperf_handle_attr(&member.handle, 0)->clockid,
                       clocks[i]);
    uvperf_close(&member.handle, NULL);
    uvperf_close(&leader.handle, NULL);
    uv_run(*state, UV_RUN_DEFAULT);
  }
}

static void on_set(uvperf_handle_t *handle, int status,
                   const uvperf_record_t *record) {
  assert_int_equal(status, 0);
  see(handle->data, record);
}

static void set_that_samples_time_has_the_clock_of_uv_hrtime(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  struct perf_event_attr attr;
  const struct perf_event_attr *attrs = &attr;
  seen_t seen = {0, 0, 0};
  uvperf_set_t set;
  uint64_t before;
  char *region;

  support_need_own_events(__func__);
  fault_attr(&attr);
  options.attrs = &attrs;
  options.nr_attrs = 1;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS;
  assert_int_equal(uvperf_set_init(*state, &set, &options, NULL), 0);
  set.handle.data = &seen;
  before = uv_hrtime();
  assert_int_equal(uvperf_start(&set.handle, NULL, on_set, NULL), 0);
  region = live_region();
  live_touch(region);
  assert_int_equal(uvperf_flush(&set.handle), 0);
  live_region_free(region);
  uvperf_close(&set.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_true(seen.nr > 0);
  assert_in_range(seen.least, before, uv_hrtime());
  assert_in_range(seen.most, before, uv_hrtime());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_that_samples_time_has_the_clock_of_uv_hrtime),
      support_loop_test(event_with_perfs_clock_keeps_it),
      support_loop_test(event_of_a_group_has_the_clock_of_its_leader),
      support_loop_test(set_that_samples_time_has_the_clock_of_uv_hrtime),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
