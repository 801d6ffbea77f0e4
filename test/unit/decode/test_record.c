/* SPDX-License-Identifier: MIT */
/* The bodies of the record types other than SAMPLE. Trailers are in
 * test_record_trailer.c. */
#include "support.h"

#include "check_record.h"

static void init_attr(struct perf_event_attr *attr, int sample_id_all) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->sample_type = BUILD_SAMPLE_ALL;
  attr->read_format = BUILD_FORMAT_ALL;
  attr->sample_id_all = sample_id_all != 0;
}

/* Decodes the builder's record from memory of exactly its size. */
static void decode_and_check(uvperf_decoder_t *decoder,
                             const record_builder_t *builder, uint32_t type,
                             const struct perf_event_attr *attr,
                             const record_values_t *values) {
  const uvperf_record_t *record;
  void *bytes = record_cut(builder, builder->size);

  assert_int_equal(uvperf_decode(decoder, bytes, builder->size, &record), 0);
  check_record_fields(record, type, attr, values, bytes);
  check_record_bounds(record);
  assert_int_equal(record->size, builder->size);
  free(bytes);
}

static void roundtrip(uint32_t type, const struct perf_event_attr *attr,
                      const record_values_t *values) {
  static record_builder_t builder;
  uvperf_source_t source;
  uvperf_decoder_t *decoder = record_decoder(&source, attr);

  record_build(&builder, type, attr, values);
  decode_and_check(decoder, &builder, type, attr, values);
  uvperf_decoder_free(decoder);
}

/* With a trailer and without. */
static void roundtrips(uint32_t type, const record_values_t *values) {
  struct perf_event_attr attr;

  init_attr(&attr, 0);
  roundtrip(type, &attr, values);
  init_attr(&attr, 1);
  roundtrip(type, &attr, values);
}

static void record_of_each_type_is_decoded(void **state) {
  record_values_t values;
  uint32_t type;

  record_values_init(&values);
  for (type = 1; type <= BUILD_TYPES; type++)
    roundtrips(type, &values);
}

/* All share one record, also a sample that is longer than its fields. Nothing
 * of the record before may show. */
static void record_after_each_other_type_is_decoded(void **state) {
  static record_builder_t first, second;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  record_values_t values;
  uint32_t i, j;

  record_values_init(&values);
  init_attr(&attr, 1);
  decoder = record_decoder(&source, &attr);
  for (i = 1; i <= BUILD_TYPES; i++) {
    for (j = 1; j <= BUILD_TYPES; j++) {
      values.surplus_bytes = 8;
      record_build(&first, i, &attr, &values);
      decode_and_check(decoder, &first, i, &attr, &values);
      values.surplus_bytes = 0;
      record_build(&second, j, &attr, &values);
      decode_and_check(decoder, &second, j, &attr, &values);
    }
  }
  uvperf_decoder_free(decoder);
}

static void mmap2_with_build_id_has_no_inode(void **state) {
  record_values_t values;

  record_values_init(&values);
  values.misc |= BUILD_MISC_BUILD_ID;
  for (values.build_id_size = 0; values.build_id_size <= 20;
       values.build_id_size++)
    roundtrips(PERF_RECORD_MMAP2, &values);
}

static void
mmap2_with_build_id_after_one_with_inode_shows_none_of_it(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  record_values_t values;
  int i;

  record_values_init(&values);
  init_attr(&attr, 1);
  decoder = record_decoder(&source, &attr);
  for (i = 0; i < 4; i++) {
    values.misc ^= BUILD_MISC_BUILD_ID;
    record_build(&builder, PERF_RECORD_MMAP2, &attr, &values);
    decode_and_check(decoder, &builder, PERF_RECORD_MMAP2, &attr, &values);
  }
  uvperf_decoder_free(decoder);
}

