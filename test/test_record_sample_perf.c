/* SPDX-License-Identifier: MIT */
/* perf(1) reads what record writes without a word of complaint, and reads the
 * same as the library's decoder. */
#include <signal.h>

#include "perf_check.h"
#include "record_files.h"
#include "stat_serve.h"

static void need(const char *test) {
  support_need_cpu_wide(test);
  support_need_tracepoint(test, STAT_SERVE_EVENT);
  perf_dump_need(test);
}

static void record(const char *words) {
  static sample_run_t run;

  memset(&run, 0, sizeof(run));
  record_files_run(&run, RECORD_PATH, words);
  sample_run_expect_status(&run, 0);
}

/* -- the comparison itself ------------------------------------------------- */

static void decoder_reads_of_perfs_files_what_perf_reads(void **state) {
  perf_check_t check;

  (void)state;
  need(__func__);
  record_files_shell("perf record -q -o @ -e cpu-clock,sched:sched_switch -g "
                     "-a -- sleep 0.1");
  perf_check_file_with_losses(&check, record_files_path());
  assert_true(check.nr_of_event[1] > 0 && check.nr_named > 0);
  record_files_shell(
      "perf record -q -o @ -m 4M -e page-faults -c 1 --call-graph "
      "dwarf -- ls /");
  perf_check_file(&check, record_files_path());
  assert_int_equal(check.nr_of_event[0], check.nr_of_type[PERF_RECORD_SAMPLE]);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
  assert_true(check.nr_named > 10);
}

/* What all of a busy machine does can be too much for a ring, of perf(1) too:
 * then both tell of losses. */

/* -- every record, every field --------------------------------------------- */

static void command_is_read_by_perf(void **state) {
  perf_check_t check;

  (void)state;
  need(__func__);
  record("-F 2000 " TARGET_PATH " 40");
  perf_check_file(&check, record_files_path());
  assert_true(check.nr_of_event[0] > 0);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
  record("-e page-faults -c 1 --sample-cpu sh -c 'ls / >/dev/null; (:)'");
  perf_check_file(&check, record_files_path());
  assert_true(check.nr_of_event[0] > 100);
  assert_int_equal(check.nr_of_event[0], check.nr_named);
}

static void machine_is_read_by_perf(void **state) {
  perf_check_t check;

  (void)state;
  need(__func__);
  record("-a --switch-events --namespaces -F 500 sh -c '" TARGET_PATH
         " 40; ls / >/dev/null'");
  perf_check_file_with_losses(&check, record_files_path());
  assert_true(check.nr_of_event[0] > 0 && check.nr_named > 0);
  assert_true(check.nr_of_type[PERF_RECORD_SWITCH_CPU_WIDE] > 0);
  assert_true(check.nr_of_type[PERF_RECORD_NAMESPACES] > 0);
  assert_true(check.nr_of_type[PERF_RECORD_MMAP2] > 0);
  record("-C 0 -g -F 500 -e page-faults -e cpu-clock ls /");
  perf_check_file_with_losses(&check, record_files_path());
  assert_true(check.nr_of_event[1] > 0);
}

static void end_it(sample_run_t *run) {
  stat_serve_calls(run->data, 777);
  stat_serve_end(run->data);
}

static void process_is_read_by_perf(void **state) {
  static sample_run_t run;
  perf_check_t check;
  stat_serve_t serve;
  char words[128];

  (void)state;
  need(__func__);
  stat_serve_start(&serve, STAT_TARGET);
  memset(&run, 0, sizeof(run));
  run.interrupt_at = "recording";
  run.interrupt_with = SAMPLE_RUN_NO_SIGNAL;
  run.work = end_it;
  run.data = &serve;
  snprintf(words, sizeof(words), "-v -e %s,cs -p %s", STAT_SERVE_EVENT,
           serve.id);
  record_files_run(&run, RECORD_PATH, words);
  sample_run_expect_status(&run, 0);
  perf_check_file(&check, record_files_path());
  assert_int_equal(check.nr_of_event[0], 777);
  /* Its name is from before: it has not changed since. */
  assert_int_equal(check.nr_named, check.nr_of_type[PERF_RECORD_SAMPLE]);
}

static void stacks_are_read_by_perf(void **state) {
  perf_check_t check;

  (void)state;
  need(__func__);
  record("-g --max-stack 7 -e page-faults -c 1 " STAT_TARGET " touch 100");
  perf_check_file(&check, record_files_path());
  assert_true(check.nr_of_event[0] > 100);
  record("-m 4M --call-graph dwarf,4096 -e page-faults -c 1 " STAT_TARGET
         " touch 100");
  perf_check_file(&check, record_files_path());
  assert_true(check.nr_of_event[0] > 100);
}

