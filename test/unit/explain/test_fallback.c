/* SPDX-License-Identifier: MIT */
/* Which fallback fits which failure, and what it changes: to a clock, to the
 * user side, to a lower precise_ip. Opening with fallbacks is in
 * unit/event/test_open_fallback.c and live/test_event_fallback.c. */
#include "check_fallback.h"
#include "fake_version.h"
#include "make_host.h"

/* What is tried, and the event. */
static uvperf__fallback_t fallback;
static struct perf_event_attr attr;

static void begin(uint32_t allowed) {
  fallback = fallback_allow(allowed);
}

static void begin_cycles(uint32_t allowed) {
  begin(allowed);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
}

/* The failure has this fallback, or none. */
static void helps(int code, int cause) {
  assert_int_equal(fallback_next(&fallback, &attr, code, cause), 1);
}

static void helps_not(int code, int cause) {
  assert_int_equal(fallback_next(&fallback, &attr, code, cause), 0);
}

/* -- clock ---------------------------------------------------------------- */

static void fallback_from_cycles_of_a_task_is_task_clock(void **state) {
  static const int codes[] = {-ENOENT, -ENODEV, -ENXIO, -EOPNOTSUPP};
  size_t i;

  for (i = 0; i < COUNT_OF(codes); i++) {
    begin_cycles(UVPERF_FALLBACK_CLOCK);
    helps(codes[i], UVPERF_CAUSE_NO_EVENT);
    assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
    assert_int_equal(attr.config, PERF_COUNT_SW_TASK_CLOCK);
    fallback_changed(&fallback, "clock: type 0 to 1, clock: config 0 to 1");
    helps_not(codes[i], UVPERF_CAUSE_NO_EVENT);
  }
}

