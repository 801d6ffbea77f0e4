/* SPDX-License-Identifier: MIT */
/* The profiler on a machine with a PMU. */
#include "profile_run.h"

#include <linux/perf_event.h>

/* Other processes may use the CPU, so fewer samples may come. */
static void busy_loop_is_sampled_by_the_cycles_of_a_pmu(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-F", "500", "-d", "0.5", "--",
                             TARGET_PATH, "spin"}};

  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 1000000);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.err, "cycles, 500 Hz");
  profile_run_expect_spin(&run);
  assert_in_range(profile_run_samples(&run), 20, 400);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(busy_loop_is_sampled_by_the_cycles_of_a_pmu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
