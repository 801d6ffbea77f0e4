/* SPDX-License-Identifier: MIT */
/* A decoder whose sources come and go. */
#include "support.h"

#include "decode/decoder.h"
#include "fake_kernel.h"
#include "check_record.h"
#include "util/alloc.h"

#define ATTRS   4
#define SOURCES 300

typedef struct fixture_s {
  uvperf_decoder_t *decoder;
  struct perf_event_attr attrs[ATTRS];
  uint64_t ids[SOURCES][2];
  uvperf_source_t sources[SOURCES];
} fixture_t;

static fixture_t fx;

static void init_attr(struct perf_event_attr *attr, uint64_t sample_type) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->sample_type = PERF_SAMPLE_IDENTIFIER | sample_type;
  attr->sample_id_all = 1;
}

/* Source i has attr i % ATTRS and the ids 2 * i and the next. */
static int setup(void **state) {
  static const uint64_t types[ATTRS] = {
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
      PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
      PERF_SAMPLE_RAW | PERF_SAMPLE_CPU, BUILD_SAMPLE_ALL};
  size_t i;

  fake_kernel_reset();
  memset(&fx, 0, sizeof(fx));
  for (i = 0; i < ATTRS; i++)
    init_attr(&fx.attrs[i], types[i]);
  for (i = 0; i < SOURCES; i++) {
    fx.ids[i][0] = 2 * i;
    fx.ids[i][1] = 2 * i + 1;
    fx.sources[i].size = sizeof(fx.sources[i]);
    fx.sources[i].attr = &fx.attrs[i % ATTRS];
    fx.sources[i].ids = fx.ids[i];
    fx.sources[i].nr_ids = 2;
  }
  return uvperf__decoder_make(&fx.decoder);
}

static int teardown(void **state) {
  uvperf_decoder_free(fx.decoder);
  fake_assert_clean();
  return 0;
}

static void add(size_t i) {
  assert_int_equal(uvperf__decoder_add(fx.decoder, &fx.sources[i]), 0);
}

static void drop(size_t i) {
  uvperf__decoder_remove(fx.decoder, &fx.sources[i]);
}

/* The last two have attrs with different layouts, so that a record of an
 * unknown id is raw. */
static void add_two_kinds(void) {
  add(SOURCES - 2);
  add(SOURCES - 1);
}

static void drop_two_kinds(void) {
  drop(SOURCES - 2);
  drop(SOURCES - 1);
}

/* Decodes a record of source i, and returns it. */
static const uvperf_record_t *decode(size_t i, uint32_t type, int expected) {
  static record_builder_t builder;
  const uvperf_record_t *record;
  record_values_t values;

  record_values_init(&values);
  values.id = fx.ids[i][type % 2];
  values.stream_id = 12345;
  record_build(&builder, type, fx.sources[i].attr, &values);
  assert_int_equal(
      uvperf_decode(fx.decoder, builder.words, builder.size, &record),
      expected);
  if (expected != 0)
    check_record_raw(record, builder.words, NULL);
  else
    check_record_fields(record, type, fx.sources[i].attr, &values,
                        builder.words);
  return record;
}

static void assert_known(size_t i) {
  uint32_t type;

  for (type = 1; type <= BUILD_TYPES; type++)
    assert_ptr_equal(decode(i, type, 0)->source, &fx.sources[i]);
  assert_ptr_equal(uvperf__decoder_source(fx.decoder, fx.ids[i][0]),
                   &fx.sources[i]);
  assert_ptr_equal(uvperf__decoder_source(fx.decoder, fx.ids[i][1]),
                   &fx.sources[i]);
}

static void assert_unknown(size_t i) {
  uint32_t type;

  for (type = 1; type <= BUILD_TYPES; type++)
    decode(i, type, -EPROTO);
  assert_null(uvperf__decoder_source(fx.decoder, fx.ids[i][0]));
  assert_null(uvperf__decoder_source(fx.decoder, fx.ids[i][1]));
}

static void record_has_no_source_before_add_and_after_remove(void **state) {
  assert_unknown(0);
  add_two_kinds();
  assert_unknown(0);
  add(0);
  assert_known(0);
  assert_unknown(1);
  drop(0);
  assert_unknown(0);
  add(1); /* of another attr */
  assert_known(1);
  assert_unknown(0);
}

static void sources_that_come_and_go_at_random_are_known_meanwhile(void **s) {
  static int in[SOURCES];
  uint64_t random = 3;
  size_t step, i;

  memset(in, 0, sizeof(in));
  add_two_kinds();
  for (step = 0; step < 20000; step++) {
    i = (size_t)(record_random(&random) % (SOURCES - 2));
    if (in[i])
      drop(i);
    else
      add(i);
    in[i] = !in[i];
    i = (size_t)(record_random(&random) % (SOURCES - 2));
    decode(i, 1 + (uint32_t)(step % BUILD_TYPES), in[i] ? 0 : -EPROTO);
  }
  for (i = 0; i < SOURCES - 2; i++)
    if (in[i])
      assert_known(i);
    else
      assert_unknown(i);
  for (i = 0; i < SOURCES; i++)
    if (in[i])
      drop(i);
  drop_two_kinds();
  assert_int_equal(fx.decoder->ids.nr_used, 0);
  assert_int_equal(fx.decoder->attrs.nr_used, 0);
}

