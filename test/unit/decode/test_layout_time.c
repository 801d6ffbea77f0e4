/* SPDX-License-Identifier: MIT */
/* The time of a record, found without decoding it: it equals the decoded time,
 * from memory of exactly the record's size. */
#include "support.h"

#include "decode/decoder.h"
#include "check_record.h"

/* Two sources, so that ids must be right; and a decoder of the first alone. */
typedef struct pair_s {
  struct perf_event_attr attrs[2];
  uint64_t ids[2];
  uvperf_source_t sources[2];
  uvperf_decoder_t *both;
  uvperf_decoder_t *one;
} pair_t;

static pair_t pair;

static void init_pair(uint64_t sample_type, int sample_id_all) {
  const uvperf_source_t *first = &pair.sources[0];
  size_t i;

  memset(&pair, 0, sizeof(pair));
  assert_int_equal(uvperf__decoder_make(&pair.both), 0);
  for (i = 0; i < 2; i++) {
    pair.attrs[i].size = sizeof(pair.attrs[i]);
    pair.attrs[i].sample_type = PERF_SAMPLE_IDENTIFIER;
    pair.attrs[i].sample_id_all = 1;
    pair.ids[i] = 100 + i;
    pair.sources[i].size = sizeof(pair.sources[i]);
    pair.sources[i].attr = &pair.attrs[i];
    pair.sources[i].ids = &pair.ids[i];
    pair.sources[i].nr_ids = 1;
  }
  pair.attrs[0].sample_type = sample_type;
  pair.attrs[0].sample_id_all = sample_id_all != 0;
  if ((sample_type & PERF_SAMPLE_IDENTIFIER) && sample_id_all)
    for (i = 0; i < 2; i++)
      assert_int_equal(uvperf__decoder_add(pair.both, &pair.sources[i]), 0);
  assert_int_equal(uvperf_decoder_new(&pair.one, &first, 1), 0);
}

static void free_pair(void) {
  uvperf_decoder_free(pair.both);
  uvperf_decoder_free(pair.one);
}

/* Returns whether the decoder finds a time. It must be the time of the decoded
 * record, which must have none otherwise. */
static int find_time(uvperf_decoder_t *decoder, const void *bytes, size_t size,
                     uint64_t *time) {
  const uvperf_record_t *record;
  int rc, found;

  found = uvperf__decoder_time(decoder, bytes, uvperf__u64(bytes), time);
  rc = uvperf_decode(decoder, bytes, size, &record);
  if (rc != 0)
    return found;
  assert_int_equal(found, (record->present & PERF_SAMPLE_TIME) != 0);
  if (found)
    assert_true(*time == record->time);
  return found;
}

static record_builder_t builder;
static record_values_t values;

/* A whole record of each type. */
static void check_types(uint64_t expected_id, int known) {
  uint64_t time;
  uint32_t type;

  record_values_init(&values);
  values.id = expected_id;
  for (type = 1; type <= BUILD_TYPES + 1; type++) {
    const struct perf_event_attr *attr = &pair.attrs[0];
    int has = (attr->sample_type & PERF_SAMPLE_TIME) &&
              (type == PERF_RECORD_SAMPLE || attr->sample_id_all);
    void *bytes;

    values.time = UINT64_MAX - type;
    record_build(&builder, type, attr, &values);
    bytes = record_cut(&builder, builder.size);
    assert_int_equal(find_time(pair.one, bytes, builder.size, &time), has);
    if (has)
      assert_true(time == values.time);
    assert_int_equal(find_time(pair.both, bytes, builder.size, &time),
                     has && known);
    free(bytes);
  }
}

static void time_of_each_type_and_bit_equals_the_records(void **state) {
  const uint64_t base = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
  uint64_t type;
  unsigned bit;

  for (bit = 0; bit < 25; bit++) {
    type = base ^ (UINT64_C(1) << bit);
    init_pair(type, 1);
    check_types(100, (type & PERF_SAMPLE_IDENTIFIER) != 0);
    free_pair();
    init_pair(type, 0);
    check_types(100, 0);
    free_pair();
  }
}

static void time_with_any_bits_equals_the_records(void **state) {
  uint64_t random = 11;
  unsigned i;

  for (i = 0; i < 400; i++) {
    init_pair((record_random(&random) & BUILD_SAMPLE_ALL) |
                  PERF_SAMPLE_IDENTIFIER,
              1);
    check_types(100, 1);
    free_pair();
  }
}

static void time_of_an_unknown_record_is_none(void **state) {
  init_pair(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 1);
  check_types(102, 0);
  uvperf__decoder_remove(pair.both, &pair.sources[0]);
  check_types(100, 0);
  uvperf__decoder_remove(pair.both, &pair.sources[1]);
  check_types(100, 0);
  free_pair();
}

