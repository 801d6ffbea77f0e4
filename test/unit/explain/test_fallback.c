/* SPDX-License-Identifier: MIT */
/* Which fallback fits which failure, and what it changes: to a clock, to the
 * user side, to a lower precise_ip. Opening with fallbacks is in
 * unit/event/test_open_fallback.c and live/test_event_fallback.c. */
#include "check_fallback.h"
#include "fake_version.h"
#include "make_host.h"

#include <errno.h>

/* -- clock ---------------------------------------------------------------- */

static void fallback_from_cycles_of_a_task_is_task_clock(void **state) {
  static const int codes[] = {-ENOENT, -ENODEV, -ENXIO, -EOPNOTSUPP};
  uvperf__fallback_t fallback;
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < 4; i++) {
    fallback = fallback_allow(UVPERF_FALLBACK_CLOCK);
    uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
    assert_int_equal(
        fallback_next(&fallback, &attr, codes[i], UVPERF_CAUSE_NO_EVENT), 1);
    assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
    assert_int_equal(attr.config, PERF_COUNT_SW_TASK_CLOCK);
    assert_int_equal(fallback.nr, 2);
    fallback_changed(&fallback, 0, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_TYPE, 0,
                     1);
    fallback_changed(&fallback, 1, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_CONFIG, 0,
                     1);
    assert_int_equal(
        fallback_next(&fallback, &attr, codes[i], UVPERF_CAUSE_NO_EVENT), 0);
  }
}

static void fallback_from_cycles_of_a_cpu_is_cpu_clock(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_CLOCK);
  struct perf_event_attr attr;

  fallback.is_of_cpu = 1;
  uvperf_attr_hardware(&attr, UINT64_C(8) << 32 | PERF_COUNT_HW_CPU_CYCLES);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 1);
  assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(attr.config, PERF_COUNT_SW_CPU_CLOCK);
  fallback_changed(&fallback, 1, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_CONFIG,
                   UINT64_C(8) << 32, PERF_COUNT_SW_CPU_CLOCK);
}

static void fallback_to_a_clock_is_of_cycles_alone(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_CLOCK);
  struct perf_event_attr attr, before;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 0);
  uvperf_attr_raw(&attr, 0);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 0);
  uvperf_attr_init(&attr, 8, 0);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 0);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  before = attr;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EACCES, UVPERF_CAUSE_PERMISSION), 0);
  assert_int_equal(
      fallback_next(&fallback, &attr, -EINVAL, UVPERF_CAUSE_UNKNOWN), 0);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENODEV, UVPERF_CAUSE_NO_CPU), 0);
  assert_int_equal(fallback_next(&fallback, &attr, -EBUSY, UVPERF_CAUSE_BUSY),
                   0);
  assert_memory_equal(&attr, &before, sizeof(attr));
  assert_int_equal(fallback.nr, 0);
}

static void fallback_to_a_clock_keeps_a_frequency(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_CLOCK);
  struct perf_event_attr attr;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_frequency(&attr, 999);
  attr.sample_type = PERF_SAMPLE_IP;
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 1);
  assert_int_equal(fallback.nr, 2);
  assert_int_equal(attr.freq, 1);
  assert_int_equal(attr.sample_freq, 999);
  assert_int_equal(attr.sample_type, PERF_SAMPLE_IP);
}

/* The clock's period for this number of cycles, under a max_sample_rate. */
static uint64_t period_of(const char *rate, uint64_t cycles) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_CLOCK);
  struct perf_event_attr attr;

  make_host_write("/proc/sys/kernel/perf_event_max_sample_rate", rate);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_period(&attr, cycles);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 1);
  if (attr.sample_period == cycles)
    assert_int_equal(fallback.nr, 2);
  else
    fallback_changed(&fallback, 2, UVPERF_FALLBACK_CLOCK,
                     UVPERF_ATTR_SAMPLE_PERIOD, cycles, attr.sample_period);
  return attr.sample_period;
}

static void fallback_to_a_clock_has_a_least_period(void **state) {
  assert_int_equal(period_of("100000\n", 0), 0);
  assert_int_equal(period_of("100000\n", 1), 100000);
  assert_int_equal(period_of("100000\n", 99999), 100000);
  assert_int_equal(period_of("100000\n", 100000), 100000);
  assert_int_equal(period_of("100000\n", 4000000), 4000000);
  assert_int_equal(period_of("1500\n", 100000), 666667);
  assert_int_equal(period_of("1\n", 5), 1000000000);
  assert_int_equal(period_of("0\n", 5), 100000);
  assert_int_equal(period_of("-1\n", 5), 100000);
  assert_int_equal(period_of("nonsense\n", 5), 100000);
}

