/* SPDX-License-Identifier: MIT */
/* perf(1) reads the files of record without a message, and reads the same as
 * the library's decoder. */
#include "call_server.h"
#include "perf_check.h"
#include "record_run.h"

/* -- the comparison itself ------------------------------------------------- */

/* A busy machine can overflow a ring of perf record, so the first file may have
 * losses. */
static void decoder_reads_of_perfs_files_what_perf_reads(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_shell("perf record -q -o @ -e cpu-clock,sched:sched_switch -g "
                   "-a -- sleep 0.1");
  perf_check_file_with_losses(&check, record_run_path());
  assert_true(check.nr_of_event[1] > 0 && check.nr_named > 0);
  record_run_shell("perf record -q -o @ -m 4M -e page-faults -c 1 --call-graph "
                   "dwarf -- ls /");
  perf_check_file(&check, record_run_path());
  assert_int_equal(check.nr_of_event[0], check.nr_of_type[PERF_RECORD_SAMPLE]);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
  assert_true(check.nr_named > 10);
}

/* -- every record, every field --------------------------------------------- */

static void command_is_read_by_perf(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_well("-F 2000 " TARGET_PATH " 40");
  perf_check_file(&check, record_run_path());
  assert_true(check.nr_of_event[0] > 0);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
  record_run_well(
      "-e page-faults -c 1 --sample-cpu sh -c 'ls / >/dev/null; (:)'");
  perf_check_file(&check, record_run_path());
  assert_true(check.nr_of_event[0] > 100);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
}

static void machine_is_read_by_perf(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_well("-a --switch-events --namespaces -F 500 sh -c '" TARGET_PATH
                  " 40; ls / >/dev/null'");
  perf_check_file_with_losses(&check, record_run_path());
  assert_true(check.nr_of_event[0] > 0 && check.nr_named > 0);
  assert_true(check.nr_of_type[PERF_RECORD_SWITCH_CPU_WIDE] > 0);
  assert_true(check.nr_of_type[PERF_RECORD_NAMESPACES] > 0);
  assert_true(check.nr_of_type[PERF_RECORD_MMAP2] > 0);
  record_run_well(
      "-C 0 -g -F 500 -e page-faults -e cpu-clock taskset -c 0 " TARGET_PATH
      " 40");
  perf_check_file_with_losses(&check, record_run_path());
  assert_true(check.nr_of_event[1] > 0);
}

static void end_it(tool_run_t *run) {
  call_server_calls(run->data, 777);
  call_server_end(run->data);
}

static void process_is_read_by_perf(void **state) {
  static tool_run_t run;
  perf_check_t check;
  call_server_t serve;
  char words[128];

  record_run_need_perf(__func__);
  call_server_start(&serve, STAT_TARGET);
  memset(&run, 0, sizeof(run));
  tool_run_calls(&run, "recording", end_it, &serve);
  snprintf(words, sizeof(words), "-v -e %s,cs -p %s", CALL_SERVER_EVENT,
           serve.id);
  record_run_run(&run, RECORD_PATH, words);
  tool_run_expect_status(&run, 0);
  perf_check_file(&check, record_run_path());
  assert_int_equal(check.nr_of_event[0], 777);
  /* The process's name is older than the recording. */
  assert_int_equal(check.nr_named, check.nr_of_type[PERF_RECORD_SAMPLE]);
}

static void stacks_are_read_by_perf(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_well("-g --max-stack 7 -e page-faults -c 1 " STAT_TARGET
                  " touch 100");
  perf_check_file(&check, record_run_path());
  assert_true(check.nr_of_event[0] > 100);
  record_run_well(
      "-m 4M --call-graph dwarf,4096 -e page-faults -c 1 " STAT_TARGET
      " touch 100");
  perf_check_file(&check, record_run_path());
  assert_true(check.nr_of_event[0] > 100);
}

static void data_of_samples_are_read_by_perf(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_well("-d --phys-data --data-page-size --code-page-size -W "
                  "-e page-faults -c 1 " STAT_TARGET " touch 100");
  perf_check_file(&check, record_run_path());
  assert_true(check.nr_of_event[0] > 100);
}

static void events_of_several_kinds_are_read_by_perf(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_well("-e " CALL_SERVER_EVENT " -e '{page-faults,cpu-clock}' -e cs "
                  "-e sched:sched_process_exit " STAT_TARGET " children 3 100");
  perf_check_file(&check, record_run_path());
  assert_int_equal(check.nr_of_event[0], 300);
  assert_int_equal(check.nr_of_event[4], 4);
}

static void group_that_is_read_is_read_by_perf(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_well("-e '{" CALL_SERVER_EVENT ",page-faults,cs}:S' " STAT_TARGET
                  " calls 50");
  perf_check_file(&check, record_run_path());
  assert_int_equal(check.nr_of_event[0], 50);
  /* perf(1) makes a line of each value that has changed. */
  assert_true(check.nr_lines > 50);
}

static void losses_are_read_by_perf(void **state) {
  perf_check_t check;

  record_run_need_perf(__func__);
  record_run_well("-m 1 -e " CALL_SERVER_EVENT " " STAT_TARGET
                  " threads 2 20000");
  perf_check_file_with_losses(&check, record_run_path());
  assert_true(check.nr_of_type[PERF_RECORD_LOST] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(decoder_reads_of_perfs_files_what_perf_reads),
      record_run_test(command_is_read_by_perf),
      record_run_test(machine_is_read_by_perf),
      record_run_test(process_is_read_by_perf),
      record_run_test(stacks_are_read_by_perf),
      record_run_test(data_of_samples_are_read_by_perf),
      record_run_test(events_of_several_kinds_are_read_by_perf),
      record_run_test(group_that_is_read_is_read_by_perf),
      record_run_test(losses_are_read_by_perf),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
