/* SPDX-License-Identifier: MIT */
/* Scripted: how uvperf_measure_event opens its event, what it makes of what the
 * kernel says, that nothing is left of it whatever fails, and that a meter
 * opens and closes once. */
#include "measure_run.h"
#include "other_kernel.h"

#include <errno.h>

/* -- opening -------------------------------------------------------------- */

static void measure_event_opens_one_event_of_the_calling_thread(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;
  fake_event_t *fake;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  fake = pmu.events[0];
  assert_int_equal(uvperf_measure_event("page-faults:u", measure_pmu_work, &pmu,
                                        &count, NULL),
                   0);
  assert_int_equal(fake->pid, live_tid());
  assert_int_equal(fake->cpu, -1);
  assert_int_equal(fake->group_fd, -1);
  assert_int_equal(fake->flags, PERF_FLAG_FD_CLOEXEC);
  assert_int_equal(fake->attr.disabled, 1);
  assert_int_equal(fake->attr.inherit, 0);
  assert_int_equal(fake->attr.exclude_kernel, 1);
  assert_int_equal(fake->enabled, 0);
  fake_assert_clean();
}

/* Its name says which sides: nothing else is tried. */
static void measure_event_that_is_refused_is_not_made_less(void **state) {
  other_kernel_t *kernel = other_kernel();
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;

  (void)state;
  kernel->allows_user_only = 1;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(
      uvperf_measure_event("cycles", measure_note, &called, &count, &error),
      UV_EACCES);
  assert_int_equal(error.code, UV_EACCES);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  assert_int_equal(called, 0);
  assert_int_equal(pmu.events[0]->opened, 0);
  assert_int_equal(
      uvperf_measure_event("cycles:u", measure_pmu_work, &pmu, &count, &error),
      0);
  assert_int_equal(count.value, 1000);
  fake_assert_clean();
}

static void measure_event_without_a_pmu_is_no_event(void **state) {
  other_kernel_t *kernel = other_kernel();
  uvperf_count_t count;
  uvperf_error_t error;
  int called = 0;

  (void)state;
  kernel->cycles = -ENOENT;
  assert_int_equal(
      uvperf_measure_event("cycles:u", measure_note, &called, &count, &error),
      UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_non_null(strstr(error.reason, "cycles"));
  assert_int_equal(called, 0);
  fake_assert_clean();
}

/* -- counts --------------------------------------------------------------- */

static void measure_event_of_a_shared_pmu_tells_the_ratio(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_event("page-faults:u", measure_pmu_work, &pmu,
                                        &count, NULL),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 1000);
  assert_int_equal(count.scaled, 2000);
  assert_int_equal(count.time_enabled, 2000);
  assert_int_equal(count.time_running, 1000);
  assert_true(count.ratio == 0.5);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(count.nr_missing, 0);
  fake_assert_clean();
}

static void never_scheduled(void *arg) {
  measure_pmu_t *pmu = arg;

  pmu->enabled += 500;
  measure_pmu_tell(pmu);
}

static void measure_event_that_never_ran_is_no_count_of_0(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_event("page-faults:u", never_scheduled, &pmu,
                                        &count, NULL),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(count.nr_missing, 1);
  fake_assert_clean();
}

/* __perf_read(): end-of-file is an event in error state. */
static void fails_on_the_pmu(void *arg) {
  measure_pmu_t *pmu = arg;

  pmu->events[0]->read_size = 0;
}

static void
measure_event_that_is_pinned_and_does_not_fit_is_ebadf(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_event("page-faults:uD", fails_on_the_pmu,
                                        &pmu, &count, NULL),
                   0);
  assert_int_equal(pmu.events[0]->attr.pinned, 1);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, UV_EBADF);
  fake_assert_clean();
}

/* -- failures ------------------------------------------------------------- */

static void measure_event_that_cannot_be_enabled_does_not_call(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  memset(&error, 0, sizeof(error));
  fake_fail(FAKE_IOCTL, 1, -EIO);
  assert_int_equal(uvperf_measure_event("page-faults:u", measure_note, &called,
                                        &count, &error),
                   UV_EIO);
  assert_int_equal(error.code, UV_EIO);
  assert_int_equal(called, 0);
  fake_assert_clean();
}