static void thousands_of_one_attr_take_a_table_entry_each(void **state) {
  size_t before, i;

  for (i = 0; i < SOURCES; i++)
    fx.sources[i].attr = &fx.attrs[0];
  add(0);
  before = fake_live_allocations();
  for (i = 1; i < SOURCES; i++)
    add(i);
  assert_int_equal(fake_live_allocations(), before);
  assert_known(0);
  assert_known(SOURCES - 1);
  for (i = 0; i < SOURCES; i++)
    drop(i);
}

/* Without any decoding, as for targets that come and go without records. */
static void sources_that_change_for_ever_take_no_more_memory(void **state) {
  size_t i, before;

  add(0);
  add(1);
  drop(1);
  before = fake_live_allocations();
  for (i = 0; i < 100000; i++) {
    add(1 + i % (ATTRS - 1));
    drop(1 + i % (ATTRS - 1));
    assert_true(fake_live_allocations() <= before);
  }
  assert_int_equal(fx.decoder->ids.nr_slots, 8);
}

/* The same while a record of each is in use when it is removed. */
static void samples_of_what_goes_are_kept_one_at_a_time(void **state) {
  size_t i, before;

  add(0);
  before = fake_live_allocations();
  for (i = 0; i < 1000; i++) {
    add(1 + i % (ATTRS - 1));
    decode(1 + i % (ATTRS - 1), PERF_RECORD_SAMPLE, 0);
    drop(1 + i % (ATTRS - 1));
    assert_true(fake_live_allocations() <= before + 1);
  }
}

/* What a callback may do: its own source goes, others come, also one whose attr
 * has the address of the old one. */
static void sample_in_hand_stays_as_it_is(void **state) {
  static uvperf_record_t copy;
  const uvperf_record_t *record;
  size_t i;

  add(0);
  record = decode(0, PERF_RECORD_SAMPLE, 0);
  memcpy(&copy, record, sizeof(copy));
  drop(0);
  init_attr(&fx.attrs[0], PERF_SAMPLE_CPU);
  for (i = 0; i < SOURCES; i++)
    add(i);
  for (i = 0; i < SOURCES; i++)
    drop(i);
  assert_memory_equal(record, &copy, sizeof(copy));
  add(0);
  assert_known(0); /* by its new attr */
}

static void sample_has_its_own_source_among_equal_attrs(void **state) {
  add_two_kinds();
  add(0);
  add(ATTRS);
  assert_ptr_equal(decode(0, PERF_RECORD_SAMPLE, 0),
                   decode(ATTRS, PERF_RECORD_SAMPLE, 0));
  assert_known(0);
  assert_known(ATTRS);
  drop(0);
  assert_unknown(0);
  assert_known(ATTRS);
}

/* The sample of source i, written with another process's id. */
static const uvperf_record_t *decode_foreign(size_t i, size_t alone,
                                             int expected) {
  static record_builder_t builder;
  const uvperf_record_t *record;
  record_values_t values;

  record_values_init(&values);
  values.id = 12345;
  values.surplus_bytes = 16;
  record_build(&builder, PERF_RECORD_SAMPLE, fx.sources[i].attr, &values);
  assert_int_equal(uvperf__decode(fx.decoder,
                                  alone < SOURCES ? &fx.sources[alone] : NULL,
                                  builder.words, builder.size, &record),
                   expected);
  if (expected == 0)
    check_record_fields(record, PERF_RECORD_SAMPLE, fx.sources[i].attr, &values,
                        builder.words);
  return record;
}

/* By a record of another process that is longer than its header says. */
static void record_whose_header_was_overwritten_has_its_size(void **state) {
  const uint16_t sizes[] = {0, 4, 12, UINT16_MAX};
  struct perf_event_header header;
  const uvperf_record_t *record;
  record_builder_t builder;
  record_values_t values;
  size_t i;

  add_two_kinds();
  add(0);
  record_values_init(&values);
  values.id = fx.ids[0][0];
  record_build(&builder, PERF_RECORD_SAMPLE, fx.sources[0].attr, &values);
  for (i = 0; i < COUNT_OF(sizes); i++) {
    memcpy(&header, builder.words, sizeof(header));
    header.size = sizes[i];
    memcpy(builder.words, &header, sizeof(header));
    assert_int_equal(
        uvperf__decode(fx.decoder, NULL, builder.words, builder.size, &record),
        0);
    assert_int_equal(record->size, builder.size);
    assert_ptr_equal(record->source, &fx.sources[0]);
    assert_int_equal(
        uvperf_decode(fx.decoder, builder.words, builder.size, &record),
        -EPROTO);
  }
}

static void sample_of_who_writes_alone_is_its_own(void **state) {
  add_two_kinds();
  add(0);
  add(1);
  decode_foreign(0, SOURCES, -EPROTO);
  assert_ptr_equal(decode_foreign(0, 0, 0)->source, &fx.sources[0]);
  assert_ptr_equal(decode_foreign(1, 1, 0)->source, &fx.sources[1]);
  assert_known(0); /* also if another source is alone */
  assert_known(1);
}