static void fallback_from_cycles_of_a_cpu_is_cpu_clock(void **state) {
  begin_cycles(UVPERF_FALLBACK_CLOCK);
  fallback.is_of_cpu = 1;
  attr.config |= UINT64_C(8) << 32;
  helps(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(attr.config, PERF_COUNT_SW_CPU_CLOCK);
  fallback_changed(&fallback,
                   "clock: type 0 to 1, clock: config 34359738368 to 0");
}

static void fallback_to_a_clock_is_of_cycles_alone(void **state) {
  struct perf_event_attr before;

  begin(UVPERF_FALLBACK_CLOCK);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  helps_not(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  uvperf_attr_raw(&attr, 0);
  helps_not(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  uvperf_attr_init(&attr, 8, 0);
  helps_not(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  before = attr;
  helps_not(-EACCES, UVPERF_CAUSE_PERMISSION);
  helps_not(-EINVAL, UVPERF_CAUSE_UNKNOWN);
  helps_not(-ENODEV, UVPERF_CAUSE_NO_CPU);
  helps_not(-EBUSY, UVPERF_CAUSE_BUSY);
  assert_memory_equal(&attr, &before, sizeof(attr));
  fallback_changed(&fallback, "");
}

static void fallback_to_a_clock_keeps_a_frequency(void **state) {
  begin_cycles(UVPERF_FALLBACK_CLOCK);
  uvperf_attr_set_frequency(&attr, 999);
  attr.sample_type = PERF_SAMPLE_IP;
  helps(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  fallback_changed(&fallback, "clock: type 0 to 1, clock: config 0 to 1");
  assert_int_equal(attr.freq, 1);
  assert_int_equal(attr.sample_freq, 999);
  assert_int_equal(attr.sample_type, PERF_SAMPLE_IP);
}

/* The clock's period for this number of cycles, under a max_sample_rate. */
static void expect_period(const char *rate, uint64_t cycles, uint64_t period) {
  char changes[128] = "clock: type 0 to 1, clock: config 0 to 1";

  begin_cycles(UVPERF_FALLBACK_CLOCK);
  make_host_write("/proc/sys/kernel/perf_event_max_sample_rate", rate);
  uvperf_attr_set_period(&attr, cycles);
  helps(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(attr.sample_period, period);
  if (period != cycles)
    snprintf(changes + strlen(changes), sizeof(changes) - strlen(changes),
             ", clock: sample_period %llu to %llu", (unsigned long long)cycles,
             (unsigned long long)period);
  fallback_changed(&fallback, changes);
}

static void fallback_to_a_clock_has_a_least_period(void **state) {
  expect_period("100000\n", 0, 0);
  expect_period("100000\n", 1, 100000);
  expect_period("100000\n", 99999, 100000);
  expect_period("100000\n", 100000, 100000);
  expect_period("100000\n", 4000000, 4000000);
  expect_period("1500\n", 100000, 666667);
  expect_period("1\n", 5, 1000000000);
  expect_period("0\n", 5, 100000);
  expect_period("-1\n", 5, 100000);
  expect_period("nonsense\n", 5, 100000);
}

static void fallback_to_a_clock_clears_precise_ip(void **state) {
  begin_cycles(UVPERF_FALLBACK_CLOCK);
  attr.precise_ip = 2;
  helps(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(attr.precise_ip, 0);
  fallback_changed(&fallback, "clock: type 0 to 1, clock: config 0 to 1, "
                              "clock: precise_ip 2 to 0");
}

/* -- user ----------------------------------------------------------------- */

static void fallback_to_user_excludes_kernel_and_hypervisor(void **state) {
  static const int codes[] = {-EACCES, -EPERM};
  size_t i;

  for (i = 0; i < COUNT_OF(codes); i++) {
    begin(UVPERF_FALLBACK_USER);
    uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
    helps(codes[i], UVPERF_CAUSE_PERMISSION);
    assert_int_equal(attr.exclude_kernel, 1);
    assert_int_equal(attr.exclude_hv, 1);
    fallback_changed(&fallback, "user: exclude_kernel 0 to 1, "
                                "user: exclude_hv 0 to 1");
    helps_not(codes[i], UVPERF_CAUSE_PERMISSION);
  }
}

static void fallback_to_user_leaves_a_side_that_was_chosen(void **state) {
  begin(UVPERF_FALLBACK_USER);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_user = 1;
  helps_not(-EACCES, UVPERF_CAUSE_PERMISSION);
  attr.exclude_user = 0;
  attr.exclude_kernel = 1;
  helps_not(-EACCES, UVPERF_CAUSE_PERMISSION);
  attr.exclude_kernel = 0;
  /* A seccomp filter denies all. */
  helps_not(-EPERM, UVPERF_CAUSE_NO_PERF);
  assert_int_equal(attr.exclude_kernel, 0);
  fallback_changed(&fallback, "");
}

/* -- precise -------------------------------------------------------------- */

static void fallback_of_precise_ip_is_one_change_down_to_0(void **state) {
  begin(UVPERF_FALLBACK_PRECISE);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  attr.precise_ip = 3;
  helps(-EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED);
  assert_int_equal(attr.precise_ip, 2);
  helps(-EINVAL, UVPERF_CAUSE_UNKNOWN);
  assert_int_equal(attr.precise_ip, 1);
  fallback_changed(&fallback, "precise: precise_ip 3 to 1");
  helps(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(attr.precise_ip, 0);
  helps_not(-EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED);
  fallback_changed(&fallback, "precise: precise_ip 3 to 0");
}

static void fallback_of_precise_ip_is_not_for_other_failures(void **state) {
  begin(UVPERF_FALLBACK_PRECISE);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  attr.precise_ip = 3;
  helps_not(-EACCES, UVPERF_CAUSE_PERMISSION);
  helps_not(-ESRCH, UVPERF_CAUSE_NO_TASK);
  helps_not(-EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(attr.precise_ip, 3);
}

/* The event that was asked for, with more skid, is better than another. */
static void fallback_of_precise_ip_comes_before_a_clock(void **state) {
  fake_version();
  begin_cycles(UVPERF_FALLBACK_ALL);
  attr.precise_ip = 1;
  helps(-EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED);
  assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
  helps(-EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED);
  assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(fallback.nr, 3);
}

/* -- all of them ---------------------------------------------------------- */

static void fallback_that_is_not_allowed_is_not_tried(void **state) {
  fake_version()->known[UVPERF__WORD_FLAGS] = 0;
  begin_cycles(UVPERF_FALLBACK_USER);
  attr.precise_ip = 3;
  attr.comm = 1;
  helps_not(-EINVAL, UVPERF_CAUSE_UNKNOWN);
  helps_not(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  begin(UVPERF_FALLBACK_ALL & ~UVPERF_FALLBACK_USER);
  helps_not(-EACCES, UVPERF_CAUSE_PERMISSION);
  fallback_changed(&fallback, "");
}

/* As if the last try had failed like the first. */
static void report_first(uvperf_error_t *error) {
  uvperf_error_t last = *error;

  uvperf__fallback_report(&fallback, &last, error);
}

static void fallback_says_what_did_not_help(void **state) {
  uvperf_error_t error;
  size_t length;

  fake_version();
  begin_cycles(UVPERF_FALLBACK_ALL);
  memset(&error, 0, sizeof(error));
  strcpy(error.reason, "no");
  report_first(&error);
  assert_string_equal(error.reason, "no");
  attr.precise_ip = 1;
  helps(-EACCES, UVPERF_CAUSE_PERMISSION);
  helps(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  helps(-ENOENT, UVPERF_CAUSE_NO_EVENT);
  report_first(&error);
  assert_string_equal(error.reason, "no; these fallbacks did not help: user "
                                    "side only, lower precise_ip, a clock");
  /* Whole or not at all. */
  length = strlen(error.reason) - 2;
  memset(error.reason, 'x', sizeof(error.reason));
  error.reason[sizeof(error.reason) - length - 1] = '\0';
  report_first(&error);
  assert_int_equal(strlen(error.reason), sizeof(error.reason) - length - 1);
  error.reason[sizeof(error.reason) - length - 2] = '\0';
  report_first(&error);
  assert_int_equal(strlen(error.reason), sizeof(error.reason) - 2);
}

static void fallback_names_all_four(void **state) {
  uvperf_error_t error;
  size_t i;

  begin(UVPERF_FALLBACK_ALL);
  memset(&error, 0, sizeof(error));
  for (i = 0; i < 4; i++)
    fallback.changes[i].fallback = 1u << i;
  fallback.nr = 4;
  report_first(&error);
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
  uvperf_error_t error = failure(-EACCES, UVPERF_CAUSE_PERMISSION, "no");
  uvperf_error_t last = failure(-ENOENT, UVPERF_CAUSE_NO_EVENT, "none");

  begin(UVPERF_FALLBACK_ALL);
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
  uvperf_error_t error = failure(-ENOENT, UVPERF_CAUSE_NO_EVENT, "none");
  uvperf_error_t last = failure(-EMFILE, UVPERF_CAUSE_FILES, "fds");

  begin(UVPERF_FALLBACK_ALL);
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
      MAKE_HOST_TEST(fallback_to_a_clock_has_a_least_period),
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
