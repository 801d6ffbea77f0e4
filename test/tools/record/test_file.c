/* SPDX-License-Identifier: MIT */
/* The bytes of the perf.data files that record writes are those that the
 * format's description asks for. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "data_file.h"
#include "record/features.h"
#include "record/file.h"
#include "make_record.h"
#include "support.h"
#include "make_tree.h"

#include "uvperf.h"

static char path[128];   /* of the file */
static data_file_t data; /* what was read last */

static int setup(void **state) {
  int rc = make_tree_setup(state);

  memset(&data, 0, sizeof(data));
  snprintf(path, sizeof(path), "%s/perf.data", ((make_tree_t *)*state)->root);
  return rc;
}

static int teardown(void **state) {
  data_file_free(&data);
  return make_tree_teardown(state);
}

static record_file_t *open_file(void) {
  record_file_t *file = record_file_open(path);

  assert_non_null(file);
  return file;
}

static void make_attr(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
                      PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr->sample_id_all = 1;
}

/* A record as the kernel writes it. */
static void put_record(record_file_t *file, uint32_t type,
                       const struct perf_event_attr *attr, uint64_t time) {
  static record_builder_t builder;
  record_values_t values;

  record_values_init(&values);
  values.time = time;
  record_build(&builder, type, attr, &values);
  assert_int_equal(record_file_write(file, builder.words, builder.size), 0);
}

static char *args[] = {(char *)"record", (char *)"-e", (char *)"cpu-clock",
                       NULL};

/* Ends a file, and reads it instead of the last one. */
static void read_back(record_file_t *file) {
  data_file_free(&data);
  assert_int_equal(record_file_close(file, args), 0);
  data_file_read(&data, path);
}

/* Writes and reads a file with two events, a sample, a COMM and the end of a
 * round. */
static void write_file(void) {
  record_file_t *file = open_file();
  struct perf_event_attr attr, dummy;

  make_attr(&attr);
  make_attr(&dummy);
  dummy.config = PERF_COUNT_SW_DUMMY;
  dummy.comm = 1;
  dummy.sample_type &= ~(uint64_t)PERF_SAMPLE_IP;
  assert_int_equal(record_file_add_event(file, &attr, "clock"), 0);
  assert_int_equal(record_file_add_event(file, &dummy, "dummy:HG"), 1);
  record_file_add_id(file, 0, 11);
  record_file_add_id(file, 1, 21);
  record_file_add_id(file, 0, 12);
  put_record(file, PERF_RECORD_SAMPLE, &attr, 2000);
  put_record(file, PERF_RECORD_COMM, &attr, 500);
  put_record(file, PERF_RECORD_SAMPLE, &attr, 1000);
  assert_int_equal(record_file_round(file), 0);
  read_back(file);
}

/* -- header, attrs, ids, data ---------------------------------------------- */

static void attrs_and_ids_are_where_the_header_says(void **state) {
  struct perf_event_attr attr;
  const uint64_t *ids;
  size_t nr;

  write_file();
  assert_int_equal(data_file_nr_attrs(&data), 2);
  data_file_attr(&data, 0, &attr);
  assert_int_equal(attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(attr.config, PERF_COUNT_SW_CPU_CLOCK);
  assert_true(attr.sample_type & PERF_SAMPLE_IDENTIFIER);
  data_file_attr(&data, 1, &attr);
  assert_int_equal(attr.config, PERF_COUNT_SW_DUMMY);
  assert_int_equal(attr.comm, 1);
  ids = data_file_ids(&data, 0, &nr);
  assert_int_equal(nr, 2);
  assert_int_equal(ids[0], 11);
  assert_int_equal(ids[1], 12);
  ids = data_file_ids(&data, 1, &nr);
  assert_int_equal(nr, 1);
  assert_int_equal(ids[0], 21);
}

static void records_are_as_they_were_given(void **state) {
  static const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_COMM,
                                   PERF_RECORD_SAMPLE, 68};
  const struct perf_event_header *record = NULL;
  static record_builder_t builder;
  record_values_t values;
  struct perf_event_attr attr;
  size_t i;

  write_file();
  make_attr(&attr);
  record_values_init(&values);
  values.time = 2000;
  record_build(&builder, PERF_RECORD_SAMPLE, &attr, &values);
  for (i = 0; i < 4; i++) {
    record = data_file_next(&data, record);
    assert_non_null(record);
    assert_int_equal(record->type, types[i]);
    if (i == 0) {
      assert_int_equal(record->size, builder.size);
      assert_memory_equal(record, builder.words, builder.size);
    }
  }
  assert_int_equal(record->size, sizeof(*record));
  assert_null(data_file_next(&data, record));
}

