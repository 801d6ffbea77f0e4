/* SPDX-License-Identifier: MIT */
/* --overwrite keeps the newest records, and the names of all their tasks and
 * programs, however old the names are. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call_server.h"
#include "perf_dump.h"
#include "record_run.h"
#include "uvperf.h"

#define CALLS STAT_TARGET " calls "

/* The contents of a file about one program. */
typedef struct program_s {
  size_t nr_maps, nr_samples, nr_last;
  uint32_t last_pid; /* of the last sample */
} program_t;

static void look(void *arg, const perf_data_record_t *entry) {
  const uvperf_record_t *record = entry->record;
  program_t *program = arg;

  if (record == NULL)
    return;
  program->nr_maps += record->type == PERF_RECORD_MMAP2 &&
                      strcmp(record->mmap.filename, STAT_TARGET) == 0;
  if (record->type != PERF_RECORD_SAMPLE)
    return;
  program->nr_samples++;
  program->nr_last =
      record->pid == program->last_pid ? program->nr_last + 1 : 1;
  program->last_pid = record->pid;
}

static void look_into(const char *path, program_t *program) {
  perf_data_t data;

  memset(program, 0, sizeof(*program));
  perf_data_open(&data, path);
  perf_data_walk(&data, look, program);
  perf_data_close(&data);
}

static void expect_names(const char *path) {
  char words[256], line[256];
  FILE *file;

  snprintf(words, sizeof(words), "script -i %s -F comm", path);
  file = perf_dump_run(words, 1, NULL);
  while (fgets(line, sizeof(line), file) != NULL)
    assert_null(strchr(line, ':')); /* ":17" is a task without a name */
  fclose(file);
}

static void newest_records_are_kept_and_all_names(void **state) {
  static tool_run_t run;
  program_t program;

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  perf_dump_need(__func__);
  record_run_run(&run, RECORD_PATH,
                 "--overwrite -m 16K -e " CALL_SERVER_EVENT " sh -c '" CALLS
                 "20000; " CALLS "20'");
  tool_run_expect_status(&run, 0);
  look_into(record_run_path(), &program);
  assert_in_range(program.nr_samples, 21, 2000);
  assert_int_equal(program.nr_last, 20);
  assert_true(program.nr_maps >= 2);
  expect_names(record_run_path());
}

/* The mapping of the program was overwritten long before, and the program has
 * ended. */
static void program_that_has_ended_is_known(void **state) {
  program_t program;

  support_need_own_events(__func__);
  perf_dump_need(__func__);
  record_run_well("--overwrite -m 16K -e page-faults:u -c 1 " STAT_TARGET
                  " touch 20000");
  look_into(record_run_path(), &program);
  assert_in_range(program.nr_samples, 10, 2000);
  assert_true(program.nr_maps > 0);
  expect_names(record_run_path());
}

static void each_snapshot_has_what_is_new(void **state) {
  static tool_run_t run;
  char words[1024];
  const char *path = record_run_path();
  program_t program;
  glob_t files;

  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  perf_dump_need(__func__);
  memset(&run, 0, sizeof(run));
  snprintf(words, sizeof(words), "%s.ctl", path);
  assert_int_equal(mkfifo(words, 0600), 0);
  snprintf(words, sizeof(words), "%s.ack", path);
  assert_int_equal(mkfifo(words, 0600), 0);
  snprintf(words, sizeof(words),
           "--overwrite --switch-output -e %s --control fifo:%s.ctl,%s.ack sh "
           "-c 'exec 7>%s.ctl 8<%s.ack; " CALLS
           "100; echo snapshot >&7; read x <&8; " CALLS "200'",
           CALL_SERVER_EVENT, path, path, path, path);
  record_run_run(&run, RECORD_PATH, words);
  tool_run_expect_status(&run, 0);
  assert_int_equal(record_run_files(&files), 4); /* two are the FIFOs */
  look_into(files.gl_pathv[0], &program);
  assert_int_equal(program.nr_samples, 100);
  look_into(files.gl_pathv[1], &program);
  assert_int_equal(program.nr_samples, 200);
  expect_names(files.gl_pathv[0]);
  expect_names(files.gl_pathv[1]);
  globfree(&files);
}

static void send_usr2(tool_run_t *run) {
  usleep(200000);
  kill(run->pid, SIGUSR2);
  usleep(200000);
}

/* perf(1) would warn of records that were lost during a snapshot. */
static void machine_is_written_at_a_signal_and_at_the_end(void **state) {
  static tool_run_t run;
  program_t program;
  glob_t files;

  support_need_cpu_wide(__func__);
  memset(&run, 0, sizeof(run));
  run.interrupt_at = "recording";
  run.work = send_usr2;
  record_run_run(
      &run, RECORD_PATH,
      "-v -a --overwrite --switch-output -m 16K -e cpu-clock -F 500");
  tool_run_expect_status(&run, 0);
  assert_int_equal(record_run_files(&files), 2);
  look_into(files.gl_pathv[0], &program);
  assert_true(program.nr_samples > 0);
  look_into(files.gl_pathv[1], &program);
  assert_true(program.nr_samples > 0);
  globfree(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(newest_records_are_kept_and_all_names),
      record_run_test(program_that_has_ended_is_known),
      record_run_test(each_snapshot_has_what_is_new),
      record_run_test(machine_is_written_at_a_signal_and_at_the_end),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
