/* SPDX-License-Identifier: MIT */
/* Copies of records, after everything that the records pointed to is gone. */
#include "support.h"

#include "check_record.h"
#include "uvperf/name.h"

/* What belongs to one record. All of it is in memory of its own size, for ASan
 * to guard. */
typedef struct original_s {
  uvperf_source_t *source;
  struct perf_event_attr *attr;
  uint64_t *ids;
  uvperf_decoder_t *decoder;
  void *bytes;
  size_t size;
  const uvperf_record_t *record;
} original_t;

/* What is copied: the event, its values, and the record. */
static struct perf_event_attr attr;
static record_values_t values;
static record_builder_t builder;
static original_t original;
static const uvperf_event_item_t item;

/* Decodes the builder's record, and returns the code. */
static int original_decode(void) {
  original.attr = malloc(attr.size);
  original.source = malloc(sizeof(*original.source));
  original.ids = malloc(2 * sizeof(*original.ids));
  memcpy(original.attr, &attr, attr.size);
  uvperf_decoder_free(record_decoder(original.source, original.attr));
  original.ids[0] = 77;
  original.ids[1] = 78;
  original.source->ids = original.ids;
  original.source->nr_ids = 2;
  original.source->data = &builder;
  original.source->item = &item;
  original.source->serial = 4711;
  assert_int_equal(
      uvperf_decoder_new(&original.decoder,
                         (const uvperf_source_t *const *)&original.source, 1),
      0);
  original.size = builder.size;
  original.bytes = record_cut(&builder, builder.size);
  return uvperf_decode(original.decoder, original.bytes, original.size,
                       &original.record);
}

/* The ring is overwritten, and the rest is freed. */
static void original_end(void) {
  memset(original.bytes, 0xff, original.size);
  free(original.bytes);
  uvperf_decoder_free(original.decoder);
  memset(original.source, 0xff, sizeof(*original.source));
  free(original.source);
  free(original.attr);
  free(original.ids);
}

/* Copies into memory of exactly the size that is needed. */
static uvperf_record_t *copy_of(const uvperf_record_t *record, size_t *size) {
  uvperf_record_t *copy;

  *size = 0;
  assert_int_equal(uvperf_record_copy(record, NULL, size), -ENOBUFS);
  copy = malloc(*size);
  assert_non_null(copy);
  memset(copy, 0xff, *size);
  assert_int_equal(uvperf_record_copy(record, copy, size), 0);
  return copy;
}

static int is_within(const void *at, const uvperf_record_t *copy, size_t size) {
  return (const char *)at >= (const char *)copy &&
         (const char *)at < (const char *)copy + size;
}

typedef struct job_s {
  const uvperf_record_t *copy;
  size_t size;
  uint32_t type;
} job_t;

/* In another thread. */
static void check_copy(void *arg) {
  const job_t *job = arg;
  const uvperf_source_t *source = job->copy->source;

  check_record_fields(job->copy, job->type, &attr, &values, job->copy->bytes);
  check_record_bounds(job->copy);
  assert_true(is_within(job->copy->bytes, job->copy, job->size));
  assert_true(is_within(source, job->copy, job->size));
  assert_true(is_within(source->attr, job->copy, job->size));
  assert_true(is_within(source->ids, job->copy, job->size));
  assert_memory_equal(source->attr, &attr, attr.size);
  assert_int_equal(source->nr_ids, 2);
  assert_int_equal(source->ids[1], 78);
  assert_ptr_equal(source->data, &builder);
  assert_ptr_equal(source->item, &item);
  assert_int_equal(source->serial, 4711);
}

static void roundtrip(uint32_t type) {
  uvperf_record_t *copy, *second;
  uv_thread_t thread;
  job_t job;

  record_build(&builder, type, &attr, &values);
  assert_int_equal(original_decode(), 0);
  copy = copy_of(original.record, &job.size);
  original_end();
  second = copy_of(copy, &job.size);
  memset(copy, 0xff, job.size);
  free(copy);
  job.copy = second;
  job.type = type;
  assert_int_equal(uv_thread_create(&thread, check_copy, &job), 0);
  uv_thread_join(&thread);
  free(second);
}

static void init(void) {
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.sample_type = BUILD_SAMPLE_ALL;
  attr.read_format = BUILD_FORMAT_ALL;
  attr.branch_sample_type = BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS;
  attr.sample_regs_user = 0x55;
  attr.sample_regs_intr = 0x3;
  attr.sample_id_all = 1;
  record_values_init(&values);
}

static void copy_of_each_type_outlives_its_record(void **state) {
  uint32_t type;

  init();
  for (type = 1; type <= BUILD_TYPES; type++)
    roundtrip(type);
  attr.sample_id_all = 0;
  for (type = 1; type <= BUILD_TYPES; type++)
    roundtrip(type);
}

static void copy_of_each_field_of_samples_outlives_its_record(void **state) {
  uint64_t bit;

  init();
  for (bit = 1; bit <= BUILD_SAMPLE_ALL; bit <<= 1) {
    attr.sample_type = bit;
    roundtrip(PERF_RECORD_SAMPLE);
  }
  for (attr.read_format = 0; attr.read_format <= BUILD_FORMAT_ALL;
       attr.read_format++) {
    attr.sample_type = PERF_SAMPLE_READ;
    roundtrip(PERF_RECORD_SAMPLE);
    roundtrip(PERF_RECORD_READ);
  }
}

