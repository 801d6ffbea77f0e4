/* SPDX-License-Identifier: MIT */
/* Made-up recordings: messages for files that cannot be read, ignored contents,
 * and time order. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/recording/order.h"
#include "model_run.h"
#include "make_record.h"
#include "recording_read.h"
#include "make_tree.h"

/* Types of tools/lib/perf/include/perf/event.h. */
enum {
  ATTR = 64,
  TRACING_DATA = 66,
  BUILD_ID = 67,
  ROUND = 68,
  AUXTRACE = 71,
  FEATURE = 80,
  COMPRESSED = 81,
  COMPRESSED2 = 83
};

#define FILE_HEADER 104
#define HAS_SIZE    (1u << 15) /* of a build id */
#define OSRELEASE   4          /* a feature */

/* "PERFILE2" in little-endian order. */
#define MAGIC UINT64_C(0x32454c4946524550)

typedef struct image_s {
  unsigned char bytes[1 << 20];
  size_t size;
} image_t;

static image_t image;

static void put(const void *bytes, size_t size) {
  assert_true(size <= sizeof(image.bytes) - image.size);
  memcpy(image.bytes + image.size, bytes, size);
  image.size += size;
}

static void put_u64(uint64_t value) {
  put(&value, sizeof(value));
}

static void put_header(uint32_t type, size_t body) {
  struct perf_event_header header = {type, 0, (uint16_t)(8 + body)};

  put(&header, sizeof(header));
}

/* -- the format of pipes --------------------------------------------------- */

static struct perf_event_attr attr;

static void set_attr(int sample_id_all) {
  memset(&attr, 0, sizeof(attr));
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof(attr);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr.sample_id_all = sample_id_all != 0;
}

static void begin_pipe(int sample_id_all) {
  image.size = 0;
  put_u64(MAGIC);
  put_u64(16);
  set_attr(sample_id_all);
  put_header(ATTR, sizeof(attr));
  put(&attr, sizeof(attr));
}

static void put_record(uint32_t type, uint64_t time) {
  static record_builder_t builder;
  record_values_t values;

  record_values_init(&values);
  values.time = time;
  record_build(&builder, type, &attr, &values);
  put(builder.words, builder.size);
}

static void put_sample(uint64_t time) {
  put_record(PERF_RECORD_SAMPLE, time);
}

/* -- the format of files --------------------------------------------------- */

/* Writes a header with one event, whose attr has attr_bytes bytes in the file,
 * the last of which is 1. Nothing follows the data. */
static void begin_file(size_t attr_bytes, uint64_t data_bytes) {
  unsigned char bytes[8192];
  size_t data = FILE_HEADER + attr_bytes + 16;

  assert_true(attr_bytes < sizeof(bytes));
  set_attr(1);
  attr.size = (uint32_t)attr_bytes;
  memset(bytes, 0, sizeof(bytes));
  memcpy(bytes, &attr, attr_bytes < sizeof(attr) ? attr_bytes : sizeof(attr));
  if (attr_bytes > sizeof(attr))
    bytes[attr_bytes - 1] = 1;
  image.size = 0;
  put_u64(MAGIC);
  put_u64(FILE_HEADER);
  put_u64(attr_bytes + 16);
  put_u64(FILE_HEADER);
  put_u64(attr_bytes + 16);
  put_u64(data);
  put_u64(data_bytes);
  while (image.size < FILE_HEADER)
    put_u64(0);
  put(bytes, attr_bytes);
  put_u64(FILE_HEADER); /* ids: none */
  put_u64(0);
  assert_int_equal(image.size, data);
}

/* -- reading --------------------------------------------------------------- */

/* The types and times of records in the order in which they came. */
typedef struct came_s {
  size_t nr;
  uint32_t types[64];
  uint64_t times[64];
} came_t;