static void mmap_with_misc_bit_14_has_no_build_id(void **state) {
  record_values_t values;

  record_values_init(&values);
  values.misc |= BUILD_MISC_BUILD_ID;
  roundtrips(PERF_RECORD_MMAP, &values);
}

static void arrays_of_every_length_are_decoded(void **state) {
  record_values_t values;

  record_values_init(&values);
  for (values.nr = 0; values.nr < 40; values.nr++) {
    roundtrips(PERF_RECORD_NAMESPACES, &values);
    roundtrips(UVPERF_RECORD_CALLCHAIN_DEFERRED, &values);
  }
}

static void text_poke_of_every_length_is_decoded(void **state) {
  record_values_t values;

  record_values_init(&values);
  for (values.old_len = 0; values.old_len < 20; values.old_len++)
    for (values.new_len = 0; values.new_len < 20; values.new_len++)
      roundtrips(PERF_RECORD_TEXT_POKE, &values);
}

static void read_of_every_format_is_decoded(void **state) {
  struct perf_event_attr attr;
  record_values_t values;

  record_values_init(&values);
  init_attr(&attr, 1);
  for (attr.read_format = 0; attr.read_format <= BUILD_FORMAT_ALL;
       attr.read_format++)
    roundtrip(PERF_RECORD_READ, &attr, &values);
}

static const uint32_t texts[] = {PERF_RECORD_COMM, PERF_RECORD_MMAP,
                                 PERF_RECORD_MMAP2, PERF_RECORD_KSYMBOL,
                                 PERF_RECORD_CGROUP};

#define NR_TEXTS (sizeof(texts) / sizeof(texts[0]))

/* Every possible padding: 0 to 7 NULs after the one that ends the text. */
static void text_of_every_length_is_decoded(void **state) {
  record_values_t values;
  char text[64] = "";
  size_t length, i;

  record_values_init(&values);
  values.text = text;
  for (length = 0; length < sizeof(text) - 1; length++) {
    for (i = 0; i < NR_TEXTS; i++)
      roundtrips(texts[i], &values);
    text[length] = (char)('a' + length % 26);
  }
}

static void one_text(uint32_t type, const char *text) {
  record_values_t values;

  record_values_init(&values);
  values.text = text;
  roundtrips(type, &values);
}

/* go-perf looks for the trailer after the string's NUL, inside the padding, and
 * reads ids that do not exist. */
static void comm_with_sample_id_all_has_its_trailer(void **state) {
  one_text(PERF_RECORD_COMM, "sh");
  one_text(PERF_RECORD_COMM, "kworker/0:0-wq"); /* one of the longest */
  one_text(PERF_RECORD_COMM, "fifteen-letters");
}

static void mmap_with_sample_id_all_has_its_trailer(void **state) {
  one_text(PERF_RECORD_MMAP, "//anon");
  one_text(PERF_RECORD_MMAP, "/usr/bin/true");
  one_text(PERF_RECORD_MMAP2, "[vdso]");
}

/* go-perf panics here. */
static void ksymbol_with_sample_id_all_has_its_trailer(void **state) {
  one_text(PERF_RECORD_KSYMBOL, "bpf_prog_6deef7357e7b4530_prog");
  one_text(PERF_RECORD_KSYMBOL, "x");
}

/* The trailer after an unterminated string must not be taken for its end: it
 * contains NULs. */
static void text_without_end_is_refused(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  record_values_t values;
  size_t i;

  record_values_init(&values);
  values.text = "seven l"; /* its NUL is the 8th byte */
  init_attr(&attr, 1);
  decoder = record_decoder(&source, &attr);
  for (i = 0; i < NR_TEXTS; i++) {
    uint8_t *bytes;

    record_build(&builder, texts[i], &attr, &values);
    bytes = record_cut(&builder, builder.size);
    bytes[builder.size - 6 * 8 - 1] = 'l';
    assert_int_equal(uvperf_decode(decoder, bytes, builder.size, &record),
                     -EPROTO);
    check_record_raw(record, bytes, &source);
    free(bytes);
  }
  uvperf_decoder_free(decoder);
}

