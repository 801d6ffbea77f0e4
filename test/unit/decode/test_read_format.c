/* SPDX-License-Identifier: MIT */
/* The format of read(2), in words that are written out here. Its place in
 * records is in test_sample.c and test_record.c. */
#include "support.h"

#include "decode/read_format.h"
#include "make_record.h"

static uvperf_values_t parse(uint64_t format, const uint64_t *words,
                             size_t nr) {
  uvperf_values_t read;
  size_t used;

  assert_int_equal(
      uvperf__read_format_parse(format, words, 8 * nr, &used, &read), 0);
  assert_int_equal(used, 8 * nr);
  assert_ptr_equal(read.words, words);
  return read;
}

static void read_of_a_value_alone_has_no_more(void **state) {
  const uint64_t words[] = {11};
  uvperf_values_t read = parse(0, words, 1);
  uvperf__value_t value, expected = {.value = 11};

  memset(&value, 0xff, sizeof(value));
  assert_int_equal(read.nr, 1);
  uvperf__read_format_get(&read, 0, &value);
  assert_memory_equal(&value, &expected, sizeof(value));
}

static void read_of_a_single_has_times_before_id_and_lost(void **state) {
  const uint64_t words[] = {11, 12, 13, 14, 15};
  uint64_t format = BUILD_FORMAT_ALL & ~(uint64_t)PERF_FORMAT_GROUP;
  uvperf_values_t read = parse(format, words, 5);
  uvperf__value_t value,
      expected = {
          .value = 11, .enabled = 12, .running = 13, .id = 14, .lost = 15};

  assert_int_equal(read.time_enabled, 12);
  assert_int_equal(read.time_running, 13);
  uvperf__read_format_get(&read, 0, &value);
  assert_memory_equal(&value, &expected, sizeof(value));
}

static void read_of_a_group_has_each_value_with_id_and_lost(void **state) {
  const uint64_t words[] = {2, 12, 13, 21, 22, 23, 31, 32, 33};
  uvperf_values_t read = parse(BUILD_FORMAT_ALL, words, 9);
  uvperf__value_t value,
      expected = {
          .value = 31, .enabled = 12, .running = 13, .id = 32, .lost = 33};

  assert_int_equal(read.nr, 2);
  uvperf__read_format_get(&read, 0, &value);
  assert_int_equal(value.value, 21);
  uvperf__read_format_get(&read, 1, &value);
  assert_memory_equal(&value, &expected, sizeof(value));
}

static void read_find_finds_by_id(void **state) {
  const uint64_t words[] = {3, 21, 1, 22, 2, 23, 3};
  uvperf_values_t read = parse(PERF_FORMAT_GROUP | PERF_FORMAT_ID, words, 7);
  uvperf__value_t value;
  uint64_t id;

  for (id = 1; id <= 3; id++) {
    assert_int_equal(uvperf__read_format_find(&read, id, 0, &value), 0);
    assert_int_equal(value.id, id);
    assert_int_equal(value.value, 20 + id);
  }
  assert_int_equal(uvperf__read_format_find(&read, 21, 0, &value), -ENOENT);
}

/* In a group of which a member was closed: its words may still be there. */
static void read_find_beyond_the_values_finds_nothing(void **state) {
  const uint64_t words[] = {2, 21, 1, 22, 2, 23, 3};
  uvperf_values_t read = parse(PERF_FORMAT_GROUP | PERF_FORMAT_ID, words, 5);
  uvperf__value_t value;
  uint64_t likely;

  for (likely = 0; likely < 4; likely++) {
    assert_int_equal(uvperf__read_format_find(&read, 3, likely, &value),
                     -ENOENT);
    assert_int_equal(uvperf__read_format_find(&read, 2, likely, &value), 0);
    assert_int_equal(value.value, 22);
  }
}

static void read_find_finds_a_single(void **state) {
  const uint64_t words[] = {7, 8, 9};
  uvperf_values_t read =
      parse(PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID, words, 3);
  uvperf__value_t value;

  assert_int_equal(uvperf__read_format_find(&read, 9, 0, &value), 0);
  assert_int_equal(value.value, 7);
  assert_int_equal(value.running, 8);
  assert_int_equal(uvperf__read_format_find(&read, 8, 0, &value), -ENOENT);
}

static void read_find_without_ids_finds_nothing(void **state) {
  const uint64_t words[] = {1, 5};
  uvperf_values_t read = parse(PERF_FORMAT_GROUP, words, 2);
  uvperf__value_t value;

  assert_int_equal(uvperf__read_format_find(&read, 5, 0, &value), -ENOENT);
  assert_int_equal(uvperf__read_format_find(&read, 0, 0, &value), -ENOENT);
}

/* Words of a read with 3 values in a group, or of a single. */
static size_t words_of(uint64_t format) {
  size_t values = format & PERF_FORMAT_GROUP ? 3 : 1;
  size_t nr = format & PERF_FORMAT_GROUP ? 1 : 0;

  nr += format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1 : 0;
  nr += format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1 : 0;
  nr += values;
  nr += format & PERF_FORMAT_ID ? values : 0;
  nr += format & BUILD_FORMAT_LOST ? values : 0;
  return nr;
}

static void parse_of_every_format_and_size_takes_what_it_needs(void **state) {
  uint64_t format;
  size_t size;

  for (format = 0; format <= BUILD_FORMAT_ALL; format++) {
    size_t needed = 8 * words_of(format);

    for (size = 0; size <= needed + 9; size++) {
      uvperf_values_t read = {.nr = 99};
      size_t used = 99;
      uint64_t *words = malloc(size != 0 ? size : 1);

      memset(words, 0, size);
      if (size >= 8)
        words[0] = 3;
      assert_int_equal(
          uvperf__read_format_parse(format, words, size, &used, &read),
          size >= needed ? 0 : -EPROTO);
      assert_int_equal(used, size >= needed ? needed : 99);
      if (size < needed)
        assert_int_equal(read.nr, 99);
      free(words);
    }
  }
}

static void parse_of_a_group_beyond_the_bytes_is_refused(void **state) {
  static const uint64_t counts[] = {2,
                                    UINT64_C(1) << 60,
                                    UINT64_C(1) << 61,
                                    UINT64_MAX / 2,
                                    UINT64_MAX / 3 + 1,
                                    UINT64_MAX};
  uint64_t words[6] = {1};
  uvperf_values_t read;
  size_t used, i;

  parse(BUILD_FORMAT_ALL, words, 6);
  for (i = 0; i < COUNT_OF(counts); i++) {
    words[0] = counts[i];
    assert_int_equal(uvperf__read_format_parse(BUILD_FORMAT_ALL, words,
                                               sizeof(words), &used, &read),
                     -EPROTO);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(read_of_a_value_alone_has_no_more),
      cmocka_unit_test(read_of_a_single_has_times_before_id_and_lost),
      cmocka_unit_test(read_of_a_group_has_each_value_with_id_and_lost),
      cmocka_unit_test(read_find_finds_by_id),
      cmocka_unit_test(read_find_beyond_the_values_finds_nothing),
      cmocka_unit_test(read_find_finds_a_single),
      cmocka_unit_test(read_find_without_ids_finds_nothing),
      cmocka_unit_test(parse_of_every_format_and_size_takes_what_it_needs),
      cmocka_unit_test(parse_of_a_group_beyond_the_bytes_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
