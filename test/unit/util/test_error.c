/* SPDX-License-Identifier: MIT */
/* Filling in an error: each cause has a name, and each text fits. */
#include "support.h"

#include "util/error.h"

static void cause_name_of_each_value_is_its_own(void **state) {
  int one, other;

  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_NONE), "none");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_PERMISSION), "permission");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_BREAKPOINT_SLOTS),
                      "breakpoint_slots");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_NO_PERF), "no_perf");
  for (one = 0; one <= UVPERF_CAUSE_BPF_PROGRAMS; one++)
    for (other = 0; other < one; other++)
      assert_string_not_equal(uvperf_cause_name(one), uvperf_cause_name(other));
  assert_string_equal(uvperf_cause_name(-1), "unknown");
  assert_string_equal(uvperf_cause_name(UVPERF_CAUSE_BPF_PROGRAMS + 1),
                      "unknown");
  assert_string_equal(uvperf_cause_name(INT32_MIN), "unknown");
}

static void explain_cuts_a_long_reason(void **state) {
  struct {
    uvperf_error_t error;
    char after[8];
  } box;
  char text[400];

  memset(&box, 0x5a, sizeof(box));
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  assert_int_equal(uvperf__error_set(&box.error, -EBUSY, UVPERF_CAUSE_LOOP,
                                     "%d %s", 42, text),
                   -EBUSY);
  assert_int_equal(box.error.code, -EBUSY);
  assert_int_equal(box.error.cause, UVPERF_CAUSE_LOOP);
  assert_int_equal(box.error.limit, 0);
  assert_int_equal(box.error.needed, 0);
  assert_memory_equal(box.error.reserved, (uint64_t[4]){0}, 32);
  assert_int_equal(strlen(box.error.reason), sizeof(box.error.reason) - 1);
  assert_memory_equal(box.error.reason, "42 xxx", 6);
  assert_memory_equal(box.after, "ZZZZZZZZ", 8);
}

static void error_limit_is_kept_beside_the_reason(void **state) {
  uvperf_error_t error;

  uvperf__error_argument(&error, "too many");
  assert_int_equal(uvperf__error_limit(&error, -EINVAL, 3, 4), -EINVAL);
  assert_int_equal(error.limit, 3);
  assert_int_equal(error.needed, 4);
  assert_string_equal(error.reason, "too many");
  assert_int_equal(uvperf__error_limit(NULL, -E2BIG, 3, 4), -E2BIG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cause_name_of_each_value_is_its_own),
      cmocka_unit_test(explain_cuts_a_long_reason),
      cmocka_unit_test(error_limit_is_kept_beside_the_reason),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
