/* SPDX-License-Identifier: MIT */
/* Several events in one ring: their records are matched by id. */
#include "support.h"

#include "check_record.h"

#define MOST 64

/* A decoder's sources, each with its own attr and ids. */
typedef struct ring_s {
  struct perf_event_attr attrs[MOST];
  uint64_t ids[MOST][2];
  uvperf_source_t sources[MOST];
  const uvperf_source_t *pointers[MOST];
  size_t nr;
} ring_t;

static ring_t ring;
static uvperf_decoder_t *decoder; /* of the ring's sources; or NULL */
static record_builder_t builder;
static const uvperf_record_t *record;

static const uint64_t extras[] = {
    PERF_SAMPLE_IP | PERF_SAMPLE_TID,
    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME,
    PERF_SAMPLE_RAW | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU,
    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_ID,
    0,
    BUILD_SAMPLE_ALL};

#define NR_EXTRAS (COUNT_OF(extras))

/* Source i asks for extras[i % NR_EXTRAS] and `common`, and has the ids 1000 +
 * 2 * i and the next. */
static void init_ring(size_t nr, uint64_t common) {
  size_t i;

  memset(&ring, 0, sizeof(ring));
  ring.nr = nr;
  for (i = 0; i < nr; i++) {
    struct perf_event_attr *attr = &ring.attrs[i];

    attr->size = sizeof(*attr);
    attr->sample_type = common | extras[i % NR_EXTRAS];
    attr->sample_regs_user = i;
    attr->sample_id_all = 1;
    ring.ids[i][0] = 1000 + 2 * i;
    ring.ids[i][1] = 1001 + 2 * i;
    ring.sources[i].size = sizeof(ring.sources[i]);
    ring.sources[i].attr = attr;
    ring.sources[i].ids = ring.ids[i];
    ring.sources[i].nr_ids = 2;
    ring.pointers[i] = &ring.sources[i];
  }
}

static int try_decoder(void) {
  uvperf_decoder_free(decoder);
  return uvperf_decoder_new(&decoder, ring.pointers, ring.nr);
}

static void make_decoder(void) {
  assert_int_equal(try_decoder(), 0);
  assert_non_null(decoder);
}

static int free_decoder(void **state) {
  uvperf_decoder_free(decoder);
  decoder = NULL;
  return 0;
}

static void assert_refused(void) {
  assert_int_equal(try_decoder(), -EINVAL);
  assert_null(decoder);
}

/* Decodes what was built; returns what uvperf_decode returned. */
static int decode(void) {
  return uvperf_decode(decoder, builder.words, builder.size, &record);
}

/* A record of source i, with one of its ids and a STREAM_ID that is another
 * source's id. */
static void roundtrip(size_t i, uint32_t type) {
  record_values_t values;
  void *bytes;

  record_values_init(&values);
  values.id = ring.ids[i][type % 2];
  values.stream_id = ring.ids[(i + 1) % ring.nr][0];
  record_build(&builder, type, &ring.attrs[i], &values);
  bytes = record_cut(&builder, builder.size);
  assert_int_equal(uvperf_decode(decoder, bytes, builder.size, &record), 0);
  assert_ptr_equal(record->source, &ring.sources[i]);
  check_record_fields(record, type, &ring.attrs[i], &values, bytes);
  free(bytes);
}

static void each_source_and_type(void) {
  uint32_t type;
  size_t i;

  make_decoder();
  for (type = 1; type <= BUILD_TYPES; type++)
    for (i = 0; i < ring.nr; i++)
      roundtrip(i, type);
}

/* A record of an attr with an id; returns what uvperf_decode returned. */
static int decode_id(uint64_t id, uint32_t type,
                     const struct perf_event_attr *attr,
                     const uvperf_source_t *source) {
  record_values_t values;
  int rc;

  record_values_init(&values);
  values.id = id;
  record_build(&builder, type, attr, &values);
  rc = decode();
  assert_ptr_equal(record->source, source);
  if (rc == 0)
    check_record_fields(record, type, attr, &values, builder.words);
  else
    check_record_raw(record, builder.words, NULL);
  return rc;
}

static void records_of_mixed_sample_types_need_identifier(void **state) {
  size_t nr;

  for (nr = 2; nr <= MOST; nr += nr < 8 ? 1 : 14) {
    init_ring(nr, PERF_SAMPLE_IDENTIFIER);
    each_source_and_type();
  }
}

static void records_are_matched_by_id_at_one_fixed_place(void **state) {
  static const uint64_t types[] = {
      PERF_SAMPLE_ID, PERF_SAMPLE_IP | PERF_SAMPLE_ID | PERF_SAMPLE_CPU,
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
          PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
          PERF_SAMPLE_PERIOD};
  static const uint64_t behind[] = {0, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW};
  size_t i, j;

  for (i = 0; i < 3; i++) {
    init_ring(3, 0);
    for (j = 0; j < 3; j++)
      ring.attrs[j].sample_type = types[i] | behind[j];
    each_source_and_type();
  }
}

