/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <signal.h>
#include <sys/prctl.h>

static int get_name(void *arg) {
  return prctl(PR_SET_NAME, (const char *)arg);
}

static void stop(tool_run_t *run) {
  run->interrupt_with = SIGINT;
}

/* Called once the sample runs. Starts a child that gets a name. */
static void fork_child(tool_run_t *run) {
  pid_t *child = run->data;

  *child = support_fork(get_name, "streamed");
  assert_true(*child > 0);
  assert_int_equal(support_wait(*child), 0);
  run->interrupt_at = "streamed";
  run->work = stop;
}

/* Finds one line after another. Returns the rest of the text. */
static const char *next(const char *text, const char *part) {
  text = strstr(text, part);
  if (text == NULL)
    fail_msg("no '%s'", part);
  return text + 1;
}

/* Returns the time in a line, in either of its forms, or 0 if it has none. */
static double time_of(const char *line) {
  const char *time = strstr(line, " time ");
  double seconds = 0;

  if (strncmp(line, "PERF_RECORD_", 12) != 0)
    sscanf(line, "%lf cpu", &seconds);
  else if (time != NULL && time < strchr(line, '\n'))
    sscanf(time, " time %lf", &seconds);
  return seconds;
}

static void stream_machine_prints_a_child_in_the_order_of_time(void **state) {
  pid_t child;
  tool_run_t run = {.args = {SAMPLE_PATH},
                    .interrupt_at = "cpu-clock",
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = fork_child,
                    .keeps_end = 1,
                    .data = &child};
  char text[64];
  const char *line;
  double last = 0, time;
  int late = 0;

  support_need_tracepoint(__func__, "sched:sched_process_fork");
  support_need_cpu_wide(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 128 + SIGINT);
  snprintf(text, sizeof(text), ": %d sched:sched_process_fork\n", getpid());
  line = next(run.out, text);
  snprintf(text, sizeof(text), "PERF_RECORD_COMM %d/%d ", child, child);
  line = next(line, text);
  tool_run_expect_text(line, "comm streamed\n");
  for (line = strchr(run.out, '\n') + 1; strchr(line, '\n') != NULL;
       line = strchr(line, '\n') + 1) {
    time = time_of(line);
    if (time != 0 && time < last)
      late++;
    last = time > last ? time : last;
  }
  /* A record that took long from its time stamp into the ring comes late. */
  assert_true(late <= 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stream_machine_prints_a_child_in_the_order_of_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
