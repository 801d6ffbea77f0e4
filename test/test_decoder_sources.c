/* SPDX-License-Identifier: MIT */
/* Several events in one ring: their records are told apart by id. */
#include "support.h"

#include "record_check.h"

#define MOST 64

/* A decoder's sources, each with its own attr and ids. */
typedef struct ring_s {
  struct perf_event_attr attrs[MOST];
  uint64_t ids[MOST][2];
  uvperf_source_t sources[MOST];
  const uvperf_source_t *pointers[MOST];
  size_t nr;
} ring_t;

static const uint64_t extras[] = {
    PERF_SAMPLE_IP | PERF_SAMPLE_TID,
    PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME,
    PERF_SAMPLE_RAW | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU,
    PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_ID,
    0,
    BUILD_SAMPLE_ALL};

#define NR_EXTRAS (sizeof(extras) / sizeof(extras[0]))

/* Source i asks for extras[i % NR_EXTRAS] and `common`, and has the ids 1000 +
 * 2 * i and the next. */
static void init_ring(ring_t *ring, size_t nr, uint64_t common) {
  size_t i;

  memset(ring, 0, sizeof(*ring));
  ring->nr = nr;
  for (i = 0; i < nr; i++) {
    struct perf_event_attr *attr = &ring->attrs[i];

    attr->size = sizeof(*attr);
    attr->sample_type = common | extras[i % NR_EXTRAS];
    attr->sample_regs_user = i;
    attr->sample_id_all = 1;
    ring->ids[i][0] = 1000 + 2 * i;
    ring->ids[i][1] = 1001 + 2 * i;
    ring->sources[i].size = sizeof(ring->sources[i]);
    ring->sources[i].attr = attr;
    ring->sources[i].ids = ring->ids[i];
    ring->sources[i].nr_ids = 2;
    ring->pointers[i] = &ring->sources[i];
  }
}

static int try_new(ring_t *ring, uvperf_decoder_t **decoder) {
  int rc = uvperf_decoder_new(decoder, ring->pointers, ring->nr);

  assert_int_equal(rc == 0, *decoder != NULL);
  return rc;
}

static void assert_refused(ring_t *ring) {
  uvperf_decoder_t *decoder;

  assert_int_equal(try_new(ring, &decoder), -EINVAL);
}

/* A record of source i, with one of its ids and a STREAM_ID that is another
 * source's id. */
static void roundtrip(ring_t *ring, uvperf_decoder_t *decoder, size_t i,
                      uint32_t type) {
  static record_builder_t builder;
  const uvperf_record_t *record;
  record_values_t values;
  void *bytes;

  record_values_init(&values);
  values.id = ring->ids[i][type % 2];
  values.stream_id = ring->ids[(i + 1) % ring->nr][0];
  record_build(&builder, type, &ring->attrs[i], &values);
  bytes = record_cut(&builder, builder.size);
  assert_int_equal(uvperf_decode(decoder, bytes, builder.size, &record), 0);
  assert_ptr_equal(record->source, &ring->sources[i]);
  record_check(record, type, &ring->attrs[i], &values, bytes);
  free(bytes);
}

static void each_source_and_type(ring_t *ring) {
  uvperf_decoder_t *decoder;
  uint32_t type;
  size_t i;

  assert_int_equal(try_new(ring, &decoder), 0);
  for (type = 1; type <= BUILD_TYPES; type++)
    for (i = 0; i < ring->nr; i++)
      roundtrip(ring, decoder, i, type);
  uvperf_decoder_free(decoder);
}

static void
records_of_mixed_sample_types_are_told_apart_by_identifier(void **state) {
  static ring_t ring;
  size_t nr;

  (void)state;
  for (nr = 2; nr <= MOST; nr += nr < 8 ? 1 : 14) {
    init_ring(&ring, nr, PERF_SAMPLE_IDENTIFIER);
    each_source_and_type(&ring);
  }
}

static void records_are_told_apart_by_id_at_one_fixed_place(void **state) {
  static const uint64_t types[] = {
      PERF_SAMPLE_ID, PERF_SAMPLE_IP | PERF_SAMPLE_ID | PERF_SAMPLE_CPU,
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
          PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
          PERF_SAMPLE_PERIOD};
  static const uint64_t behind[] = {0, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW};
  static ring_t ring;
  size_t i, j;

  (void)state;
  for (i = 0; i < 3; i++) {
    init_ring(&ring, 3, 0);
    for (j = 0; j < 3; j++)
      ring.attrs[j].sample_type = types[i] | behind[j];
    each_source_and_type(&ring);
  }
}