static void fallback_to_a_clock_clears_precise_ip(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_CLOCK);
  struct perf_event_attr attr;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.precise_ip = 2;
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 1);
  assert_int_equal(attr.precise_ip, 0);
  fallback_changed(&fallback, 2, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_PRECISE_IP,
                   2, 0);
}

/* -- user ----------------------------------------------------------------- */

static void fallback_to_user_excludes_kernel_and_hypervisor(void **state) {
  static const int codes[] = {-EACCES, -EPERM};
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < 2; i++) {
    uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_USER);

    uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
    assert_int_equal(
        fallback_next(&fallback, &attr, codes[i], UVPERF_CAUSE_PERMISSION), 1);
    assert_int_equal(attr.exclude_kernel, 1);
    assert_int_equal(attr.exclude_hv, 1);
    assert_int_equal(fallback.nr, 2);
    fallback_changed(&fallback, 0, UVPERF_FALLBACK_USER,
                     UVPERF_ATTR_EXCLUDE_KERNEL, 0, 1);
    fallback_changed(&fallback, 1, UVPERF_FALLBACK_USER, UVPERF_ATTR_EXCLUDE_HV,
                     0, 1);
    assert_int_equal(
        fallback_next(&fallback, &attr, codes[i], UVPERF_CAUSE_PERMISSION), 0);
  }
}

static void fallback_to_user_leaves_a_side_that_was_chosen(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_USER);
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_user = 1;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EACCES, UVPERF_CAUSE_PERMISSION), 0);
  attr.exclude_user = 0;
  attr.exclude_kernel = 1;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EACCES, UVPERF_CAUSE_PERMISSION), 0);
  attr.exclude_kernel = 0;
  /* A seccomp filter denies all. */
  assert_int_equal(
      fallback_next(&fallback, &attr, -EPERM, UVPERF_CAUSE_NO_PERF), 0);
  assert_int_equal(attr.exclude_kernel, 0);
  assert_int_equal(fallback.nr, 0);
}

/* -- precise -------------------------------------------------------------- */

static void fallback_of_precise_ip_is_one_change_down_to_0(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_PRECISE);
  struct perf_event_attr attr;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  attr.precise_ip = 3;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED),
      1);
  assert_int_equal(attr.precise_ip, 2);
  assert_int_equal(
      fallback_next(&fallback, &attr, -EINVAL, UVPERF_CAUSE_UNKNOWN), 1);
  assert_int_equal(attr.precise_ip, 1);
  fallback_changed(&fallback, 0, UVPERF_FALLBACK_PRECISE,
                   UVPERF_ATTR_PRECISE_IP, 3, 1);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 1);
  assert_int_equal(attr.precise_ip, 0);
  assert_int_equal(
      fallback_next(&fallback, &attr, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED),
      0);
  assert_int_equal(fallback.nr, 1);
  fallback_changed(&fallback, 0, UVPERF_FALLBACK_PRECISE,
                   UVPERF_ATTR_PRECISE_IP, 3, 0);
}

static void fallback_of_precise_ip_is_not_for_other_failures(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_PRECISE);
  struct perf_event_attr attr;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  attr.precise_ip = 3;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EACCES, UVPERF_CAUSE_PERMISSION), 0);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ESRCH, UVPERF_CAUSE_NO_TASK), 0);
  assert_int_equal(fallback_next(&fallback, &attr, -EMFILE, UVPERF_CAUSE_FILES),
                   0);
  assert_int_equal(attr.precise_ip, 3);
}

/* The event that was asked for, with more skid, is better than another. */
static void fallback_of_precise_ip_comes_before_a_clock(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_ALL);
  struct perf_event_attr attr;

  fake_version();
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.precise_ip = 1;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED),
      1);
  assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
  assert_int_equal(
      fallback_next(&fallback, &attr, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED),
      1);
  assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(fallback.nr, 3);
}

/* -- all of them ---------------------------------------------------------- */

static void fallback_that_is_not_allowed_is_not_tried(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_USER);
  fake_version_t *kernel = fake_version();
  struct perf_event_attr attr;

  kernel->known[UVPERF__WORD_FLAGS] = 0;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.precise_ip = 3;
  attr.comm = 1;
  assert_int_equal(
      fallback_next(&fallback, &attr, -EINVAL, UVPERF_CAUSE_UNKNOWN), 0);
  assert_int_equal(
      fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT), 0);
  fallback = fallback_allow(UVPERF_FALLBACK_ALL & ~UVPERF_FALLBACK_USER);
  assert_int_equal(
      fallback_next(&fallback, &attr, -EACCES, UVPERF_CAUSE_PERMISSION), 0);
  assert_int_equal(fallback.nr, 0);
}

