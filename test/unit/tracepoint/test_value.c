/* SPDX-License-Identifier: MIT */
/* The values of expressions: types, guards, and what C does not define. */
#include "check_tracepoint_values.h"

static void text_divides_only_on_the_side_that_c_evaluates(void **state) {
  static const sample_t samples[] = {
      {"\"%llu\", REC->z == 0 ? 0 : (100 * REC->g) / REC->z", "0"},
      {"\"%llu\", REC->z ? REC->g % REC->z : 7", "7"},
      {"\"%d\", REC->z && REC->g / REC->z", "0"},
      {"\"%d\", REC->g || REC->g / REC->z", "1"},
      {"\"%d\", REC->f / 2", "-3"},
      {"\"%d\", REC->f % 4", "-3"},
      {"\"%d %d\", 0 / REC->n, 0 % REC->n", "0 0"},
  };

  EXPECT_SAMPLES(samples);
}

static void text_has_the_types_of_c(void **state) {
  static const sample_t samples[] = {
      {"\"%lld\", REC->f", "-7"},
      {"\"%lld\", (s64)REC->f >> 1", "-4"},
      {"\"%lld\", 1 << 31ull", "-2147483648"},
      {"\"%s\", REC->f < 0 ? \"error\" : \"ok\"", "error"},
      {"\"%s\", REC->n == -1 ? \"none\" : \"one\"", "none"},
      {"\"%d\", (s8)255", "-1"},
      {"\"%d\", REC->f >> 1", "-4"},
      {"\"%lld\", (unsigned long long)REC->a - 2", "-1"},
      {"\"%llu\", REC->a - REC->e", "1294967297"},
      {"\"%llu\", REC->e << 1", "1705032704"},
      {"\"%d %d\", REC->n > 0u, REC->n == 4294967295u", "1 1"},
      {"\"%lld %lld\", -2147483648, -0x80000000", "-2147483648 2147483648"},
      {"\"%d\", 'A' + sizeof(REC->e) + sizeof(u64)", "77"},
      {"\"%llx\", ~0x0f", "fffffffffffffff0"},
      {"\"%u %d\", REC->w[0], REC->w[REC->a]", "5 -6"},
      {"\"%d\", ((u8 *)__get_dynamic_array(k))[0]", "3"},
  };

  EXPECT_SAMPLES(samples);
}

/* No record of a kernel leads to these. */
static void text_that_c_does_not_define_is_eproto(void **state) {
  static const char *const print_fmts[] = {
      "\"%d\", REC->a / REC->z",
      "\"%d\", REC->a % REC->z",
      "\"%d\", 1 / 0",
      "\"%d\", REC->m / REC->n",
      "\"%d\", REC->m % REC->n",
      "\"%d\", 1 << 32",
      "\"%d\", REC->a << REC->n",
      "\"%d\", REC->g >> 64",
      "\"%u\", REC->w[2]",
      "\"%u\", REC->w[REC->n]",
      "\"%s\", __print_hex(REC->s, 9)",
      "\"%s\", __print_hex(REC->s, REC->n)",
      "\"%s\", __print_array(REC->w, 3, 4)",
      "\"%s\", __print_array(REC->w, 1, 3)",
      "\"%s\", __print_array(REC->w, 1, REC->z)",
      "\"%*d\", 100000, 1",
      "\"%.*d\", 100000, 1",
      "\"%*ph\", 9, REC->s",
      "\"%pU\", REC->s",
      "\"%pI6c\", &REC->g",
  };

  expect_code(-EPROTO, print_fmts, COUNT_OF(print_fmts));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_divides_only_on_the_side_that_c_evaluates),
      cmocka_unit_test(text_has_the_types_of_c),
      cmocka_unit_test(text_that_c_does_not_define_is_eproto),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