/* The ID of one, first in its sample and last in its trailer, is where the
 * other has its IDENTIFIER. */
static void id_and_identifier_at_one_place_go_together(void **state) {
  init_ring(2, 0);
  ring.attrs[0].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;
  each_source_and_type();
}

static void id_at_different_places_is_refused(void **state) {
  init_ring(2, 0);
  ring.attrs[0].sample_type = PERF_SAMPLE_ID;
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_IP; /* samples */
  assert_refused();
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_CPU; /* trailers */
  assert_refused();
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_RAW;
  each_source_and_type();
}

static void sources_that_cannot_be_matched_are_refused(void **state) {
  init_ring(3, PERF_SAMPLE_IDENTIFIER);
  ring.attrs[2].sample_type = PERF_SAMPLE_STREAM_ID;
  assert_refused();
  init_ring(3, PERF_SAMPLE_IDENTIFIER);
  ring.attrs[1].sample_id_all = 0;
  assert_refused();
  init_ring(3, PERF_SAMPLE_IDENTIFIER);
  ring.sources[0].nr_ids = 0;
  assert_refused();
  init_ring(3, PERF_SAMPLE_IDENTIFIER);
  ring.ids[2][1] = ring.ids[0][0];
  assert_refused();
}

/* One source needs neither ids nor a place for them. */
static void one_source_takes_every_id(void **state) {
  init_ring(1, PERF_SAMPLE_IDENTIFIER);
  make_decoder();
  assert_int_equal(
      decode_id(1, PERF_RECORD_SAMPLE, &ring.attrs[0], &ring.sources[0]), 0);
  assert_int_equal(record->id, 1); /* not its own */
}

/* go-perf throws the whole ring away on a STREAM_ID that it does not know, and
 * each inherited child has one of its own. */
static void inherited_child_is_known_by_its_parents_id(void **state) {
  record_values_t values;
  uint32_t type;

  init_ring(2, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STREAM_ID);
  make_decoder();
  record_values_init(&values);
  values.id = ring.ids[1][0];
  for (type = 1; type <= BUILD_TYPES; type++) {
    values.stream_id = 123456 + type; /* of no source */
    record_build(&builder, type, &ring.attrs[1], &values);
    assert_int_equal(decode(), 0);
    assert_ptr_equal(record->source, &ring.sources[1]);
    check_record_fields(record, type, &ring.attrs[1], &values, builder.words);
  }
}

static void record_with_an_unknown_id_is_raw_and_the_next_is_not(void **state) {
  uint32_t type;

  init_ring(4, PERF_SAMPLE_IDENTIFIER);
  make_decoder();
  for (type = 1; type <= BUILD_TYPES; type++) {
    assert_int_equal(decode_id(999, type, &ring.attrs[0], NULL), -EPROTO);
    roundtrip(type % 4, type);
  }
}

/* perf(1) writes it into the records that it makes itself. */
static void record_with_id_0_is_of_the_first_source(void **state) {
  uint32_t type;

  init_ring(4, PERF_SAMPLE_IDENTIFIER);
  make_decoder();
  for (type = 1; type <= BUILD_TYPES; type++) {
    assert_int_equal(decode_id(0, type, &ring.attrs[0], &ring.sources[0]), 0);
    roundtrip(type % 4, type);
  }
}

static void id_0_of_a_source_is_its_own(void **state) {
  init_ring(3, PERF_SAMPLE_IDENTIFIER);
  ring.ids[2][1] = 0;
  make_decoder();
  assert_int_equal(
      decode_id(0, PERF_RECORD_SAMPLE, &ring.attrs[2], &ring.sources[2]), 0);
}

/* Three sources, each with an attr of its own, in which all is the same. */
static void init_alike(uint64_t sample_type) {
  size_t i;

  init_ring(3, 0);
  for (i = 0; i < 3; i++) {
    ring.attrs[i].sample_type = PERF_SAMPLE_IDENTIFIER | sample_type;
    ring.attrs[i].sample_period = 1;
    ring.attrs[i].sample_regs_user = 7;
  }
}

/* Decodes a sample, a READ and a COMM of attr 0 with an unknown id, and expects
 * which of them can be. */
static void expect_unknown(int sample, int read, int comm) {
  make_decoder();
  assert_int_equal(decode_id(999, PERF_RECORD_SAMPLE, &ring.attrs[0], NULL),
                   sample ? 0 : -EPROTO);
  assert_int_equal(decode_id(999, PERF_RECORD_READ, &ring.attrs[0], NULL),
                   read ? 0 : -EPROTO);
  assert_int_equal(decode_id(999, PERF_RECORD_COMM, &ring.attrs[0], NULL),
                   comm ? 0 : -EPROTO);
  roundtrip(2, PERF_RECORD_SAMPLE);
}

