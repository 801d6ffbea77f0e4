/* SPDX-License-Identifier: MIT */
/* The format of pipes: records contain everything that a file has in its
 * header. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/features.h"
#include "record/file.h"
#include "make_record.h"
#include "support.h"
#include "make_tree.h"
#include "uvperf.h"

/* Types of tools/lib/perf/include/perf/event.h. */
enum {
  ATTR = 64,
  TRACING_DATA = 66,
  ROUND = 68,
  UPDATE = 78,
  FEATURE = 80
};

/* -- a recording, and the bytes of its stream ------------------------------ */

typedef struct stream_s {
  record_file_t *file;
  struct perf_event_attr attr;
  char path[128];
  int saved; /* stdout */
  unsigned char *bytes;
  size_t size;
} stream_t;

static stream_t piped; /* of the last begin() */

/* Opens "-" while stdout is a file, so that the test can read the stream. */
static void begin(stream_t *stream, void **state) {
  int fd;

  free(stream->bytes);
  memset(stream, 0, sizeof(*stream));
  snprintf(stream->path, sizeof(stream->path), "%s/stream",
           ((make_tree_t *)*state)->root);
  fflush(stdout);
  stream->saved = dup(STDOUT_FILENO);
  fd = open(stream->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
  close(fd);
  stream->file = record_file_open("-");
  assert_int_equal(dup2(stream->saved, STDOUT_FILENO), STDOUT_FILENO);
  close(stream->saved);
  assert_non_null(stream->file);
  uvperf_attr_software(&stream->attr, PERF_COUNT_SW_CPU_CLOCK);
  stream->attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
}

static void put_sample(stream_t *stream) {
  static record_builder_t builder;
  record_values_t values;

  record_values_init(&values);
  record_build(&builder, PERF_RECORD_SAMPLE, &stream->attr, &values);
  assert_int_equal(record_file_write(stream->file, builder.words, builder.size),
                   0);
}

static void finish(stream_t *stream) {
  static char *args[] = {(char *)"record", (char *)"-a", NULL};
  uint64_t bytes;
  struct stat stat_of;
  int fd;

  assert_int_equal(record_file_close(stream->file, args), 0);
  fd = open(stream->path, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(fstat(fd, &stat_of), 0);
  stream->size = (size_t)stat_of.st_size;
  stream->bytes = malloc(stream->size);
  assert_non_null(stream->bytes);
  assert_int_equal(read(fd, stream->bytes, stream->size), stream->size);
  close(fd);
  assert_true(stream->size > 16);
  memcpy(&bytes, stream->bytes, sizeof(bytes));
  assert_true(bytes == RECORD_MAGIC);
  memcpy(&bytes, stream->bytes + 8, sizeof(bytes));
  assert_int_equal(bytes, 16);
}

/* Returns the next record of this type from an offset on, or NULL. *at becomes
 * the offset after it. The data of TRACING_DATA follows its record. */
static const unsigned char *find(const stream_t *stream, size_t *at,
                                 uint32_t type) {
  struct perf_event_header header;
  const unsigned char *bytes;
  uint32_t data;

  if (*at == 0)
    *at = 16;
  while (*at < stream->size) {
    bytes = stream->bytes + *at;
    assert_true(stream->size - *at >= sizeof(header));
    memcpy(&header, bytes, sizeof(header));
    assert_true(header.size >= sizeof(header));
    assert_int_equal(header.size % 8, 0);
    assert_true(header.size <= stream->size - *at);
    *at += header.size;
    if (header.type == TRACING_DATA) {
      memcpy(&data, bytes + sizeof(header), sizeof(data));
      assert_int_equal(data % 8, 0);
      assert_true(data <= stream->size - *at);
      *at += data;
    }
    if (header.type == type)
      return bytes;
  }
  return NULL;
}

static size_t size_of(const unsigned char *record) {
  struct perf_event_header header;

  memcpy(&header, record, sizeof(header));
  return header.size;
}

static uint64_t word(const unsigned char *record, size_t offset) {
  uint64_t value;

  memcpy(&value, record + offset, sizeof(value));
  return value;
}

/* Expects a record that holds the clock's attr and these ids. */
static void expect_attr(const unsigned char *record, const uint64_t *ids,
                        size_t nr) {
  struct perf_event_attr attr;

  assert_non_null(record);
  memset(&attr, 0, sizeof(attr));
  memcpy(&attr, record + 8, PERF_ATTR_SIZE_VER0);
  assert_int_equal(attr.config, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(size_of(record), 8 + attr.size + nr * sizeof(*ids));
  if (nr > 0)
    assert_memory_equal(record + 8 + attr.size, ids, nr * sizeof(*ids));
}

static void expect_name(const unsigned char *record, uint64_t id,
                        const char *name) {
  assert_non_null(record);
  assert_int_equal(word(record, 8), 2); /* PERF_EVENT_UPDATE__NAME */
  assert_int_equal(word(record, 16), id);
  assert_string_equal((const char *)record + 24, name);
}

/* -- tests ----------------------------------------------------------------- */

static void events_come_before_records(void **state) {
  static const uint64_t ids[] = {11, 12};
  size_t at = 0, sample = 0;

  begin(&piped, state);
  record_file_add_event(piped.file, &piped.attr, "clock");
  record_file_add_id(piped.file, 0, 11);
  record_file_add_id(piped.file, 0, 12);
  put_sample(&piped);
  assert_int_equal(record_file_round(piped.file), 0);
  finish(&piped);
  assert_non_null(find(&piped, &sample, PERF_RECORD_SAMPLE));
  expect_attr(find(&piped, &at, ATTR), ids, 2);
  expect_name(find(&piped, &at, UPDATE), 11, "clock");
  assert_true(at < sample);
  at = sample;
  assert_null(find(&piped, &at, ATTR));
  assert_non_null(find(&piped, &sample, ROUND));
}

static void features_come_where_they_are_known(void **state) {
  uint64_t before = 0, behind = 0;
  const unsigned char *record;
  size_t at = 0, sample = 0;

  begin(&piped, state);
  record_file_add_event(piped.file, &piped.attr, "clock");
  record_file_add_id(piped.file, 0, 11);
  put_sample(&piped);
  finish(&piped);
  assert_non_null(find(&piped, &sample, PERF_RECORD_SAMPLE));
  while ((record = find(&piped, &at, FEATURE)) != NULL) {
    assert_true(word(record, 8) < 64);
    if (at <= sample)
      before |= UINT64_C(1) << word(record, 8);
    else
      behind |= UINT64_C(1) << word(record, 8);
  }
  assert_true(before >> RECORD_HOSTNAME & 1);
  assert_true(before >> RECORD_EVENT_DESC & 1);
  assert_int_equal(before >> RECORD_CMDLINE & 1, 0);
  assert_int_equal(behind, UINT64_C(1) << RECORD_CMDLINE |
                               UINT64_C(1) << RECORD_SAMPLE_TIME);
}

static void late_id_makes_an_event_more(void **state) {
  static const uint64_t first = 11, late = 12;
  size_t at = 0, samples = 0;

  begin(&piped, state);
  record_file_add_event(piped.file, &piped.attr, "clock");
  record_file_add_id(piped.file, 0, first);
  put_sample(&piped);
  record_file_add_id(piped.file, 0, late);
  put_sample(&piped);
  finish(&piped);
  expect_attr(find(&piped, &at, ATTR), &first, 1);
  assert_non_null(find(&piped, &samples, PERF_RECORD_SAMPLE));
  at = samples;
  expect_attr(find(&piped, &at, ATTR), &late, 1);
  expect_name(find(&piped, &at, UPDATE), late, "clock");
  assert_non_null(find(&piped, &at, PERF_RECORD_SAMPLE));
}

/* perf(1) crashes on a tracepoint whose attr comes after the formats. */
static void late_id_of_a_tracepoint_makes_none(void **state) {
  size_t at = 0;

  begin(&piped, state);
  piped.attr.type = PERF_TYPE_TRACEPOINT;
  record_file_add_event(piped.file, &piped.attr, "none:such");
  record_file_add_id(piped.file, 0, 11);
  put_sample(&piped);
  record_file_add_id(piped.file, 0, 12);
  put_sample(&piped);
  finish(&piped);
  assert_non_null(find(&piped, &at, ATTR));
  assert_null(find(&piped, &at, ATTR));
}

/* The size of a record has 16 bits. */
static void many_ids_come_in_more_than_one_record(void **state) {
  const unsigned char *record;
  size_t at = 0, nr = 0, events = 0, i;
  struct perf_event_attr attr;

  begin(&piped, state);
  record_file_add_event(piped.file, &piped.attr, "clock");
  for (i = 0; i < 20000; i++)
    record_file_add_id(piped.file, 0, i + 1);
  put_sample(&piped);
  finish(&piped);
  while ((record = find(&piped, &at, ATTR)) != NULL) {
    memcpy(&attr, record + 8, PERF_ATTR_SIZE_VER0);
    for (i = 8 + attr.size; i < size_of(record); i += 8)
      assert_int_equal(word(record, i), ++nr);
    events++;
  }
  assert_int_equal(nr, 20000);
  assert_int_equal(events, 3);
}

static void pipe_without_records_has_a_header(void **state) {
  size_t at = 0;

  begin(&piped, state);
  record_file_add_event(piped.file, &piped.attr, "clock");
  finish(&piped);
  expect_attr(find(&piped, &at, ATTR), NULL, 0);
}

static void device_gets_the_format_of_pipes(void **state) {
  record_file_t *file = record_file_open("/dev/null");

  begin(&piped, state);
  assert_non_null(file);
  record_file_add_event(file, &piped.attr, "clock");
  assert_int_equal(record_file_close(file, NULL), 0);
  finish(&piped);
  assert_int_not_equal(access("/dev/null.old", F_OK), 0);
}

static void full_device_is_an_error(void **state) {
  record_file_t *file = record_file_open("/dev/full");

  assert_non_null(file);
  assert_int_equal(record_file_sync(file), -ENOSPC);
  assert_int_equal(record_file_round(file), -ENOSPC);
  assert_int_equal(record_file_close(file, NULL), -ENOSPC);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(events_come_before_records),
      MAKE_TREE_TEST(features_come_where_they_are_known),
      MAKE_TREE_TEST(late_id_makes_an_event_more),
      MAKE_TREE_TEST(late_id_of_a_tracepoint_makes_none),
      MAKE_TREE_TEST(many_ids_come_in_more_than_one_record),
      MAKE_TREE_TEST(pipe_without_records_has_a_header),
      MAKE_TREE_TEST(device_gets_the_format_of_pipes),
      MAKE_TREE_TEST(full_device_is_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
