/* SPDX-License-Identifier: MIT */
/* Counts as text. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "uvperf/count.h"
#include "uvperf/name.h"

typedef struct count_line_s {
  const char *line;
  uvperf_count_t count;
  double scale;
  const char *unit;
} count_line_t;

#define COUNTED .state = UVPERF_COUNT_COUNTING, .nr_counts = 1

static const count_line_t lines[] = {
    {"0 x", {COUNTED}, 1, ""},
    {"18446744073709551615 x", {COUNTED, .scaled = UINT64_MAX}, 1, ""},
    {"7 ns x", {COUNTED, .value = 7, .scaled = 7}, 1, "ns"},
    {"12.35 Joules x", {COUNTED, .scaled = 49380}, 0.00025, "Joules"},
    {"0.00 Joules x", {COUNTED, .scaled = 1}, 0.00025, "Joules"},
    {"36893488147419103232 B x",
     {COUNTED, .scaled = UINT64_C(1) << 63},
     4,
     "B"},
    {"500000000000000000 B x",
     {COUNTED, .scaled = UINT64_C(1000000000000000000)},
     0.5,
     "B"},
    {"-2.50 C x", {COUNTED, .scaled = 5}, -0.5, "C"},
    {"-36893488147419103232 C x",
     {COUNTED, .scaled = UINT64_C(1) << 63},
     -4,
     "C"},
    {"8 x (multiplexed: counted 37.50% of the time)",
     {COUNTED, .value = 3, .scaled = 8, .time_enabled = 8, .time_running = 3,
      .ratio = 0.375},
     1,
     ""},
    {"3 x",
     {COUNTED, .value = 3, .scaled = 3, .time_enabled = 8, .time_running = 3,
      .ratio = 0.375, .flags = UVPERF_COUNT_UNSCALED},
     1,
     ""},
    {"9 x", {.state = UVPERF_COUNT_GONE, .scaled = 9, .nr_counts = 1}, 1, ""},
    {"0 x (did not run)",
     {.state = UVPERF_COUNT_NOT_ENABLED, .nr_counts = 1},
     1,
     ""},
    {"<not counted: never scheduled> x",
     {.state = UVPERF_COUNT_NEVER_SCHEDULED,
      .time_enabled = 5,
      .nr_missing = 1},
     1,
     ""},
    {"<not counted: not available, errno 2> x",
     {.state = UVPERF_COUNT_NOT_AVAILABLE, .code = -2, .nr_missing = 1},
     0.00025,
     "Joules"},
    {"<not counted: none> x", {.state = UVPERF_COUNT_NONE}, 1, ""},
    {"5 x (1 of 3 are missing) (4 records lost)",
     {.state = UVPERF_COUNT_COUNTING,
      .scaled = 5,
      .nr_counts = 2,
      .nr_missing = 1,
      .lost = 4},
     1,
     ""},
    {"5 x (4294967295 of 8589934590 are missing)",
     {.state = UVPERF_COUNT_COUNTING,
      .scaled = 5,
      .nr_counts = UINT32_MAX,
      .nr_missing = UINT32_MAX},
     1,
     ""},
};

/* In memory of exactly its size. */
static void expect_cut(const uvperf_count_t *count,
                       const uvperf_event_item_t *item, const char *whole,
                       size_t size) {
  size_t length = strlen(whole);
  char *text = malloc(size);

  assert_non_null(text);
  assert_int_equal(uvperf_count_format(count, item, text, size), length);
  assert_int_equal(strlen(text), size <= length ? size - 1 : length);
  assert_memory_equal(text, whole, strlen(text));
  free(text);
}

static void count_of_each_state_is_a_line_in_each_room(void **state) {
  uvperf_event_item_t item = {.label = "x"};
  char text[128];
  size_t i, size;

  for (i = 0; i < COUNT_OF(lines); i++) {
    item.scale = lines[i].scale;
    item.unit = lines[i].unit;
    uvperf_count_format(&lines[i].count, &item, text, sizeof(text));
    assert_string_equal(text, lines[i].line);
    for (size = strlen(text) + 2; size >= 1; size--)
      expect_cut(&lines[i].count, &item, lines[i].line, size);
  }
}

static void count_without_an_item_has_no_name(void **state) {
  const uvperf_count_t count = {COUNTED, .scaled = 12};

  expect_cut(&count, NULL, "12", 8);
  assert_int_equal(uvperf_count_format(&count, NULL, NULL, 0), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(count_of_each_state_is_a_line_in_each_room),
      cmocka_unit_test(count_without_an_item_has_no_name),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
