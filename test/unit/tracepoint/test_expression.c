/* SPDX-License-Identifier: MIT */
/* What the expressions of a "print fmt" mean, and which are refused. */
#include "check_tracepoint_values.h"

static void text_groups_operators_as_c_does(void **state) {
  static const sample_t samples[] = {
      {"\"%d\", REC->a - 2 - 3", "-4"},
      {"\"%d\", REC->a * (2 + 3)", "5"},
      {"\"%d\", 7 * 8 / 16 * 2", "6"},
      {"\"%d\", 4 * -REC->a", "-4"},
      {"\"%d\", REC->a & (2 | 4)", "0"},
      {"\"%d\", REC->a ? 1 : REC->a ? 2 : 3", "1"},
      {"\"%d\", REC->a ? 1 : 2 + 3", "1"},
      {"\"%d\", 1 | 2 ^ 3 & 2 == 2", "3"},
      {"\"%d\", 1 << 2 + 1 >> 1", "4"},
      {"\"%d\", -1 < 0 == 1 != 0", "1"},
  };

  EXPECT_SAMPLES(samples);
}

static void text_that_needs_the_kernel_is_enotsup(void **state) {
  static const char *const print_fmts[] = {
      "",
      "\"",
      "\"%d\"",
      "\"%d\", ",
      "\"%d\", REC->nosuch",
      "\"%s\", __print_flags(REC->nosuch, \"|\", { 1, \"a\" })",
      "\"%s\", __get_str(nosuch)",
      "\"%s\", __get_str(s)",
      "\"%d\", no_such_function(REC->a)",
      "\"%d\", NO_SUCH_CONSTANT",
      "\"%s\", __print_symbolic(REC->a, { NO_SUCH_CONSTANT, \"a\" })",
      "\"%d\", REC->k",
      "\"%d\", REC->s",
      "\"%d\", REC->s.x",
      "\"%d\", (struct x)REC->a",
      "\"%d\", (bool)REC->g",
      "\"%d\", (char)REC->g",
      "\"%d\", ((char *)REC->s)[0]",
      "\"%d\", sizeof(struct x)",
      "\"%d\", *(int *)REC->s",
      "\"%p\", ((struct page *)vmemmap_base) + REC->g",
      "\"%d\", (void *)REC->g + 1",
      "\"%d\", 99999999999999999999",
      "\"%d\", 1x",
      "\"%d\", 1 1",
      "\"%d\", 1, 2",
      "\"%n\", 1",
      "\"%256d\", 1",
      "\"%pad\", &REC->g",
      "\"%16p\", (void *)REC->g",
      "\"%d %s\", 1, REC->a",
      "\"%s\", REC->w",
      "\"%s\", REC->a ? \"one\" : REC->w",
      "\"\\x41\"",
      "\"%d\", 'ab'",
      "\"%s\", __print_hex(REC->a, 1)",
  };

  expect_code(-ENOTSUP, print_fmts, COUNT_OF(print_fmts));
}

/* libtraceevent calls itself for each level, until the stack ends. */
static void text_of_deep_expressions_is_enotsup(void **state) {
  static const char *const levels[] = {"(",   "-",    "!", "(u8)",
                                       "1+(", "1?1:", "1|"};
  char print_fmt[3000], text[10];
  size_t i, j;

  for (i = 0; i < COUNT_OF(levels); i++) {
    strcpy(print_fmt, "\"%d\", ");
    for (j = 0; j < 500; j++)
      strcat(print_fmt, levels[i]);
    strcat(print_fmt, "1");
    assert_int_equal(print_values(print_fmt, text, sizeof(text)), -ENOTSUP);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_groups_operators_as_c_does),
      cmocka_unit_test(text_that_needs_the_kernel_is_enotsup),
      cmocka_unit_test(text_of_deep_expressions_is_enotsup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
