/* SPDX-License-Identifier: MIT */
/* The lines of the live table in windows of several sizes, and what keys do. */
#include "support.h"

#include "profile/screen.h"

static const stacks_row_t rows[] = {
    {"parse", "workload", 0, 500, 50000, 90000},
    {"\033[31mred\n\xe2\x80\xae", "\033]0;title\007", 0, 300, 30000, 30000},
    {"gr\xc3\xbc\xc3\x9f gott", "", 7, 200, 20000, 20000},
};

/* Returns the screen. The caller frees it with free(3). */
static char *write_screen(const profile_keys_t *keys, size_t columns,
                          size_t lines) {
  const profile_screen_t screen = {.keys = keys,
                                   .columns = columns,
                                   .lines = lines,
                                   .max_rows = 2,
                                   .target = "a\033[2Jb",
                                   .event = "cycles",
                                   .rate = 99.6,
                                   .weight = 100000,
                                   .rows = rows,
                                   .nr = 3};
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);

  assert_non_null(file);
  profile_screen_write(file, &screen);
  fclose(file);
  return text;
}

/* Expects that each line fits, in characters instead of bytes, and that the
 * text has no control characters. */
static void expect_fits(const char *text, size_t columns, size_t lines) {
  size_t width = 0, nr = 0;

  for (; *text != '\0'; text++) {
    if (*text == '\n') {
      assert_in_range(width, 0, columns);
      width = 0;
      nr++;
      continue;
    }
    assert_true((unsigned char)*text >= 0x20 && *text != 0x7f);
    width += ((unsigned char)*text & 0xc0) != 0x80;
  }
  assert_int_equal(width, 0);
  assert_in_range(nr, 1, lines);
}

static void lines_fit_into_the_window(void **state) {
  profile_keys_t keys = {.by = STACKS_BY_FUNCTION};
  size_t columns, lines;
  char *text;

  for (keys.by = STACKS_BY_FUNCTION; keys.by <= STACKS_BY_COMM; keys.by++) {
    for (columns = 10; columns <= 300; columns++) {
      lines = 1 + columns % 12;
      keys.has_help = columns % 2 == 0;
      text = write_screen(&keys, columns, lines);
      expect_fits(text, columns, lines);
      free(text);
    }
  }
}

static void expect_screen(size_t columns, const char *expected) {
  const profile_keys_t keys = {.by = STACKS_BY_FUNCTION};
  char *text = write_screen(&keys, columns, 10);

  assert_string_equal(text, expected);
  free(text);
}

static void narrow_window_leaves_out_columns(void **state) {
  expect_screen(20, "100 samples/s, 0 los\n"
                    "    self  function\n"
                    "  50.00%  parse\n"
                    "  30.00%  ?[31..????\n"
                    "  20.00%  gr\xc3\xbc\xc3\x9f gott\n");
  expect_screen(
      90,
      "100 samples/s, 0 lost, by function, sorted by self: a?[2Jb, cycles; "
      "? for help\n"
      "    self    total   samples  object               function\n"
      "  50.00%   90.00%       500  workload             parse\n"
      "  30.00%   30.00%       300  ?]0;title?           ?[31mred????\n"
      "  20.00%   20.00%       200                       gr\xc3\xbc\xc3\x9f "
      "gott\n");
}

static void rows_without_a_window_are_limited(void **state) {
  const profile_keys_t keys = {.by = STACKS_BY_FUNCTION};
  char *text = write_screen(&keys, 0, 0);

  assert_non_null(strstr(text, " parse\n"));
  assert_non_null(strstr(text, "title"));
  assert_null(strstr(text, "gott"));
  free(text);
}

static void no_samples_are_named_so(void **state) {
  const profile_keys_t keys = {.by = STACKS_BY_PROCESS};
  const profile_screen_t screen = {.keys = &keys, .target = "", .event = ""};
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);

  profile_screen_write(file, &screen);
  fclose(file);
  assert_non_null(strstr(text, "\nno samples yet\n"));
  free(text);
}

static profile_key_t type(profile_keys_t *keys, const char *text) {
  profile_key_t key = PROFILE_KEY_NONE;

  for (; *text != '\0'; text++)
    key = profile_keys_take(keys, (unsigned char)*text);
  return key;
}

