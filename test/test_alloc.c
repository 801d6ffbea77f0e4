/* SPDX-License-Identifier: MIT */
/* The allocator: zeroed, and no overflow. */
#include "support.h"

#include "alloc.h"

/* Else the sanitizer ends the program where calloc(3) gives NULL. */
const char *__asan_default_options(void);

const char *__asan_default_options(void) {
  return "allocator_may_return_null=1";
}

static void calloc_overflow_gives_null(void **state) {
  (void)state;
  assert_null(uvperf__calloc(SIZE_MAX, 2));
  assert_null(uvperf__calloc(2, SIZE_MAX / 2 + 1));
}

static void calloc_gives_zeroed_memory(void **state) {
  static const uint8_t zeroes[4096];
  uint8_t *memory;
  int i;

  (void)state;
  /* Again, as memory that was used before is given out again. */
  for (i = 0; i < 100; i++) {
    memory = uvperf__calloc(8, sizeof(zeroes) / 8);
    assert_non_null(memory);
    assert_memory_equal(memory, zeroes, sizeof(zeroes));
    memset(memory, 0xff, sizeof(zeroes));
    uvperf__free(memory);
  }
}

static void free_of_null_is_nothing(void **state) {
  (void)state;
  uvperf__free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calloc_overflow_gives_null),
      cmocka_unit_test(calloc_gives_zeroed_memory),
      cmocka_unit_test(free_of_null_is_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