static void record_of_an_unknown_id_is_decoded_if_layouts_agree(void **s) {
  init_alike(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
             PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_TIME);
  expect_unknown(1, 1, 1);
  ring.attrs[2].sample_type |= PERF_SAMPLE_IP; /* not in the trailer */
  expect_unknown(0, 1, 1);
  ring.attrs[2].sample_type = ring.attrs[1].sample_type;
  ring.attrs[1].sample_regs_user = 6;
  expect_unknown(0, 1, 1);
  ring.attrs[1].sample_regs_user = 7;
  ring.attrs[2].sample_regs_intr = 1;
  expect_unknown(0, 1, 1);
  ring.attrs[2].sample_regs_intr = 0;
  ring.attrs[2].branch_sample_type = BUILD_BRANCH_HW_INDEX;
  expect_unknown(0, 1, 1);
  ring.attrs[2].branch_sample_type = 0;
  ring.attrs[1].read_format = PERF_FORMAT_ID;
  expect_unknown(0, 0, 1);
  ring.attrs[1].read_format = 0;
  ring.attrs[2].sample_type |= PERF_SAMPLE_CPU;
  expect_unknown(0, 0, 0);
}

/* An event that never samples has no influence on the layout of samples. */
static void sample_of_an_unknown_id_is_not_of_a_counting_event(void **state) {
  init_alike(PERF_SAMPLE_CALLCHAIN);
  ring.attrs[1].sample_type |= PERF_SAMPLE_IP;
  expect_unknown(0, 1, 1);
  ring.attrs[1].sample_period = 0;
  expect_unknown(1, 1, 1);
  ring.attrs[1].sample_period = 4000; /* as perf(1) has it */
  ring.attrs[1].type = PERF_TYPE_SOFTWARE;
  ring.attrs[1].config = PERF_COUNT_SW_DUMMY;
  expect_unknown(1, 1, 1);
  ring.attrs[1].config = PERF_COUNT_SW_BPF_OUTPUT;
  ring.attrs[1].sample_period = 0;
  expect_unknown(0, 1, 1);
}

/* An MMAP2 of Linux 3.12 to 3.15 of the first attr: pid, tid, addr, len, pgoff,
 * maj, min, ino, ino_generation, filename. */
static void put_old_mmap2(uint64_t id) {
  static const char filename[16] = "/lib/libc.so";
  record_values_t values;
  uint64_t word;

  record_values_init(&values);
  values.id = id;
  record_begin(&builder, PERF_RECORD_MMAP2, 0);
  for (word = 1; word <= 7; word++)
    record_put_u64(&builder, word << 32 | word);
  record_put(&builder, filename, sizeof(filename));
  record_put_trailer(&builder, &ring.attrs[0], &values);
  record_end(&builder);
}

static void expect_old_mmap2(const uvperf_source_t *source) {
  void *bytes = record_cut(&builder, builder.size);

  assert_int_equal(uvperf_decode(decoder, bytes, builder.size, &record), 0);
  assert_ptr_equal(record->source, source);
  check_record_bounds(record);
  assert_int_equal(record->mmap.ino_generation, UINT64_C(7) << 32 | 7);
  assert_string_equal(record->mmap.filename, "/lib/libc.so");
  assert_int_equal(record->mmap.filename_size, 12);
  assert_int_equal(record->mmap.prot, 0);
  assert_int_equal(record->mmap.flags, 0);
  free(bytes);
}

static void mmap2_without_prot_and_flags_can_be_asked_for(void **state) {
  init_alike(PERF_SAMPLE_TID);
  ring.sources[0].flags = UVPERF_SOURCE_OLD_MMAP2;
  for (ring.nr = 1; ring.nr <= 2; ring.nr++) {
    make_decoder();
    put_old_mmap2(ring.ids[0][0]);
    expect_old_mmap2(&ring.sources[0]);
    roundtrip(ring.nr - 1, PERF_RECORD_MMAP);
  }
}

/* Even with the same attr. */
static void mmap2_of_each_source_is_read_as_that_asks(void **state) {
  init_alike(PERF_SAMPLE_TID);
  ring.sources[1].attr = &ring.attrs[0];
  ring.sources[1].flags = UVPERF_SOURCE_OLD_MMAP2;
  make_decoder();
  put_old_mmap2(ring.ids[1][0]);
  expect_old_mmap2(&ring.sources[1]);
  roundtrip(0, PERF_RECORD_MMAP2);
  assert_int_equal(decode_id(999, PERF_RECORD_MMAP2, &ring.attrs[0], NULL),
                   -EPROTO);
  assert_int_equal(decode_id(999, PERF_RECORD_MMAP, &ring.attrs[0], NULL), 0);
}