/* It is not found out which of them wrote it. */
static void sample_of_one_of_many_with_one_attr_is_decoded(void **state) {
  fx.attrs[0].sample_period = 1;
  add(0);
  add(ATTRS);
  assert_null(decode_foreign(0, SOURCES, 0)->source);
  drop(0);
  assert_null(decode_foreign(0, SOURCES, 0)->source);
  assert_ptr_equal(decode_foreign(0, ATTRS, 0)->source, &fx.sources[ATTRS]);
}

static void assert_refused(size_t i, int code) {
  size_t before = fake_live_allocations();

  assert_int_equal(uvperf__decoder_add(fx.decoder, &fx.sources[i]), code);
  assert_int_equal(fake_live_allocations(), before);
  assert_known(0);
}

static void add_of_sources_that_look_alike_is_refused(void **state) {
  struct perf_event_attr attr;

  add(0);
  fx.sources[ATTRS].nr_ids = 0;
  assert_refused(ATTRS, -EINVAL);
  fx.ids[1][1] = fx.ids[0][1];
  assert_refused(1, -EEXIST);
  assert_null(uvperf__decoder_source(fx.decoder, fx.ids[1][0]));
  assert_refused(0, -EEXIST); /* twice */
  fx.attrs[2].sample_id_all = 0;
  assert_refused(2, -EINVAL);
  fx.attrs[2].sample_id_all = 1;
  fx.attrs[2].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID;
  assert_refused(2, -EINVAL);
  fx.sources[3].size = 8;
  assert_refused(3, -EINVAL);
  fx.sources[3].size = sizeof(fx.sources[3]) + 8; /* the size of the next */
  assert_refused(3, -E2BIG);
  init_attr(&attr, 0);
  attr.size = 8;
  fx.sources[5].attr = &attr;
  assert_refused(5, -EINVAL);
}

/* The place of the id is fixed only while there are sources. */
static void ids_may_lie_elsewhere_when_all_have_gone(void **state) {
  add(0);
  drop(0);
  fx.attrs[0].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID | PERF_SAMPLE_CPU;
  add(0);
  assert_known(0);
  assert_int_equal(uvperf__decoder_add(fx.decoder, &fx.sources[1]), -EINVAL);
}

static void add_of_an_id_that_is_there_twice_counts_it_once(void **state) {
  fx.ids[0][1] = fx.ids[0][0];
  add(0);
  assert_known(0);
  drop(0);
  assert_unknown(0);
  assert_int_equal(fx.decoder->ids.nr_used, 0);
}

/* Uses up the scripted failure, if it has not happened yet. */
static void use_up_failures(unsigned wanted) {
  while (fake_failures() < wanted)
    uvperf__free(uvperf__calloc(1, 1));
}

static void add_without_memory_changes_nothing(void **state) {
  unsigned tries = 0, nth;
  size_t i, before;
  int rc;

  for (i = 0; i < 2 * ATTRS; i++) {
    before = fake_live_allocations();
    for (nth = 1, rc = -ENOMEM; rc != 0; nth++) {
      fake_fail(FAKE_CALLOC, nth, 0);
      rc = uvperf__decoder_add(fx.decoder, &fx.sources[i]);
      use_up_failures(++tries);
      if (rc == 0)
        break;
      assert_int_equal(rc, -ENOMEM);
      assert_unknown(i);
      /* A table that grew may have stayed so. */
      assert_int_equal(fake_live_allocations(), before);
    }
    assert_known(0);
    assert_known(i);
  }
  assert_true(tries > 2 * ATTRS); /* some did fail */
}

static void make_without_memory_is_enomem(void **state) {
  uvperf_decoder_t *decoder;
  unsigned nth;

  for (nth = 1; nth <= 3; nth++) {
    fake_fail(FAKE_CALLOC, nth, 0);
    assert_int_equal(uvperf__decoder_make(&decoder), -ENOMEM);
    assert_null(decoder);
  }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(record_has_no_source_before_add_and_after_remove),
      TEST(sources_that_come_and_go_at_random_are_known_meanwhile),
      TEST(thousands_of_one_attr_take_a_table_entry_each),
      TEST(sources_that_change_for_ever_take_no_more_memory),
      TEST(samples_of_what_goes_are_kept_one_at_a_time),
      TEST(sample_in_hand_stays_as_it_is),
      TEST(sample_has_its_own_source_among_equal_attrs),
      TEST(record_whose_header_was_overwritten_has_its_size),
      TEST(sample_of_who_writes_alone_is_its_own),
      TEST(sample_of_one_of_many_with_one_attr_is_decoded),
      TEST(add_of_sources_that_look_alike_is_refused),
      TEST(ids_may_lie_elsewhere_when_all_have_gone),
      TEST(add_of_an_id_that_is_there_twice_counts_it_once),
      TEST(add_without_memory_changes_nothing),
      TEST(make_without_memory_is_enomem),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
