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
#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

static uint64_t combination(unsigned int set) {
  uint64_t type = 0;
  size_t i;

  for (i = 0; i < NR_FIELDS; i++)
    if (set >> i & 1)
      type |= fields[i];
  return type;
}

static void init_attr(struct perf_event_attr *attr, uint64_t sample_type) {
  memset(attr, 0, sizeof(*attr));
  attr->size = sizeof(*attr);
  attr->sample_type = sample_type;
  attr->read_format = BUILD_FORMAT_ALL;
  attr->sample_id_all = 1;
}

static void each_type(uvperf_decoder_t *decoder,
                      const struct perf_event_attr *attr,
                      const record_values_t *values) {
  static record_builder_t builder;
  const uvperf_record_t *record;
  uint32_t type;

  for (type = 1; type <= BUILD_TYPES; type++) {
    void *bytes;

    record_build(&builder, type, attr, values);
    bytes = record_cut(&builder, builder.size);
    assert_int_equal(uvperf_decode(decoder, bytes, builder.size, &record), 0);
    check_record_fields(record, type, attr, values, bytes);
    free(bytes);
  }
}

static void
trailer_of_every_combination_is_decoded_after_every_type(void **state) {
  struct perf_event_attr attr;
  record_values_t values;
  unsigned int set;

  record_values_init(&values);
  for (set = 0; set < 1u << NR_FIELDS; set++) {
    uvperf_source_t source;
    uvperf_decoder_t *decoder;

    init_attr(&attr, combination(set));
    decoder = record_decoder(&source, &attr);
    each_type(decoder, &attr, &values);
    uvperf_decoder_free(decoder);
  }
}

static void trailer_not_asked_for_leaves_who_and_when_0(void **state) {
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  record_values_t values;

  record_values_init(&values);
  init_attr(&attr, BUILD_SAMPLE_ALL);
  attr.sample_id_all = 0;
  decoder = record_decoder(&source, &attr);
  each_type(decoder, &attr, &values);
  uvperf_decoder_free(decoder);
}

/* After a type that the library does not know. */
static void trailer_of_an_unknown_type_is_decoded(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  record_values_t v;
  void *bytes;

  record_values_init(&v);
  init_attr(&attr, BUILD_SAMPLE_ALL);
  decoder = record_decoder(&source, &attr);
  record_build(&builder, BUILD_TYPES + 1, &attr, &v);
  bytes = record_cut(&builder, builder.size);
  assert_int_equal(uvperf_decode(decoder, bytes, builder.size, &record), 0);
  assert_int_equal(record->type, BUILD_TYPES + 1);
  assert_ptr_equal(record->source, &source);
  assert_int_equal(record->present, combination(0x3f));
  assert_int_equal(record->pid, v.pid);
  assert_int_equal(record->tid, v.tid);
  assert_int_equal(record->time, v.time);
  assert_int_equal(record->id, v.id);
  assert_int_equal(record->stream_id, v.stream_id);
  assert_int_equal(record->cpu, v.cpu);
  free(bytes);
  /* The raw record of a broken one shows nothing of it. */
  record_begin(&builder, PERF_RECORD_LOST, 0);
  record_end(&builder);
  assert_int_equal(uvperf_decode(decoder, builder.words, builder.size, &record),
                   -EPROTO);
  check_record_raw(record, builder.words, &source);
  uvperf_decoder_free(decoder);
}

static void
trailer_that_does_not_fit_an_unknown_type_is_left_out(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  size_t size;

  init_attr(&attr, BUILD_SAMPLE_ALL);
  decoder = record_decoder(&source, &attr);
  record_begin(&builder, 1000, 0xffff);
  for (size = 8; size < 8 + 6 * 8; size += 8) {
    void *bytes = record_cut(&builder, size);

    assert_int_equal(uvperf_decode(decoder, bytes, size, &record), 0);
    check_record_raw(record, bytes, &source);
    free(bytes);
    record_put_u64(&builder, UINT64_MAX);
  }
  uvperf_decoder_free(decoder);
}

static void trailer_that_does_not_fit_a_known_type_is_refused(void **state) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record;
  size_t size;

  init_attr(&attr, BUILD_SAMPLE_ALL);
  decoder = record_decoder(&source, &attr);
  record_begin(&builder, PERF_RECORD_SWITCH, 0);
  for (size = 8; size < 8 + 6 * 8; size += 8) {
    void *bytes = record_cut(&builder, size);

    assert_int_equal(uvperf_decode(decoder, bytes, size, &record), -EPROTO);
    check_record_raw(record, bytes, &source);
    free(bytes);
    record_put_u64(&builder, UINT64_MAX);
  }
  uvperf_decoder_free(decoder);
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
  uvperf_decoder_t *one, *two = NULL;
  size_t i, words;

  sources[0].ids = &values->id;
  sources[1].ids = &other_id;
  other.sample_type ^= PERF_SAMPLE_TID;
  assert_int_equal(uvperf_decoder_new(&one, both + 1, 1), 0);
  if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
    assert_int_equal(uvperf_decoder_new(&two, both, 2), 0);
  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    record_build(&builder, types[i], attr, values);
    for (words = 0; words < 7; words++) {
      decode_surplus(one, &builder, types[i], attr, values);
      if (two != NULL)
        decode_surplus(two, &builder, types[i], attr, values);
      record_put_u64(&builder, words);
      record_end(&builder);
    }
  }
  uvperf_decoder_free(one);
  uvperf_decoder_free(two);
}

static void trailer_before_bytes_of_other_events_is_decoded(void **state) {
  struct perf_event_attr attr;
  record_values_t values;
  unsigned int set;

  record_values_init(&values);
  for (set = 0; set < 1u << NR_FIELDS; set++) {
    init_attr(&attr, combination(set));
    each_surplus(&attr, &values);
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