/* perf(1) refuses attrs that are longer than its own. */
static void attrs_are_as_short_as_holds_them(void **state) {
  struct perf_event_attr attr, got;
  record_file_t *file;
  uint32_t size;

  for (size = PERF_ATTR_SIZE_VER0; size <= PERF_ATTR_SIZE_VER5; size += 8) {
    make_attr(&attr);
    ((unsigned char *)&attr)[size - 1] = 1;
    file = open_file();
    record_file_add_event(file, &attr, "one");
    make_attr(&attr);
    record_file_add_event(file, &attr, "another");
    read_back(file);
    assert_true(data.header.attr_size >= size + 16);
    assert_true(data.header.attr_size <= size + 16 + 16);
    data_file_attr(&data, 0, &got);
    assert_int_equal(((unsigned char *)&got)[size - 1], 1);
  }
}

/* The caller's headers may know more than the library's. */
static void attr_of_later_headers_is_kept_whole(void **state) {
  unsigned char later[192] = {0};
  struct perf_event_attr attr;
  record_file_t *file;

  make_attr(&attr);
  memcpy(later, &attr, sizeof(attr));
  attr.size = sizeof(later);
  memcpy(later, &attr, 8);
  later[sizeof(later) - 1] = 0x5a;
  file = open_file();
  record_file_add_event(file, (struct perf_event_attr *)later, "later");
  read_back(file);
  assert_int_equal(data.header.attr_size, sizeof(later) + 16);
  assert_int_equal(data.bytes[data.header.attrs.offset + 191], 0x5a);
}

static void record_that_is_none_is_refused(void **state) {
  struct {
    struct perf_event_header header;
    uint64_t values[2];
  } record = {{PERF_RECORD_LOST, 0, 24}, {0, 0}};
  record_file_t *file = open_file();

  assert_int_equal(record_file_write(file, &record, 4), -EINVAL);
  assert_int_equal(record_file_write(file, &record, 16), -EINVAL);
  record.header.size = 20;
  assert_int_equal(record_file_write(file, &record, 20), -EINVAL);
  record.header.size = 24;
  assert_int_equal(record_file_write(file, &record, 24), 0);
  assert_int_equal(record_file_bytes(file), 104 + 24);
  read_back(file);
  assert_int_equal(data.header.data.size, 24);
}

/* -- features -------------------------------------------------------------- */

/* Copies a feature of this size. */
static void get_feature(unsigned bit, void *value, size_t expected) {
  const unsigned char *bytes;
  size_t size;

  bytes = data_file_feature(&data, bit, &size);
  assert_non_null(bytes);
  assert_int_equal(size, expected);
  memcpy(value, bytes, size);
}

static void has_string(unsigned bit, const char *text) {
  const unsigned char *bytes, *next;
  size_t size;

  bytes = data_file_feature(&data, bit, &size);
  assert_non_null(bytes);
  assert_string_equal(data_file_string(bytes, &next), text);
  assert_int_equal(next - bytes, size);
  assert_int_equal((size - 4) % 64, 0);
}

static void features_tell_the_machine(void **state) {
  struct utsname name;
  uint32_t nr[2];
  uint64_t kib;

  write_file();
  assert_int_equal(uname(&name), 0);
  has_string(RECORD_HOSTNAME, name.nodename);
  has_string(RECORD_OSRELEASE, name.release);
  has_string(RECORD_ARCH, name.machine);
  get_feature(RECORD_NRCPUS, nr, sizeof(nr));
  assert_true(nr[0] >= nr[1]);
  assert_int_equal(nr[1], sysconf(_SC_NPROCESSORS_ONLN));
  get_feature(RECORD_TOTAL_MEM, &kib, sizeof(kib));
  assert_int_equal(kib, (uint64_t)sysconf(_SC_PHYS_PAGES) *
                            (uint64_t)sysconf(_SC_PAGESIZE) / 1024);
}

static void features_tell_the_command_line(void **state) {
  const unsigned char *bytes;
  char own[4096];
  ssize_t length;
  uint32_t nr;
  size_t size;

  write_file();
  length = readlink("/proc/self/exe", own, sizeof(own) - 1);
  assert_true(length > 0);
  own[length] = '\0';
  bytes = data_file_feature(&data, RECORD_CMDLINE, &size);
  assert_non_null(bytes);
  memcpy(&nr, bytes, sizeof(nr));
  assert_int_equal(nr, 3);
  bytes += sizeof(nr);
  assert_string_equal(data_file_string(bytes, &bytes), own);
  assert_string_equal(data_file_string(bytes, &bytes), "-e");
  assert_string_equal(data_file_string(bytes, &bytes), "cpu-clock");
}