/* As if the last try had failed like the first. */
static void report_first(const uvperf__fallback_t *fallback,
                         uvperf_error_t *error) {
  uvperf_error_t last = *error;

  uvperf__fallback_report(fallback, &last, error);
}

static void fallback_says_what_did_not_help(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_ALL);
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t length;

  fake_version();
  memset(&error, 0, sizeof(error));
  strcpy(error.reason, "no");
  report_first(&fallback, &error);
  assert_string_equal(error.reason, "no");
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.precise_ip = 1;
  fallback_next(&fallback, &attr, -EACCES, UVPERF_CAUSE_PERMISSION);
  fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT);
  fallback_next(&fallback, &attr, -ENOENT, UVPERF_CAUSE_NO_EVENT);
  report_first(&fallback, &error);
  assert_string_equal(error.reason, "no; these fallbacks did not help: user "
                                    "side only, lower precise_ip, a clock");
  /* Whole or not at all. */
  length = strlen(error.reason) - 2;
  memset(error.reason, 'x', sizeof(error.reason));
  error.reason[sizeof(error.reason) - length - 1] = '\0';
  report_first(&fallback, &error);
  assert_int_equal(strlen(error.reason), sizeof(error.reason) - length - 1);
  error.reason[sizeof(error.reason) - length - 2] = '\0';
  report_first(&fallback, &error);
  assert_int_equal(strlen(error.reason), sizeof(error.reason) - 2);
}

static void fallback_names_all_four(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_ALL);
  uvperf_error_t error;
  size_t i;

  memset(&error, 0, sizeof(error));
  for (i = 0; i < 4; i++)
    fallback.changes[i].fallback = 1u << i;
  fallback.nr = 4;
  report_first(&fallback, &error);
  assert_string_equal(error.reason,
                      "; these fallbacks did not help: fewer bits, user side "
                      "only, lower precise_ip, a clock");
}

static uvperf_error_t failure(int code, int cause, const char *reason) {
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  error.code = code;
  error.cause = cause;
  strcpy(error.reason, reason);
  return error;
}

static void fallback_to_a_missing_event_reports_that(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_ALL);
  uvperf_error_t error = failure(-EACCES, UVPERF_CAUSE_PERMISSION, "no");
  uvperf_error_t last = failure(-ENOENT, UVPERF_CAUSE_NO_EVENT, "none");

  fallback.nr = 1;
  fallback.changes[0].fallback = UVPERF_FALLBACK_USER;
  uvperf__fallback_report(&fallback, &last, &error);
  assert_int_equal(error.code, -ENOENT);
  assert_string_equal(error.reason, "none");
  /* A clock may lack some of the event's fields. */
  error = failure(-EACCES, UVPERF_CAUSE_PERMISSION, "no");
  fallback.changes[1].fallback = UVPERF_FALLBACK_CLOCK;
  fallback.nr = 2;
  uvperf__fallback_report(&fallback, &last, &error);
  assert_int_equal(error.code, -EACCES);
}

static void fallback_that_lacks_fds_reports_that(void **state) {
  uvperf__fallback_t fallback = fallback_allow(UVPERF_FALLBACK_ALL);
  uvperf_error_t error = failure(-ENOENT, UVPERF_CAUSE_NO_EVENT, "none");
  uvperf_error_t last = failure(-EMFILE, UVPERF_CAUSE_FILES, "fds");

  fallback.nr = 1;
  fallback.changes[0].fallback = UVPERF_FALLBACK_CLOCK;
  uvperf__fallback_report(&fallback, &last, &error);
  assert_int_equal(error.code, -EMFILE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_version_test(fallback_from_cycles_of_a_task_is_task_clock),
      fake_version_test(fallback_from_cycles_of_a_cpu_is_cpu_clock),
      fake_version_test(fallback_to_a_clock_is_of_cycles_alone),
      fake_version_test(fallback_to_a_clock_keeps_a_frequency),
      cmocka_unit_test_setup_teardown(fallback_to_a_clock_has_a_least_period,
                                      make_host_setup, make_host_teardown),
      fake_version_test(fallback_to_a_clock_clears_precise_ip),
      fake_version_test(fallback_to_user_excludes_kernel_and_hypervisor),
      fake_version_test(fallback_to_user_leaves_a_side_that_was_chosen),
      fake_version_test(fallback_of_precise_ip_is_one_change_down_to_0),
      fake_version_test(fallback_of_precise_ip_is_not_for_other_failures),
      fake_version_test(fallback_of_precise_ip_comes_before_a_clock),
      fake_version_test(fallback_that_is_not_allowed_is_not_tried),
      fake_version_test(fallback_says_what_did_not_help),
      fake_version_test(fallback_names_all_four),
      fake_version_test(fallback_to_a_missing_event_reports_that),
      fake_version_test(fallback_that_lacks_fds_reports_that),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