static void
measure_event_that_cannot_be_disabled_gives_its_count(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  memset(&error, 0, sizeof(error));
  fake_fail(FAKE_IOCTL, 2, -EIO);
  assert_int_equal(uvperf_measure_event("page-faults:u", measure_pmu_work, &pmu,
                                        &count, &error),
                   UV_EIO);
  assert_int_equal(error.code, UV_EIO);
  assert_int_equal(count.value, 1000);
  fake_assert_clean();
}

static void measure_event_that_cannot_be_read_is_an_error_state(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  fake_fail_from(FAKE_READ, 1, -EIO);
  assert_int_equal(uvperf_measure_event("page-faults:u", measure_pmu_work, &pmu,
                                        &count, NULL),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_ERROR);
  assert_int_equal(count.code, UV_EIO);
  fake_assert_clean();
}

static void measure_event_without_fds_is_emfile(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  assert_int_equal(uvperf_measure_event("page-faults:u", measure_note, &called,
                                        &count, &error),
                   UV_EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  assert_true(error.needed > 0);
  assert_int_equal(called, 0);
  fake_assert_clean();
}

/* Whatever cannot be had is missed before the call. */
static void measure_event_without_memory_does_not_call(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  int called = 0;
  unsigned nth;
  int rc;

  (void)state;
  for (nth = 1;; nth++) {
    fake_kernel_reset();
    measure_pmu_add(&pmu, 1, 10);
    memset(&error, 0, sizeof(error));
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf_measure_event("page-faults:u", measure_note, &called, &count,
                              &error);
    fake_assert_clean();
    if (fake_failures() == 0)
      break;
    assert_int_equal(rc, UV_ENOMEM);
    assert_int_equal(error.code, UV_ENOMEM);
    assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    assert_int_equal(called, 0);
  }
  assert_true(nth > 5);
  assert_int_equal(rc, 0);
  assert_int_equal(called, 1);
}

/* -- a meter -------------------------------------------------------------- */

static void meter_opens_and_closes_once(void **state) {
  uvperf_count_t count;
  uvperf_meter_t *meter;
  measure_pmu_t pmu;
  int i;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_meter_new(&meter, "page-faults:u", NULL), 0);
  for (i = 0; i < 3; i++) {
    fake_log_clear();
    assert_int_equal(
        uvperf_meter_measure(meter, measure_pmu_work, &pmu, &count, NULL), 0);
    assert_int_equal(count.value, 1000);
    assert_int_equal(count.time_enabled, 2000);
    assert_null(strstr(fake_log(), "open"));
    assert_null(strstr(fake_log(), "close"));
    assert_non_null(strstr(fake_log(), "ENABLE"));
  }
  uvperf_meter_free(meter);
  assert_int_equal(pmu.events[0]->fd, -1);
  fake_assert_clean();
}

/* It is disabled all the same, and the next call counts by itself. */
static void meter_goes_on_after_a_failure(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  uvperf_meter_t *meter;
  measure_pmu_t pmu;
  int called = 0;

  (void)state;
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_meter_new(&meter, "page-faults:u", NULL), 0);
  fake_fail(FAKE_IOCTL, 1, -EIO);
  assert_int_equal(
      uvperf_meter_measure(meter, measure_note, &called, &count, &error),
      UV_EIO);
  assert_int_equal(called, 0);
  assert_int_equal(
      uvperf_meter_measure(meter, measure_pmu_work, &pmu, &count, &error), 0);
  assert_int_equal(count.value, 1000);
  uvperf_meter_free(meter);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      other_kernel_test(measure_event_opens_one_event_of_the_calling_thread),
      other_kernel_test(measure_event_that_is_refused_is_not_made_less),
      other_kernel_test(measure_event_without_a_pmu_is_no_event),
      other_kernel_test(measure_event_of_a_shared_pmu_tells_the_ratio),
      other_kernel_test(measure_event_that_never_ran_is_no_count_of_0),
      other_kernel_test(measure_event_that_is_pinned_and_does_not_fit_is_ebadf),
      other_kernel_test(measure_event_that_cannot_be_enabled_does_not_call),
      other_kernel_test(measure_event_that_cannot_be_disabled_gives_its_count),
      other_kernel_test(measure_event_that_cannot_be_read_is_an_error_state),
      other_kernel_test(measure_event_without_fds_is_emfile),
      other_kernel_test(measure_event_without_memory_does_not_call),
      other_kernel_test(meter_opens_and_closes_once),
      other_kernel_test(meter_goes_on_after_a_failure),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