/* A sample of that id and time, as the first source of a pair writes it. */
static int find_sample_time(uint64_t id, uint64_t *time) {
  record_values_init(&values);
  values.id = id;
  values.time = 77;
  record_build(&builder, PERF_RECORD_SAMPLE, &pair.attrs[0], &values);
  return uvperf__decoder_time(pair.both, builder.words,
                              uvperf__u64((const uint8_t *)builder.words),
                              time);
}

static void
time_of_an_unknown_sample_is_where_all_sources_have_it(void **state) {
  uvperf_source_t third;
  struct perf_event_attr attr;
  const uint64_t id = 300;
  uint64_t time = 0;

  init_pair(PERF_SAMPLE_IDENTIFIER, 1);
  free_pair();
  assert_int_equal(uvperf__decoder_make(&pair.both), 0);
  pair.attrs[0].sample_type |= PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  pair.attrs[1].sample_type = pair.attrs[0].sample_type | PERF_SAMPLE_CPU;
  assert_int_equal(find_sample_time(100, &time), 0);
  assert_int_equal(uvperf__decoder_add(pair.both, &pair.sources[0]), 0);
  assert_int_equal(find_sample_time(999, &time), 1);
  assert_true(time == 77);
  assert_int_equal(uvperf__decoder_add(pair.both, &pair.sources[1]), 0);
  time = 0;
  assert_int_equal(find_sample_time(100, &time), 1);
  assert_true(time == 77);
  /* It is shorter than the second source's: decided by the id. */
  assert_int_equal(find_sample_time(999, &time), 0);
  attr = pair.attrs[0];
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
  third = pair.sources[0];
  third.attr = &attr;
  third.ids = &id;
  assert_int_equal(uvperf__decoder_add(pair.both, &third), 0);
  uvperf__decoder_remove(pair.both, &third);
  pair.attrs[0].sample_type |= PERF_SAMPLE_CPU;
  assert_int_equal(find_sample_time(101, &time), 1);
  assert_int_equal(find_sample_time(999, &time), 0);
  uvperf_decoder_free(pair.both);
}

/* ASan sees a byte that is read outside. */
static void time_of_a_record_cut_anywhere_is_within_its_bytes(void **s) {
  uint64_t time;
  uint32_t type;
  size_t size;

  init_pair(BUILD_SAMPLE_ALL, 1);
  record_values_init(&values);
  values.id = 100;
  for (type = 1; type <= BUILD_TYPES + 1; type++) {
    record_build(&builder, type, &pair.attrs[0], &values);
    for (size = 8; size < builder.size; size += 8) {
      void *bytes = record_cut(&builder, size);

      find_time(pair.one, bytes, size, &time);
      find_time(pair.both, bytes, size, &time);
      free(bytes);
    }
  }
  free_pair();
}

/* Also for a record that does not decode: its place in the order does not
 * affect how it is reported. */
static void time_of_a_broken_body_is_returned(void **state) {
  const uvperf_record_t *record;
  uint64_t time;

  init_pair(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 1);
  record_values_init(&values);
  values.id = 100;
  record_begin(&builder, PERF_RECORD_MMAP, 0); /* all of its body is missing */
  record_put_trailer(&builder, &pair.attrs[0], &values);
  record_end(&builder);
  assert_int_equal(
      uvperf_decode(pair.both, builder.words, builder.size, &record), -EPROTO);
  assert_int_equal(find_time(pair.both, builder.words, builder.size, &time), 1);
  assert_true(time == values.time);
  free_pair();
}

static void record_with_random_damage_has_one_time(void **state) {
  uint64_t random = 5, time;
  unsigned i, j;

  record_values_init(&values);
  values.id = 100;
  for (i = 0; i < 20000; i++) {
    uint32_t type = 1 + (uint32_t)(record_random(&random) % BUILD_TYPES);
    size_t size;
    void *bytes;

    init_pair((record_random(&random) & BUILD_SAMPLE_ALL) |
                  PERF_SAMPLE_IDENTIFIER,
              1);
    record_build(&builder, type, &pair.attrs[0], &values);
    for (j = 0; j < 1 + i % 4; j++) {
      size_t at = 8 + (size_t)(record_random(&random) % (builder.size - 8));

      ((uint8_t *)builder.words)[at] ^= (uint8_t)record_random(&random);
    }
    size = 8 + (size_t)(record_random(&random) % (builder.size / 8)) * 8;
    bytes = record_cut(&builder, size);
    find_time(pair.one, bytes, size, &time);
    find_time(pair.both, bytes, size, &time);
    free(bytes);
    free_pair();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_of_each_type_and_bit_equals_the_records),
      cmocka_unit_test(time_with_any_bits_equals_the_records),
      cmocka_unit_test(time_of_an_unknown_record_is_none),
      cmocka_unit_test(time_of_an_unknown_sample_is_where_all_sources_have_it),
      cmocka_unit_test(time_of_a_record_cut_anywhere_is_within_its_bytes),
      cmocka_unit_test(time_of_a_broken_body_is_returned),
      cmocka_unit_test(record_with_random_damage_has_one_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
