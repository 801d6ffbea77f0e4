/* SPDX-License-Identifier: MIT */
/* How names are split: which are invalid, and where. */
#include "fake_host.h"
#include "check_parse.h"

#include <limits.h>

#include "name/text.h"

#define ARG  UVPERF_CAUSE_ARGUMENT
#define NONE UVPERF_CAUSE_NO_EVENT

static void attr_parse_points_at_bad_syntax(void **state) {
  static const name_bad_t bad[] = {
      {"", -EINVAL, ARG, 1, "the name of an event is missing"},
      {"   ", -EINVAL, ARG, 4, "the name of an event is missing"},
      {":u", -EINVAL, ARG, 1, "the name of an event is missing"},
      {"/period=1/", -EINVAL, ARG, 1, "the name of an event is missing"},
      {"cycles:", -EINVAL, ARG, 8, "modifiers are missing"},
      {"cycles//:", -EINVAL, ARG, 10, "modifiers are missing"},
      {"cycles:uz", -EINVAL, ARG, 9, "no modifier 'z'"},
      {"cycles:uu", -EINVAL, ARG, 9, "'u' appears twice"},
      {"cycles:pppp", -EINVAL, ARG, 11, "more than three times"},
      {"cycles:PP", -EINVAL, ARG, 9, "'P' appears twice"},
      {"cycles:b", -EINVAL, ARG, 8, "for perf(1) only"},
      {"cycles:W", -EINVAL, ARG, 8, "for groups"},
      {"cycles:u:k", -EINVAL, ARG, 9, "':k' does not belong"},
      {"cycles u", -EINVAL, ARG, 8, "'u' does not belong"},
      {"cycles,cs", -EINVAL, ARG, 7, "uvperf_event_list_parse"},
      {"cycles , cs", -EINVAL, ARG, 8, "uvperf_event_list_parse"},
      {" {cycles}", -EINVAL, ARG, 2, "uvperf_event_list_parse"},
      {"cycles}", -EINVAL, ARG, 7, "'}' does not belong"},
      {"cycles/period=1", -EINVAL, ARG, 7, "the terms are not closed"},
      {"cycles/period=/", -EINVAL, ARG, 15, "a value is missing"},
      {"uretprobe/path=/x,offset=1/", -EINVAL, ARG, 16, "into quotation marks"},
      {"cycles/period=x/", -EINVAL, ARG, 15, "'x' is not a number"},
      {"cycles/period=-1/", -EINVAL, ARG, 15, "'-1' is not a number"},
      {"cycles/period=0x/", -EINVAL, ARG, 15, "'0x' is not a number"},
      {"cycles/period='1/", -EINVAL, ARG, 15,
       "the quotation mark ' is not closed"},
      {"cycles/,/", -EINVAL, ARG, 8, "the name of a term is missing"},
      {"cycles/time,/", -EINVAL, ARG, 13, "the name of a term is missing"},
      {"cycles/=1/", -EINVAL, ARG, 8, "the name of a term is missing"},
      {"cycles/time time/", -EINVAL, ARG, 13, "',' or '/' is missing"},
      {"cycles/period='1'2/", -EINVAL, ARG, 18, "',' or '/' is missing"},
      {"cycles/time/u,cs", -EINVAL, ARG, 14, "uvperf_event_list_parse"},
      {"period=5", -EINVAL, ARG, 7, "'period=' is not an event"},
      {"type=", -EINVAL, ARG, 6, "a value is missing"},
      {"type=1,config=", -EINVAL, ARG, 15, "a value is missing"},
      {"type=x", -EINVAL, ARG, 6, "'x' is not a number"},
      {"type=1/period=1/", -EINVAL, ARG, 7, "does not belong"},
      {"type=0x100000000", -EINVAL, ARG, 6, "the limit is 0xffffffff"},
      {"0x100000000:1", -EINVAL, ARG, 1, "the limit is 0xffffffff"},
      {"1:0x10000000000000000", -EINVAL, ARG, 3, "too large"},
      {"1:18446744073709551616", -EINVAL, ARG, 3, "too large"},
      {"1:x", -EINVAL, ARG, 3, "'x' is not a number"},
      {"1:", -EINVAL, ARG, 3, "'' is not a number"},
      {"r10000000000000000", -EINVAL, ARG, 1, "more than 64 bits"},
      {"mem:", -EINVAL, ARG, 5, "'' is not a number"},
      {"mem:x", -EINVAL, ARG, 5, "'x' is not a number"},
      {"mem:0:rr", -EINVAL, ARG, 8, "'r' appears twice"},
      {"mem:0:ru", -EINVAL, ARG, 8, "modifiers after another ':'"},
      {"mem:0/4x", -EINVAL, ARG, 7, "'4x' is not a number"},
      {"mem:0/4/", -EINVAL, ARG, 8, "the terms are not closed"},
      {"mem:0/config1=5/", -EINVAL, ARG, 7, "part of the event's name"},
      {"cycles/type=1/", -EINVAL, ARG, 8, "part of the event's name"},
      {"cycles/name=x/", -EINVAL, ARG, 13, "uvperf_event_list_parse"},
      {"cycles\x01", -ENOENT, NONE, 1, "'cycles?'"},
      {"cycles\x7f", -ENOENT, NONE, 1, "'cycles?'"},
      {"cycles\xc3\xa4", -ENOENT, NONE, 1, "'cycles?\?'"},
      {"x123456789012345678901234567890123456789012345678901234567890", -ENOENT,
       NONE, 1, "'x12345678901234567890123456789012345678901234567...'"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

static void attr_parse_of_very_long_names_is_an_error(void **state) {
  static const char *const patterns[] = {
      "a", "a:", "cycles/", "mem:",         "/",
      ",", "1",  "type=",   "cycles/time,", "'"};
  size_t size = 100000;
  char *text = malloc(size + 16);
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i, length;

  assert_non_null(text);
  for (i = 0; i < COUNT_OF(patterns); i++) {
    for (length = 0; length < size; length += strlen(patterns[i]))
      strcpy(text + length, patterns[i]);
    assert_true(uvperf_attr_parse(&attr, text, &error) < 0);
    assert_in_range(error.column, 1, length + 1);
  }
  free(text);
}

static void file_name_has_at_most_255_bytes(void **state) {
  char text[NAME_MAX + 1];
  uvperf__span_t span = {text, text};

  memset(text, 'x', sizeof(text));
  assert_false(uvperf__span_is_file_name(span));
  span.end = text + NAME_MAX;
  assert_true(uvperf__span_is_file_name(span));
  span.end += 1;
  assert_false(uvperf__span_is_file_name(span));
  span.end = text + 2;
  text[1] = '/';
  assert_false(uvperf__span_is_file_name(span));
  memcpy(text, ".x", 2);
  assert_false(uvperf__span_is_file_name(span));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_parse_points_at_bad_syntax),
      cmocka_unit_test(file_name_has_at_most_255_bytes),
      cmocka_unit_test(attr_parse_of_very_long_names_is_an_error),
  };

  return cmocka_run_group_tests(tests, fake_host_empty, fake_host_real);
}
