/* SPDX-License-Identifier: MIT */
/* Branch stacks whose bytes alone do not show whether hw_idx and the counters
 * are present. */
#include "support.h"

#include "check_record.h"

static void init_attr(struct perf_event_attr *attr, uint64_t sample_type,
                      uint64_t branch_sample_type) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->sample_type = sample_type | PERF_SAMPLE_BRANCH_STACK;
  attr->branch_sample_type = branch_sample_type;
  attr->read_format = BUILD_FORMAT_ALL;
  attr->sample_regs_user = 0xff;
  attr->sample_regs_intr = 0xf0f;
}

static void roundtrip(const struct perf_event_attr *attr,
                      const record_values_t *values) {
  static record_builder_t builder;
  uvperf_source_t source;
  uvperf_decoder_t *decoder = record_decoder(&source, attr);
  const uvperf_record_t *record;
  void *bytes;

  record_build(&builder, PERF_RECORD_SAMPLE, attr, values);
  bytes = record_cut(&builder, builder.size);
  assert_int_equal(uvperf_decode(decoder, bytes, builder.size, &record), 0);
  check_record_fields(record, PERF_RECORD_SAMPLE, attr, values, bytes);
  free(bytes);
  uvperf_decoder_free(decoder);
}

static const uint64_t options[] = {
    0, BUILD_BRANCH_HW_INDEX, BUILD_BRANCH_COUNTERS,
    BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS};

/* Alone, before fixed fields, before ones that vary, and with all. */
static const uint64_t companions[] = {
    0, PERF_SAMPLE_IP | PERF_SAMPLE_PHYS_ADDR,
    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX,
    BUILD_SAMPLE_ALL};

static void each_combination(const record_values_t *values) {
  struct perf_event_attr attr;
  size_t i, j;

  for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
    for (j = 0; j < sizeof(companions) / sizeof(companions[0]); j++) {
      init_attr(&attr, companions[j], options[i]);
      roundtrip(&attr, values);
    }
  }
}

static void branch_stack_with_entries_is_decoded(void **state) {
  record_values_t values;

  record_values_init(&values);
  for (values.branch_nr = 1; values.branch_nr <= 32; values.branch_nr++)
    each_combination(&values);
}

static void branch_stack_that_is_empty_keeps_its_hw_idx(void **state) {
  record_values_t values;

  record_values_init(&values);
  values.branch_nr = 0;
  each_combination(&values);
}

static void branch_stack_missing_from_the_pmu_is_only_nr_0(void **state) {
  record_values_t values;

  record_values_init(&values);
  values.no_branch_stack = 1;
  each_combination(&values);
}

static void branch_counters_missing_from_the_pmu_are_null(void **state) {
  record_values_t values;

  record_values_init(&values);
  values.no_counters = 1;
  for (values.branch_nr = 1; values.branch_nr <= 32; values.branch_nr++)
    each_combination(&values);
}

static void
branch_stack_with_options_newer_than_the_library_is_decoded(void **state) {
  struct perf_event_attr attr;
  record_values_t values;

  record_values_init(&values);
  init_attr(&attr, BUILD_SAMPLE_ALL,
            BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS | UINT64_C(1) << 20);
  roundtrip(&attr, &values);
  values.no_counters = 1;
  roundtrip(&attr, &values);
}

/* Without its counters, and with a field that is newer than the library: it can
 * be read so only if the attr has such a bit. */
static void branch_stack_before_an_unknown_field_may_lack_counters(void **s) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  record_values_t values;

  (void)s;
  record_values_init(&values);
  values.no_counters = 1;
  values.branch_nr = 4;
  values.surplus_bytes = 8;
  init_attr(&attr, 0, BUILD_BRANCH_COUNTERS | UINT64_C(1) << 20);
  roundtrip(&attr, &values);
  attr.branch_sample_type = BUILD_BRANCH_COUNTERS;
  decoder = record_decoder(&source, &attr);
  record_build(&builder, PERF_RECORD_SAMPLE, &attr, &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   -EPROTO);
  uvperf_decoder_free(decoder);
}

/* Cut by what may be missing, the record is one that the kernel could have
 * written; cut otherwise it is not. */
static void
branch_stack_cut_short_is_legal_only_without_its_options(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  record_values_t values;
  size_t size;

  record_values_init(&values);
  init_attr(&attr, 0, BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS);
  decoder = record_decoder(&source, &attr);
  record_build(&builder, PERF_RECORD_SAMPLE, &attr, &values);
  values.no_counters = 1;
  for (size = 8; size < builder.size; size += 8) {
    void *bytes = record_cut(&builder, size);
    int legal = size == builder.size - 8 * values.branch_nr;

    assert_int_equal(uvperf_decode(decoder, bytes, size, &record),
                     legal ? 0 : -EPROTO);
    if (legal)
      check_record_fields(record, PERF_RECORD_SAMPLE, &attr, &values, bytes);
    else
      check_record_raw(record, bytes, &source);
    free(bytes);
  }
  uvperf_decoder_free(decoder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(branch_stack_with_entries_is_decoded),
      cmocka_unit_test(branch_stack_that_is_empty_keeps_its_hw_idx),
      cmocka_unit_test(branch_stack_missing_from_the_pmu_is_only_nr_0),
      cmocka_unit_test(branch_counters_missing_from_the_pmu_are_null),
      cmocka_unit_test(
          branch_stack_with_options_newer_than_the_library_is_decoded),
      cmocka_unit_test(branch_stack_before_an_unknown_field_may_lack_counters),
      cmocka_unit_test(
          branch_stack_cut_short_is_legal_only_without_its_options),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
