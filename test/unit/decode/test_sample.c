/* SPDX-License-Identifier: MIT */
/* PERF_RECORD_SAMPLE with every bit of sample_type, alone, together and at
 * random. Branch stacks are in test_sample_branch.c. */
#include "support.h"

#include "check_record.h"

/* A small word in two halves. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WORD(value) 0, value
#else
#define WORD(value) value, 0
#endif

static record_one_t one;

static void begin(uint64_t sample_type) {
  record_one_begin(&one, sample_type);
  one.attr.branch_sample_type = BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS;
  one.attr.sample_regs_user = UINT64_C(0x8000000000ff0fff);
  one.attr.sample_regs_intr = 0x1ff;
}

static void roundtrip(const record_values_t *values) {
  one.values = *values;
  record_one_roundtrip(&one, PERF_RECORD_SAMPLE);
}

/* The sample of roundtrip_type that is not decoded yet, or "". */
static char pending[64];

static int print_pending(void **state) {
  if (pending[0] != '\0')
    print_error("failed at: %s\n", pending);
  pending[0] = '\0';
  return 0;
}

static void roundtrip_type(uint64_t sample_type,
                           const record_values_t *values) {
  snprintf(pending, sizeof(pending), "sample_type %#llx, %zu surplus bytes",
           (unsigned long long)sample_type, (size_t)values->surplus_bytes);
  begin(sample_type);
  /* For other records: a sample has no trailer. */
  one.attr.sample_id_all = sample_type % 2 == 0;
  roundtrip(values);
  pending[0] = '\0';
}

/* It is longer than its fields if another event of the same software event asks
 * for more. */
static void sample_of_each_bit_and_length_is_decoded(void **state) {
  const uint64_t some = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                        PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  record_values_t values;
  uint64_t bit;

  record_values_init(&values);
  for (values.surplus_bytes = 0; values.surplus_bytes <= 64;
       values.surplus_bytes += 8) {
    roundtrip_type(0, &values);
    roundtrip_type(BUILD_SAMPLE_ALL, &values);
    roundtrip_type(BUILD_SAMPLE_ALL & ~BUILD_SAMPLE_WEIGHT_STRUCT, &values);
    for (bit = 1; bit < UINT64_C(1) << 25; bit <<= 1) {
      roundtrip_type(bit, &values);
      roundtrip_type(BUILD_SAMPLE_ALL & ~bit, &values);
      roundtrip_type(some | bit, &values);
    }
  }
}

/* go-perf reads registers that do not exist, and then everything after them
 * wrongly. A stack of 0 bytes has no dyn_size. */
static void sample_without_registers_or_stack_is_decoded(void **state) {
  record_values_t values;

  record_values_init(&values);
  values.abi_user = PERF_SAMPLE_REGS_ABI_NONE;
  values.abi_intr = PERF_SAMPLE_REGS_ABI_NONE;
  roundtrip_type(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
                     PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR,
                 &values);
  values.stack_size = 0;
  roundtrip_type(PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT, &values);
}

static void random_values(record_values_t *v, uint64_t *state) {
  record_values_init(v);
  v->misc = (uint16_t)record_random(state);
  v->pid = (uint32_t)record_random(state);
  v->time = record_random(state);
  v->id = record_random(state);
  v->stream_id = record_random(state);
  v->cpu = (uint32_t)record_random(state);
  v->ip = record_random(state);
  v->group_nr = record_random(state) % 5;
  v->callchain_nr = record_random(state) % 20;
  v->raw_size = 4 + 8 * (uint32_t)(record_random(state) % 6);
  v->branch_nr = record_random(state) % 5;
  v->abi_user = record_random(state) % 3;
  v->abi_intr = record_random(state) % 3;
  v->stack_size = 8 * (record_random(state) % 9);
  v->dyn_size = v->stack_size / 2;
  v->aux_size = 8 * (record_random(state) % 4);
}

static void sample_with_random_bits_and_values_is_decoded(void **state) {
  uint64_t random = 1;
  int i, j;

  for (i = 0; i < 2000; i++) {
    begin(record_random(&random) & BUILD_SAMPLE_ALL);
    one.attr.read_format = record_random(&random) & BUILD_FORMAT_ALL;
    one.attr.branch_sample_type = record_random(&random) & 0xfffff;
    one.attr.sample_regs_user = record_random(&random);
    one.attr.sample_regs_intr = record_random(&random) & 0xffff;
    for (j = 0; j < 5; j++) {
      random_values(&one.values, &random);
      record_one_roundtrip(&one, PERF_RECORD_SAMPLE);
    }
  }
}

