/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "uvperf.h"

static void version_of_library_is_that_of_headers(void **state) {
  char text[32];

  assert_int_equal(uvperf_version(), UVPERF_VERSION_HEX);
  snprintf(text, sizeof(text), "%d.%d.%d", UVPERF_VERSION_MAJOR,
           UVPERF_VERSION_MINOR, UVPERF_VERSION_PATCH);
  assert_string_equal(uvperf_version_string(), text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_of_library_is_that_of_headers),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
