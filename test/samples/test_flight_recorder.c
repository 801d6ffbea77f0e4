/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <signal.h>
#include <unistd.h>

#define SLEEPS 20

/* Each sleep is one switch out and one switch in. */
static void sleep_often(void *arg) {
  int i;

  for (i = 0; i < SLEEPS; i++)
    usleep(1000);
}

static void end_worker(tool_run_t *run) {
  run->interrupt_with = TOOL_RUN_NO_SIGNAL;
  live_worker_end(run->data);
}

static void work(tool_run_t *run) {
  live_worker_do(run->data);
  run->interrupt_at = "-- end of the snapshot";
  run->work = end_worker;
}

static void record_worker(tool_run_t *run, const char *seconds) {
  live_worker_t worker;
  char pid[16];

  memset(run, 0, sizeof(*run));
  live_worker_fork(&worker, sleep_often, NULL);
  snprintf(pid, sizeof(pid), "%d", worker.pid);
  run->args[0] = SAMPLE_PATH;
  run->args[1] = pid;
  run->args[2] = seconds;
  run->interrupt_at = "recording: ";
  run->interrupt_with = SIGUSR1;
  run->work = work;
  run->data = &worker;
  tool_run(run);
  tool_run_expect_status(run, 0);
  run->pid = worker.pid;
}

/* Returns what follows the snapshot. */
static const char *count_switches(const char *text, pid_t pid, int *nr) {
  double time, last = 0;
  unsigned int tid;

  *nr = 0;
  for (; strncmp(text, "-- ", 3) != 0; text = strchr(text, '\n') + 1) {
    assert_int_equal(strncmp(text, "PERF_RECORD_", 12), 0);
    if (strncmp(text, "PERF_RECORD_SWITCH ", 19) != 0)
      continue;
    assert_int_equal(
        sscanf(strchr(text, '/'), "/%u cpu %*u time %lf", &tid, &time), 2);
    assert_int_equal(tid, pid);
    assert_true(time >= last);
    last = time;
    ++*nr;
  }
  return strchr(text, '\n') + 1;
}

static void
flight_recorder_prints_a_process_on_a_signal_and_at_its_end(void **state) {
  static tool_run_t run;
  const char *end;
  int nr, nr_at_end;

  support_need_own_events(__func__);
  record_worker(&run, NULL);
  end = count_switches(run.out, run.pid, &nr);
  assert_true(nr >= 2 * SLEEPS);
  assert_string_equal(count_switches(end, run.pid, &nr_at_end), "");
  assert_true(nr_at_end > nr);
  tool_run_expect_text(end, "PERF_RECORD_EXIT ");
}

/* When the process has ended, each of its records is older than 1 ns. */
static void flight_recorder_prints_only_the_last_seconds(void **state) {
  static tool_run_t run;
  int nr;

  support_need_own_events(__func__);
  record_worker(&run, "1e-9");
  assert_int_equal(strncmp(count_switches(run.out, run.pid, &nr), "-- ", 3), 0);
  record_worker(&run, "1e9");
  count_switches(run.out, run.pid, &nr);
  assert_true(nr >= 2 * SLEEPS);
}

static void flight_recorder_of_all_tasks_ends_at_ctrl_c(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .interrupt_at = "recording: "};

  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.out, "");
}

static void flight_recorder_of_no_process_says_so(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "2147483647"}};

  tool_run_ends(&run, 1, "2147483647");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          flight_recorder_prints_a_process_on_a_signal_and_at_its_end),
      cmocka_unit_test(flight_recorder_prints_only_the_last_seconds),
      cmocka_unit_test(flight_recorder_of_all_tasks_ends_at_ctrl_c),
      cmocka_unit_test(flight_recorder_of_no_process_says_so),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