static void note(void *arg, recording_t *recording,
                 const uvperf_record_t *record) {
  came_t *came = arg;

  assert_true(came->nr < 64);
  came->types[came->nr] = record->type;
  came->times[came->nr++] = record->time;
}

static const char *path_of(void **state, const char *name) {
  static char path[256];

  snprintf(path, sizeof(path), "%s/%s", ((make_tree_t *)*state)->root, name);
  return path;
}

static recording_read_t reading; /* of the last image */
static came_t came;

static void read_image(void **state) {
  int fd = open(path_of(state, "perf.data"),
                O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, image.bytes, image.size), image.size);
  close(fd);
  memset(&reading, 0, sizeof(reading));
  memset(&came, 0, sizeof(came));
  reading.cb = note;
  reading.arg = &came;
  recording_read(&reading, path_of(state, "perf.data"));
}

static void expect_times(const uint64_t *times, size_t nr) {
  size_t i;

  assert_int_equal(came.nr, nr);
  for (i = 0; i < nr; i++)
    assert_int_equal(came.times[i], times[i]);
}

static void expect_refused(void **state, const char *message) {
  read_image(state);
  assert_int_equal(reading.rc, -1);
  if (strstr(reading.message, message) == NULL)
    fail_msg("\"%s\" is not in \"%s\"", message, reading.message);
}

/* -- recordings that cannot be read ---------------------------------------- */

static void what_is_no_recording_is_refused_with_the_reason(void **state) {
  recording_read_t read = {.cb = NULL};
  const make_tree_t *tree = *state;

  recording_read(&read, "/nowhere/perf.data");
  assert_string_equal(read.message,
                      "/nowhere/perf.data: No such file or directory");
  image.size = 0;
  expect_refused(state, "perf.data: it is empty");
  put("PERF", 4);
  expect_refused(state, "perf.data: not a perf.data file");
  put("#! what is it\n#", 15);
  expect_refused(state, "perf.data: not a perf.data file");
  recording_read(&read, path_of(state, ""));
  assert_non_null(strstr(read.message, "it is a directory"));
  make_tree_write(tree, "/threads/data.0", "");
  recording_read(&read, path_of(state, "threads"));
  assert_non_null(strstr(read.message, "record without --threads"));
}

static void header_that_makes_no_sense_is_refused(void **state) {
  static const uint64_t sizes[] = {0, 79, 16384, UINT64_MAX};
  static const size_t places[] = {16, 24, 32};
  size_t i, j;

  for (i = 0; i < 3; i++) {
    for (j = 0; j < 4; j++) {
      if (places[i] == 24 && sizes[j] < 16384)
        continue; /* a possible offset */
      begin_file(136, 0);
      memcpy(image.bytes + places[i], &sizes[j], 8);
      expect_refused(state, places[i] == 32 && sizes[j] < 200
                                ? "it has no events"
                                : "damaged: a table of ");
    }
  }
}

static void file_format_in_a_pipe_is_refused(void **state) {
  recording_read_t read = {.cb = NULL};
  const char *path = path_of(state, "fifo");
  pid_t pid;
  int fd;

  begin_file(136, 8);
  put_sample(1);
  assert_int_equal(mkfifo(path, 0600), 0);
  pid = fork();
  if (pid == 0) {
    fd = open(path, O_WRONLY | O_CLOEXEC);
    _exit(write(fd, image.bytes, image.size) != (ssize_t)image.size);
  }
  recording_read(&read, path);
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(read.rc, -1);
  assert_non_null(strstr(read.message, "cannot be read through a pipe"));
}

/* -- damaged and unknown records ------------------------------------------- */

static void attr_of_any_size_is_read(void **state) {
  static const size_t sizes[] = {64, 72, 136, 144, 1024, 4096};
  size_t i;

  for (i = 0; i < 6; i++) {
    begin_file(sizes[i], 0);
    put_sample(7);
    read_image(state);
    assert_int_equal(reading.rc, 0);
    expect_times((const uint64_t[]){7}, 1);
  }
}

