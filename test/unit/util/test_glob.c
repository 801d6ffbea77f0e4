/* SPDX-License-Identifier: MIT */
/* Patterns of names, compared with a table and with fnmatch(3), and hostile
 * ones for which a matcher may take for ever. */
#include "support.h"

#include <fnmatch.h>

#include "util/glob.h"

typedef struct example_s {
  const char *pattern;
  const char *text;
  int is_match;
} example_t;

static void expect(const example_t *examples, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    if (uvperf__glob_match(examples[i].pattern, examples[i].text) !=
        examples[i].is_match)
      fail_msg("\"%s\" and \"%s\"", examples[i].pattern, examples[i].text);
}

#define EXPECT(examples) expect(examples, sizeof(examples) / sizeof(*examples))

static void glob_star_is_any_number_of_bytes(void **state) {
  const example_t examples[] = {
      {"sched_*", "sched_switch", 1},
      {"sched_*", "sched_", 1},
      {"sched_*", "sched", 0},
      {"*_enter_*at", "sys_enter_openat", 1},
      {"*_enter_*at", "sys_enter_openat2", 0},
      {"*", "", 1},
      {"**", "x", 1},
      {"*.*", "a/b.c/d", 1},
      {"*", ".hidden", 1},
      {"a*b*c", "abbbcbc", 1},
      {"a*b*c", "abbbcbd", 0},
      {"*aab", "aaab", 1},
      {"", "", 1},
      {"", "x", 0},
      {"x", "", 0},
      {"*x", "", 0},
  };

  EXPECT(examples);
}

static void glob_question_mark_is_one_byte(void **state) {
  const example_t examples[] = {{"cpu?", "cpu1", 1},
                                {"cpu?", "cpu", 0},
                                {"cpu?", "cpu12", 0},
                                {"??", "ab", 1},
                                {"?*?", "a", 0},
                                {"?*?", "ab", 1},
                                {"?\xff", "\x80\xff", 1},
                                {"\xff*", "\xff\xfe", 1},
                                {"\xc3\xa9", "\xc3\xa8", 0}};

  EXPECT(examples);
}

static void glob_bracket_is_one_of_its_members(void **state) {
  const example_t examples[] = {
      {"cpu[0-3]", "cpu2", 1},   {"cpu[0-3]", "cpu4", 0},
      {"[abc]", "c", 1},         {"[abc]", "d", 0},
      {"[abc]", "", 0},          {"[!a-c]", "d", 1},
      {"[!a-c]", "b", 0},        {"[^a-c]", "d", 1},
      {"[^a-c]", "^", 1},        {"[]a]", "]", 1},
      {"[!]a]", "]", 0},         {"[!]a]", "b", 1},
      {"[a-]", "-", 1},          {"[-a]", "-", 1},
      {"[a!]", "!", 1},          {"[z-a]", "m", 0},
      {"[*]", "*", 1},           {"[*]", "x", 0},
      {"[[]", "[", 1},           {"[\x80-\xff]", "\xc3", 1},
      {"[\x80-\xff]", "a", 0},   {"*[0-9]*[!0-9]", "ab7cd8e", 1},
      {"*[0-9][0-9]", "a1b", 0}, {"[a-b-d]", "-", 1},
  };

  EXPECT(examples);
}

static void glob_bracket_that_nothing_closes_is_itself(void **state) {
  const example_t examples[] = {
      {"[", "[", 1},     {"[a", "[a", 1},   {"[a", "a", 0},
      {"[]", "[]", 1},   {"[!]", "[!]", 1}, {"[!", "[!", 1},
      {"[a-", "[a-", 1}, {"[]", "]", 0},    {"x]", "x]", 1},
  };

  EXPECT(examples);
}

static void glob_has_no_escapes(void **state) {
  const example_t examples[] = {{"\\*", "\\x", 1}, {"\\*", "*", 0},
                                {"\\", "\\", 1},   {"[\\]]", "\\]", 1},
                                {"a\\b", "ab", 0}, {"a\\b", "a\\b", 1}};

  EXPECT(examples);
}

static void random_word(uint32_t *seed, const char *letters, char *word,
                        size_t most) {
  size_t length, i;

  *seed = *seed * 1664525 + 1013904223;
  length = (*seed >> 16) % (most + 1);
  for (i = 0; i < length; i++) {
    *seed = *seed * 1664525 + 1013904223;
    word[i] = letters[(*seed >> 16) % strlen(letters)];
  }
  word[length] = '\0';
}

/* cmocka's programs run in the C locale, where fnmatch(3) also works on
 * bytes. */
static void glob_random_patterns_match_as_by_fnmatch(void **state) {
  char pattern[12], text[8];
  uint32_t seed = 1;
  int i, is_match, matches = 0;

  for (i = 0; i < 300000; i++) {
    random_word(&seed, "aabbc**?[]-!^[", pattern, 11);
    random_word(&seed, "aabbc[]-!^", text, 7);
    is_match = fnmatch(pattern, text, FNM_NOESCAPE) == 0;
    matches += is_match;
    if (uvperf__glob_match(pattern, text) != is_match)
      fail_msg("\"%s\" and \"%s\"", pattern, text);
  }
  assert_in_range(matches, 10000, 290000);
}

/* With backtracking to every star most of them would never end; with a search
 * for the end of each bracket some would take minutes. */
static void glob_hostile_patterns_end(void **state) {
  enum {
    LENGTH = 4000
  };
  static const struct {
    const char *piece;
    const char *end;
    char text;
  } hostile[] = {{"*a", "*b", 'a'}, {"*", "b", 'a'},       {"a*", "b", 'a'},
                 {"*?", "b", 'a'},  {"[", "b", '['},       {"*[", "b", '['},
                 {"[!", "b", '['},  {"*[a-z]", "b!", 'a'}, {"*[!b]", "b", 'a'},
                 {"?*", "[", 'a'}};
  static char pattern[LENGTH + 8], text[LENGTH + 1];
  size_t i;

  for (i = 0; i < COUNT_OF(hostile); i++) {
    size_t piece = strlen(hostile[i].piece);
    size_t at;

    for (at = 0; at + piece <= LENGTH / 2; at += piece)
      memcpy(pattern + at, hostile[i].piece, piece);
    strcpy(pattern + at, hostile[i].end);
    memset(text, hostile[i].text, LENGTH);
    text[LENGTH] = '\0';
    assert_int_equal(uvperf__glob_match(pattern, text), 0);
  }
}

static void glob_is_pattern_if_it_can_match_more_than_itself(void **state) {
  assert_true(uvperf__glob_is_pattern("sched_*"));
  assert_true(uvperf__glob_is_pattern("cpu?"));
  assert_true(uvperf__glob_is_pattern("cpu[0-3]"));
  assert_false(uvperf__glob_is_pattern("sched_switch"));
  assert_false(uvperf__glob_is_pattern("a]b!c^d-e\\f"));
  assert_false(uvperf__glob_is_pattern(""));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(glob_star_is_any_number_of_bytes),
      cmocka_unit_test(glob_question_mark_is_one_byte),
      cmocka_unit_test(glob_bracket_is_one_of_its_members),
      cmocka_unit_test(glob_bracket_that_nothing_closes_is_itself),
      cmocka_unit_test(glob_has_no_escapes),
      cmocka_unit_test(glob_random_patterns_match_as_by_fnmatch),
      cmocka_unit_test(glob_hostile_patterns_end),
      cmocka_unit_test(glob_is_pattern_if_it_can_match_more_than_itself),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