/* Arrays without elements have no pointer. */
static void copy_of_empty_arrays_has_none(void **state) {
  init();
  values.callchain_nr = 0;
  values.branch_nr = 0;
  values.no_branch_stack = 1;
  values.stack_size = 0;
  values.dyn_size = 0;
  values.aux_size = 0;
  values.nr = 0;
  roundtrip(PERF_RECORD_SAMPLE);
  roundtrip(PERF_RECORD_NAMESPACES);
  roundtrip(UVPERF_RECORD_CALLCHAIN_DEFERRED);
}

/* An attr may be shorter than this program's struct, which can be read. */
static void copy_of_a_short_attr_can_be_read_as_a_whole_one(void **state) {
  struct perf_event_attr whole;
  uvperf_record_t *copy;
  size_t size;

  init();
  attr.size = PERF_ATTR_SIZE_VER0;
  attr.sample_type = PERF_SAMPLE_IP;
  record_build(&builder, PERF_RECORD_SAMPLE, &attr, &values);
  assert_int_equal(original_decode(), 0);
  copy = copy_of(original.record, &size);
  original_end();
  whole = *copy->source->attr;
  assert_int_equal(whole.sample_type, PERF_SAMPLE_IP);
  assert_int_equal(whole.sample_regs_user, 0);
  free(copy);
}

/* The decoder has checked that there is a byte for it. */
static void copy_of_a_text_ends_in_nul(void **state) {
  uvperf_record_t *copy;
  size_t size;

  init();
  record_build(&builder, PERF_RECORD_COMM, &attr, &values);
  assert_int_equal(original_decode(), 0);
  size = original.record->comm.comm_size;
  ((char *)original.bytes)[original.record->comm.comm + size -
                           (const char *)original.bytes] = 'x';
  copy = copy_of(original.record, &size);
  original_end();
  assert_string_equal(copy->comm.comm, values.text);
  free(copy);
}

static void copy_of_a_damaged_record_is_raw(void **state) {
  uvperf_record_t *copy;
  size_t size;

  init();
  attr.sample_type = PERF_SAMPLE_CALLCHAIN;
  record_begin(&builder, PERF_RECORD_SAMPLE, 0);
  record_put_u64(&builder, 1000); /* entries that are not there */
  record_end(&builder);
  assert_int_equal(original_decode(), -EPROTO);
  copy = copy_of(original.record, &size);
  original_end();
  check_record_raw(copy, copy->bytes, copy->source);
  assert_memory_equal(copy->bytes, builder.words, builder.size);
  free(copy);
}

/* As a callback gets it "without a record". */
static void copy_of_no_record_has_no_bytes(void **state) {
  uvperf_record_t none, copy;
  size_t size = sizeof(copy);

  memset(&none, 0, sizeof(none));
  none.type = UVPERF_RECORD_NONE;
  none.cpu = 3;
  assert_int_equal(uvperf_record_copy(&none, &copy, &size), 0);
  assert_int_equal(size, sizeof(copy));
  assert_memory_equal(&copy, &none, sizeof(copy));
}

static void copy_without_room_says_how_much_it_needs(void **state) {
  union {
    uvperf_record_t record;
    char bytes[4096];
  } memory, same;
  uvperf_record_t alone;
  size_t size = 0, needed;

  init();
  record_build(&builder, PERF_RECORD_COMM, &attr, &values);
  assert_int_equal(original_decode(), 0);
  memset(&memory, 0x5a, sizeof(memory));
  same = memory;
  assert_int_equal(uvperf_record_copy(original.record, NULL, &size), -ENOBUFS);
  needed = size;
  size = needed - 1;
  assert_int_equal(uvperf_record_copy(original.record, &memory.record, &size),
                   -ENOBUFS);
  assert_int_equal(size, needed);
  assert_int_equal(uvperf_record_copy(NULL, &memory.record, &size), -EINVAL);
  assert_int_equal(uvperf_record_copy(original.record, NULL, &size), -EINVAL);
  assert_int_equal(uvperf_record_copy(original.record, &memory.record, NULL),
                   -EINVAL);
  assert_int_equal(
      uvperf_record_copy(original.record, (void *)(memory.bytes + 4), &size),
      -EINVAL);
  assert_memory_equal(&memory, &same, sizeof(memory));
  /* More than enough is no error. */
  size = sizeof(memory);
  assert_int_equal(uvperf_record_copy(original.record, &memory.record, &size),
                   0);
  assert_int_equal(size, needed);
  assert_memory_equal(memory.bytes + needed, same.bytes + needed,
                      sizeof(memory) - needed);
  /* A record of an unknown event has no source. */
  alone = *original.record;
  alone.source = NULL;
  assert_int_equal(uvperf_record_copy(&alone, &memory.record, &size), 0);
  assert_true(size < needed);
  assert_null(memory.record.source);
  original_end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copy_of_each_type_outlives_its_record),
      cmocka_unit_test(copy_of_each_field_of_samples_outlives_its_record),
      cmocka_unit_test(copy_of_empty_arrays_has_none),
      cmocka_unit_test(copy_of_a_short_attr_can_be_read_as_a_whole_one),
      cmocka_unit_test(copy_of_a_text_ends_in_nul),
      cmocka_unit_test(copy_of_a_damaged_record_is_raw),
      cmocka_unit_test(copy_of_no_record_has_no_bytes),
      cmocka_unit_test(copy_without_room_says_how_much_it_needs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
