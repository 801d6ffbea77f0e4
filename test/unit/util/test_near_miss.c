/* SPDX-License-Identifier: MIT */
/* Which of several names was probably meant. */
#include "support.h"

#include "util/near_miss.h"

/* The nearest of the words in a list that has spaces between them. */
static const char *nearest(uvperf__near_miss_t *it, const char *wanted,
                           const char *words) {
  char copy[512];
  char *word, *rest;

  snprintf(copy, sizeof(copy), "%s", words);
  uvperf__near_miss_init(it, wanted, strlen(wanted));
  for (word = strtok_r(copy, " ", &rest); word != NULL;
       word = strtok_r(NULL, " ", &rest))
    assert_int_equal(uvperf__near_miss_each(word, it), 0);
  return it->best;
}

static uvperf__near_miss_t miss;

static void near_miss_finds_typing_errors(void **state) {
  static const char words[] = "cycles instructions cpu-clock sched_switch";
  static const struct {
    const char *wanted;
    const char *best;
  } cases[] = {
      {"instrutions", "instructions"},   /* one is missing */
      {"instrructions", "instructions"}, /* one too many */
      {"instructoins", "instructions"},  /* swapped */
      {"instructionz", "instructions"},  /* replaced */
      {"cpuclock", "cpu-clock"},
      {"CYCELS", "cycles"},
      {"sched_swich", "sched_switch"},
      {"cycles", "cycles"},
      {"cyc", ""},
      {"page-faults", ""},
      {"", ""},
      {"cy", ""},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++)
    assert_string_equal(nearest(&miss, cases[i].wanted, words), cases[i].best);
}

/* In any order of the directory. */
static void near_miss_of_equals_begins_alike(void **state) {
  assert_string_equal(nearest(&miss, "syscall", "vsyscall syscalls"),
                      "syscalls");
  assert_string_equal(nearest(&miss, "syscall", "syscalls vsyscall"),
                      "syscalls");
  assert_string_equal(
      nearest(&miss, "LLC-load-mis", "LLC-loads LLC-load-misses"),
      "LLC-load-misses");
  assert_string_equal(nearest(&miss, "sched", "schedx schedy"), "schedx");
  assert_string_equal(nearest(&miss, "abcdef", "xxxxxx"), "");
  assert_string_equal(nearest(&miss, "abcdef", "abcxxx"), "");
}

static void near_miss_counts_each_error_once(void **state) {
  nearest(&miss, "abcdefgh", "abdcefgh");
  assert_int_equal(miss.distance, 1);
  nearest(&miss, "abcdefgh", "xbcdefgh");
  assert_int_equal(miss.distance, 1);
  nearest(&miss, "abcdefgh", "bcdefghi");
  assert_int_equal(miss.distance, 2);
  nearest(&miss, "abcdefgh", "abcdefgh");
  assert_int_equal(miss.distance, 0);
}

/* A third of the bytes may be wrong, rounded to the nearest. */
static void near_miss_bears_one_error_in_three_bytes(void **state) {
  assert_string_equal(nearest(&miss, "abcde", "abcxy"), "abcxy");
  assert_string_equal(nearest(&miss, "abcd", "abxy"), "");
  assert_string_equal(nearest(&miss, "abcd", "abcx"), "abcx");
  assert_string_equal(nearest(&miss, "abcdefg", "abcdexy"), "abcdexy");
  assert_string_equal(nearest(&miss, "abcdefg", "abcdxyz"), "");
}

static void near_miss_keeps_the_nearest_and_of_equals_the_first(void **state) {
  assert_string_equal(nearest(&miss, "loads", "lxxds loadx xoads"), "loadx");
}

static void long_names_have_no_near_miss(void **state) {
  char longest[UVPERF__NEAR_MISS_MOST + 1];
  char longer[UVPERF__NEAR_MISS_MOST + 2];

  memset(longest, 'a', sizeof(longest));
  longest[UVPERF__NEAR_MISS_MOST] = '\0';
  memset(longer, 'a', sizeof(longer));
  longer[UVPERF__NEAR_MISS_MOST + 1] = '\0';
  uvperf__near_miss_init(&miss, longest, strlen(longest));
  uvperf__near_miss_each(longer, &miss);
  assert_string_equal(miss.best, "");
  uvperf__near_miss_each(longest + 1, &miss);
  assert_string_equal(miss.best, longest + 1);
  uvperf__near_miss_each(longest, &miss);
  assert_string_equal(miss.best, longest);
  uvperf__near_miss_init(&miss, longer, strlen(longer));
  uvperf__near_miss_each(longer, &miss);
  uvperf__near_miss_each(longest, &miss);
  uvperf__near_miss_each("", &miss);
  assert_string_equal(miss.best, "");
}

static void near_miss_reads_no_more_than_the_length(void **state) {
  uvperf__near_miss_init(&miss, "cycels:u", 6);
  uvperf__near_miss_each("cycles", &miss);
  assert_int_equal(miss.distance, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(near_miss_finds_typing_errors),
      cmocka_unit_test(near_miss_of_equals_begins_alike),
      cmocka_unit_test(near_miss_counts_each_error_once),
      cmocka_unit_test(near_miss_bears_one_error_in_three_bytes),
      cmocka_unit_test(near_miss_keeps_the_nearest_and_of_equals_the_first),
      cmocka_unit_test(long_names_have_no_near_miss),
      cmocka_unit_test(near_miss_reads_no_more_than_the_length),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