/* Fields that one record lacks must not be left from the one before. */
static void sample_after_a_full_one_shows_nothing_of_it(void **state) {
  record_values_t full, bare;

  record_values_init(&full);
  bare = full;
  bare.group_nr = 0;
  bare.callchain_nr = 0;
  bare.raw_size = 4;
  bare.no_branch_stack = 1;
  bare.abi_user = PERF_SAMPLE_REGS_ABI_NONE;
  bare.abi_intr = PERF_SAMPLE_REGS_ABI_NONE;
  bare.stack_size = 0;
  bare.aux_size = 0;
  begin(BUILD_SAMPLE_ALL);
  roundtrip(&full);
  roundtrip(&bare);
  roundtrip(&full);
}

static void sample_after_a_broken_one_shows_nothing_of_it(void **state) {
  begin(BUILD_SAMPLE_ALL);
  record_one_build(&one, PERF_RECORD_SAMPLE);
  one.builder.size -= 8;
  record_end(&one.builder);
  record_one_refused(&one, one.builder.size);
  one.values.abi_user = PERF_SAMPLE_REGS_ABI_NONE;
  one.values.abi_intr = PERF_SAMPLE_REGS_ABI_NONE;
  record_one_roundtrip(&one, PERF_RECORD_SAMPLE);
}

static void sample_with_absent_raw_is_four_zero_bytes(void **state) {
  static const uint8_t absent[4] = {0};

  begin(PERF_SAMPLE_RAW);
  record_begin(&one.builder, PERF_RECORD_SAMPLE, 0);
  record_put_u32(&one.builder, sizeof(absent));
  record_put(&one.builder, absent, sizeof(absent));
  record_end(&one.builder);
  assert_int_equal(record_one_decode(&one), 0);
  assert_int_equal(one.record->sample.raw.size, 4);
  assert_memory_equal(one.record->sample.raw.data, absent, 4);
}

/* Decodes one sample of whole words, the header not among them. */
static int decode_words(uint64_t sample_type, const uint64_t *words,
                        size_t nr) {
  begin(sample_type);
  return check_record_words(&one.attr, PERF_RECORD_SAMPLE, 0, words, nr);
}

/* The kernel writes whole words, and each field ends at one: fields that do not
 * are refused, even if they make up for each other. */
static void sample_of_words_is_decoded_or_refused(void **state) {
  static const struct {
    uint64_t sample_type;
    uint32_t halves[8]; /* of the words after the header */
    size_t nr;          /* words */
    int rc;
  } rows[] = {
      {PERF_SAMPLE_RAW | PERF_SAMPLE_AUX, {8, 0, 0, 4}, 3, -EPROTO},
      {PERF_SAMPLE_STACK_USER | PERF_SAMPLE_AUX,
       {4, 0, 0, 0, 0, 4},
       4,
       -EPROTO},
      {PERF_SAMPLE_STACK_USER, {WORD(8), WORD(0), WORD(8)}, 3, 0},
      {PERF_SAMPLE_STACK_USER, {WORD(8), WORD(0), WORD(9)}, 3, -EPROTO},
      {PERF_SAMPLE_AUX, {WORD(4)}, 2, -EPROTO},
      {PERF_SAMPLE_AUX, {WORD(4)}, 3, -EPROTO},
  };
  uint64_t words[4] = {0};
  uint32_t size;
  size_t i;

  for (size = 0; size <= 20; size++) {
    memcpy(words, &size, 4);
    assert_int_equal(decode_words(PERF_SAMPLE_RAW, words, 3),
                     size % 8 == 4 ? 0 : -EPROTO);
  }
  for (i = 0; i < COUNT_OF(rows); i++) {
    memcpy(words, rows[i].halves, sizeof(words));
    if (decode_words(rows[i].sample_type, words, rows[i].nr) != rows[i].rc)
      fail_msg("row %zu", i);
  }
}

static void sample_with_counts_beyond_the_record_is_refused(void **state) {
  static const uint64_t counts[] = {4,
                                    UINT64_C(1) << 32,
                                    UINT64_C(1) << 61,
                                    (UINT64_C(1) << 61) + 1,
                                    UINT64_MAX / 24 + 1,
                                    UINT64_MAX / 8,
                                    UINT64_MAX - 7,
                                    UINT64_MAX};
  static const uint64_t types[] = {
      PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_STACK_USER,
      PERF_SAMPLE_AUX,       PERF_SAMPLE_READ,         PERF_SAMPLE_RAW};
  uint64_t words[4] = {0, 1, 1, 1};
  size_t i, j;

  for (i = 0; i < COUNT_OF(counts); i++) {
    for (j = 0; j < COUNT_OF(types); j++) {
      words[0] = counts[i];
      if (types[j] == PERF_SAMPLE_RAW)
        words[0] += 32; /* its size is of bytes */
      assert_int_equal(decode_words(types[j], words, 4), -EPROTO);
    }
  }
}

