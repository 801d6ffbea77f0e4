/* SPDX-License-Identifier: MIT */
/* Branch stacks whose bytes alone do not show whether hw_idx and the counters
 * are present. */
#include "support.h"

#include "check_record.h"

static record_one_t one;

/* These bits, besides PERF_SAMPLE_BRANCH_STACK. */
static void set_attr(uint64_t sample_type, uint64_t branch_sample_type) {
  one.attr.sample_type = sample_type | PERF_SAMPLE_BRANCH_STACK;
  one.attr.branch_sample_type = branch_sample_type;
  one.attr.sample_regs_user = 0xff;
  one.attr.sample_regs_intr = 0xf0f;
  record_one_open(&one);
}

static void begin(void) {
  record_one_begin(&one, 0);
}

static void roundtrip(void) {
  record_one_roundtrip(&one, PERF_RECORD_SAMPLE);
}

static const uint64_t options[] = {
    0, BUILD_BRANCH_HW_INDEX, BUILD_BRANCH_COUNTERS,
    BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS};

/* Alone, before fixed fields, before ones that vary, and with all. */
static const uint64_t companions[] = {
    0, PERF_SAMPLE_IP | PERF_SAMPLE_PHYS_ADDR,
    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX,
    BUILD_SAMPLE_ALL};

static void each_combination(void) {
  size_t i, j;

  for (i = 0; i < COUNT_OF(options); i++) {
    for (j = 0; j < COUNT_OF(companions); j++) {
      set_attr(companions[j], options[i]);
      roundtrip();
    }
  }
}

static void branch_stack_with_entries_is_decoded(void **state) {
  begin();
  for (one.values.branch_nr = 1; one.values.branch_nr <= 32;
       one.values.branch_nr++)
    each_combination();
}

static void branch_stack_that_is_empty_keeps_its_hw_idx(void **state) {
  begin();
  one.values.branch_nr = 0;
  each_combination();
}

static void branch_stack_missing_from_the_pmu_is_only_nr_0(void **state) {
  begin();
  one.values.no_branch_stack = 1;
  each_combination();
}

static void branch_counters_missing_from_the_pmu_are_null(void **state) {
  begin();
  one.values.no_counters = 1;
  for (one.values.branch_nr = 1; one.values.branch_nr <= 32;
       one.values.branch_nr++)
    each_combination();
}

static void
branch_stack_with_options_newer_than_the_library_is_decoded(void **state) {
  begin();
  set_attr(BUILD_SAMPLE_ALL,
           BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS | UINT64_C(1) << 20);
  roundtrip();
  one.values.no_counters = 1;
  roundtrip();
}

/* Without its counters, and with a field that is newer than the library: it can
 * be read so only if the attr has such a bit. */
static void branch_stack_before_an_unknown_field_may_lack_counters(void **s) {
  begin();
  one.values.no_counters = 1;
  one.values.branch_nr = 4;
  one.values.surplus_bytes = 8;
  set_attr(0, BUILD_BRANCH_COUNTERS | UINT64_C(1) << 20);
  roundtrip();
  set_attr(0, BUILD_BRANCH_COUNTERS);
  record_one_build(&one, PERF_RECORD_SAMPLE);
  record_one_refused(&one, one.builder.size);
}

/* Cut by what may be missing, the record is one that the kernel could have
 * written; cut otherwise it is not. */
static void
branch_stack_cut_short_is_legal_only_without_its_options(void **state) {
  size_t size;

  begin();
  set_attr(0, BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS);
  record_one_build(&one, PERF_RECORD_SAMPLE);
  one.values.no_counters = 1;
  for (size = 8; size < one.builder.size; size += 8) {
    if (size != one.builder.size - 8 * one.values.branch_nr) {
      record_one_refused(&one, size);
      continue;
    }
    assert_int_equal(record_one_decode_cut(&one, size), 0);
    check_record_fields(one.record, PERF_RECORD_SAMPLE, &one.attr, &one.values,
                        one.bytes);
  }
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