/* The part of a section that the attr does not use means nothing. */
static void attr_ends_where_its_size_says(void **state) {
  const uint32_t size = PERF_ATTR_SIZE_VER5;
  recording_event_t event;
  recording_t *recording;
  char message[256];

  begin_file(136, 0);
  memcpy(image.bytes + FILE_HEADER + 4, &size, sizeof(size));
  put_sample(7);
  read_image(state);
  expect_times((const uint64_t[]){7}, 1);
  assert_int_equal(recording_open(&recording, path_of(state, "perf.data"),
                                  message, sizeof(message)),
                   0);
  recording_event(recording, 0, &event);
  assert_int_equal(event.attr->size, size);
  recording_free(recording);
}

/* A file as perf record leaves it when it is killed. */
static void file_without_an_end_is_read_to_the_last_record(void **state) {
  begin_file(136, 0);
  put_sample(1);
  put_sample(2);
  read_image(state);
  assert_int_equal(reading.rc, 0);
  assert_non_null(strstr(reading.message,
                         "perf.data: the program that wrote it was "
                         "interrupted"));
  expect_times((const uint64_t[]){1, 2}, 2);
  image.size -= 8;
  read_image(state);
  assert_int_equal(reading.rc, -1);
  assert_non_null(strstr(reading.message,
                         "perf.data: cut off at byte 280, in a "
                         "record of 24 bytes"));
  expect_times((const uint64_t[]){1}, 1);
}

static void record_that_makes_no_sense_is_left_out_and_counted(void **state) {
  begin_pipe(1);
  put_sample(1);
  put_header(PERF_RECORD_COMM, 8); /* too short */
  put_u64(0);
  put_sample(2);
  read_image(state);
  assert_int_equal(reading.rc, 0);
  assert_int_equal(reading.damaged, 1);
  expect_times((const uint64_t[]){1, 2}, 2);
}

static void size_that_cannot_be_ends_the_file_with_its_offset(void **state) {
  char text[64];
  size_t at;

  begin_pipe(1);
  put_sample(1);
  at = image.size;
  put_u64(0);
  put_sample(2);
  read_image(state);
  assert_int_equal(reading.rc, -1);
  snprintf(text, sizeof(text), "damaged at byte %zu", at);
  assert_non_null(strstr(reading.message, text));
  expect_times((const uint64_t[]){1}, 1);
}

static void other_types_and_trailing_data_are_skipped(void **state) {
  unsigned char data[4096];

  memset(data, 0xff, sizeof(data));
  begin_pipe(1);
  put_header(40, 8); /* of a kernel of the future */
  put_u64(1);
  put_header(4000, 24); /* of another perf */
  put(data, 24);
  put_header(AUXTRACE, 40);
  put_u64(4001); /* not a multiple of 8 */
  put(data, 32);
  put(data, 4001);
  put_header(TRACING_DATA, 4);
  put(&(uint32_t){13}, 4);
  put(data, 16); /* padded */
  put_sample(9);
  read_image(state);
  assert_int_equal(reading.rc, 0);
  assert_int_equal(reading.damaged, 0);
  expect_times((const uint64_t[]){9}, 1);
}

static void trailing_data_that_is_cut_is_reported(void **state) {
  begin_pipe(1);
  put_sample(1);
  put_header(AUXTRACE, 8);
  put_u64(UINT64_MAX);
  put_sample(9);
  expect_refused(state, "perf.data: cut off at byte ");
}

static void note_name(void *arg, recording_t *recording,
                      const uvperf_record_t *record) {
  snprintf(arg, 16, "%s", record->mmap.filename);
}

/* Writes the release of a kernel, and an MMAP2 of Linux 3.12, in which the name
 * takes the place of prot and flags. */
