/* SPDX-License-Identifier: MIT */
/* Bytes that no kernel writes: records cut at every length, and records with
 * random damage. All are decoded from memory of exactly their size, so that
 * ASan finds the first byte read outside. */
#include "support.h"

#include "check_record.h"

static record_one_t one;

static void begin(uint64_t sample_type, int sample_id_all) {
  record_one_begin(&one, sample_type);
  one.attr.sample_regs_user = 0xff;
  one.attr.sample_regs_intr = 0xf0f;
  one.attr.sample_id_all = sample_id_all != 0;
}

/* Once by the size that is passed, while the header says that it is whole, and
 * once by the header too. */
static void cut_everywhere(uint32_t type) {
  size_t size;
  uint8_t *bytes;

  record_one_open(&one);
  record_one_build(&one, type);
  for (size = 0; size < one.builder.size; size++) {
    bytes = malloc(size != 0 ? size : 1);
    memcpy(bytes, one.builder.words, size);
    assert_int_equal(uvperf_decode(one.decoder, bytes, size, &one.record),
                     -EPROTO);
    assert_null(one.record);
    free(bytes);
    assert_int_equal(record_one_decode_cut(&one, size), -EPROTO);
    if (size >= 8 && size % 8 == 0)
      check_record_raw(one.record, one.bytes, &one.source);
    else
      assert_null(one.record);
  }
}

static void record_of_each_type_cut_anywhere_is_refused(void **state) {
  uint32_t type;
  int all;

  for (all = 0; all <= 1; all++) {
    begin(BUILD_SAMPLE_ALL, all);
    for (type = 1; type <= BUILD_TYPES; type++)
      cut_everywhere(type);
  }
}

static void
record_of_each_type_cut_with_a_short_trailer_is_refused(void **state) {
  uint32_t type;

  begin(PERF_SAMPLE_IDENTIFIER, 1);
  for (type = 1; type <= BUILD_TYPES; type++)
    cut_everywhere(type);
}

static void sample_with_each_bit_cut_anywhere_is_refused(void **state) {
  unsigned int bit;

  for (bit = 0; bit < 25; bit++) {
    begin(UINT64_C(1) << bit, 0);
    cut_everywhere(PERF_RECORD_SAMPLE);
  }
}

static void sample_with_branch_options_cut_anywhere_is_refused(void **state) {
  begin(BUILD_SAMPLE_ALL, 0);
  one.attr.branch_sample_type = BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS;
  cut_everywhere(PERF_RECORD_SAMPLE);
  one.values.branch_nr = 0;
  cut_everywhere(PERF_RECORD_SAMPLE);
  one.values.no_branch_stack = 1;
  cut_everywhere(PERF_RECORD_SAMPLE);
}

static void sample_with_random_bits_cut_anywhere_is_refused(void **state) {
  uint64_t random = 3;
  int i;

  for (i = 0; i < 100; i++) {
    begin(record_random(&random) & BUILD_SAMPLE_ALL, 0);
    one.attr.read_format = record_random(&random) & BUILD_FORMAT_ALL;
    cut_everywhere(PERF_RECORD_SAMPLE);
  }
}

/* Damages 1 to 4 words or bytes after the header. */
static void damage(uint8_t *bytes, size_t size, uint64_t *random) {
  static const uint64_t tempting[] = {
      0,         1, 2, 8, UINT64_C(1) << 32, UINT64_C(1) << 61, UINT64_MAX / 8,
      UINT64_MAX};
  uint64_t nr = 1 + record_random(random) % 4;

  if (size <= 8)
    return;
  while (nr-- > 0) {
    size_t at = 8 + (size_t)(record_random(random) % (size - 8));

    if (record_random(random) % 2)
      bytes[at] = (uint8_t)record_random(random);
    else
      memcpy(bytes + at / 8 * 8, &tempting[record_random(random) % 8], 8);
  }
}

static void begin_at_random(uint64_t *random) {
  uint64_t type = record_random(random) & BUILD_SAMPLE_ALL;

  if (record_random(random) % 4 == 0)
    type |= UINT64_C(1) << 25; /* newer than the library */
  begin(type, record_random(random) % 2 != 0);
  one.attr.read_format = record_random(random) & BUILD_FORMAT_ALL;
  one.attr.branch_sample_type = record_random(random) & 0xfffff;
  one.attr.sample_regs_user = record_random(random) & 0xffffff;
}

/* Damages what was built, and decodes it; counts the refused ones. */
static unsigned int decode_damaged(uint64_t *random) {
  damage((uint8_t *)one.builder.words, one.builder.size, random);
  if (record_one_decode(&one) == 0) {
    check_record_bounds(one.record);
    assert_int_equal(one.record->size, one.builder.size);
    return 0;
  }
  record_one_refused(&one, one.builder.size);
  return 1;
}

static void record_with_random_damage_never_reaches_outside(void **state) {
  uint64_t random = 20;
  unsigned int i, j, refused = 0;

  for (i = 0; i < 2000; i++) {
    begin_at_random(&random);
    for (j = 0; j < 100; j++) {
      /* Every other one a sample: they have the most to get wrong. */
      uint32_t type = j % 2 ? PERF_RECORD_SAMPLE
                            : 1 + (uint32_t)(record_random(&random) % 22);

      one.values.no_counters = record_random(&random) % 2 != 0;
      record_one_build(&one, type);
      refused += decode_damaged(&random);
    }
  }
  /* The damage was neither always seen nor never. */
  assert_in_range(refused, 10000, 180000);
}

/* The same bytes are the same sample, whatever the decoder saw before. */
static void sample_with_random_damage_shows_nothing_of_others(void **state) {
  const uvperf_record_t *other;
  uvperf_decoder_t *fresh;
  uint64_t random = 21;
  unsigned int i;

  begin(BUILD_SAMPLE_ALL, 1);
  one.attr.branch_sample_type = BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS;
  for (i = 0; i < 5000; i++) {
    int rc;

    record_one_build(&one, PERF_RECORD_SAMPLE);
    damage((uint8_t *)one.builder.words, one.builder.size, &random);
    rc = record_one_decode(&one);
    fresh = record_decoder(&one.source, &one.attr);
    assert_int_equal(uvperf_decode(fresh, one.bytes, one.builder.size, &other),
                     rc);
    assert_memory_equal(one.record, other, sizeof(*other));
    uvperf_decoder_free(fresh);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_of_each_type_cut_anywhere_is_refused),
      cmocka_unit_test(record_of_each_type_cut_with_a_short_trailer_is_refused),
      cmocka_unit_test(sample_with_each_bit_cut_anywhere_is_refused),
      cmocka_unit_test(sample_with_branch_options_cut_anywhere_is_refused),
      cmocka_unit_test(sample_with_random_bits_cut_anywhere_is_refused),
      cmocka_unit_test(record_with_random_damage_never_reaches_outside),
      cmocka_unit_test(sample_with_random_damage_shows_nothing_of_others),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