static void events_of_several_kinds_are_read_by_perf(void **state) {
  perf_check_t check;

  (void)state;
  need(__func__);
  record("-e " STAT_SERVE_EVENT " -e '{page-faults,cpu-clock}' -e cs "
         "-e sched:sched_process_exit " STAT_TARGET " children 3 100");
  perf_check_file(&check, record_files_path());
  assert_int_equal(check.nr_of_event[0], 300);
  assert_int_equal(check.nr_of_event[4], 4);
}

static void group_that_is_read_is_read_by_perf(void **state) {
  perf_check_t check;

  (void)state;
  need(__func__);
  record("-e '{" STAT_SERVE_EVENT ",page-faults,cs}:S' " STAT_TARGET
         " calls 50");
  perf_check_file(&check, record_files_path());
  assert_int_equal(check.nr_of_event[0], 50);
  /* perf(1) makes a line of each value that has changed. */
  assert_true(check.nr_lines > 50);
}

static void losses_are_read_by_perf(void **state) {
  perf_check_t check;

  (void)state;
  need(__func__);
  record("-m 4096 -e " STAT_SERVE_EVENT " " STAT_TARGET " threads 2 20000");
  perf_check_file_with_losses(&check, record_files_path());
  assert_true(check.nr_of_type[PERF_RECORD_LOST] > 0);
}

/* -- files that have not ended --------------------------------------------- */

static size_t count_lines(const char *words) {
  char all[256], line[512];
  size_t nr = 0;
  FILE *file;

  snprintf(all, sizeof(all), "%s -i %s", words, record_files_path());
  file = perf_dump_run(all, 1);
  while (fgets(line, sizeof(line), file) != NULL)
    nr++;
  fclose(file);
  return nr;
}

static void read_growing_file(sample_run_t *run) {
  size_t *nr = run->data;

  while ((*nr = count_lines("script -F comm,ip,sym")) == 0)
    continue;
}

static void file_of_a_killed_recording_is_read_by_perf(void **state) {
  static sample_run_t run;
  size_t nr;

  (void)state;
  need(__func__);
  memset(&run, 0, sizeof(run));
  run.interrupt_at = "recording";
  run.interrupt_with = SIGKILL;
  run.work = read_growing_file;
  run.data = &nr;
  record_files_run(&run, RECORD_PATH,
                   "-v -e cpu-clock -F 500 " STAT_TARGET " spin");
  sample_run_expect_status(&run, 128 + SIGKILL);
  assert_true(count_lines("script -F comm,ip,sym") >= nr);
  assert_true(count_lines("report --stdio") > 10);
  assert_int_equal(count_lines("evlist"), 2);
}

static void pipe_is_read_by_perf(void **state) {
  (void)state;
  need(__func__);
  record_files_shell(RECORD_PATH " -q -o - -e page-faults -c 1 " STAT_TARGET
                                 " touch 100 | perf script -F comm -G -i - >@");
  record_files_shell("test $(grep -c stat_target @) -gt 100");
}

/* -- names ----------------------------------------------------------------- */

/* Of each sample of record_inner by whom it was called: as many as there are, in
 * *nr, and those whose chain is right. */
static size_t count_chains(size_t *nr) {
  static const char *const chain[] = {"record_inner", "record_middle",
                                      "record_outer", "main"};
  char words[256], line[512], symbol[256];
  size_t right = 0, depth = 0;
  FILE *file;

  *nr = 0;
  snprintf(words, sizeof(words), "script -F ip,sym -i %s", record_files_path());
  file = perf_dump_run(words, 0);
  while (fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%*x %255s", symbol) != 1) {
      depth = 0;
      continue;
    }
    *nr += depth == 0 && strcmp(symbol, chain[0]) == 0;
    if (depth < 4 && strcmp(symbol, chain[depth]) == 0)
      right += ++depth == 4;
    else
      depth = 5;
  }
  fclose(file);
  return right;
}

static void functions_are_called_by_their_names_as_in_perfs_file(void **state) {
  size_t right, nr;

  (void)state;
  need(__func__);
  record_files_shell(
      "perf record -q -o @ -g -e task-clock:u -F 2000 " TARGET_PATH " 40");
  right = count_chains(&nr);
  print_message("perf: %zu of %zu chains", right, nr);
  assert_true(nr > 10 && right == nr);
  record("-g -e task-clock:u -F 2000 " TARGET_PATH " 40");
  right = count_chains(&nr);
  print_message(", record: %zu of %zu chains\n", right, nr);
  assert_true(nr > 10 && right == nr);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_files_test(decoder_reads_of_perfs_files_what_perf_reads),
      record_files_test(command_is_read_by_perf),
      record_files_test(machine_is_read_by_perf),
      record_files_test(process_is_read_by_perf),
      record_files_test(stacks_are_read_by_perf),
      record_files_test(events_of_several_kinds_are_read_by_perf),
      record_files_test(group_that_is_read_is_read_by_perf),
      record_files_test(losses_are_read_by_perf),
      record_files_test(file_of_a_killed_recording_is_read_by_perf),
      record_files_test(pipe_is_read_by_perf),
      record_files_test(functions_are_called_by_their_names_as_in_perfs_file),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