static void put_old_mmap2(const char *release) {
  const uint64_t body[] = {0, 0, 0, 0, 0, 0, 0};
  char text[16] = "";
  uint32_t size = sizeof(text);

  begin_pipe(1);
  snprintf(text, sizeof(text), "%s", release);
  put_header(FEATURE, 28);
  put_u64(OSRELEASE);
  put(&size, sizeof(size));
  put(text, sizeof(text));
  put_header(PERF_RECORD_MMAP2, sizeof(body) + 32);
  put(body, sizeof(body));
  put("old.....new\0\0\0\0\0", 16);
  put(body, 16);
}

static void mmap2_of_linux_3_12_to_3_15_is_shorter(void **state) {
  static const struct {
    const char *release, *name;
  } releases[] = {
      {"3.11.10", "new"},          {"3.12.0", "old.....new"},
      {"3.15.4-x", "old.....new"}, {"3.16.0", "new"},
      {"4.13.0", "new"},
  };
  recording_read_t read;
  char name[16];
  size_t i;

  for (i = 0; i < COUNT_OF(releases); i++) {
    put_old_mmap2(releases[i].release);
    read_image(state);
    memset(&read, 0, sizeof(read));
    read.cb = note_name;
    read.arg = name;
    recording_read_well(&read, path_of(state, "perf.data"));
    assert_int_equal(read.nr, 1);
    assert_string_equal(name, releases[i].name);
  }
}

/* The build id of a path: pid, 20 bytes, their number, and the path. */
static void put_build_id(uint16_t misc, const char *id, unsigned size,
                         const char *path) {
  struct perf_event_header header = {BUILD_ID, misc, 8 + 28 + 16};
  unsigned char body[28 + 16] = {0};

  memcpy(body + 4, id, strlen(id));
  body[24] = (unsigned char)size;
  memcpy(body + 28, path, strlen(path));
  put(&header, sizeof(header));
  put(body, sizeof(body));
}

static void build_id_has_the_size_that_its_entry_says(void **state) {
  static const struct {
    uint16_t misc;
    const char *id;
    unsigned size;
    size_t expected;
  } entries[] = {
      {HAS_SIZE, "12345678", 8, 8},
      {HAS_SIZE, "12345678", 20, 20},
      {HAS_SIZE, "12345678", 255, 20},
      {0, "123456789abcdefghijk", 0, 20},
      {0, "123456789", 0, 12},
      {0, "", 0, 0},
      {PERF_RECORD_MISC_GUEST_USER, "1234", 0, 0},
  };
  const uvperf_record_t *record;
  unsigned char id[20];
  recording_t *recording;
  char message[256];
  size_t i;

  for (i = 0; i < COUNT_OF(entries); i++) {
    begin_pipe(1);
    put_build_id(entries[i].misc, entries[i].id, entries[i].size, "/lib/x");
    put_build_id(HAS_SIZE, "other", 20, "/lib/y");
    if (entries[i].expected > 0) /* the first entry of a path counts */
      put_build_id(HAS_SIZE, "other", 16, "/lib/x");
    read_image(state);
    assert_int_equal(recording_open(&recording, path_of(state, "perf.data"),
                                    message, sizeof(message)),
                     0);
    while (recording_next(recording, &record) == 1)
      continue;
    memset(id, 0, sizeof(id));
    assert_int_equal(recording_build_id(recording, "/lib/x", id),
                     entries[i].expected);
    assert_memory_equal(id, entries[i].id,
                        entries[i].expected > 0 ? strlen(entries[i].id) : 0);
    assert_int_equal(recording_build_id(recording, "/lib/z", id), 0);
    recording_free(recording);
  }
}

static void compressed_data_that_make_no_sense_are_reported(void **state) {
  begin_pipe(1);
  put_header(COMPRESSED, 16);
  put("not by zstd", 8);
  put("not by zstd", 8);
  expect_refused(state, "compressed");
  if (!recording_read_has_zstd())
    return;
  begin_pipe(1);
  put_header(COMPRESSED2, 16);
  put_u64(9); /* there are 8 */
  put("not by zstd", 8);
  expect_refused(state, "a record of 24 bytes");
}

