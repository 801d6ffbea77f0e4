/* SPDX-License-Identifier: MIT */
/* How samples end when their output is lost. test/checks.sh checks this in
 * samples that are not run here. */
#include "tool_run.h"

#include <unistd.h>

/* A thread that works once it is measured, and is renamed by its execve(2). */
#define TARGET                                                                 \
  "(until ls -l /proc/$$/fd | grep -q perf_event; do :; done; i=0;"            \
  " while [ $i -lt 100000 ]; do i=$((i+1)); done; exec /bin/true) & "

static void expect_lost(const char *before, const char *sample,
                        const char *arg) {
  static tool_run_t run;
  char line[4096];

  snprintf(line, sizeof(line), SAMPLES "/%s", sample);
  if (access(line, X_OK) != 0)
    return; /* CMake did not build it */
  print_message("%s\n", sample);
  snprintf(line, sizeof(line), "%s exec " SAMPLES "/%s %s >/dev/full", before,
           sample, arg);
  run = (tool_run_t){.args = {"/bin/sh", "-c", line}};
  tool_run(&run);
  tool_run_expect_status(&run, 1);
  if (strcmp(sample, "callback_test") != 0) /* it prints its source line */
    tool_run_expect_text(run.err, "stdout");
}

static void samples_into_a_full_disk_end_with_1(void **state) {
  const char *const samples[] = {
      "allocator",        "callback_test", "count_group", "last_records",
      "limit_records",    "measure_calls", "raii",        "sample_group",
      "measure_function", "share_ring",    "walk_close"};
  size_t i;

  (void)state;
  support_need_own_events(__func__);
  for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
    expect_lost("", samples[i], "");
}

static void names_into_a_full_disk_end_with_1(void **state) {
  (void)state;
  expect_lost("", "name_addresses", "$$ 10");
}

static void samples_of_a_thread_into_a_full_disk_end_with_1(void **state) {
  const char *const samples[] = {"own_loop", "poll_event", "sample_process",
                                 "sample_thread"};
  size_t i;

  (void)state;
  support_need_own_events(__func__);
  for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
    expect_lost(TARGET, samples[i], "$!");
}

static void sample_of_cpus_into_a_full_disk_ends_with_1(void **state) {
  (void)state;
  support_need_cpu_wide(__func__);
  expect_lost("", "measure_machine", "");
}

static void sample_of_a_variable_into_a_full_disk_ends_with_1(void **state) {
  (void)state;
  support_need_breakpoints(__func__);
  expect_lost("", "watch_variable", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(samples_into_a_full_disk_end_with_1),
      cmocka_unit_test(names_into_a_full_disk_end_with_1),
      cmocka_unit_test(samples_of_a_thread_into_a_full_disk_end_with_1),
      cmocka_unit_test(sample_of_cpus_into_a_full_disk_ends_with_1),
      cmocka_unit_test(sample_of_a_variable_into_a_full_disk_ends_with_1),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
