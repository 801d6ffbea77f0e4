/* SPDX-License-Identifier: MIT */
/* Making a decoder, and what it does with headers. Several sources are in
 * test_decoder_sources.c, hostile bytes in test_decoder_hostile.c. */
#include "support.h"

#include "check_record.h"

static record_one_t one;

static void begin(void) {
  record_one_begin(&one, PERF_SAMPLE_IP);
}

static void init_source(const struct perf_event_attr *attr) {
  memset(&one.source, 0, sizeof(one.source));
  one.source.size = sizeof(one.source);
  one.source.attr = attr;
}

static void assert_refused(const uvperf_source_t *source, size_t nr) {
  const uvperf_source_t *sources[1] = {source};
  uvperf_decoder_t *decoder = (uvperf_decoder_t *)(void *)&sources;

  assert_int_equal(uvperf_decoder_new(&decoder, sources, nr), -EINVAL);
  assert_null(decoder);
}

static void new_without_sources_is_refused(void **state) {
  uvperf_decoder_t *decoder = (uvperf_decoder_t *)(void *)&state;

  assert_refused(NULL, 0);
  assert_refused(NULL, 1);
  assert_int_equal(uvperf_decoder_new(&decoder, NULL, 1), -EINVAL);
  assert_null(decoder);
}

static void new_with_a_bad_source_is_refused(void **state) {
  begin();
  init_source(NULL);
  assert_refused(&one.source, 1);
  init_source(&one.attr);
  one.source.size = offsetof(uvperf_source_t, attr_index) - 1;
  assert_refused(&one.source, 1);
  one.source.size = 0;
  assert_refused(&one.source, 1);
  init_source(&one.attr);
  one.source.nr_ids = 1; /* but no ids */
  assert_refused(&one.source, 1);
  init_source(&one.attr);
  one.source.flags = UVPERF_SOURCE_OLD_MMAP2 << 1;
  assert_refused(&one.source, 1);
}

/* Of a program that was built with another version of the header. */
static void new_with_an_older_or_newer_source_is_accepted(void **state) {
  struct {
    uvperf_source_t source;
    uint64_t newer[2];
  } longer;
  const uvperf_source_t *sources[1] = {&longer.source};
  uvperf_decoder_t *decoder;
  size_t size;

  begin();
  memset(&longer, 0, sizeof(longer));
  init_source(&one.attr);
  longer.source = one.source;
  longer.source.flags = UVPERF_SOURCE_OLD_MMAP2;
  for (size = offsetof(uvperf_source_t, attr_index); size <= sizeof(longer);
       size++) {
    longer.source.size = size;
    assert_int_equal(uvperf_decoder_new(&decoder, sources, 1), 0);
    uvperf_decoder_free(decoder);
  }
  longer.source.size = sizeof(longer);
  longer.newer[1] = UINT64_C(1) << 63;
  assert_int_equal(uvperf_decoder_new(&decoder, sources, 1), -E2BIG);
  assert_null(decoder);
  longer.source.size = sizeof(longer) - 1; /* and so the last byte does not
                                            * belong to it */
  longer.newer[1] = 0;
  *((uint8_t *)&longer + sizeof(longer) - 1) = 1;
  assert_int_equal(uvperf_decoder_new(&decoder, sources, 1), 0);
  uvperf_decoder_free(decoder);
}

static void new_with_a_bad_attr_size_is_refused(void **state) {
  begin();
  init_source(&one.attr);
  for (one.attr.size = 1; one.attr.size < 64; one.attr.size++)
    assert_refused(&one.source, 1);
}

static void new_with_a_newer_or_older_attr_size_is_accepted(void **state) {
  static const uint32_t sizes[] = {0, 64, 112, 136, 4096};
  size_t i;

  begin();
  for (i = 0; i < COUNT_OF(sizes); i++) {
    one.attr.size = sizes[i];
    record_one_open(&one);
  }
}

/* Decodes a record of `size` bytes by its header, of which `available` bytes
 * exist. If the header is invalid there must be no record. */
static int decode_sized(uint16_t size, size_t available) {
  struct perf_event_header header = {PERF_RECORD_SWITCH, 0, size};
  uint8_t *bytes = calloc(1, available != 0 ? available : 1);
  const uvperf_record_t *record = (const uvperf_record_t *)(void *)bytes;
  int rc;

  begin();
  record_one_open(&one);
  memcpy(bytes, &header, available < 8 ? available : 8);
  rc = uvperf_decode(one.decoder, bytes, available, &record);
  if (rc == 0)
    assert_int_equal(record->size, size);
  else
    assert_null(record);
  free(bytes);
  return rc;
}

static void decode_of_fewer_bytes_than_a_header_is_refused(void **state) {
  size_t available;

  for (available = 0; available < 8; available++)
    assert_int_equal(decode_sized(8, available), -EPROTO);
  assert_int_equal(decode_sized(8, 8), 0);
}