/* Decodes a record of whole words without trailer. */
static int decode_words(uint32_t type, uint16_t misc, const uint64_t *words,
                        size_t nr) {
  struct perf_event_attr attr;

  init_attr(&attr, 0);
  return check_record_words(&attr, type, misc, words, nr);
}

static void counts_beyond_the_record_are_refused(void **state) {
  static const uint64_t counts[] = {3, UINT64_C(1) << 60,
                                    (UINT64_C(1) << 60) + 1, UINT64_C(1) << 61,
                                    UINT64_MAX};
  uint64_t words[4] = {1, 2, 0, 0};
  size_t i;

  assert_int_equal(decode_words(UVPERF_RECORD_CALLCHAIN_DEFERRED, 0, words, 4),
                   0);
  words[1] = 1;
  assert_int_equal(decode_words(PERF_RECORD_NAMESPACES, 0, words, 4), 0);
  for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
    words[1] = counts[i];
    assert_int_equal(
        decode_words(UVPERF_RECORD_CALLCHAIN_DEFERRED, 0, words, 4), -EPROTO);
    assert_int_equal(decode_words(PERF_RECORD_NAMESPACES, 0, words, 4),
                     -EPROTO);
    assert_int_equal(decode_words(PERF_RECORD_READ, 0, words, 4), -EPROTO);
  }
}

static void text_poke_longer_than_the_record_is_refused(void **state) {
  uint64_t words[3] = {0, 0, 0};
  uint16_t lengths[2] = {6, 6}; /* 12 bytes are left */

  memcpy(&words[1], lengths, sizeof(lengths));
  assert_int_equal(decode_words(PERF_RECORD_TEXT_POKE, 0, words, 3), 0);
  lengths[1] = 7;
  memcpy(&words[1], lengths, sizeof(lengths));
  assert_int_equal(decode_words(PERF_RECORD_TEXT_POKE, 0, words, 3), -EPROTO);
  lengths[0] = lengths[1] = UINT16_MAX;
  memcpy(&words[1], lengths, sizeof(lengths));
  assert_int_equal(decode_words(PERF_RECORD_TEXT_POKE, 0, words, 3), -EPROTO);
}

static void build_id_of_more_than_20_bytes_is_refused(void **state) {
  uint64_t words[9] = {0};
  uint8_t size;

  for (size = 19; size < 30; size++) {
    memcpy(&words[4], &size, 1);
    assert_int_equal(
        decode_words(PERF_RECORD_MMAP2, BUILD_MISC_BUILD_ID, words, 9),
        size <= 20 ? 0 : -EPROTO);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_of_each_type_is_decoded),
      cmocka_unit_test(record_after_each_other_type_is_decoded),
      cmocka_unit_test(mmap2_with_build_id_has_no_inode),
      cmocka_unit_test(
          mmap2_with_build_id_after_one_with_inode_shows_none_of_it),
      cmocka_unit_test(mmap_with_misc_bit_14_has_no_build_id),
      cmocka_unit_test(arrays_of_every_length_are_decoded),
      cmocka_unit_test(text_poke_of_every_length_is_decoded),
      cmocka_unit_test(read_of_every_format_is_decoded),
      cmocka_unit_test(text_of_every_length_is_decoded),
      cmocka_unit_test(comm_with_sample_id_all_has_its_trailer),
      cmocka_unit_test(mmap_with_sample_id_all_has_its_trailer),
      cmocka_unit_test(ksymbol_with_sample_id_all_has_its_trailer),
      cmocka_unit_test(text_without_end_is_refused),
      cmocka_unit_test(counts_beyond_the_record_are_refused),
      cmocka_unit_test(text_poke_longer_than_the_record_is_refused),
      cmocka_unit_test(build_id_of_more_than_20_bytes_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
