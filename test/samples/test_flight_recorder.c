/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <signal.h>
#include <unistd.h>

#define SLEEPS 20

/* Each sleep is one switch out and one switch in. */
static void sleep_often(void *arg) {
  int i;

  (void)arg;
  for (i = 0; i < SLEEPS; i++)
    usleep(1000);
}

static void end_worker(tool_run_t *run) {
  run->interrupt_with = TOOL_RUN_NO_SIGNAL;
  live_worker_end(run->data);
}

static void work(tool_run_t *run) {
  live_worker_do(run->data);
  run->interrupt_at = "-- end of the snapshot\n";
  run->work = end_worker;
}

static void
flight_recorder_on_a_signal_prints_the_switches_of_a_process(void **state) {
  live_worker_t worker;
  char pid[16];
  tool_run_t run = {.args = {SAMPLE_PATH, pid},
                    .interrupt_at = "recording: ",
                    .interrupt_with = SIGUSR1,
                    .work = work,
                    .data = &worker};
  double time, last = 0;
  unsigned int tid;
  const char *line;
  int nr = 0;

  (void)state;
  support_need_own_events(__func__);
  live_worker_fork(&worker, sleep_often, NULL);
  snprintf(pid, sizeof(pid), "%d", worker.pid);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  for (line = run.out; strncmp(line, "PERF_RECORD_SWITCH ", 19) == 0; nr++) {
    line = strstr(line, "/") + 1;
    assert_int_equal(sscanf(line, "%u cpu %*u time %lf", &tid, &time), 2);
    assert_int_equal(tid, worker.pid);
    assert_true(time >= last);
    last = time;
    line = strchr(line, '\n') + 1;
  }
  assert_string_equal(line, "-- end of the snapshot\n");
  assert_true(nr >= 2 * SLEEPS);
}

static void flight_recorder_of_all_tasks_ends_at_ctrl_c(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .interrupt_at = "recording: "};

  (void)state;
  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.out, "");
}

static void flight_recorder_of_no_process_says_so(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "2147483647"}};

  (void)state;
  tool_run_ends(&run, 1, "2147483647");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          flight_recorder_on_a_signal_prints_the_switches_of_a_process),
      cmocka_unit_test(flight_recorder_of_all_tasks_ends_at_ctrl_c),
      cmocka_unit_test(flight_recorder_of_no_process_says_so),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
