/* SPDX-License-Identifier: MIT */
/* However a recording ends, the records that were written can be read. */
#include <ctype.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record_run.h"

#define HEADER_EVENT_DESC 12

static record_run_count_t count;

/* Waits until the file contains samples. */
static void wait_for_samples(tool_run_t *run) {
  do {
    sched_yield();
    record_run_count(&count);
  } while (count.nr_of_type[PERF_RECORD_SAMPLE] == 0);
}

static void expect_features(int expected) {
  perf_data_t data;

  perf_data_open(&data, record_run_path());
  assert_int_equal(perf_data_has(&data, HEADER_EVENT_DESC), expected);
  perf_data_close(&data);
}

/* Returns the number of records out of order that the recording reports. An
 * emulated CPU can stop for long while it writes a record. */
static size_t late_records(const tool_run_t *run) {
  const char *end = strstr(run->err, " records came late");
  const char *start = end;

  while (start != NULL && start > run->err && isdigit((unsigned char)start[-1]))
    start--;
  return start == NULL ? 0 : (size_t)strtoull(start, NULL, 10);
}

/* Returns the number of records that came late. */
static size_t end_by(int number, const char *words, int status) {
  static tool_run_t run;

  memset(&run, 0, sizeof(run));
  run.interrupt_at = "recording";
  run.interrupt_with = number;
  run.work = wait_for_samples;
  record_run_run(&run, RECORD_PATH, words);
  tool_run_expect_status(&run, status);
  expect_features(number != SIGKILL);
  return late_records(&run);
}

static void interrupted_recording_is_complete(void **state) {
  size_t late;

  support_need_cpu_wide(__func__);
  late = end_by(SIGINT, "-v -a -e cpu-clock -F 500", 0);
  record_run_count(&count);
  assert_true(count.nr_inversions <= late);
}

static void check_file(tool_run_t *run) {
  *(size_t *)run->data = tool_run_nr_events(run);
  expect_features(1);
}

/* Closing these tracepoints takes the kernel seconds. */
static void
interrupted_file_is_complete_while_the_events_are_open(void **state) {
  static tool_run_t run;
  size_t nr_events = 0;

  support_need_tracepoint(__func__, "syscalls:sys_enter_splice");
  memset(&run, 0, sizeof(run));
  run.interrupt_at = "recording";
  run.check_at = "[ uvperf-record: wrote ";
  run.check = check_file;
  run.data = &nr_events;
  record_run_run(&run, RECORD_PATH,
                 "-v -e cpu-clock:u -e 'syscalls:sys_enter_s*' " STAT_TARGET
                 " spin");
  tool_run_expect_status(&run, 0);
  assert_true(nr_events > 0);
}

static void terminated_recording_ends_its_command(void **state) {
  support_need_own_events(__func__);
  end_by(SIGTERM, "-v -e cpu-clock:u -F 500 " STAT_TARGET " spin", 0);
}

/* The file lacks only the features and the last second. The command is killed,
 * too. */
static void killed_recording_can_be_read(void **state) {
  support_need_own_events(__func__);
  end_by(SIGKILL, "-v -e cpu-clock:u -F 500 " STAT_TARGET " spin",
         128 + SIGKILL);
}

static void recording_ends_after_its_duration(void **state) {
  support_need_own_events(__func__);
  record_run_well("--duration 0.1 -e cpu-clock:u -F 500 " STAT_TARGET " spin");
  expect_features(1);
}

/* -- a file that cannot grow ---------------------------------------------- */

/* Limits the file to less than a ring holds, because a slow machine loses the
 * rest. */
static void limit_file(void) {
  static const struct rlimit limit = {128 << 10, 128 << 10};

  setrlimit(RLIMIT_FSIZE, &limit);
}

