/* SPDX-License-Identifier: MIT */
/* A file of the other byte order is read like a file of this machine. */
#include "foreign.h"
#include "perf_dump.h"
#include "make_record.h"
#include "record_run.h"
#include "recording_read.h"

#define TEXT_BYTES 65536

/* -- comparing ------------------------------------------------------------- */

typedef struct lines_s {
  char **lines;
  size_t nr, capacity;
} lines_t;

static void add_line(void *arg, recording_t *recording,
                     const uvperf_record_t *record) {
  static char text[TEXT_BYTES * 3];
  recording_event_t event;
  lines_t *lines = arg;
  size_t used;

  used = uvperf_record_format(record, 0, text, sizeof(text) - 512);
  assert_true(used < sizeof(text) - 512);
  recording_event(recording, recording_event_of(recording, record), &event);
  snprintf(text + used, 512, " of %s misc %x", event.name, record->misc);
  if (lines->nr == lines->capacity) {
    lines->capacity = lines->capacity * 2 + 64;
    lines->lines =
        realloc(lines->lines, lines->capacity * sizeof(*lines->lines));
    assert_non_null(lines->lines);
  }
  lines->lines[lines->nr++] = strdup(text);
}

static void free_lines(lines_t *lines) {
  size_t i;

  for (i = 0; i < lines->nr; i++)
    free(lines->lines[i]);
  free(lines->lines);
  memset(lines, 0, sizeof(*lines));
}

static const char *foreign_path(void) {
  static char path[256];

  snprintf(path, sizeof(path), "%s.old", record_run_path());
  return path;
}

static void compare_events(void) {
  recording_t *native, *foreign;
  recording_event_t a, b;
  char message[512];
  size_t i;

  assert_int_equal(
      recording_open(&native, record_run_path(), message, sizeof(message)), 0);
  assert_int_equal(
      recording_open(&foreign, foreign_path(), message, sizeof(message)), 0);
  assert_int_equal(recording_nr_events(foreign), recording_nr_events(native));
  for (i = 0; i < recording_nr_events(native); i++) {
    recording_event(native, i, &a);
    recording_event(foreign, i, &b);
    assert_memory_equal(a.attr, b.attr, a.attr->size);
    assert_int_equal(a.nr_ids, b.nr_ids);
    if (a.nr_ids > 0)
      assert_memory_equal(a.ids, b.ids, a.nr_ids * sizeof(*a.ids));
  }
  recording_free(native);
  recording_free(foreign);
}

static void compare(void) {
  recording_read_t read = {.cb = add_line};
  lines_t native = {NULL, 0, 0}, foreign = {NULL, 0, 0};
  size_t i;

  foreign_copy(record_run_path(), foreign_path());
  read.arg = &native;
  recording_read_well(&read, record_run_path());
  read.arg = &foreign;
  recording_read_well(&read, foreign_path());
  assert_int_equal(foreign.nr, native.nr);
  assert_true(native.nr > 0);
  compare_events();
  for (i = 0; i < native.nr; i++)
    assert_string_equal(foreign.lines[i], native.lines[i]);
  free_lines(&native);
  free_lines(&foreign);
}

/* perf(1) 6.1 does not swap prot and flags of MMAP2. */
static void hide_protection(char *line) {
  char *at = strstr(line, "]: ");

  if (at != NULL && strstr(line, "MMAP2") != NULL)
    memcpy(at + 3, "????", 4);
}

/* Uses perf(1) to check that the copy is right. */
static void compare_by_perf(const char *options) {
  char words[512], line[2][4096];
  FILE *scripts[2];
  char *ends[2];
  int i;

  for (i = 0; i < 2; i++) {
    snprintf(words, sizeof(words),
             "script --ns -F pid,tid,time,period,event,ip --show-mmap-events "
             "--show-task-events %s -i %s",
             options, i == 0 ? record_run_path() : foreign_path());
    scripts[i] = perf_dump_run(words, 1, NULL);
  }
  do {
    for (i = 0; i < 2; i++) {
      ends[i] = fgets(line[i], sizeof(line[i]), scripts[i]);
      if (ends[i] != NULL)
        hide_protection(line[i]);
    }
    assert_int_equal(ends[0] == NULL, ends[1] == NULL);
    if (ends[0] != NULL)
      assert_string_equal(line[0], line[1]);
  } while (ends[0] != NULL);
  fclose(scripts[0]);
  fclose(scripts[1]);
}

/* -- files ----------------------------------------------------------------- */