static void sample_after_a_longer_one_has_no_surplus(void **state) {
  static const uint64_t types[] = {PERF_SAMPLE_IP, PERF_SAMPLE_CALLCHAIN,
                                   PERF_SAMPLE_RAW, BUILD_SAMPLE_ALL};
  size_t i, j;

  for (i = 0; i < COUNT_OF(types); i++) {
    begin(types[i]);
    for (j = 0; j < 4; j++) {
      one.values.surplus_bytes = j % 2 == 0 ? 48 : 0;
      record_one_roundtrip(&one, PERF_RECORD_SAMPLE);
    }
  }
}

static void sample_without_frames_has_no_call_chain(void **state) {
  begin(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
  one.values.callchain_nr = 0;
  record_one_build(&one, PERF_RECORD_SAMPLE);
  assert_int_equal(record_one_decode(&one), 0);
  assert_int_equal(one.record->sample.callchain.nr, 0);
  assert_null(one.record->sample.callchain.ips);
}

static void register_beyond_the_mask_is_enoent(void **state) {
  const uint64_t registers[] = {1, 2};
  const uvperf_regs_t regs = {PERF_SAMPLE_REGS_ABI_64,
                              UINT64_C(0x8000000000000001), 2, registers};
  uint64_t value;
  unsigned int bit;

  assert_int_equal(uvperf_sample_regs_get(&regs, 63, &value), 0);
  assert_int_equal(value, 2);
  for (bit = 64; bit <= 192; bit++)
    assert_int_equal(uvperf_sample_regs_get(&regs, bit, &value), -ENOENT);
}

static void
sample_with_bits_newer_than_the_library_keeps_the_rest(void **state) {
  begin(BUILD_SAMPLE_ALL);
  record_one_build(&one, PERF_RECORD_SAMPLE);
  record_put_u64(&one.builder, 1234); /* of the new bit */
  record_end(&one.builder);
  one.attr.sample_type |= UINT64_C(1) << 25;
  record_one_open(&one);
  one.attr.sample_type = BUILD_SAMPLE_ALL;
  one.values.surplus_bytes = 8;
  record_one_check(&one, PERF_RECORD_SAMPLE);
}

/* An attr that ends before the field: the field is 0, and bytes after attr.size
 * are not read. */
static void
sample_of_a_short_attr_has_no_registers_or_branch_options(void **state) {
  static const uint32_t sizes[] = {0, 64, 72, 80, 96};
  size_t i;

  for (i = 0; i < COUNT_OF(sizes); i++) {
    size_t bytes = sizes[i] != 0 ? sizes[i] : 64;
    struct perf_event_attr *cut = malloc(bytes);

    begin(BUILD_SAMPLE_ALL);
    one.attr.size = sizes[i];
    memcpy(cut, &one.attr, bytes);
    one.decoder = record_decoder(&one.source, cut);
    memset(&one.attr, 0, sizeof(one.attr));
    memcpy(&one.attr, cut, bytes);
    record_one_roundtrip(&one, PERF_RECORD_SAMPLE);
    free(cut);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(sample_of_each_bit_and_length_is_decoded,
                                print_pending),
      cmocka_unit_test_teardown(sample_without_registers_or_stack_is_decoded,
                                print_pending),
      cmocka_unit_test(sample_of_words_is_decoded_or_refused),
      cmocka_unit_test(sample_with_random_bits_and_values_is_decoded),
      cmocka_unit_test(sample_after_a_full_one_shows_nothing_of_it),
      cmocka_unit_test(sample_after_a_broken_one_shows_nothing_of_it),
      cmocka_unit_test(sample_with_absent_raw_is_four_zero_bytes),
      cmocka_unit_test(sample_with_counts_beyond_the_record_is_refused),
      cmocka_unit_test(sample_after_a_longer_one_has_no_surplus),
      cmocka_unit_test(sample_without_frames_has_no_call_chain),
      cmocka_unit_test(register_beyond_the_mask_is_enoent),
      cmocka_unit_test(sample_with_bits_newer_than_the_library_keeps_the_rest),
      cmocka_unit_test(
          sample_of_a_short_attr_has_no_registers_or_branch_options),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