static void features_tell_the_events(void **state) {
  static const char *const names[] = {"clock", "dummy:HG"};
  static const uint32_t nr_ids[] = {2, 1};
  static const unsigned none[] = {0, RECORD_TRACING_DATA, RECORD_GROUP_DESC,
                                  RECORD_CLOCKID, RECORD_CLOCK_DATA};
  const unsigned char *bytes;
  uint32_t nr, attr_size;
  uint64_t times[2];
  size_t size, i;

  write_file();
  bytes = data_file_feature(&data, RECORD_EVENT_DESC, &size);
  assert_non_null(bytes);
  memcpy(&nr, bytes, sizeof(nr));
  memcpy(&attr_size, bytes + 4, sizeof(attr_size));
  assert_int_equal(nr, 2);
  assert_int_equal(attr_size, data.header.attr_size - 16);
  bytes += 8;
  for (i = 0; i < 2; i++) {
    assert_memory_equal(bytes,
                        data.bytes + data.header.attrs.offset +
                            i * data.header.attr_size,
                        attr_size);
    memcpy(&nr, bytes + attr_size, sizeof(nr));
    assert_int_equal(nr, nr_ids[i]);
    assert_string_equal(data_file_string(bytes + attr_size + 4, &bytes),
                        names[i]);
    bytes += nr * sizeof(uint64_t);
  }
  get_feature(RECORD_SAMPLE_TIME, times, sizeof(times));
  assert_int_equal(times[0], 1000);
  assert_int_equal(times[1], 2000);
  for (i = 0; i < sizeof(none) / sizeof(*none); i++)
    assert_null(data_file_feature(&data, none[i], &size));
}

static void features_tell_groups_and_the_clock(void **state) {
  const unsigned char *bytes, *next;
  struct perf_event_attr attr;
  record_file_t *file;
  struct {
    uint32_t words[2];
    uint64_t times[2];
  } clock;
  uint32_t words[2];
  uint64_t resolution;
  size_t size;

  file = open_file();
  make_attr(&attr);
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  record_file_add_event(file, &attr, "alone");
  record_file_add_event(file, &attr, "leader");
  record_file_add_event(file, &attr, "member");
  record_file_set_group(file, 1, 2);
  read_back(file);
  bytes = data_file_feature(&data, RECORD_GROUP_DESC, &size);
  assert_non_null(bytes);
  memcpy(words, bytes, 4);
  assert_int_equal(words[0], 1);
  assert_string_equal(data_file_string(bytes + 4, &next), "{anon_group}");
  memcpy(words, next, sizeof(words));
  assert_int_equal(words[0], 1);
  assert_int_equal(words[1], 2);
  get_feature(RECORD_CLOCK_DATA, &clock, sizeof(clock));
  assert_int_equal(clock.words[0], 1);
  assert_int_equal(clock.words[1], CLOCK_MONOTONIC);
  assert_true(clock.times[0] > clock.times[1]);
  get_feature(RECORD_CLOCKID, &resolution, sizeof(resolution));
}

/* -- the place of the file ------------------------------------------------- */

static void old_file_is_kept(void **state) {
  char old[160];

  snprintf(old, sizeof(old), "%s.old", path);
  make_tree_write(*state, "/perf.data", "");
  write_file();
  assert_int_not_equal(access(old, F_OK), 0); /* not kept: it was empty */
  write_file();
  data_file_free(&data);
  data_file_read(&data, old);
}

static void file_that_cannot_be_is_refused(void **state) {
  assert_null(record_file_open(((make_tree_t *)*state)->root));
  assert_null(record_file_open("/no/such/perf.data"));
}

/* -- build ids ------------------------------------------------------------- */

static void program_and_its_build_id_are_reported(void **state) {
  const unsigned char *bytes;
  static record_builder_t builder;
  struct perf_event_header header;
  struct perf_event_attr attr;
  record_values_t values;
  record_file_t *file;
  size_t size, i;

  file = open_file();
  make_attr(&attr);
  record_file_add_event(file, &attr, "clock");
  record_values_init(&values);
  values.misc = PERF_RECORD_MISC_USER | BUILD_MISC_BUILD_ID;
  values.build_id_size = 20;
  values.text = "/no/such/\x01\xff program";
  for (i = 0; i < 2; i++) {
    record_build(&builder, PERF_RECORD_MMAP2, &attr, &values);
    assert_int_equal(record_file_write(file, builder.words, builder.size), 0);
  }
  read_back(file);
  bytes = data_file_feature(&data, RECORD_BUILD_ID, &size);
  assert_non_null(bytes);
  memcpy(&header, bytes, sizeof(header));
  assert_int_equal(header.size, size);
  assert_int_equal(header.misc & PERF_RECORD_MISC_CPUMODE_MASK,
                   PERF_RECORD_MISC_USER);
  assert_int_equal(bytes[12 + 20], 20);
  assert_memory_equal(bytes + 12, (char *)builder.words + 44, 20);
  assert_string_equal((const char *)bytes + 36, values.text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(attrs_and_ids_are_where_the_header_says),
      TEST(records_are_as_they_were_given),
      TEST(attrs_are_as_short_as_holds_them),
      TEST(attr_of_later_headers_is_kept_whole),
      TEST(record_that_is_none_is_refused),
      TEST(features_tell_the_machine),
      TEST(features_tell_the_command_line),
      TEST(features_tell_the_events),
      TEST(features_tell_groups_and_the_clock),
      TEST(old_file_is_kept),
      TEST(file_that_cannot_be_is_refused),
      TEST(program_and_its_build_id_are_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