static void recorded_file_of_the_other_byte_order_is_read(void **state) {
  static const char *const kinds[] = {
      "-e cpu-clock,page-faults -a -g",
      "-e sched:sched_switch,cpu-clock -a -s --switch-events",
      "-e page-faults -c 1 --call-graph dwarf,1024",
  };
  char words[512];
  size_t i;

  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, "sched:sched_switch");
  perf_dump_need(__func__);
  for (i = 0; i < COUNT_OF(kinds); i++) {
    snprintf(words, sizeof(words),
             "perf record -q -m 4M -o @ %s -- ls / >/dev/null", kinds[i]);
    record_run_shell(words);
    compare();
    /* perf needs the formats of tracepoints, and would unwind copied stacks. */
    if (i != 1)
      compare_by_perf(i == 2 ? "-G" : "");
  }
}

static void put_u64s(FILE *file, const uint64_t *words, size_t nr) {
  assert_int_equal(fwrite(words, 8, nr, file), nr);
}

/* Writes records of each type, and samples with each field, alone and
 * together. */
static void put_records(FILE *file, const struct perf_event_attr *attr) {
  static record_builder_t builder;
  record_values_t values;
  uint32_t type;

  record_values_init(&values);
  values.id = 7;
  values.no_counters = 1;
  for (type = 1; type <= BUILD_TYPES; type++) {
    record_build(&builder, type, attr, &values);
    assert_int_equal(fwrite(builder.words, builder.size, 1, file), 1);
  }
  values.misc |= BUILD_MISC_BUILD_ID;
  record_build(&builder, PERF_RECORD_MMAP2, attr, &values);
  assert_int_equal(fwrite(builder.words, builder.size, 1, file), 1);
}

static void make_file(uint64_t sample_type) {
  struct perf_event_attr attr;
  FILE *file = fopen(record_run_path(), "we");
  uint64_t header[13] = {0};
  uint64_t section[2] = {104, 8}, id = 7;

  assert_non_null(file);
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.config = 0x1234567;
  attr.sample_type = sample_type;
  attr.sample_id_all = attr.freq = attr.comm_exec = 1;
  attr.precise_ip = 1;
  attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_GROUP;
  attr.branch_sample_type = BUILD_BRANCH_HW_INDEX;
  attr.sample_regs_user = 0x1f;
  attr.sample_regs_intr = 0x33;
  attr.sample_stack_user = 64;
  header[0] = DATA_FILE_MAGIC;
  header[1] = 104;
  header[2] = header[4] = sizeof(attr) + 16;
  header[3] = 112;
  header[5] = 112 + header[2];
  put_u64s(file, header, 13);
  put_u64s(file, &id, 1);
  assert_int_equal(fwrite(&attr, sizeof(attr), 1, file), 1);
  put_u64s(file, section, 2);
  put_records(file, &attr);
  header[6] = (uint64_t)ftell(file) - header[5];
  assert_int_equal(fseek(file, 0, SEEK_SET), 0);
  put_u64s(file, header, 13);
  assert_int_equal(fclose(file), 0);
}

static void every_record_of_the_other_byte_order_is_read(void **state) {
  int bit;

  make_file(BUILD_SAMPLE_ALL & ~BUILD_SAMPLE_WEIGHT_STRUCT);
  compare();
  for (bit = 0; bit < 25; bit++) {
    make_file(UINT64_C(1) << bit);
    compare();
    make_file(UINT64_C(1) << bit | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
              PERF_SAMPLE_CPU);
    compare();
  }
}

/* Appends a host's name to a file of the other byte order, and sets its bit
 * among the features, in a long of 8 or 4 bytes. */
static void add_hostname(size_t long_bytes) {
  const uint32_t size = __builtin_bswap32(8), bit = __builtin_bswap32(1u << 3);
  FILE *file = fopen(foreign_path(), "r+e");
  uint64_t section[2];

  assert_non_null(file);
  assert_int_equal(fseek(file, 72 + (long)long_bytes - 4, SEEK_SET), 0);
  assert_int_equal(fwrite(&bit, sizeof(bit), 1, file), 1);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  section[0] = __builtin_bswap64((uint64_t)ftell(file) + sizeof(section));
  section[1] = __builtin_bswap64(12);
  put_u64s(file, section, 2);
  assert_int_equal(fwrite(&size, sizeof(size), 1, file), 1);
  assert_int_equal(fwrite("machine", 8, 1, file), 1);
  assert_int_equal(fclose(file), 0);
}

static void features_of_64_and_32_bit_machines_are_found(void **state) {
  recording_t *recording;
  char message[512];
  size_t bytes;

  for (bytes = 8; bytes >= 4; bytes -= 4) {
    make_file(PERF_SAMPLE_TID);
    foreign_copy(record_run_path(), foreign_path());
    add_hostname(bytes);
    assert_int_equal(
        recording_open(&recording, foreign_path(), message, sizeof(message)),
        0);
    assert_non_null(recording_hostname(recording));
    assert_string_equal(recording_hostname(recording), "machine");
    recording_free(recording);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(features_of_64_and_32_bit_machines_are_found),
      record_run_test(every_record_of_the_other_byte_order_is_read),
      record_run_test(recorded_file_of_the_other_byte_order_is_read),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
