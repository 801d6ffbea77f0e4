/* SPDX-License-Identifier: MIT */
/* Bytes that no kernel writes: records cut at every length, and records with
 * random damage. All are decoded from memory of exactly their size, so that
 * ASan finds the first byte read outside. */
#include "support.h"

#include "check_record.h"

static void init_attr(struct perf_event_attr *attr, uint64_t sample_type,
                      int sample_id_all) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->sample_type = sample_type;
  attr->read_format = BUILD_FORMAT_ALL;
  attr->sample_regs_user = 0xff;
  attr->sample_regs_intr = 0xf0f;
  attr->sample_id_all = sample_id_all != 0;
}

/* The `size` argument is less than the record, which is whole by its header. */
static void cut_by_argument(uvperf_decoder_t *decoder,
                            const record_builder_t *builder, size_t size) {
  const uvperf_record_t *record;
  uint8_t *bytes = malloc(size != 0 ? size : 1);

  memcpy(bytes, builder->words, size);
  assert_int_equal(uvperf_decode(decoder, bytes, size, &record), -EPROTO);
  assert_null(record);
  free(bytes);
}

/* The record is shorter by its header, too. */
static void cut_by_header(uvperf_decoder_t *decoder,
                          const uvperf_source_t *source,
                          const record_builder_t *builder, size_t size) {
  const uvperf_record_t *record;
  void *bytes = record_cut(builder, size);

  assert_int_equal(uvperf_decode(decoder, bytes, size, &record), -EPROTO);
  if (size >= 8 && size % 8 == 0)
    check_record_raw(record, bytes, source);
  else
    assert_null(record);
  free(bytes);
}

static void cut_everywhere(uint32_t type, const struct perf_event_attr *attr,
                           const record_values_t *values) {
  static record_builder_t builder;
  uvperf_source_t source;
  uvperf_decoder_t *decoder = record_decoder(&source, attr);
  size_t size;

  record_build(&builder, type, attr, values);
  for (size = 0; size < builder.size; size++) {
    cut_by_argument(decoder, &builder, size);
    cut_by_header(decoder, &source, &builder, size);
  }
  uvperf_decoder_free(decoder);
}

static void record_of_each_type_cut_anywhere_is_refused(void **state) {
  struct perf_event_attr attr;
  record_values_t values;
  uint32_t type;
  int all;

  record_values_init(&values);
  for (all = 0; all <= 1; all++) {
    for (type = 1; type <= BUILD_TYPES; type++) {
      init_attr(&attr, BUILD_SAMPLE_ALL, all);
      cut_everywhere(type, &attr, &values);
    }
  }
}

static void
record_of_each_type_cut_with_a_short_trailer_is_refused(void **state) {
  struct perf_event_attr attr;
  record_values_t values;
  uint32_t type;

  record_values_init(&values);
  for (type = 1; type <= BUILD_TYPES; type++) {
    init_attr(&attr, PERF_SAMPLE_IDENTIFIER, 1);
    cut_everywhere(type, &attr, &values);
  }
}

static void sample_with_each_bit_cut_anywhere_is_refused(void **state) {
  struct perf_event_attr attr;
  record_values_t values;
  unsigned int bit;

  record_values_init(&values);
  for (bit = 0; bit < 25; bit++) {
    init_attr(&attr, UINT64_C(1) << bit, 0);
    cut_everywhere(PERF_RECORD_SAMPLE, &attr, &values);
  }
}

static void sample_with_branch_options_cut_anywhere_is_refused(void **state) {
  struct perf_event_attr attr;
  record_values_t values;

  record_values_init(&values);
  init_attr(&attr, BUILD_SAMPLE_ALL, 0);
  attr.branch_sample_type = BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS;
  cut_everywhere(PERF_RECORD_SAMPLE, &attr, &values);
  values.branch_nr = 0;
  cut_everywhere(PERF_RECORD_SAMPLE, &attr, &values);
  values.no_branch_stack = 1;
  cut_everywhere(PERF_RECORD_SAMPLE, &attr, &values);
}

