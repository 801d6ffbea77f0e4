/* SPDX-License-Identifier: MIT */
/* UVPERF_SET_USER_READ with this kernel's events. */
#include "live.h"

#include <unistd.h>

#include "live_set.h"
#include "scripted_pages.h"
#include "uvperf/attr.h"
#include "uvperf/name.h"

/* Counts a syscall in a group with page faults: neither has a counter. */
static uvperf_count_t count_syscalls(const char *test, uint32_t flags) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  struct perf_event_attr attr, faults;
  uvperf_event_list_t *list = NULL;
  uvperf__evlist_t *evlist;
  uvperf_count_t count;
  uvperf_reading_t *reading;

  live_syscall_attr(&attr, support_need_tracepoint(test, LIVE_SYSCALL), 0);
  attr.sample_period = 0;
  live_touch_attr(&faults, 0);
  faults.sample_period = 0;
  uvperf_event_list_add(&list, &attr, NULL, -1, NULL);
  uvperf_event_list_add(&list, &faults, NULL, 0, NULL);
  options.events = list;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = flags;
  reading = scripted_pages_reading();
  assert_int_equal(uvperf__evlist_new(&evlist, &options, NULL), 0);
  uvperf_event_list_free(list);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  live_syscall(11);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  live_syscall(6);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
  return count;
}

static void live_events_without_a_counter_count_as_ever(void **state) {
  uvperf_count_t with, without;
  size_t fds = support_count_fds();
  size_t before, after;

  support_need_own_events(__func__);
  support_count_rings(&before);
  with = count_syscalls(__func__, UVPERF_SET_USER_READ);
  without = count_syscalls(__func__, 0);
  assert_int_equal(with.value, 17);
  assert_int_equal(with.value, without.value);
  assert_int_equal(with.state, without.state);
  assert_int_equal(support_count_fds(), fds);
  support_count_rings(&after);
  assert_int_equal(after, before);
  fake_assert_clean();
}

/* Opens and enables one event of the calling thread. 0, or the code. */
static int open_one(const struct perf_event_attr *attr,
                    uvperf__evlist_t **evlist) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  int rc;

  options.attrs = &attr;
  options.nr_attrs = 1;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_USER_READ;
  rc = uvperf__evlist_new(evlist, &options, NULL);
  if (rc == 0)
    rc = uvperf__evlist_enable(*evlist, NULL);
  return rc;
}

static void live_tsc_has_no_page(void **state) {
  uvperf_reading_t *reading;
  uvperf__evlist_t *evlist;
  struct perf_event_attr attr;
  uvperf_count_t count;
  uvperf_error_t error;
  size_t before, after;

  uvperf_attr_init(&attr, 0, 0);
  if (uvperf_attr_parse(&attr, "msr/tsc/", &error) != 0)
    support_skip(__func__, "PMU msr with its event tsc");
  support_need_kernel_side(__func__); /* such events cannot exclude it */
  reading = scripted_pages_reading();
  support_count_rings(&before);
  assert_int_equal(open_one(&attr, &evlist), 0);
  support_count_rings(&after);
  assert_int_equal(after, before);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_true(count.value > 0);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* With a readable PMU the pages have counts; otherwise it is the task's
 * clock. */
static void live_count_lies_between_two_of_read(void **state) {
  uvperf_reading_t *reading;
  uvperf_count_t before, count, after;
  uvperf__evlist_t *evlist;
  struct perf_event_attr attr;
  int fd;
  int i;

  support_need_own_events(__func__);
  reading = scripted_pages_reading();
  uvperf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.exclude_kernel = 1;
  if (open_one(&attr, &evlist) != 0) {
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_TASK_CLOCK;
    assert_int_equal(open_one(&attr, &evlist), 0);
  }
  fd = uvperf__evlist_fd(evlist, 0, 0);
  assert_true(fd >= 0);
  for (i = 0; i < 1000; i++) {
    before = live_read_fd(fd);
    assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
    after = live_read_fd(fd);
    assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
    live_assert_not_before(&count, &before);
    live_assert_not_before(&after, &count);
  }
  assert_true(count.value > 0);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(live_events_without_a_counter_count_as_ever,
                             fake_kernel_setup),
      cmocka_unit_test_setup(live_tsc_has_no_page, fake_kernel_setup),
      cmocka_unit_test_setup(live_count_lies_between_two_of_read,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
