/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

/* The kernel enables the events within the command's first execve(2): after its
 * entry, and before sched_process_exec. */
static void count_command_begins_at_the_execve_of_the_command(void **state) {
  tool_run_t run = {
      .args = {SAMPLE_PATH,
               "syscalls:sys_enter_execve,sched:sched_process_exec,"
               "sched:sched_process_fork",
               "sh", "-c", "/bin/true; /bin/true; exit 3"}};

  support_need_tracepoint(__func__, "sched:sched_process_exec");
  support_need_kernel_side(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 3);
  assert_string_equal(run.err, "2 syscalls:sys_enter_execve\n"
                               "3 sched:sched_process_exec\n"
                               "2 sched:sched_process_fork\n");
}

static void count_command_as_nobody_counts_the_user_side(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "task-clock", "sh", "-c", "echo $0"},
                    .as_nobody = 1};
  unsigned long long ns;

  tool_run_need_own(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.out, "sh\n");
  assert_int_equal(sscanf(run.err, "%llu ns task-clock", &ns), 1);
  assert_true(ns > 0);
}

static void count_command_passes_the_signal_of_the_command_on(void **state) {
  tool_run_t run = {
      .args = {SAMPLE_PATH, "task-clock", "sh", "-c", "kill -TERM $$"}};

  support_need_own_events(__func__);
  tool_run_ends(&run, 128 + 15, "task-clock");
}

static void count_command_without_events_runs_no_command(void **state) {
  tool_run_t run = {
      .args = {SAMPLE_PATH, "type=99,config=0", "echo", "it ran"}};

  tool_run_ends(&run, 1, "type 99");
  assert_string_equal(run.out, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(count_command_begins_at_the_execve_of_the_command),
      cmocka_unit_test(count_command_as_nobody_counts_the_user_side),
      cmocka_unit_test(count_command_passes_the_signal_of_the_command_on),
      cmocka_unit_test(count_command_without_events_runs_no_command),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
