/* SPDX-License-Identifier: MIT */
/* Numbers, strings and addresses as the kernel writes them. */
#include "tracepoint_values.h"

static void text_has_the_conversions_of_the_kernel(void **state) {
  static const sample_t samples[] = {
      {"\"%#x %#X %#o %#llx\", REC->z, 10, 8, REC->g", "0x0 0XA 010 0xa"},
      {"\"%#06x|%-4d|%4d|%04d|%.3d\", 10, 1, -1, -1, 7",
       "0x000a|1   |  -1|-001|007"},
      {"\"%+d % d %hhd %hu %i\", 1, 1, 255, REC->n, REC->f",
       "+1  1 -1 65535 -7"},
      {"\"%c%c%%\", 'a', REC->a ? 'b' : ' '", "ab%"},
      {"\"%s|%.*s|%-9s|%10s\", REC->s, 3, REC->s, REC->s, REC->s",
       "eightchr|eig|eightchr |  eightchr"},
      {"\"%*d|%-*d|%*d|\", 3, 1, 3, 1, -3, 1", "  1|1  |1  |"},
      {"\"%s\" \"%d\", REC->a ? \"a\\\"b\" : \"\", 1", "a\"b1"},
      {"\"a\\tb\\\\\"", "a\tb\\"},
      {"\"%pK %px\", (void *)REC->g, (void *)REC->g", "0xa 0xa"},
      {"\"%s\", REC->z ? REC->s : ((void *)0)", "(null)"},
  };

  (void)state;
  EXPECT_SAMPLES(samples);
}

static void text_has_addresses(void **state) {
  static const sample_t samples[] = {
      {"\"%pI4 %pi4\", REC->u, &REC->u", "254.128.0.0 254.128.000.000"},
      {"\"%pI6c\", REC->u", "fe80::12"},
      {"\"%pI6\", REC->u", "fe80:0000:0000:0000:0000:0000:0000:0012"},
      {"\"%pU\", REC->u", "fe800000-0000-0000-0000-000000000012"},
      {"\"%pUL\", REC->u", "000080FE-0000-0000-0000-000000000012"},
      {"\"%pM %pMF %pm\", REC->s, REC->s, REC->s",
       "65:69:67:68:74:63 65-69-67-68-74-63 656967687463"},
      {"\"%*phC %3phN\", 2, REC->s, REC->s", "65:69 656967"},
  };

  (void)state;
  EXPECT_SAMPLES(samples);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_has_the_conversions_of_the_kernel),
      cmocka_unit_test(text_has_addresses),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