/* -- time order ------------------------------------------------------------ */

/* Records of two rings, in three rounds. */
static void records_come_in_the_order_of_time(void **state) {
  begin_pipe(1);
  put_sample(10);
  put_sample(30);
  put_sample(20);
  put_header(ROUND, 0);
  put_sample(50);
  put_sample(25);
  put_sample(40);
  put_header(ROUND, 0);
  put_sample(35); /* later than the first round: not too late */
  put_header(ROUND, 0);
  read_image(state);
  assert_int_equal(reading.rc, 0);
  assert_int_equal(reading.late, 0);
  expect_times((const uint64_t[]){10, 20, 25, 30, 35, 40, 50}, 7);
}

/* Records that perf synthesizes about running tasks have the time 0. */
static void records_without_a_time_keep_their_place(void **state) {
  begin_pipe(1);
  put_record(PERF_RECORD_MMAP, 0);
  put_sample(20);
  put_sample(10);
  put_record(PERF_RECORD_COMM, 0);
  read_image(state);
  expect_times((const uint64_t[]){0, 0, 10, 20}, 4);
  assert_int_equal(came.types[0], PERF_RECORD_MMAP);
  assert_int_equal(came.types[1], PERF_RECORD_COMM);
}

/* Without sample_id_all, mappings have no time, and samples must not overtake
 * them. */
static void without_sample_id_all_it_is_the_order_of_the_file(void **state) {
  int i;

  for (i = 0; i < 2; i++) {
    begin_pipe(0);
    if (i == 1) { /* one of the events has it */
      attr.sample_id_all = 1;
      put_header(ATTR, sizeof(attr));
      put(&attr, sizeof(attr));
      attr.sample_id_all = 0;
    }
    put_sample(20);
    put_record(PERF_RECORD_MMAP, 5);
    put_sample(10);
    read_image(state);
    expect_times((const uint64_t[]){20, 0, 10}, 3);
    assert_int_equal(came.types[1], PERF_RECORD_MMAP);
  }
}

static void one_wrong_time_does_not_end_the_order(void **state) {
  uint64_t i;

  begin_pipe(1);
  for (i = 1; i <= 10; i++) {
    put_sample(i * 10 + 5);
    put_sample(i * 10);
    if (i == 2)
      put_sample(UINT64_MAX - 1);
    put_header(ROUND, 0);
  }
  read_image(state);
  assert_int_equal(came.nr, 21);
  for (i = 12; i < 20; i++)
    assert_true(came.times[i] > came.times[i - 1]);
}

/* -- the queue itself ------------------------------------------------------ */

static uint64_t time_in(const void *record) {
  uint64_t time;

  memcpy(&time, record, sizeof(time));
  return time;
}

static void records_of_one_time_keep_their_order(void **state) {
  recording_order_t order;
  const void *record;
  uint64_t i, nr = 0;

  recording_order_init(&order);
  for (i = 0; i < 20; i++)
    recording_order_add(&order, &i, sizeof(i), 5);
  recording_order_end(&order);
  while ((record = recording_order_take(&order)) != NULL)
    assert_int_equal(time_in(record), nr++);
  assert_int_equal(nr, 20);
  recording_order_free(&order);
}

/* Copies four rings with increasing times, in rounds. Each round also finds
 * some records that were written during the round. */
