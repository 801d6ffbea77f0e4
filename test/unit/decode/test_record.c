/* SPDX-License-Identifier: MIT */
/* The bodies of the record types other than SAMPLE. Trailers are in
 * test_record_trailer.c. */
#include "support.h"

#include "check_record.h"

static record_one_t one;

static void begin(void) {
  record_one_begin(&one, BUILD_SAMPLE_ALL);
}

/* With a trailer and without. */
static void roundtrips(uint32_t type) {
  int i;

  for (i = 0; i < 2; i++) {
    one.attr.sample_id_all = i != 0;
    record_one_open(&one);
    record_one_roundtrip(&one, type);
  }
}

static void record_of_each_type_is_decoded(void **state) {
  uint32_t type;

  begin();
  for (type = 1; type <= BUILD_TYPES; type++)
    roundtrips(type);
}

/* All share one record, also a sample that is longer than its fields. Nothing
 * of the record before may show. */
static void record_after_each_other_type_is_decoded(void **state) {
  uint32_t i, j;

  begin();
  one.attr.sample_id_all = 1;
  for (i = 1; i <= BUILD_TYPES; i++) {
    for (j = 1; j <= BUILD_TYPES; j++) {
      one.values.surplus_bytes = 8;
      record_one_roundtrip(&one, i);
      one.values.surplus_bytes = 0;
      record_one_roundtrip(&one, j);
    }
  }
}

static void mmap2_with_build_id_has_no_inode(void **state) {
  begin();
  one.values.misc |= BUILD_MISC_BUILD_ID;
  for (one.values.build_id_size = 0; one.values.build_id_size <= 20;
       one.values.build_id_size++)
    roundtrips(PERF_RECORD_MMAP2);
}

static void
mmap2_with_build_id_after_one_with_inode_shows_none_of_it(void **state) {
  int i;

  begin();
  one.attr.sample_id_all = 1;
  for (i = 0; i < 4; i++) {
    one.values.misc ^= BUILD_MISC_BUILD_ID;
    record_one_roundtrip(&one, PERF_RECORD_MMAP2);
  }
}

static void mmap_with_misc_bit_14_has_no_build_id(void **state) {
  begin();
  one.values.misc |= BUILD_MISC_BUILD_ID;
  roundtrips(PERF_RECORD_MMAP);
}

static void arrays_of_every_length_are_decoded(void **state) {
  begin();
  for (one.values.nr = 0; one.values.nr < 40; one.values.nr++) {
    roundtrips(PERF_RECORD_NAMESPACES);
    roundtrips(UVPERF_RECORD_CALLCHAIN_DEFERRED);
  }
}

static void text_poke_of_every_length_is_decoded(void **state) {
  int i;

  begin();
  for (i = 0; i < 20 * 20; i++) {
    one.values.old_len = (uint16_t)(i / 20);
    one.values.new_len = (uint16_t)(i % 20);
    roundtrips(PERF_RECORD_TEXT_POKE);
  }
}

static void read_of_every_format_is_decoded(void **state) {
  begin();
  one.attr.sample_id_all = 1;
  for (one.attr.read_format = 0; one.attr.read_format <= BUILD_FORMAT_ALL;
       one.attr.read_format++) {
    record_one_open(&one);
    record_one_roundtrip(&one, PERF_RECORD_READ);
  }
}

static const uint32_t texts[] = {PERF_RECORD_COMM, PERF_RECORD_MMAP,
                                 PERF_RECORD_MMAP2, PERF_RECORD_KSYMBOL,
                                 PERF_RECORD_CGROUP};

#define NR_TEXTS (COUNT_OF(texts))

/* Every possible padding: 0 to 7 NULs after the one that ends the text. */
static void text_of_every_length_is_decoded(void **state) {
  char text[64] = "";
  size_t length, i;

  begin();
  one.values.text = text;
  for (length = 0; length < sizeof(text) - 1; length++) {
    for (i = 0; i < NR_TEXTS; i++)
      roundtrips(texts[i]);
    text[length] = (char)('a' + length % 26);
  }
}

static void one_text(uint32_t type, const char *text) {
  begin();
  one.values.text = text;
  roundtrips(type);
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
  size_t i;

  begin();
  one.values.text = "seven l"; /* its NUL is the 8th byte */
  one.attr.sample_id_all = 1;
  for (i = 0; i < NR_TEXTS; i++) {
    record_one_build(&one, texts[i]);
    ((uint8_t *)one.builder.words)[one.builder.size - 6 * 8 - 1] = 'l';
    record_one_refused(&one, one.builder.size);
  }
}

/* Decodes a record of whole words without trailer. */
static int decode_words(uint32_t type, uint16_t misc, const uint64_t *words,
                        size_t nr) {
  begin();
  return check_record_words(&one.attr, type, misc, words, nr);
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
  for (i = 0; i < COUNT_OF(counts); i++) {
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