static void sample_with_random_bits_cut_anywhere_is_refused(void **state) {
  struct perf_event_attr attr;
  record_values_t values;
  uint64_t random = 3;
  int i;

  record_values_init(&values);
  for (i = 0; i < 100; i++) {
    init_attr(&attr, record_random(&random) & BUILD_SAMPLE_ALL, 0);
    attr.read_format = record_random(&random) & BUILD_FORMAT_ALL;
    cut_everywhere(PERF_RECORD_SAMPLE, &attr, &values);
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

static void random_attr(struct perf_event_attr *attr, uint64_t *random) {
  uint64_t type = record_random(random) & BUILD_SAMPLE_ALL;

  if (record_random(random) % 4 == 0)
    type |= UINT64_C(1) << 25; /* newer than the library */
  init_attr(attr, type, record_random(random) % 2 != 0);
  attr->read_format = record_random(random) & BUILD_FORMAT_ALL;
  attr->branch_sample_type = record_random(random) & 0xfffff;
  attr->sample_regs_user = record_random(random) & 0xffffff;
}

/* Damages and decodes; counts the refused ones. */
static unsigned int decode_damaged(uvperf_decoder_t *decoder,
                                   const uvperf_source_t *source,
                                   const record_builder_t *builder,
                                   uint64_t *random) {
  const uvperf_record_t *record;
  uint8_t *bytes = record_cut(builder, builder->size);
  int rc;

  damage(bytes, builder->size, random);
  rc = uvperf_decode(decoder, bytes, builder->size, &record);
  if (rc == 0) {
    check_record_bounds(record);
    assert_int_equal(record->size, builder->size);
  } else {
    assert_int_equal(rc, -EPROTO);
    check_record_raw(record, bytes, source);
  }
  free(bytes);
  return rc != 0;
}

static void record_with_random_damage_never_reaches_outside(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  record_values_t values;
  uint64_t random = 20;
  unsigned int i, j, refused = 0;

  record_values_init(&values);
  for (i = 0; i < 2000; i++) {
    uvperf_decoder_t *decoder;

    random_attr(&attr, &random);
    decoder = record_decoder(&source, &attr);
    for (j = 0; j < 100; j++) {
      /* Every other one a sample: they have the most to get wrong. */
      uint32_t type = j % 2 ? PERF_RECORD_SAMPLE
                            : 1 + (uint32_t)(record_random(&random) % 22);

      values.no_counters = record_random(&random) % 2 != 0;
      record_build(&builder, type, &attr, &values);
      refused += decode_damaged(decoder, &source, &builder, &random);
    }
    uvperf_decoder_free(decoder);
  }
  /* The damage was neither always seen nor never. */
  assert_in_range(refused, 10000, 180000);
}

/* The same bytes are the same sample, whatever the decoder saw before. */
static void sample_with_random_damage_shows_nothing_of_others(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  record_values_t values;
  uvperf_decoder_t *used, *fresh;
  uint64_t random = 21;
  unsigned int i;

  record_values_init(&values);
  init_attr(&attr, BUILD_SAMPLE_ALL, 1);
  attr.branch_sample_type = BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS;
  used = record_decoder(&source, &attr);
  record_build(&builder, PERF_RECORD_SAMPLE, &attr, &values);
  for (i = 0; i < 5000; i++) {
    const uvperf_record_t *one, *other;
    uint8_t *bytes = record_cut(&builder, builder.size);

    damage(bytes, builder.size, &random);
    fresh = record_decoder(&source, &attr);
    assert_int_equal(uvperf_decode(used, bytes, builder.size, &one),
                     uvperf_decode(fresh, bytes, builder.size, &other));
    assert_memory_equal(one, other, sizeof(*one));
    uvperf_decoder_free(fresh);
    free(bytes);
  }
  uvperf_decoder_free(used);
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