static void decode_of_an_impossible_size_is_refused(void **state) {
  uint32_t size;

  for (size = 0; size <= UINT16_MAX; size += size < 64 ? 1 : 997)
    assert_int_equal(decode_sized((uint16_t)size, UINT16_MAX),
                     size >= 8 && size % 8 == 0 ? 0 : -EPROTO);
  assert_int_equal(decode_sized(UINT16_MAX - 7, UINT16_MAX), 0);
  assert_int_equal(decode_sized(UINT16_MAX, UINT16_MAX), -EPROTO);
}

static void decode_of_a_size_beyond_the_bytes_is_refused(void **state) {
  size_t available;

  for (available = 8; available < 80; available++)
    assert_int_equal(decode_sized(72, available),
                     available >= 72 ? 0 : -EPROTO);
}

static void decode_of_misaligned_bytes_is_refused(void **state) {
  struct perf_event_header header = {PERF_RECORD_SWITCH, 0, 8};
  const uvperf_record_t *record;
  uint64_t words[3] = {0};
  uint8_t *bytes = (uint8_t *)words;
  size_t i;

  begin();
  record_one_open(&one);
  for (i = 0; i <= 8; i++) {
    memcpy(bytes + i, &header, 8);
    assert_int_equal(uvperf_decode(one.decoder, bytes + i, 8, &record),
                     i % 8 == 0 ? 0 : -EINVAL);
    assert_int_equal(record != NULL, i % 8 == 0);
  }
  assert_int_equal(uvperf_decode(one.decoder, NULL, 8, &record), -EINVAL);
  assert_null(record);
}

static record_builder_t all;

static void append(uint32_t type) {
  record_one_build(&one, type);
  record_put(&all, one.builder.words, one.builder.size);
}

/* Decodes one record of `all` after the other, as from a ring. */
static void walk(const uint32_t *types, const int *codes, size_t nr) {
  const uvperf_record_t *record;
  size_t at, i;

  record_one_open(&one);
  for (at = i = 0; at < all.size; at += record->size, i++) {
    assert_int_equal(
        uvperf_decode(one.decoder, all.words + at / 8, all.size - at, &record),
        codes[i]);
    assert_int_equal(record->type, types[i]);
  }
  assert_int_equal(i, nr);
}

/* cilium/ebpf loses its place after a type that it does not know. */
static void decode_goes_on_after_an_unknown_type(void **state) {
  static const uint32_t types[] = {9, 23, 9, 0, 3, UINT32_MAX, 9};
  static const int codes[COUNT_OF(types)] = {0};
  size_t i;

  begin();
  all.size = 0;
  for (i = 0; i < COUNT_OF(types); i++)
    append(types[i]);
  walk(types, codes, COUNT_OF(types));
}

static void decode_goes_on_after_a_broken_body(void **state) {
  static const uint32_t types[] = {9, 9, 3};
  static const int codes[] = {0, -EPROTO, 0};

  begin();
  all.size = 0;
  append(PERF_RECORD_SAMPLE);
  record_begin(&one.builder, PERF_RECORD_SAMPLE, 0); /* without its body */
  record_end(&one.builder);
  record_put(&all, one.builder.words, one.builder.size);
  append(PERF_RECORD_COMM);
  walk(types, codes, COUNT_OF(types));
}

static void decode_of_an_unknown_type_leaves_the_body_empty(void **state) {
  begin();
  record_one_build(&one, PERF_RECORD_COMM);
  assert_int_equal(record_one_decode(&one), 0);
  record_one_build(&one, 4711);
  assert_int_equal(record_one_decode(&one), 0);
  check_record_raw(one.record, one.bytes, &one.source);
}

/* The attr is read by uvperf_decoder_new and not again. */
static void decode_follows_the_attr_as_new_saw_it(void **state) {
  begin();
  record_one_open(&one);
  record_one_build(&one, PERF_RECORD_SAMPLE);
  one.attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  assert_int_equal(record_one_decode(&one), 0);
  one.attr.sample_type = PERF_SAMPLE_IP;
  check_record_fields(one.record, PERF_RECORD_SAMPLE, &one.attr, &one.values,
                      one.bytes);
  assert_ptr_equal(one.record->source, &one.source);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(new_without_sources_is_refused),
      cmocka_unit_test(new_with_a_bad_source_is_refused),
      cmocka_unit_test(new_with_an_older_or_newer_source_is_accepted),
      cmocka_unit_test(new_with_a_bad_attr_size_is_refused),
      cmocka_unit_test(new_with_a_newer_or_older_attr_size_is_accepted),
      cmocka_unit_test(decode_of_fewer_bytes_than_a_header_is_refused),
      cmocka_unit_test(decode_of_an_impossible_size_is_refused),
      cmocka_unit_test(decode_of_a_size_beyond_the_bytes_is_refused),
      cmocka_unit_test(decode_of_misaligned_bytes_is_refused),
      cmocka_unit_test(decode_goes_on_after_an_unknown_type),
      cmocka_unit_test(decode_goes_on_after_a_broken_body),
      cmocka_unit_test(decode_of_an_unknown_type_leaves_the_body_empty),
      cmocka_unit_test(decode_follows_the_attr_as_new_saw_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
