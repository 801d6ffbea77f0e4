/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <unistd.h>

#include "common/options.h"

static void
ring_size_is_of_bytes_with_a_unit_and_of_pages_without(void **state) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const struct {
    const char *text;
    size_t bytes; /* 0: refused */
  } cases[] = {
      {"128", 128 * page},
      {"1", page},
      {"65536B", 65536},
      {"512K", 524288},
      {"16M", 16777216},
      {"1024M", 1024 * 1048576UL},
      {"1G", 1024 * 1048576UL},
      {"2G", 0},
      {"0", 0},
      {"0K", 0},
      {"1025M", 0},
      {"99999999", 0},
      {"4k", 0},
      {"K", 0},
      {"", 0},
      {"1.5M", 0},
      {"4KB", 0},
  };
  size_t i, bytes;

  for (i = 0; i < COUNT_OF(cases); i++) {
    bytes = 0;
    assert_int_equal(common_options_ring(cases[i].text, &bytes) == 0,
                     cases[i].bytes != 0);
    assert_int_equal(bytes, cases[i].bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ring_size_is_of_bytes_with_a_unit_and_of_pages_without),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