/* The ID of one, first in its sample and last in its trailer, lies where the
 * other has its IDENTIFIER. */
static void id_and_identifier_at_one_place_go_together(void **state) {
  static ring_t ring;

  (void)state;
  init_ring(&ring, 2, 0);
  ring.attrs[0].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;
  each_source_and_type(&ring);
}

static void id_at_different_places_is_refused(void **state) {
  static ring_t ring;

  (void)state;
  init_ring(&ring, 2, 0);
  ring.attrs[0].sample_type = PERF_SAMPLE_ID;
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_IP; /* samples */
  assert_refused(&ring);
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_CPU; /* trailers */
  assert_refused(&ring);
  ring.attrs[1].sample_type = PERF_SAMPLE_ID | PERF_SAMPLE_RAW;
  each_source_and_type(&ring);
}

static void sources_that_cannot_be_told_apart_are_refused(void **state) {
  static ring_t ring;

  (void)state;
  init_ring(&ring, 3, PERF_SAMPLE_IDENTIFIER);
  ring.attrs[2].sample_type = PERF_SAMPLE_STREAM_ID;
  assert_refused(&ring);
  init_ring(&ring, 3, PERF_SAMPLE_IDENTIFIER);
  ring.attrs[1].sample_id_all = 0;
  assert_refused(&ring);
  init_ring(&ring, 3, PERF_SAMPLE_IDENTIFIER);
  ring.sources[0].nr_ids = 0;
  assert_refused(&ring);
  init_ring(&ring, 3, PERF_SAMPLE_IDENTIFIER);
  ring.ids[2][1] = ring.ids[0][0];
  assert_refused(&ring);
}

/* One source needs neither ids nor a place for them. */
static void one_source_takes_every_id(void **state) {
  static record_builder_t builder;
  static ring_t ring;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;

  (void)state;
  init_ring(&ring, 1, PERF_SAMPLE_IDENTIFIER);
  assert_int_equal(try_new(&ring, &decoder), 0);
  record_values_init(&values);
  values.id = 1; /* not its own */
  record_build(&builder, PERF_RECORD_SAMPLE, &ring.attrs[0], &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   0);
  assert_ptr_equal(record->source, &ring.sources[0]);
  assert_int_equal(record->id, 1);
  uvperf_decoder_free(decoder);
}

/* go-perf throws the whole ring away on a STREAM_ID that it does not know, and
 * each inherited child has one of its own. */
static void inherited_child_is_known_by_its_parents_id(void **state) {
  static record_builder_t builder;
  static ring_t ring;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;
  uint32_t type;

  (void)state;
  init_ring(&ring, 2, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STREAM_ID);
  assert_int_equal(try_new(&ring, &decoder), 0);
  record_values_init(&values);
  values.id = ring.ids[1][0];
  for (type = 1; type <= BUILD_TYPES; type++) {
    values.stream_id = 123456 + type; /* nobody's */
    record_build(&builder, type, &ring.attrs[1], &values);
    assert_int_equal(
        uvperf_decode(decoder, builder.words, builder.size, &record), 0);
    assert_ptr_equal(record->source, &ring.sources[1]);
    record_check(record, type, &ring.attrs[1], &values, builder.words);
  }
  uvperf_decoder_free(decoder);
}

static void
record_with_an_id_of_nobody_is_raw_and_the_next_is_not(void **state) {
  static record_builder_t builder;
  static ring_t ring;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;
  uint32_t type;

  (void)state;
  init_ring(&ring, 4, PERF_SAMPLE_IDENTIFIER);
  assert_int_equal(try_new(&ring, &decoder), 0);
  record_values_init(&values);
  for (type = 1; type <= BUILD_TYPES; type++) {
    values.id = type % 2 ? 0 : 999;
    record_build(&builder, type, &ring.attrs[0], &values);
    assert_int_equal(
        uvperf_decode(decoder, builder.words, builder.size, &record), -EPROTO);
    record_check_raw(record, builder.words, NULL);
    roundtrip(&ring, decoder, type % 4, type);
  }
  uvperf_decoder_free(decoder);
}

