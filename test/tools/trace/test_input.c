/* SPDX-License-Identifier: MIT */
/* Runs trace -i on files with known hits, and on damaged files. */
#include "model_run.h"
#include "trace_lines.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static trace_lines_t lines; /* of the last run */

#define EVENTS "syscalls:sys_enter_getpriority,syscalls:sys_exit_getpriority"
#define NR     300

typedef struct file_s {
  char *bytes;
  size_t size;
} file_t;

static char path[] = "/tmp/uvperf-trace-XXXXXX";

static int record(void **state) {
  static tool_run_t run = {.args = {RECORD_PATH, "-q", "-o", path, "-e", EVENTS,
                                    TARGET_PATH, "calls", "300"}};

  close(mkstemp(path));
  tool_run(&run);
  return 0;
}

static int forget(void **state) {
  unlink(path);
  return 0;
}

static void need_file(const char *test) {
  support_need_tracepoint(test, "syscalls:sys_enter_getpriority");
  support_need_own_events(test);
}

static file_t load(void) {
  file_t file;
  int fd = open(path, O_RDONLY | O_CLOEXEC);

  assert_true(fd >= 0);
  file.size = (size_t)lseek(fd, 0, SEEK_END);
  file.bytes = malloc(file.size);
  assert_non_null(file.bytes);
  assert_int_equal(pread(fd, file.bytes, file.size, 0), file.size);
  close(fd);
  return file;
}

/* Stores the bytes in a file that the run can open by the name. */
static int store(const file_t *file, char name[64]) {
  int fd = memfd_create("trace", 0);

  assert_true(fd >= 0);
  assert_int_equal(write(fd, file->bytes, file->size), file->size);
  snprintf(name, 64, "/proc/self/fd/%d", fd);
  return fd;
}

static void expect_hits(void) {
  size_t i;

  assert_int_equal(lines.nr, 2 * NR + 1);
  for (i = 0; i < NR; i++) {
    assert_int_equal(lines.lines[2 * i].who, i);
    assert_string_equal(lines.lines[2 * i].comm, "trace_target");
    assert_non_null(strstr(lines.lines[2 * i + 1].text, "\"ret\":"));
  }
}

static void hits_of_a_file_are_complete(void **state) {
  static tool_run_t run = {.args = {TRACE_PATH, "--json", "-i", path}};

  need_file(__func__);
  trace_lines_run(&lines, &run, 0);
  expect_hits();
  tool_run_expect_text(run.err, "trace: 600 hits in ");
}

static void hits_of_a_pipe_are_complete(void **state) {
  static tool_run_t run = {.args = {"/bin/sh", "-c",
                                    "\"$0\" -q -o - -e " EVENTS
                                    " \"$1\" calls 300 | "
                                    "\"$2\" --json -i -",
                                    RECORD_PATH, TARGET_PATH, TRACE_PATH}};

  need_file(__func__);
  trace_lines_run(&lines, &run, 0);
  expect_hits();
}

static void summary_of_a_file_has_all_calls(void **state) {
  static tool_run_t run = {.args = {TRACE_PATH, "-s", "--json", "-i", path}};

  need_file(__func__);
  trace_lines_run(&lines, &run, 0);
  assert_int_equal(lines.nr, 1 + 1);
  assert_non_null(strstr(lines.lines[0].text, "\"syscall\":\"getpriority\""));
  assert_int_equal(trace_lines_number(&lines.lines[0], "calls"), NR);
  assert_int_equal(trace_lines_number(&lines.lines[0], "no_begin"), 0);
}

static void limit_ends_a_file_too(void **state) {
  static tool_run_t run = {
      .args = {TRACE_PATH, "--json", "-l", "7", "-i", path}};

  need_file(__func__);
  trace_lines_run(&lines, &run, 0);
  assert_int_equal(lines.nr, 7 + 1);
}

/* The formats are those of the file, not of this machine. */
static void formats_come_from_the_file(void **state) {
  static const char old[] = "field:int who;", changed[] = "field:int wxo;";
  static tool_run_t run = {.args = {TRACE_PATH, "-l", "1", "-i"}};
  file_t file;
  char name[64], *at;
  int fd;

  need_file(__func__);
  file = load();
  at = memmem(file.bytes, file.size, old, strlen(old));
  assert_non_null(at);
  memcpy(at, changed, strlen(changed));
  fd = store(&file, name);
  run.args[4] = name;
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, " which=2 wxo=0\n");
  close(fd);
  free(file.bytes);
}

/* The kernel prints half of a long's digits: __set_enter_print_fmt. */
static void words_of_the_kernel_come_from_the_file(void **state) {
  static tool_run_t run = {
      .args = {TRACE_PATH, "-l", "1", "--print-fmt", "-i", path}};

  const int digits = (int)sizeof(long);
  char words[64];

  need_file(__func__);
  tool_run_exits(&run, 0);
  snprintf(words, sizeof(words), " which: 0x%0*x, who: 0x%0*x\n", digits, 2U,
           digits, 0U);
  tool_run_expect_text(run.out, words);
}

static void file_without_calls_has_no_summary(void **state) {
  static tool_run_t run = {
      .args = {"/bin/sh", "-c", "\"$0\" -q -o - -e dummy true | \"$1\" -s -i -",
               RECORD_PATH, TRACE_PATH}};

  support_need_own_events(__func__);
  tool_run_ends(&run, 1, "stdin: -s ");
}

static void other_files_are_refused(void **state) {
  tool_run_t none = {.args = {TRACE_PATH, "-i", "/none/perf.data"}};
  tool_run_t other = {.args = {TRACE_PATH, "-i", TARGET_PATH}};

  tool_run_ends(&none, 1, "/none/perf.data: ");
  tool_run_ends(&other, 1, TARGET_PATH);
}

/* The sanitizers check the reads. */
static void changed_files_end_with_a_status(void **state) {
  static tool_run_t run;
  file_t file, copy;
  model_run_t random;
  char name[64];
  size_t i, k;
  int fd;

  need_file(__func__);
  model_run_seed(&random, 1);
  file = load();
  copy.bytes = malloc(file.size);
  assert_non_null(copy.bytes);
  for (i = 0; i < 60; i++) {
    memcpy(copy.bytes, file.bytes, file.size);
    copy.size =
        i % 3 == 0 ? (size_t)model_run_draw(&random, file.size) : file.size;
    for (k = 0; k < 20; k++)
      copy.bytes[model_run_draw(&random, file.size)] ^=
          (char)(1 << model_run_draw(&random, 8));
    fd = store(&copy, name);
    run = (tool_run_t){.args = {TRACE_PATH, i % 2 == 0 ? "-s" : "-j", "-i",
                                name, "-o", "/dev/null"}};
    if (i % 4 == 1)
      run.args[6] = "--print-fmt";
    tool_run(&run);
    close(fd);
    if (run.status != 0 && run.status != 1)
      fail_msg("status %d: %s", run.status, run.err);
  }
  free(copy.bytes);
  free(file.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits_of_a_file_are_complete),
      cmocka_unit_test(hits_of_a_pipe_are_complete),
      cmocka_unit_test(summary_of_a_file_has_all_calls),
      cmocka_unit_test(limit_ends_a_file_too),
      cmocka_unit_test(formats_come_from_the_file),
      cmocka_unit_test(words_of_the_kernel_come_from_the_file),
      cmocka_unit_test(file_without_calls_has_no_summary),
      cmocka_unit_test(other_files_are_refused),
      cmocka_unit_test(changed_files_end_with_a_status),
  };

  return cmocka_run_group_tests(tests, record, forget);
}
