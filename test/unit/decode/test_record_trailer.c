/* SPDX-License-Identifier: MIT */
/* The trailer: every combination of its fields after every type. */
#include "support.h"

#include "decode/decoder.h"
#include "check_record.h"

static const uint64_t fields[] = {PERF_SAMPLE_TID,       PERF_SAMPLE_TIME,
                                  PERF_SAMPLE_ID,        PERF_SAMPLE_STREAM_ID,
                                  PERF_SAMPLE_CPU,       PERF_SAMPLE_IDENTIFIER,
                                  PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_IP};

/* The last two are in no trailer. */
#define NR_FIELDS (COUNT_OF(fields))

static uint64_t combination(unsigned int set) {
  uint64_t type = 0;
  size_t i;

  for (i = 0; i < NR_FIELDS; i++)
    if (set >> i & 1)
      type |= fields[i];
  return type;
}

static record_one_t one;

static void begin(uint64_t sample_type) {
  record_one_begin(&one, sample_type);
  one.attr.sample_id_all = 1;
}

static void each_type(void) {
  uint32_t type;

  for (type = 1; type <= BUILD_TYPES; type++)
    record_one_roundtrip(&one, type);
}

static void
trailer_of_every_combination_is_decoded_after_every_type(void **state) {
  unsigned int set;

  for (set = 0; set < 1u << NR_FIELDS; set++) {
    begin(combination(set));
    each_type();
  }
}

static void trailer_not_asked_for_leaves_who_and_when_0(void **state) {
  begin(BUILD_SAMPLE_ALL);
  one.attr.sample_id_all = 0;
  each_type();
}

/* After a type that the library does not know. */
static void trailer_of_an_unknown_type_is_decoded(void **state) {
  const record_values_t *v = &one.values;

  begin(BUILD_SAMPLE_ALL);
  record_one_build(&one, BUILD_TYPES + 1);
  assert_int_equal(record_one_decode(&one), 0);
  assert_int_equal(one.record->type, BUILD_TYPES + 1);
  assert_ptr_equal(one.record->source, &one.source);
  assert_int_equal(one.record->present, combination(0x3f));
  assert_int_equal(one.record->pid, v->pid);
  assert_int_equal(one.record->tid, v->tid);
  assert_int_equal(one.record->time, v->time);
  assert_int_equal(one.record->id, v->id);
  assert_int_equal(one.record->stream_id, v->stream_id);
  assert_int_equal(one.record->cpu, v->cpu);
  /* The raw record of a broken one shows nothing of it. */
  record_begin(&one.builder, PERF_RECORD_LOST, 0);
  record_end(&one.builder);
  record_one_refused(&one, one.builder.size);
}

static void
trailer_that_does_not_fit_an_unknown_type_is_left_out(void **state) {
  size_t size;

  begin(BUILD_SAMPLE_ALL);
  record_begin(&one.builder, 1000, 0xffff);
  for (size = 8; size < 8 + 6 * 8; size += 8) {
    assert_int_equal(record_one_decode_cut(&one, size), 0);
    check_record_raw(one.record, one.bytes, &one.source);
    record_put_u64(&one.builder, UINT64_MAX);
  }
}

static void trailer_that_does_not_fit_a_known_type_is_refused(void **state) {
  size_t size;

  begin(BUILD_SAMPLE_ALL);
  record_begin(&one.builder, PERF_RECORD_SWITCH, 0);
  for (size = 8; size < 8 + 6 * 8; size += 8) {
    record_one_refused(&one, size);
    record_put_u64(&one.builder, UINT64_MAX);
  }
}

/* Decodes a record with bytes after its trailer, and finds its time. */
static void decode_surplus(uvperf_decoder_t *decoder, record_builder_t *builder,
                           uint32_t type, const struct perf_event_attr *attr,
                           const record_values_t *values) {
  void *bytes = record_cut(builder, builder->size);
  const uvperf_record_t *record;
  uint64_t time;

  assert_int_equal(
      uvperf__decoder_find_time(decoder, bytes, uvperf__u64(bytes), &time),
      attr->sample_type & PERF_SAMPLE_TIME ? 1 : 0);
  assert_true(!(attr->sample_type & PERF_SAMPLE_TIME) || time == values->time);
  assert_int_equal(uvperf_decode(decoder, bytes, builder->size, &record), 0);
  check_record_fields(record, type, attr, values, bytes);
  free(bytes);
}

/* As the kernel writes a KSYMBOL, BPF_EVENT and TEXT_POKE for all events that
 * record it except the first. */
static void each_surplus(const struct perf_event_attr *attr,
                         const record_values_t *values) {
  static const uint32_t types[] = {PERF_RECORD_KSYMBOL, PERF_RECORD_BPF_EVENT,
                                   PERF_RECORD_TEXT_POKE};
  static record_builder_t builder;
  struct perf_event_attr other = *attr;
  uint64_t other_id = values->id + 1;
  uvperf_source_t sources[] = {
      {.size = sizeof(sources[0]), .attr = attr, .nr_ids = 1},
      {.size = sizeof(sources[0]), .attr = &other, .nr_ids = 1}};
  const uvperf_source_t *both[] = {&sources[1], &sources[0]};
  uvperf_decoder_t *alone, *two = NULL;
  size_t i, words;

  sources[0].ids = &values->id;
  sources[1].ids = &other_id;
  other.sample_type ^= PERF_SAMPLE_TID;
  assert_int_equal(uvperf_decoder_new(&alone, both + 1, 1), 0);
  if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
    assert_int_equal(uvperf_decoder_new(&two, both, 2), 0);
  for (i = 0; i < COUNT_OF(types); i++) {
    record_build(&builder, types[i], attr, values);
    for (words = 0; words < 7; words++) {
      decode_surplus(alone, &builder, types[i], attr, values);
      if (two != NULL)
        decode_surplus(two, &builder, types[i], attr, values);
      record_put_u64(&builder, words);
      record_end(&builder);
    }
  }
  uvperf_decoder_free(alone);
  uvperf_decoder_free(two);
}

static void trailer_before_bytes_of_other_events_is_decoded(void **state) {
  unsigned int set;

  for (set = 0; set < 1u << NR_FIELDS; set++) {
    begin(combination(set));
    each_surplus(&one.attr, &one.values);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          trailer_of_every_combination_is_decoded_after_every_type),
      cmocka_unit_test(trailer_before_bytes_of_other_events_is_decoded),
      cmocka_unit_test(trailer_not_asked_for_leaves_who_and_when_0),
      cmocka_unit_test(trailer_of_an_unknown_type_is_decoded),
      cmocka_unit_test(trailer_that_does_not_fit_an_unknown_type_is_left_out),
      cmocka_unit_test(trailer_that_does_not_fit_a_known_type_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