/* Its body is broken, but whose it is can be told, unlike that of the next. */
static void broken_record_of_a_known_id_has_its_source(void **state) {
  static record_builder_t builder;
  static ring_t ring;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;

  (void)state;
  init_ring(&ring, 4, PERF_SAMPLE_IDENTIFIER);
  assert_int_equal(try_new(&ring, &decoder), 0);
  record_values_init(&values);
  values.id = ring.ids[2][1];
  record_build(&builder, PERF_RECORD_SAMPLE, &ring.attrs[2], &values);
  record_put_u64(&builder, 0); /* unexplained */
  record_end(&builder);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   -EPROTO);
  record_check_raw(record, builder.words, &ring.sources[2]);
  values.id = 999;
  record_build(&builder, PERF_RECORD_SAMPLE, &ring.attrs[2], &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   -EPROTO);
  record_check_raw(record, builder.words, NULL);
  uvperf_decoder_free(decoder);
}

/* There is no saying that a type newer than the library has an id at all. */
static void
unknown_type_with_an_id_of_nobody_is_raw_without_source(void **state) {
  static record_builder_t builder;
  static ring_t ring;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;

  (void)state;
  init_ring(&ring, 4, PERF_SAMPLE_IDENTIFIER);
  assert_int_equal(try_new(&ring, &decoder), 0);
  record_values_init(&values);
  values.id = 999;
  record_build(&builder, 23, &ring.attrs[0], &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   0);
  record_check_raw(record, builder.words, NULL);
  values.id = ring.ids[3][0];
  record_build(&builder, 23, &ring.attrs[3], &values);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   0);
  assert_ptr_equal(record->source, &ring.sources[3]);
  assert_int_equal(record->id, values.id);
  uvperf_decoder_free(decoder);
}

/* The id would lie in the header, or before the record. */
static void record_too_short_for_an_id_is_raw_without_source(void **state) {
  static const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_SWITCH};
  static record_builder_t builder;
  static ring_t ring;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  size_t i, size;

  (void)state;
  init_ring(&ring, 2, 0);
  ring.attrs[0].sample_type = ring.attrs[1].sample_type =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ID |
      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;
  assert_int_equal(try_new(&ring, &decoder), 0);
  for (i = 0; i < 2; i++) {
    record_begin(&builder, types[i], 0);
    for (size = 8; size <= 24; size += 8) {
      void *bytes = record_cut(&builder, size);

      assert_int_equal(uvperf_decode(decoder, bytes, size, &record), -EPROTO);
      record_check_raw(record, bytes, NULL);
      free(bytes);
      record_put_u64(&builder, ring.ids[0][0]);
    }
  }
  uvperf_decoder_free(decoder);
}

/* Ids at random places of 64 bits, many of them. */
static void sources_with_many_ids_are_found(void **state) {
  enum {
    NR = 500
  };
  static uint64_t ids[2][NR];
  static record_builder_t builder;
  static ring_t ring;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;
  uint64_t random = 7;
  size_t i, j;

  (void)state;
  init_ring(&ring, 2, PERF_SAMPLE_IDENTIFIER);
  for (i = 0; i < 2; i++) {
    for (j = 0; j < NR; j++)
      ids[i][j] = j % 2 ? record_random(&random) : 2 * (j << 32) + i;
    ring.sources[i].ids = ids[i];
    ring.sources[i].nr_ids = NR;
  }
  assert_int_equal(try_new(&ring, &decoder), 0);
  record_values_init(&values);
  for (i = 0; i < 2 * NR; i++) {
    values.id = ids[i % 2][i / 2];
    record_build(&builder, PERF_RECORD_SAMPLE, &ring.attrs[i % 2], &values);
    assert_int_equal(
        uvperf_decode(decoder, builder.words, builder.size, &record), 0);
    assert_ptr_equal(record->source, &ring.sources[i % 2]);
  }
  uvperf_decoder_free(decoder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          records_of_mixed_sample_types_are_told_apart_by_identifier),
      cmocka_unit_test(records_are_told_apart_by_id_at_one_fixed_place),
      cmocka_unit_test(id_and_identifier_at_one_place_go_together),
      cmocka_unit_test(id_at_different_places_is_refused),
      cmocka_unit_test(sources_that_cannot_be_told_apart_are_refused),
      cmocka_unit_test(one_source_takes_every_id),
      cmocka_unit_test(inherited_child_is_known_by_its_parents_id),
      cmocka_unit_test(record_with_an_id_of_nobody_is_raw_and_the_next_is_not),
      cmocka_unit_test(broken_record_of_a_known_id_has_its_source),
      cmocka_unit_test(unknown_type_with_an_id_of_nobody_is_raw_without_source),
      cmocka_unit_test(record_too_short_for_an_id_is_raw_without_source),
      cmocka_unit_test(sources_with_many_ids_are_found),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