static void expect_full(void (*prepare)(void), const char *reason) {
  static tool_run_t run;

  memset(&run, 0, sizeof(run));
  run.prepare = prepare;
  record_run_run(&run, RECORD_PATH,
                 "--call-graph dwarf -e page-faults:u -c 1 " STAT_TARGET
                 " touch 4000");
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, record_run_path());
  tool_run_expect_text(run.err, reason);
  record_run_count(&count);
  assert_true(count.nr_of_event[0] > 0);
}

/* No other file follows the one that could not be written. */
static void full_disk_ends_one_file_after_the_other(void **state) {
  static tool_run_t run;
  char directory[64];
  glob_t files;
  size_t nr;

  support_need_root(__func__);
  support_need_own_events(__func__);
  snprintf(directory, sizeof(directory), "%s", record_run_path());
  *strrchr(directory, '/') = '\0';
  if (mount("uvperf", directory, "tmpfs", 0, "size=1m") != 0)
    support_skip(__func__, "a tmpfs that can be mounted");
  memset(&run, 0, sizeof(run));
  record_run_run(&run, RECORD_PATH,
                 "--switch-output=64K -e page-faults:u -c 1 sh -c 'while :; "
                 "do " STAT_TARGET " touch 1000; sleep 0.05; done'");
  nr = record_run_files(&files);
  if (nr > 0)
    record_run_count_file(files.gl_pathv[0], &count);
  umount2(directory, MNT_DETACH);
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, strerror(ENOSPC));
  assert_true(nr > 2);
  assert_true(count.nr_of_event[0] > 0);
  globfree(&files);
}

static void file_that_may_not_grow_keeps_what_it_has(void **state) {
  support_need_own_events(__func__);
  expect_full(limit_file, strerror(EFBIG));
}

static void full_disk_keeps_what_it_has(void **state) {
  char directory[64];
  int rc;

  support_need_root(__func__);
  support_need_own_events(__func__);
  snprintf(directory, sizeof(directory), "%s", record_run_path());
  *strrchr(directory, '/') = '\0';
  rc = mount("uvperf", directory, "tmpfs", 0, "size=128k");
  if (rc != 0)
    support_skip(__func__, "a tmpfs that can be mounted");
  expect_full(NULL, strerror(ENOSPC));
  assert_int_equal(umount2(directory, MNT_DETACH), 0);
}

/* -- a pipe --------------------------------------------------------------- */

/* The reader waits until the end. Records that do not fit into the pipe, the
 * memory and the rings are lost, and the loss is reported. */
static void pipe_without_a_reader_does_not_hold_it(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "mkfifo \"$2\"; { \"$0\" --call-graph dwarf -e page-faults:u "
               "-c 1 -o - \"$1\" touch 4000; echo $? >&2; echo >\"$2\"; } | "
               "read end <\"$2\"",
               RECORD_PATH, STAT_TARGET, record_run_path()}};
  unsigned long samples, lost;

  support_need_own_events(__func__);
  tool_run(&run);
  tool_run_expect_text(run.err, "\n1\n");
  assert_true(record_run_reported(&run, &samples, &lost));
  assert_true(samples > 0);
  assert_true(samples + lost >= 4000);
}

/* timeout(1) exits with 124 if SIGTERM was enough. */
static void fifo_without_a_reader_can_be_given_up(void **state) {
  support_need_own_events(__func__);
  record_run_shell("mkfifo @; timeout -s TERM -k 20 0.2 " RECORD_PATH
                   " -e cpu-clock:u -o @ true; test $? -eq 124");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(interrupted_recording_is_complete),
      record_run_test(interrupted_file_is_complete_while_the_events_are_open),
      record_run_test(terminated_recording_ends_its_command),
      record_run_test(killed_recording_can_be_read),
      record_run_test(recording_ends_after_its_duration),
      record_run_test(file_that_may_not_grow_keeps_what_it_has),
      record_run_test(full_disk_keeps_what_it_has),
      record_run_test(full_disk_ends_one_file_after_the_other),
      record_run_test(pipe_without_a_reader_does_not_hold_it),
      record_run_test(fifo_without_a_reader_can_be_given_up),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
