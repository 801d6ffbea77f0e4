/* SPDX-License-Identifier: MIT */
/* stat counts the hardware events of a command: exactly, to the instruction, or
 * within a percent if the PMU has too few counters. */
#include "live_hardware.h"

#include <sys/personality.h>

#include "stat_fields.h"

#define RUNS   20
#define EVENTS 14

/* The number of instructions before main depends on the program's addresses. */
static void keep_layout(void) {
  personality(ADDR_NO_RANDOMIZE);
}

static void run_loop(tool_run_t *run, const char *events, const char *length) {
  tool_run_t begun = {
      .args = {STAT_PATH, "-x,", "-e", events, TARGET_PATH, "loop", length},
      .prepare = keep_layout};

  *run = begun;
  tool_run_exits(run, 0);
}

/* Returns the least count of 20 runs. Most counts are equal, but QEMU adds the
 * instructions that other CPUs execute meanwhile, and x86 adds one for each
 * interrupt. */
static uint64_t least_instructions(const char *length) {
  static tool_run_t run;
  uint64_t least = UINT64_MAX;
  uint64_t value;
  int equal = 0;
  int i;

  for (i = 0; i < RUNS; i++) {
    run_loop(&run, "{cycles,instructions}:u", length);
    value = stat_fields_value(run.err, "instructions");
    equal = value < least ? 1 : equal + (value == least);
    if (value < least)
      least = value;
    assert_true(stat_fields_value(run.err, "cycles") > 0);
  }
  assert_in_range(equal, RUNS / 2, RUNS);
  return least;
}

static void command_is_counted_to_the_instruction(void **state) {
  uint64_t value;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 0);
  live_need_loop(__func__);
  value = least_instructions("200000");
  assert_int_equal(value - least_instructions("100000"),
                   100000 * LIVE_LOOP_INSTRUCTIONS);
}

/* Only the first event is pinned, so only this one is on a counter all the
 * time. */
static void events_that_share_counters_are_within_a_percent(void **state) {
  static tool_run_t run;
  stat_fields_t line;
  uint64_t truth = 0;
  uint64_t value;
  size_t i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  live_need_few_counters(__func__);
  run_loop(&run,
           "instructions:uD,instructions:u,instructions:u,instructions:u,"
           "instructions:u,instructions:u,instructions:u,instructions:u,"
           "instructions:u,instructions:u,instructions:u,instructions:u,"
           "instructions:u,instructions:u",
           "100000000");
  for (i = 0; i < EVENTS; i++) {
    assert_int_equal(stat_fields_line(run.err, ',', 5, i, &line), 1);
    value = strtoull(line.field[0], NULL, 10);
    if (i == 0)
      truth = value;
    else
      live_assert_near(value, truth);
    /* The field has the percentage of time in which the event was on a
     * counter. */
    assert_int_equal(strcmp(line.field[4], "100.00") == 0, i == 0);
  }
  assert_in_range(truth, 200000000, 210000000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(command_is_counted_to_the_instruction),
      cmocka_unit_test(events_that_share_counters_are_within_a_percent),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
