/* SPDX-License-Identifier: MIT */
/* Lists of ranges, a range at a time. */
#include "support.h"

#include "util/range_list.h"

static void range_list_is_read_range_by_range(void **state) {
  const char *at = "0-7,9 ,\t10 - 63\n";
  unsigned int first, last;

  assert_int_equal(uvperf__range_next(&at, 63, &first, &last), 1);
  assert_int_equal(first, 0);
  assert_int_equal(last, 7);
  assert_int_equal(uvperf__range_next(&at, 63, &first, &last), 1);
  assert_int_equal(first, 9);
  assert_int_equal(last, 9);
  assert_int_equal(uvperf__range_next(&at, 63, &first, &last), 0);
  assert_int_equal(first, 10);
  assert_int_equal(last, 63);
  assert_string_equal(at, "");
}

static void range_list_of_garbage_is_einval(void **state) {
  static const char *const bad[] = {"",           " ",
                                    ",",          "-1",
                                    "+1",         "1-",
                                    "1--2",       "2-1",
                                    "1 2",        "1-2-",
                                    "1;2",        "64",
                                    "x",          "0x1",
                                    "4294967296", "0-64",
                                    "1.5",        "\xff",
                                    "1\v",        "1:2",
                                    "00064",      "18446744073709551616"};
  size_t i;

  for (i = 0; i < COUNT_OF(bad); i++) {
    const char *at = bad[i];
    unsigned int first, last;

    assert_int_equal(uvperf__range_next(&at, 63, &first, &last), -EINVAL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(range_list_is_read_range_by_range),
      cmocka_unit_test(range_list_of_garbage_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
