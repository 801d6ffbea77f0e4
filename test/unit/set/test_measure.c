/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of a measurement, and what happens if one of them
 * fails. */
#include "measure_run.h"

#include <errno.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* -- the order ------------------------------------------------------------ */

/* The calls before the function ran, and those after it. */
static char log_before[4096];

static void take_log(void *arg) {
  (void)arg;
  snprintf(log_before, sizeof(log_before), "%s", fake_log());
  fake_log_clear();
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text);

  return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* Nothing is between enabling and the call, nor between the call and disabling;
 * one ioctl is for all of a group. */
static void
measure_calls_right_after_enabling_and_before_disabling(void **state) {
  static const char *const names[] = {
      "page-faults:u", "{page-faults:u,cs:u,minor-faults:u,dummy:u,faults:u}"};
  static const size_t nrs[] = {1, 5};
  measure_pmu_t pmu;
  measure_run_t run;
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++) {
    fake_kernel_reset();
    measure_pmu_add(&pmu, nrs[i], 10);
    measure_open(*state, &run, names[i], NULL);
    measure_do(&run, measure_nothing, NULL);
    fake_log_clear();
    measure_do(&run, take_log, NULL);
    assert_string_equal(log_before, "read, ioctl ENABLE");
    assert_string_equal(fake_log(), "ioctl DISABLE, read");
    measure_close(&run);
    fake_assert_clean();
  }
}

static void measure_of_two_events_enables_both_before_the_call(void **state) {
  measure_pmu_t pmus[2];
  measure_run_t run;

  measure_pmu_add(&pmus[0], 1, 10);
  measure_pmu_add(&pmus[1], 1, 20);
  measure_open(*state, &run, "page-faults:u,cs:u", NULL);
  measure_do(&run, take_log, NULL);
  assert_true(ends_with(log_before, "ioctl ENABLE, ioctl ENABLE"));
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE, read, read");
  measure_close(&run);
  fake_assert_clean();
}

/* -- counts --------------------------------------------------------------- */

static void assert_half(const uvperf_count_t *count, uint64_t value) {
  assert_int_equal(count->state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count->value, value);
  assert_int_equal(count->scaled, 2 * value);
  assert_int_equal(count->time_enabled, 2000);
  assert_int_equal(count->time_running, 1000);
  assert_true(count->ratio == 0.5);
}

/* The kernel's values and times only grow. */
static void measure_returns_what_the_call_added(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;
  measure_run_t run;
  size_t attr;
  int i;

  measure_pmu_add(&pmu, 3, 10);
  measure_open(*state, &run, "{page-faults:u,cs:u,minor-faults:u}", NULL);
  measure_pmu_work(&pmu); /* not measured */
  for (i = 0; i < 5; i++) {
    measure_do(&run, measure_pmu_work, &pmu);
    for (attr = 0; attr < 3; attr++) {
      count = measure_total(&run, attr);
      assert_half(&count, 1000 + attr);
    }
  }
  measure_close(&run);
  fake_assert_clean();
}

static void never_scheduled(void *arg) {
  measure_pmu_t *pmu = arg;

  pmu->enabled += 500;
  measure_pmu_publish(pmu);
}

/* perf_event_enable() on a group that is pinned and does not fit:
 * end-of-file. */
static void fails_on_the_pmu(void *arg) {
  measure_pmu_t *pmu = arg;

  pmu->events[0]->read_size = 0;
}

