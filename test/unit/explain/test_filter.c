/* SPDX-License-Identifier: MIT */
/* Which field of a filter a tracepoint lacks. */
#include "support.h"
#include "make_host.h"

#include "explain/internal.h"

#define FORMAT "/sys/kernel/tracing/events/net/xmit/format"

static int setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  make_host_write(FORMAT, "name: xmit\nID: 7\nformat:\n"
                          "\tfield:int common_pid;\toffset:4;\n\n"
                          "\tfield:const char * skb;\toffset:8;\n"
                          "\tfield:char comm2[16];\toffset:16;\n"
                          "\tfield:__data_loc char[] name;\toffset:32;\n"
                          "\nprint fmt: \"dev=%s\"\n");
  return 0;
}

static void filter_with_an_unknown_field_names_the_first_one(void **state) {
  static const struct {
    const char *filter;
    const char *missing; /* "": no field is missing */
  } cases[] = {
      {"dev==1", "dev"},
      {"skb == 1 && len > 2", "len"},
      {"!(name ~ \"a && b||c\")||( ! len & 4 )", "len"},
      {"comm2 == 'x' || comm == 'y' && cpu & CPUS{1-2} || rc", "rc"},
      {"cpu||CPU||comm||COMM||stacktrace||STACKTRACE||Comm", "Comm"},
      {"comm2x == 1", "comm2x"},
      {"name.ustring ~ \"a\" || common_pid != 3 || skb", ""},
      {"skb = 1", ""},
      {"name == \"a", ""},
      {"(", ""},
      {"", ""},
  };
  char text[256], expected[256];
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    assert_int_equal(uvperf__filter_describe("net:xmit", cases[i].filter, text,
                                             sizeof(text)),
                     0);
    if (cases[i].missing[0] != '\0')
      snprintf(expected, sizeof(expected),
               "it has no field %s; its fields are skb, comm2, name",
               cases[i].missing);
    else
      snprintf(expected, sizeof(expected),
               "the filter is not valid; the tracepoint's fields are skb, "
               "comm2, name");
    assert_string_equal(text, expected);
  }
}

static void filter_of_many_fields_is_cut(void **state) {
  char format[4096] = "", field[64], filter[512] = "", text[200];
  int i;

  for (i = 0; i < 60; i++) {
    snprintf(field, sizeof(field), "\tfield:u64 field_%d;\n", i);
    strcat(format, field);
    strcat(filter, i == 0 ? "x" : "||y");
  }
  make_host_write(FORMAT, format);
  assert_int_equal(
      uvperf__filter_describe("net:xmit", filter, text, sizeof(text)), 0);
  assert_non_null(
      strstr(text, "no field x; its fields are field_0, field_1, "));
  assert_string_equal(text + strlen(text) - 3, "...");
  assert_int_equal(uvperf__filter_describe("net:xmit", filter, text, 16), 0);
  assert_int_equal(strlen(text), 15);
}

static void filter_of_what_has_no_format_is_not_described(void **state) {
  char text[64];

  assert_int_equal(uvperf__filter_describe("net:other", "x", text, 64),
                   -ENOENT);
  assert_int_equal(uvperf__filter_describe("net", "x", text, 64), -EINVAL);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(filter_with_an_unknown_field_names_the_first_one),
      TEST(filter_of_many_fields_is_cut),
      TEST(filter_of_what_has_no_format_is_not_described),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