static void keys_choose_rows_and_their_order(void **state) {
  profile_keys_t keys = {.by = STACKS_BY_FUNCTION};

  assert_int_equal(type(&keys, "t"), PROFILE_KEY_CHANGES);
  assert_int_equal(keys.sort, STACKS_SORT_TOTAL);
  assert_int_equal(type(&keys, "h"), PROFILE_KEY_CHANGES);
  assert_int_equal(keys.by, STACKS_BY_THREAD);
  type(&keys, "p");
  assert_int_equal(keys.by, STACKS_BY_PROCESS);
  type(&keys, "m");
  assert_int_equal(keys.by, STACKS_BY_COMM);
  type(&keys, "c");
  assert_int_equal(keys.by, STACKS_BY_CGROUP);
  type(&keys, "fn ");
  assert_int_equal(keys.by, STACKS_BY_FUNCTION);
  assert_int_equal(keys.sort, STACKS_SORT_SAMPLES);
  assert_true(keys.is_paused);
  assert_int_equal(type(&keys, " "), PROFILE_KEY_CHANGES);
  assert_false(keys.is_paused);
  assert_int_equal(type(&keys, "q"), PROFILE_KEY_QUITS);
  assert_int_equal(type(&keys, "\003"), PROFILE_KEY_QUITS);
  assert_int_equal(type(&keys, "\032"), PROFILE_KEY_SUSPENDS);
  assert_int_equal(type(&keys, "x"), PROFILE_KEY_NONE);
}

static void key_that_ends_help_does_nothing_else(void **state) {
  profile_keys_t keys = {.by = STACKS_BY_FUNCTION};

  type(&keys, "?");
  assert_true(keys.has_help);
  type(&keys, "t");
  assert_false(keys.has_help);
  assert_int_equal(keys.sort, STACKS_SORT_SELF);
}

/* Bytes of other sequences are not keys: ESC [ 3 ~ is Delete, ESC [ 1 ; 5 q is
 * unknown. */
static void arrows_choose_the_order_and_other_sequences_nothing(void **state) {
  profile_keys_t keys = {.by = STACKS_BY_FUNCTION};

  type(&keys, "\033[C");
  assert_int_equal(keys.sort, STACKS_SORT_TOTAL);
  type(&keys, "\033OC");
  assert_int_equal(keys.sort, STACKS_SORT_SAMPLES);
  assert_int_equal(type(&keys, "\033[C"), PROFILE_KEY_NONE);
  type(&keys, "\033[D\033[D");
  assert_int_equal(keys.sort, STACKS_SORT_SELF);
  assert_int_equal(type(&keys, "\033[D"), PROFILE_KEY_NONE);
  assert_int_equal(type(&keys, "\033[3~"), PROFILE_KEY_NONE);
  assert_int_equal(type(&keys, "\033[1;5q"), PROFILE_KEY_NONE);
  assert_int_equal(type(&keys, "\033q"), PROFILE_KEY_QUITS);
}

static void rows_are_sorted_by_the_chosen_key(void **state) {
  stacks_row_t sorted[] = {{"a", "", 0, 3, 10, 70},
                           {"b", "", 0, 9, 30, 60},
                           {"c", "", 0, 3, 20, 80}};

  stacks_rank_sort(sorted, 3, STACKS_SORT_SELF);
  assert_string_equal(sorted[0].name, "b");
  stacks_rank_sort(sorted, 3, STACKS_SORT_TOTAL);
  assert_string_equal(sorted[0].name, "c");
  assert_string_equal(sorted[2].name, "b");
  stacks_rank_sort(sorted, 3, STACKS_SORT_SAMPLES);
  assert_string_equal(sorted[0].name, "b");
  assert_string_equal(sorted[1].name, "c"); /* now sorted by self */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_fit_into_the_window),
      cmocka_unit_test(narrow_window_leaves_out_columns),
      cmocka_unit_test(rows_without_a_window_are_limited),
      cmocka_unit_test(no_samples_are_named_so),
      cmocka_unit_test(keys_choose_rows_and_their_order),
      cmocka_unit_test(key_that_ends_help_does_nothing_else),
      cmocka_unit_test(arrows_choose_the_order_and_other_sequences_nothing),
      cmocka_unit_test(rows_are_sorted_by_the_chosen_key),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