static void measure_without_a_counter_is_no_count_of_0(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;
  measure_run_t run;

  measure_pmu_add(&pmu, 1, 10);
  measure_open(*state, &run, "page-faults:u", NULL);
  measure_do(&run, measure_pmu_work, &pmu);
  measure_do(&run, never_scheduled, &pmu);
  count = measure_total(&run, 0);
  assert_int_equal(count.state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(count.nr_missing, 1);
  assert_int_equal(count.time_enabled, 500);
  measure_do(&run, fails_on_the_pmu, &pmu);
  count = measure_total(&run, 0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, UV_EBADF);
  measure_close(&run);
  fake_assert_clean();
}

/* -- overhead ------------------------------------------------------------- */

static const uint64_t *costs; /* of one measurement each */

/* Enabling costs something. */
static int count_cost(fake_event_t *fake, unsigned long request,
                      uintptr_t argument) {
  measure_pmu_t *pmu = fake->data;

  (void)argument;
  if (request == PERF_EVENT_IOC_ENABLE) {
    pmu->values[0] += *costs++;
    pmu->enabled += 10;
    pmu->running += 10;
    measure_pmu_publish(pmu);
  }
  return 0;
}

static void open_costly(uv_loop_t *loop, measure_pmu_t *pmu,
                        measure_run_t *run) {
  measure_pmu_add(pmu, 1, 10);
  pmu->events[0]->on_ioctl = count_cost;
  pmu->events[0]->data = pmu;
  measure_open(loop, run, "page-faults:u", NULL);
}

static void measure_overhead_is_the_least_of_the_runs(void **state) {
  static const uint64_t of_three[] = {10, 7, 9};
  static const uint64_t of_one[] = {12};
  measure_pmu_t pmu;
  measure_run_t run;

  open_costly(*state, &pmu, &run);
  costs = of_three;
  assert_int_equal(uvperf_measure_overhead(&run.set, 3, run.reading, NULL), 0);
  measure_is(&run, 0, 7);
  assert_ptr_equal(costs, of_three + 3);
  costs = of_one;
  assert_int_equal(uvperf_measure_overhead(&run.set, 1, run.reading, NULL), 0);
  measure_is(&run, 0, 12);
  assert_ptr_equal(costs, of_one + 1);
  measure_close(&run);
  fake_assert_clean();
}

static void measure_overhead_of_0_runs_is_of_100(void **state) {
  uint64_t of_hundred[100];
  measure_pmu_t pmu;
  measure_run_t run;
  uint64_t i;

  for (i = 0; i < 100; i++)
    of_hundred[i] = 1000 - i;
  open_costly(*state, &pmu, &run);
  costs = of_hundred;
  assert_int_equal(uvperf_measure_overhead(&run.set, 0, run.reading, NULL), 0);
  assert_ptr_equal(costs, of_hundred + 100);
  measure_is(&run, 0, 901);
  measure_close(&run);
  fake_assert_clean();
}

static void measure_overhead_that_fails_says_so(void **state) {
  static const uint64_t of_two[] = {3, 4};
  measure_pmu_t pmu;
  measure_run_t run;

  open_costly(*state, &pmu, &run);
  costs = of_two;
  fake_fail(FAKE_IOCTL, 5, -EIO); /* the third ENABLE */
  assert_int_equal(uvperf_measure_overhead(&run.set, 9, run.reading, NULL),
                   UV_EIO);
  measure_close(&run);
  fake_assert_clean();
}

/* -- failures ------------------------------------------------------------- */

static void expect_failure(uvperf_set_t *set, uvperf_measure_fn fn, void *arg,
                           uvperf_reading_t *reading, int code) {
  uvperf_error_t error;

  assert_int_equal(uvperf_measure(set, fn, arg, reading, &error), code);
  assert_int_equal(error.code, code);
  assert_int_not_equal(error.cause, UVPERF_CAUSE_NONE);
  assert_int_not_equal(error.reason[0], '\0');
}

static void measure_that_cannot_be_calls_nothing(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;
  uvperf_error_t error;
  int called = 0;

  measure_pmu_add(&pmu, 1, 10);
  measure_open(*state, &run, "page-faults:u", NULL);
  expect_failure(NULL, measure_note, &called, run.reading, UV_EINVAL);
  expect_failure(&run.set, NULL, &called, run.reading, UV_EINVAL);
  expect_failure(&run.set, measure_note, &called, NULL, UV_EINVAL);
  assert_int_equal(uvperf_measure_overhead(NULL, 1, run.reading, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_measure_overhead(&run.set, 1, NULL, NULL), UV_EINVAL);
  assert_int_equal(uvperf_enable(&run.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(
      uvperf_measure(&run.set, measure_note, &called, run.reading, &error),
      UV_EBUSY);
  assert_non_null(strstr(error.reason, "the set is enabled, or is measuring "
                                       "already; disable it, or make another"));
  assert_int_equal(called, 0);
  measure_close(&run);
  fake_assert_clean();
}

static void measure_that_cannot_enable_all_does_not_call(void **state) {
  measure_pmu_t pmus[2];
  measure_run_t run;
  int called = 0;
  unsigned nth;

  for (nth = 1; nth <= 2; nth++) {
    fake_kernel_reset();
    measure_pmu_add(&pmus[0], 1, 10);
    measure_pmu_add(&pmus[1], 1, 20);
    measure_open(*state, &run, "page-faults:u,cs:u", NULL);
    fake_fail(FAKE_IOCTL, nth, -EIO);
    expect_failure(&run.set, measure_note, &called, run.reading, UV_EIO);
    assert_int_equal(called, 0);
    assert_int_equal(pmus[0].events[0]->enabled, 0);
    assert_int_equal(pmus[1].events[0]->enabled, 0);
    measure_do(&run, measure_note, &called); /* it can be again */
    assert_int_equal(called, 1);
    called = 0;
    measure_close(&run);
    fake_assert_clean();
  }
}

static void measure_that_cannot_disable_returns_what_it_read(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;
  measure_run_t run;

  measure_pmu_add(&pmu, 1, 10);
  measure_open(*state, &run, "page-faults:u", NULL);
  fake_fail(FAKE_IOCTL, 2, -EIO);
  expect_failure(&run.set, measure_pmu_work, &pmu, run.reading, UV_EIO);
  count = measure_total(&run, 0);
  assert_half(&count, 1000);
  measure_close(&run);
  fake_assert_clean();
}

static void measure_in_a_forked_child_is_eperm(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;
  int called = 0;

  measure_pmu_add(&pmu, 1, 10);
  measure_open(*state, &run, "page-faults:u", NULL);
  fake_process(4711);
  expect_failure(&run.set, measure_note, &called, run.reading, UV_EPERM);
  assert_int_equal(uvperf_measure_overhead(&run.set, 2, run.reading, NULL),
                   UV_EPERM);
  assert_int_equal(called, 0);
  assert_int_equal(pmu.events[0]->enabled, 0);
  fake_process(0);
  assert_int_equal(uvperf_enable(&run.set.handle, UVPERF_ALL, NULL), 0);
  fake_process(4711);
  expect_failure(&run.set, measure_note, &called, run.reading, UV_EPERM);
  fake_process(0);
  measure_close(&run);
  fake_assert_clean();
}

/* Any shortage is noticed before the call. */
static void measure_without_memory_does_not_call(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;
  uvperf_error_t error;
  int called = 0;
  unsigned nth = 0;
  int rc;

  measure_pmu_add(&pmu, 3, 10);
  measure_open(*state, &run, "{page-faults:u,cs:u,minor-faults:u}", NULL);
  do {
    uvperf_reading_free(run.reading);
    assert_int_equal(uvperf_reading_new(&run.reading), 0);
    fake_fail(FAKE_CALLOC, ++nth, 0);
    memset(&error, 0, sizeof(error));
    rc = uvperf_measure(&run.set, measure_note, &called, run.reading, &error);
    assert_int_equal(rc, error.code);
    if (fake_failures() == nth) {
      assert_int_equal(rc, UV_ENOMEM);
      assert_int_equal(called, 0);
      assert_int_equal(pmu.events[0]->enabled, 0);
    }
  } while (fake_failures() == nth);
  assert_true(nth > 1);
  assert_int_equal(rc, 0);
  assert_int_equal(called, 1);
  measure_close(&run);
}

static void measure_overhead_without_memory_is_enomem(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;
  unsigned nth = 0;
  int rc;

  measure_pmu_add(&pmu, 1, 10);
  measure_open(*state, &run, "page-faults:u", NULL);
  do {
    uvperf_reading_free(run.reading);
    assert_int_equal(uvperf_reading_new(&run.reading), 0);
    fake_fail(FAKE_CALLOC, ++nth, 0);
    rc = uvperf_measure_overhead(&run.set, 3, run.reading, NULL);
    assert_int_equal(rc, fake_failures() == nth ? UV_ENOMEM : 0);
  } while (fake_failures() == nth);
  assert_true(nth > 2);
  measure_close(&run);
}

#define script_test(f)                                                         \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      script_test(measure_calls_right_after_enabling_and_before_disabling),
      script_test(measure_of_two_events_enables_both_before_the_call),
      script_test(measure_returns_what_the_call_added),
      script_test(measure_without_a_counter_is_no_count_of_0),
      script_test(measure_overhead_is_the_least_of_the_runs),
      script_test(measure_overhead_of_0_runs_is_of_100),
      script_test(measure_overhead_that_fails_says_so),
      script_test(measure_that_cannot_be_calls_nothing),
      script_test(measure_that_cannot_enable_all_does_not_call),
      script_test(measure_that_cannot_disable_returns_what_it_read),
      script_test(measure_in_a_forked_child_is_eperm),
      script_test(measure_without_memory_does_not_call),
      script_test(measure_overhead_without_memory_is_enomem),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
