/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <uvperf.h>

#include "util/options.h"

typedef struct first_s {
  size_t size;
  int32_t a;
  int32_t b;
} first_t;

/* A later version of the struct. */
typedef struct later_s {
  size_t size;
  int32_t a;
  int32_t b;
  int64_t c;
} later_t;

static void options_null_keeps_the_defaults(void **state) {
  first_t own = {sizeof(own), 1, 2};

  assert_int_equal(uvperf__options_copy(&own, sizeof(own), sizeof(own), NULL),
                   0);
  assert_int_equal(own.a, 1);
  assert_int_equal(own.b, 2);
}

static void options_of_the_same_size_are_taken(void **state) {
  first_t given = {sizeof(given), 3, 4};
  first_t own = {sizeof(own), 1, 2};

  assert_int_equal(uvperf__options_copy(&own, sizeof(own), sizeof(own), &given),
                   0);
  assert_int_equal(own.a, 3);
  assert_int_equal(own.b, 4);
}

static void options_of_an_older_caller_keep_later_defaults(void **state) {
  first_t *given = malloc(sizeof(*given));
  later_t own = {sizeof(own), 1, 2, 5};

  assert_non_null(given);
  *given = (first_t){sizeof(*given), 3, 4};
  assert_int_equal(
      uvperf__options_copy(&own, sizeof(own), sizeof(first_t), given), 0);
  assert_int_equal(own.a, 3);
  assert_int_equal(own.b, 4);
  assert_int_equal(own.c, 5);
  free(given);
}

static void options_of_a_newer_caller_must_end_in_zeroes(void **state) {
  later_t given = {sizeof(given), 3, 4, 0};
  first_t own = {sizeof(own), 1, 2};

  assert_int_equal(uvperf__options_copy(&own, sizeof(own), sizeof(own), &given),
                   0);
  assert_int_equal(own.b, 4);
  given.a = 30;
  given.c = INT64_MIN; /* the last byte only */
  assert_int_equal(uvperf__options_copy(&own, sizeof(own), sizeof(own), &given),
                   -E2BIG);
  assert_int_equal(own.a, 3);
}

/* Nothing of it may be read: it does not exist. */
static void options_of_an_impossible_size_are_refused_unread(void **state) {
  static const size_t sizes[] = {4097, 1 << 20, SIZE_MAX};
  first_t *given = malloc(sizeof(*given));
  first_t own = {sizeof(own), 1, 2};
  size_t i;

  assert_non_null(given);
  for (i = 0; i < COUNT_OF(sizes); i++) {
    *given = (first_t){sizes[i], 3, 4};
    assert_int_equal(
        uvperf__options_copy(&own, sizeof(own), sizeof(own), given), -E2BIG);
  }
  assert_int_equal(own.a, 1);
  free(given);
}

static void options_shorter_than_the_first_version_are_refused(void **state) {
  first_t given = {sizeof(given) - 1, 3, 4};
  first_t own = {sizeof(own), 1, 2};

  assert_int_equal(uvperf__options_copy(&own, sizeof(own), sizeof(own), &given),
                   -EINVAL);
  given.size = 0;
  assert_int_equal(uvperf__options_copy(&own, sizeof(own), sizeof(own), &given),
                   -EINVAL);
  assert_int_equal(own.a, 1);
}

/* A partly filled struct of a caller is zero where nothing was set. It must
 * mean the same as the initializer, which is also zero except for the size. */
static void options_with_a_size_alone_are_what_the_initializer_makes(void **s) {
#define SAME(type, init)                                                       \
  do {                                                                         \
    static const type by_init = init;                                          \
    static const type by_size = {.size = sizeof(by_size)};                     \
    assert_memory_equal(&by_init, &by_size, sizeof(by_size));                  \
  } while (0)
  SAME(uvperf_event_options_t, UVPERF_EVENT_OPTIONS_INIT);
  SAME(uvperf_stream_options_t, UVPERF_STREAM_OPTIONS_INIT);
  SAME(uvperf_set_options_t, UVPERF_SET_OPTIONS_INIT);
  SAME(uvperf_target_t, UVPERF_TARGET_INIT);
  SAME(uvperf_bpf_reader_options_t, UVPERF_BPF_READER_OPTIONS_INIT);
#undef SAME
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_null_keeps_the_defaults),
      cmocka_unit_test(options_of_the_same_size_are_taken),
      cmocka_unit_test(options_of_an_older_caller_keep_later_defaults),
      cmocka_unit_test(options_of_a_newer_caller_must_end_in_zeroes),
      cmocka_unit_test(options_of_an_impossible_size_are_refused_unread),
      cmocka_unit_test(options_shorter_than_the_first_version_are_refused),
      cmocka_unit_test(
          options_with_a_size_alone_are_what_the_initializer_makes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