static void rounds_of_rings_come_out_in_order(uint64_t seed) {
  uint64_t clocks[4] = {0, 0, 0, 0}, now = 0, last = 0, nr = 0, out = 0;
  recording_order_t order;
  const void *record;
  model_run_t run;
  size_t ring, round;

  model_run_seed(&run, seed);
  recording_order_init(&order);
  for (round = 0; round < 100; round++) {
    for (ring = 0; ring < 4; ring++) {
      now += model_run_draw(&run, 50);
      while ((clocks[ring] += 1 + model_run_draw(&run, 20)) <= now) {
        recording_order_add(&order, &clocks[ring], 8, clocks[ring]);
        nr++;
      }
      clocks[ring] = now;
    }
    recording_order_round(&order);
    while ((record = recording_order_take(&order)) != NULL) {
      assert_true(time_in(record) >= last);
      last = time_in(record);
      out++;
    }
    assert_true(nr - out < 400);
  }
  recording_order_end(&order);
  while ((record = recording_order_take(&order)) != NULL) {
    assert_true(time_in(record) >= last);
    last = time_in(record);
    out++;
  }
  assert_int_equal(out, nr);
  assert_int_equal(order.late, 0);
  recording_order_free(&order);
}

static void queue_returns_rounds_of_rings_in_order(void **state) {
  uint64_t seed, last;

  model_run_seeds(20, &seed, &last);
  for (; seed <= last; seed++)
    rounds_of_rings_come_out_in_order(seed);
}

/* The file has no rounds, so the queue returns its oldest records early.
 * Records that follow and are older than these are counted as late. */
static void full_queue_returns_the_oldest_and_counts_late_ones(void **state) {
  static unsigned char bytes[60000];
  recording_order_t order;
  const void *record;
  uint64_t time, last = 0;
  size_t nr = 0, out = 0;

  recording_order_init(&order);
  for (time = 10000; recording_order_take(&order) == NULL; time--) {
    memcpy(bytes, &time, sizeof(time));
    recording_order_add(&order, bytes, sizeof(bytes), time);
    nr++;
  }
  out++;
  assert_in_range(nr * sizeof(bytes), RECORDING_ORDER_BYTES * 99 / 100,
                  RECORDING_ORDER_BYTES + 100000);
  while ((record = recording_order_take(&order)) != NULL) {
    assert_true(time_in(record) > last);
    last = time_in(record);
    out++;
  }
  assert_in_range(out, nr / 2 - 2, nr / 2 + 2);
  assert_int_equal(order.late, 0);
  recording_order_add(&order, bytes, sizeof(bytes), time);
  assert_int_equal(order.late, 1);
  recording_order_free(&order);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      MAKE_TREE_TEST(what_is_no_recording_is_refused_with_the_reason),
      MAKE_TREE_TEST(header_that_makes_no_sense_is_refused),
      MAKE_TREE_TEST(file_format_in_a_pipe_is_refused),
      MAKE_TREE_TEST(attr_of_any_size_is_read),
      MAKE_TREE_TEST(attr_ends_where_its_size_says),
      MAKE_TREE_TEST(file_without_an_end_is_read_to_the_last_record),
      MAKE_TREE_TEST(record_that_makes_no_sense_is_left_out_and_counted),
      MAKE_TREE_TEST(size_that_cannot_be_ends_the_file_with_its_offset),
      MAKE_TREE_TEST(other_types_and_trailing_data_are_skipped),
      MAKE_TREE_TEST(trailing_data_that_is_cut_is_reported),
      MAKE_TREE_TEST(mmap2_of_linux_3_12_to_3_15_is_shorter),
      MAKE_TREE_TEST(build_id_has_the_size_that_its_entry_says),
      MAKE_TREE_TEST(compressed_data_that_make_no_sense_are_reported),
      MAKE_TREE_TEST(records_come_in_the_order_of_time),
      MAKE_TREE_TEST(records_without_a_time_keep_their_place),
      MAKE_TREE_TEST(without_sample_id_all_it_is_the_order_of_the_file),
      MAKE_TREE_TEST(one_wrong_time_does_not_end_the_order),
      cmocka_unit_test(records_of_one_time_keep_their_order),
      cmocka_unit_test(queue_returns_rounds_of_rings_in_order),
      cmocka_unit_test(full_queue_returns_the_oldest_and_counts_late_ones),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