/* Its body is broken, but its source can be found, unlike that of the next. */
static void broken_record_of_a_known_id_has_its_source(void **state) {
  record_values_t values;

  init_ring(4, PERF_SAMPLE_IDENTIFIER);
  make_decoder();
  record_values_init(&values);
  values.id = ring.ids[2][1];
  record_build(&builder, PERF_RECORD_SAMPLE, &ring.attrs[2], &values);
  builder.size -= 8;
  record_end(&builder);
  assert_int_equal(decode(), -EPROTO);
  check_record_raw(record, builder.words, &ring.sources[2]);
  values.id = 999;
  record_build(&builder, PERF_RECORD_SAMPLE, &ring.attrs[2], &values);
  assert_int_equal(decode(), -EPROTO);
  check_record_raw(record, builder.words, NULL);
}

/* There is no saying that a type newer than the library has an id at all. */
static void
unknown_type_with_an_unknown_id_is_raw_without_source(void **state) {
  record_values_t values;

  init_ring(4, PERF_SAMPLE_IDENTIFIER);
  make_decoder();
  record_values_init(&values);
  values.id = 999;
  record_build(&builder, 23, &ring.attrs[0], &values);
  assert_int_equal(decode(), 0);
  check_record_raw(record, builder.words, NULL);
  values.id = ring.ids[3][0];
  record_build(&builder, 23, &ring.attrs[3], &values);
  assert_int_equal(decode(), 0);
  assert_ptr_equal(record->source, &ring.sources[3]);
  assert_int_equal(record->id, values.id);
}

/* The id would lie in the header, or before the record. */
static void record_too_short_for_an_id_is_raw_without_source(void **state) {
  static const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_SWITCH};
  size_t i, size;

  init_ring(2, 0);
  ring.attrs[0].sample_type = ring.attrs[1].sample_type =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ID |
      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
  make_decoder();
  for (i = 0; i < 2; i++) {
    record_begin(&builder, types[i], 0);
    for (size = 8; size <= 24; size += 8) {
      void *bytes = record_cut(&builder, size);

      assert_int_equal(uvperf_decode(decoder, bytes, size, &record), -EPROTO);
      check_record_raw(record, bytes, NULL);
      free(bytes);
      record_put_u64(&builder, ring.ids[0][0]);
    }
  }
}

/* Ids at random places of 64 bits, many of them. */
static void sources_with_many_ids_are_found(void **state) {
  enum {
    NR = 500
  };
  static uint64_t ids[2][NR];
  record_values_t values;
  uint64_t random = 7;
  size_t i, j;

  init_ring(2, PERF_SAMPLE_IDENTIFIER);
  for (i = 0; i < 2; i++) {
    for (j = 0; j < NR; j++)
      ids[i][j] = j % 2 ? record_random(&random) : 2 * ((uint64_t)j << 32) + i;
    ring.sources[i].ids = ids[i];
    ring.sources[i].nr_ids = NR;
  }
  make_decoder();
  record_values_init(&values);
  for (i = 0; i < 2 * NR; i++) {
    values.id = ids[i % 2][i / 2];
    record_build(&builder, PERF_RECORD_SAMPLE, &ring.attrs[i % 2], &values);
    assert_int_equal(decode(), 0);
    assert_ptr_equal(record->source, &ring.sources[i % 2]);
  }
}

#define TEST(f) cmocka_unit_test_teardown(f, free_decoder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(records_of_mixed_sample_types_need_identifier),
      TEST(records_are_matched_by_id_at_one_fixed_place),
      TEST(id_and_identifier_at_one_place_go_together),
      TEST(id_at_different_places_is_refused),
      TEST(sources_that_cannot_be_matched_are_refused),
      TEST(one_source_takes_every_id),
      TEST(inherited_child_is_known_by_its_parents_id),
      TEST(record_with_an_unknown_id_is_raw_and_the_next_is_not),
      TEST(record_with_id_0_is_of_the_first_source),
      TEST(id_0_of_a_source_is_its_own),
      TEST(record_of_an_unknown_id_is_decoded_if_layouts_agree),
      TEST(sample_of_an_unknown_id_is_not_of_a_counting_event),
      TEST(mmap2_without_prot_and_flags_can_be_asked_for),
      TEST(mmap2_of_each_source_is_read_as_that_asks),
      TEST(broken_record_of_a_known_id_has_its_source),
      TEST(unknown_type_with_an_unknown_id_is_raw_without_source),
      TEST(record_too_short_for_an_id_is_raw_without_source),
      TEST(sources_with_many_ids_are_found),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
