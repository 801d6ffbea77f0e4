/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "uvperf/attr.h"

/* The text is in a block of exactly its size. */
static void assert_described(uint32_t fallback, uint32_t field, uint64_t from,
                             uint64_t to, const char *expected) {
  uvperf_change_t change = {fallback, field, from, to, 0};
  size_t length = strlen(expected);
  char *text = malloc(length + 1);
  size_t size = length + 1;

  assert_non_null(text);
  assert_int_equal(uvperf_change_describe(&change, text, &size), 0);
  assert_string_equal(text, expected);
  assert_int_equal(size, length + 1);
  size = length;
  strcpy(text, "left");
  assert_int_equal(uvperf_change_describe(&change, text, &size), -ENOBUFS);
  assert_string_equal(text, "left");
  assert_int_equal(size, length + 1);
  size = 0;
  assert_int_equal(uvperf_change_describe(&change, NULL, &size), -ENOBUFS);
  assert_int_equal(size, length + 1);
  assert_true(size <= 128);
  free(text);
}

static void change_to_a_clock_names_the_events(void **state) {
  assert_described(
      UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_TYPE, 0, 1,
      "type hardware -> software: no PMU here counts cycles, so a clock does");
  assert_described(UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_CONFIG, 0, 1,
                   "config cpu-cycles -> task-clock: no PMU here counts "
                   "cycles, so a clock does");
  assert_described(UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_CONFIG, UINT64_C(4) << 32,
                   0,
                   "config cpu-cycles -> cpu-clock: no PMU here counts cycles, "
                   "so a clock does");
  assert_described(UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_SAMPLE_PERIOD, 1000,
                   100000,
                   "sample_period 1000 -> 100000: a clock's period is in ns, "
                   "and this is the shortest here");
  assert_described(UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_PRECISE_IP, 2, 0,
                   "precise_ip 2 -> 0: a clock has no precise_ip");
}

static void change_to_user_and_less_precise_says_why(void **state) {
  assert_described(UVPERF_FALLBACK_USER, UVPERF_ATTR_EXCLUDE_KERNEL, 0, 1,
                   "exclude_kernel 0 -> 1: the kernel side is not allowed");
  assert_described(UVPERF_FALLBACK_PRECISE, UVPERF_ATTR_PRECISE_IP, 3, 1,
                   "precise_ip 3 -> 1: the PMU supports no higher one");
  assert_described(UVPERF_FALLBACK_INHERIT, UVPERF_ATTR_INHERIT, 1, 0,
                   "children are not measured: fork(2) would fail in a task "
                   "that inherits this probe");
}

static void change_to_what_the_kernel_knows_names_the_bits(void **state) {
  assert_described(UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_DEFER_CALLCHAIN, 1, 0,
                   "defer_callchain 1 -> 0: this kernel does not know it");
  assert_described(
      UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_SAMPLE_TYPE, 0x1000001, 1,
      "sample_type 0x1000001 -> 0x1: this kernel does not know the other bits");
  assert_described(UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_READ_FORMAT, 0x10, 0,
                   "read_format 0x10 -> 0: this kernel does not know it");
  assert_described(UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_CONFIG4, UINT64_MAX, 0,
                   "config4 18446744073709551615 -> 0: this kernel does not "
                   "know it");
}

/* Any user can make such a change. */
static void describe_of_no_change_is_harmless(void **state) {
  assert_described(UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX,
                   "? 18446744073709551615 -> 18446744073709551615: ?");
  assert_described(UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_TYPE, 7, 8,
                   "type 7 -> 8: this kernel does not know the other bits");
  assert_described(
      UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_BRANCH_SAMPLE_TYPE, UINT64_MAX,
      UINT64_MAX,
      "branch_sample_type 0xffffffffffffffff -> 0xffffffffffffffff: this "
      "kernel does not know the other bits");
}

static void change_without_an_argument_is_einval(void **state) {
  uvperf_change_t change = {UVPERF_FALLBACK_USER, UVPERF_ATTR_EXCLUDE_HV, 0, 1,
                            0};
  char text[8] = "left";
  size_t size = sizeof(text);

  assert_int_equal(uvperf_change_describe(NULL, text, &size), -EINVAL);
  assert_int_equal(uvperf_change_describe(&change, NULL, &size), -EINVAL);
  assert_int_equal(uvperf_change_describe(&change, text, NULL), -EINVAL);
  assert_string_equal(text, "left");
  assert_int_equal(size, sizeof(text));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(change_to_a_clock_names_the_events),
      cmocka_unit_test(change_to_user_and_less_precise_says_why),
      cmocka_unit_test(change_to_what_the_kernel_knows_names_the_bits),
      cmocka_unit_test(describe_of_no_change_is_harmless),
      cmocka_unit_test(change_without_an_argument_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
