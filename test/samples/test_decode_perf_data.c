/* SPDX-License-Identifier: MIT */
#include "perf_dump.h"
#include "record_run.h"

#include <fcntl.h>
#include <unistd.h>

#define RECORD                                                                 \
  "perf record -q -e page-faults/period=1/u -e cpu-clock/period=99999/u -o @ " \
  "sh -c 'ls; ls'"                                                             \
  " >/dev/null 2>&1"

/* Counts the printed lines of a type; the number of an event may be before
 * it. */
static size_t count_lines(const char *text, const char *type) {
  size_t nr = 0;

  for (; (text = strstr(text, type)) != NULL; text += strlen(type))
    nr += text[strlen(type)] == ' ';
  return nr;
}

static size_t count_items(const perf_dump_t *dump, const char *type) {
  size_t nr = 0;
  size_t i;

  for (i = 0; i < dump->nr; i++)
    nr += strcmp(dump->items[i].type, type) == 0;
  return nr;
}

/* Returns the number of samples of an event in the output of perf script. */
static size_t count_event(const char *event) {
  char words[256], line[256];
  size_t nr = 0;
  FILE *out;

  snprintf(words, sizeof(words), "script -F event -i %s", record_run_path());
  out = perf_dump_run(words, 1, NULL);
  while (fgets(line, sizeof(line), out) != NULL)
    nr += strstr(line, event) != NULL;
  fclose(out);
  assert_true(nr > 0);
  return nr;
}

static void records_of_a_file_are_those_that_perf_dumps(void **state) {
  static const char *const types[] = {"PERF_RECORD_SAMPLE", "PERF_RECORD_COMM",
                                      "PERF_RECORD_MMAP2", "PERF_RECORD_FORK",
                                      "PERF_RECORD_EXIT"};
  tool_run_t run = {.args = {SAMPLE_PATH, record_run_path()}};
  perf_dump_t dump;
  char *text;
  size_t i;

  perf_dump_need(__func__);
  text = calloc(1, 8 << 20);
  assert_non_null(text);
  record_run_shell(RECORD);
  run.file = tmpfile();
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  rewind(run.file);
  assert_true(fread(text, 1, (8 << 20) - 1, run.file) > 0);
  fclose(run.file);
  perf_dump_open(&dump, record_run_path(), 1);
  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    assert_true(count_items(&dump, types[i]) > 0);
    assert_int_equal(count_lines(text, types[i]), count_items(&dump, types[i]));
  }
  assert_int_equal(count_lines(text, "[0] PERF_RECORD_SAMPLE"),
                   count_event("page-faults"));
  assert_int_equal(count_lines(text, "[1] PERF_RECORD_SAMPLE"),
                   count_event("cpu-clock"));
  perf_dump_close(&dump);
  free(text);
}

/* The tasks ran before the recording began. */
static void forks_that_perf_made_are_marked(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "exec \"$0\" \"$1\" | grep -c 'made by perf'",
                             SAMPLE_PATH, record_run_path()}};

  perf_dump_need(__func__);
  support_need_cpu_wide(__func__);
  record_run_shell("perf record -q -a -e dummy -o @ true >/dev/null 2>&1");
  tool_run(&run);
  assert_true(atoi(run.out) >= 2); /* the test itself and what runs it */
}

/* -- bad files ------------------------------------------------------------- */

static void expect_error(const char *words, const char *part) {
  tool_run_t run = {.args = {SAMPLE_PATH, record_run_path()}};

  record_run_shell(words);
  tool_run_ends(&run, 1, part);
}

static void other_files_are_named_by_their_kind(void **state) {
  tool_run_t directory = {.args = {SAMPLE_PATH, "/"}};

  tool_run_ends(&directory, 1, "or it is no regular file");
  expect_error("head -c 200 /dev/zero >@", "not a perf.data file");
  expect_error("{ printf 2ELIFREP; head -c 200 /dev/zero; } >@",
               "other byte order");
  expect_error("{ printf 'PERFILE2\\20'; head -c 200 /dev/zero; } >@",
               "wrote into a pipe");
  perf_dump_need(__func__);
  expect_error("perf record -q -z -e page-faults:u -c 1 -o @ ls / >/dev/null"
               " 2>&1",
               "-z");
}

/* The words of the header, the ids of two events, and their attrs with the
 * places of the ids. */
#define NR_WORDS ((104 + 2 * 16 + 2 * 144) / 8)

/* Each word of the header, of the ids and of the attrs is increased in several
 * ways, or the file ends before the end of its data. */
static void damaged_files_are_refused_or_decoded(void **state) {
  static const struct {
    off_t byte;
    unsigned char value;
  } damage[] = {{0, 1}, {2, 255}, {6, 255}};
  tool_run_t run = {.args = {SAMPLE_PATH, record_run_path()}};
  uint64_t data[2]; /* their place and size */
  unsigned char old;
  off_t place;
  size_t i;
  int fd;

  perf_dump_need(__func__);
  record_run_shell("perf record -q -e page-faults:u -e cpu-clock:u -o @ true"
                   " >/dev/null 2>&1");
  fd = open(record_run_path(), O_RDWR | O_CLOEXEC);
  assert_true(fd >= 0);
  for (i = 0; i < NR_WORDS * 3; i++) {
    place = (off_t)(i / 3 * 8) + damage[i % 3].byte;
    assert_int_equal(pread(fd, &old, 1, place), 1);
    assert_int_equal(pwrite(fd, &damage[i % 3].value, 1, place), 1);
    run.out[0] = run.err[0] = '\0';
    tool_run(&run);
    if (run.status != 0)
      tool_run_expect_status(&run, 1);
    /* A sanitizer's message begins with something else. */
    if (run.err[0] != '\0' && strncmp(run.err, "decode_perf_data: ", 18) != 0)
      fail_msg("byte %zu: %s", (size_t)place, run.err);
    assert_int_equal(pwrite(fd, &old, 1, place), 1);
  }
  assert_int_equal(pread(fd, data, sizeof(data), 40), sizeof(data));
  for (i = 0; i < 20; i++) {
    assert_int_equal(
        ftruncate(fd, (off_t)((data[0] + data[1]) * (20 - i) / 21)), 0);
    run.out[0] = run.err[0] = '\0';
    tool_run(&run);
    tool_run_expect_status(&run, 1);
  }
  close(fd);
}

static void records_that_cannot_be_written_are_an_error(void **state) {
  static tool_run_t run;

  perf_dump_need(__func__);
  record_run_shell("perf record -q -e page-faults:u -o @ true >/dev/null 2>&1");
  memset(&run, 0, sizeof(run));
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = "exec " SAMPLE_PATH " $0 >/dev/full";
  run.args[3] = record_run_path();
  tool_run_ends(&run, 1, "stdout");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(records_of_a_file_are_those_that_perf_dumps),
      record_run_test(forks_that_perf_made_are_marked),
      record_run_test(other_files_are_named_by_their_kind),
      record_run_test(damaged_files_are_refused_or_decoded),
      record_run_test(records_that_cannot_be_written_are_an_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
