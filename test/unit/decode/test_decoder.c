/* SPDX-License-Identifier: MIT */
/* Making a decoder, and what it does with headers. Several sources are in
 * test_decoder_sources.c, hostile bytes in test_decoder_hostile.c. */
#include "support.h"

#include "check_record.h"

static void init_attr(struct perf_event_attr *attr) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->sample_type = PERF_SAMPLE_IP;
}

static void init_source(uvperf_source_t *source,
                        const struct perf_event_attr *attr) {
  memset(source, 0, sizeof(*source));
  source->size = sizeof(*source);
  source->attr = attr;
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
  struct perf_event_attr attr;
  uvperf_source_t source;

  init_attr(&attr);
  init_source(&source, NULL);
  assert_refused(&source, 1);
  init_source(&source, &attr);
  source.size = offsetof(uvperf_source_t, attr_index) - 1;
  assert_refused(&source, 1);
  source.size = 0;
  assert_refused(&source, 1);
  init_source(&source, &attr);
  source.nr_ids = 1; /* but no ids */
  assert_refused(&source, 1);
  init_source(&source, &attr);
  source.flags = UVPERF_SOURCE_OLD_MMAP2 << 1;
  assert_refused(&source, 1);
}

/* Of a program that was built with another version of the header. */
static void new_with_an_older_or_newer_source_is_accepted(void **state) {
  struct {
    uvperf_source_t source;
    uint64_t newer[2];
  } longer;
  const uvperf_source_t *sources[1] = {&longer.source};
  struct perf_event_attr attr;
  uvperf_decoder_t *decoder;
  size_t size;

  init_attr(&attr);
  memset(&longer, 0, sizeof(longer));
  init_source(&longer.source, &attr);
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
  struct perf_event_attr attr;
  uvperf_source_t source;

  init_attr(&attr);
  init_source(&source, &attr);
  for (attr.size = 1; attr.size < 64; attr.size++)
    assert_refused(&source, 1);
}

static void new_with_a_newer_or_older_attr_size_is_accepted(void **state) {
  static const uint32_t sizes[] = {0, 64, 112, 136, 4096};
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_source_t *sources[1] = {&source};
  size_t i;

  init_attr(&attr);
  init_source(&source, &attr);
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    attr.size = sizes[i];
    assert_int_equal(uvperf_decoder_new(&decoder, sources, 1), 0);
    uvperf_decoder_free(decoder);
  }
}

/* Decodes a record of `size` bytes by its header, of which `available` bytes
 * exist. If the header is invalid there must be no record. */
static int decode_sized(uint16_t size, size_t available) {
  struct perf_event_header header = {PERF_RECORD_SWITCH, 0, size};
  uint8_t *bytes = calloc(1, available != 0 ? available : 1);
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record = (const uvperf_record_t *)(void *)bytes;
  int rc;

  init_attr(&attr);
  decoder = record_decoder(&source, &attr);
  memcpy(bytes, &header, available < 8 ? available : 8);
  rc = uvperf_decode(decoder, bytes, available, &record);
  if (rc == 0)
    assert_int_equal(record->size, size);
  else
    assert_null(record);
  free(bytes);
  uvperf_decoder_free(decoder);
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
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  uint64_t words[3] = {0};
  uint8_t *bytes = (uint8_t *)words;
  size_t i;

  init_attr(&attr);
  decoder = record_decoder(&source, &attr);
  for (i = 0; i <= 8; i++) {
    memcpy(bytes + i, &header, 8);
    assert_int_equal(uvperf_decode(decoder, bytes + i, 8, &record),
                     i % 8 == 0 ? 0 : -EINVAL);
    assert_int_equal(record != NULL, i % 8 == 0);
  }
  assert_int_equal(uvperf_decode(decoder, NULL, 8, &record), -EINVAL);
  assert_null(record);
  uvperf_decoder_free(decoder);
}

/* Decodes one record after the other, as from a ring. */
static size_t walk(uvperf_decoder_t *decoder, const uint64_t *words,
                   size_t size, uint32_t *types, int *codes) {
  const uvperf_record_t *record;
  size_t at = 0, nr = 0;

  while (at < size) {
    codes[nr] = uvperf_decode(decoder, words + at / 8, size - at, &record);
    assert_non_null(record);
    types[nr++] = record->type;
    at += record->size;
  }
  return nr;
}

static void append(record_builder_t *all, const record_builder_t *one) {
  record_put(all, one->words, one->size);
}

/* cilium/ebpf loses its place after a type that it does not know. */
static void decode_goes_on_after_an_unknown_type(void **state) {
  static const uint32_t wanted[] = {9, 23, 9, 0, 3, UINT32_MAX, 9};
  static record_builder_t all, one;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  record_values_t values;
  uint32_t types[7];
  int codes[7];
  size_t i;

  record_values_init(&values);
  init_attr(&attr);
  all.size = 0;
  for (i = 0; i < 7; i++) {
    record_build(&one, wanted[i], &attr, &values);
    append(&all, &one);
  }
  decoder = record_decoder(&source, &attr);
  assert_int_equal(walk(decoder, all.words, all.size, types, codes), 7);
  assert_memory_equal(types, wanted, sizeof(wanted));
  for (i = 0; i < 7; i++)
    assert_int_equal(codes[i], 0);
  uvperf_decoder_free(decoder);
}

static void decode_goes_on_after_a_broken_body(void **state) {
  static const uint32_t wanted[] = {9, 9, 3};
  static const int results[] = {0, -EPROTO, 0};
  static record_builder_t all, one;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  record_values_t values;
  uint32_t types[3];
  int codes[3];

  record_values_init(&values);
  init_attr(&attr);
  all.size = 0;
  record_build(&one, PERF_RECORD_SAMPLE, &attr, &values);
  append(&all, &one);
  record_begin(&one, PERF_RECORD_SAMPLE, 0); /* all of its body is missing */
  record_end(&one);
  append(&all, &one);
  record_build(&one, PERF_RECORD_COMM, &attr, &values);
  append(&all, &one);
  decoder = record_decoder(&source, &attr);
  assert_int_equal(walk(decoder, all.words, all.size, types, codes), 3);
  assert_memory_equal(types, wanted, sizeof(wanted));
  assert_memory_equal(codes, results, sizeof(results));
  uvperf_decoder_free(decoder);
}

static void decode_of_an_unknown_type_leaves_the_body_empty(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  record_values_t values;

  record_values_init(&values);
  init_attr(&attr);
  decoder = record_decoder(&source, &attr);
  record_build(&builder, PERF_RECORD_COMM, &attr, &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   0);
  record_build(&builder, 4711, &attr, &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   0);
  check_record_raw(record, builder.words, &source);
  uvperf_decoder_free(decoder);
}

/* The attr is read by uvperf_decoder_new and not again. */
static void decode_follows_the_attr_as_new_saw_it(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr, then;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  record_values_t values;

  record_values_init(&values);
  init_attr(&attr);
  then = attr;
  decoder = record_decoder(&source, &attr);
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  record_build(&builder, PERF_RECORD_SAMPLE, &then, &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   0);
  check_record_fields(record, PERF_RECORD_SAMPLE, &then, &values,
                      builder.words);
  assert_ptr_equal(record->source, &source);
  uvperf_decoder_free(decoder);
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
