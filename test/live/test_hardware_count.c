/* SPDX-License-Identifier: MIT */
/* Live: hardware events count what was executed, to the instruction. */
#include "live_hardware.h"

#include <fcntl.h>
#include <unistd.h>

#include "live_set.h"
#include "fake_kernel.h"
#include "live_measure.h"
#include "live_offline_cpu.h"

#define RUNS       20
#define ITERATIONS 100000u
#define LOOP       ((uint64_t)ITERATIONS * LIVE_LOOP_INSTRUCTIONS)

/* Instructions that calls of the library and of libc may take besides a
 * loop. */
#define SLACK 20000

static void run_loop(void *iterations) {
  live_loop(*(const uint64_t *)iterations);
}

static uint64_t count_loop(uvperf_meter_t *meter, uint64_t iterations) {
  uvperf_count_t count;

  /* Its log must not take another number of instructions each time. */
  fake_kernel_reset();
  assert_int_equal(
      uvperf_meter_measure(meter, run_loop, &iterations, &count, 1, NULL), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.time_running, count.time_enabled);
  assert_int_equal(count.scaled, count.value);
  return count.value;
}

/* The least of 20 runs: most are equal, but QEMU adds what other CPUs execute
 * meanwhile, and x86 one for each interrupt. */
static uint64_t count_least(uvperf_meter_t *meter, uint64_t iterations) {
  uint64_t least = UINT64_MAX;
  uint64_t value;
  int equal = 0;
  int i;

  count_loop(meter, 1);
  for (i = 0; i < RUNS; i++) {
    value = count_loop(meter, iterations);
    equal = value < least ? 1 : equal + (value == least);
    if (value < least)
      least = value;
  }
  assert_in_range(equal, RUNS / 2, RUNS);
  return least;
}

/* Instructions and cycles of one call, which were on counters together. */
static uint64_t take_pair(const uvperf_count_t *counts) {
  size_t i;

  for (i = 0; i < 2; i++) {
    assert_int_equal(counts[i].state, UVPERF_COUNT_COUNTING);
    assert_int_equal(counts[i].flags, 0);
    assert_true(counts[i].ratio == 1);
    assert_true(counts[i].value > 0);
  }
  assert_int_equal(counts[0].time_running, counts[1].time_running);
  return counts[0].value;
}

static uint64_t count_events(uv_loop_t *loop) {
  uint64_t iterations = 2 * ITERATIONS;
  uvperf_count_t counts[2];

  assert_int_equal(uvperf_measure_events("{instructions:u,cycles:u}", run_loop,
                                         &iterations, counts, 2, NULL),
                   0);
  return take_pair(counts);
}

static uint64_t count_open_events(uv_loop_t *loop) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uint64_t iterations = 2 * ITERATIONS;
  live_collector_t leader, sibling;
  uvperf_count_t counts[2];
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.exclude_kernel = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                     PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_GROUP;
  live_init(loop, &leader, &attr, NULL);
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  options.leader = &leader.event;
  live_init(loop, &sibling, &attr, &options);
  assert_int_equal(uvperf_event_measure(&leader.event, run_loop, &iterations,
                                        counts, 2, NULL),
                   0);
  live_close(&sibling);
  live_close(&leader);
  return take_pair(counts);
}

static uint64_t count_alone(uv_loop_t *loop) {
  live_collector_t alone;
  uvperf_count_t read;
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  attr.exclude_kernel = 1;
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  live_init(loop, &alone, &attr, NULL);
  assert_int_equal(uvperf_enable(&alone.event.handle, 0, NULL), 0);
  live_loop(2 * ITERATIONS);
  assert_int_equal(uvperf_disable(&alone.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_event_read(&alone.event, &read, NULL), 0);
  assert_true(read.time_running > 0);
  assert_int_equal(read.time_running, read.time_enabled);
  live_close(&alone);
  return read.value;
}

/* Nothing counts less than the loop, and one of 20 runs no other CPU's work. */
static void assert_counts_loop(uint64_t (*count)(uv_loop_t *),
                               uv_loop_t *loop) {
  uint64_t least = UINT64_MAX;
  uint64_t value;
  int i;

  for (i = 0; i < RUNS; i++) {
    value = count(loop);
    assert_in_range(value, 2 * LOOP, UINT64_MAX);
    least = value < least ? value : least;
  }
  assert_in_range(least, 2 * LOOP, 2 * LOOP + SLACK);
}

static void loop_is_counted_to_the_instruction(void **state) {
  uint64_t iterations = 2 * ITERATIONS;
  uvperf_meter_t *meter;
  uvperf_runs_t empty;
  uint64_t value;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 0);
  live_need_loop(__func__);
  meter = live_measure_meter("instructions:u", NULL);
  value = count_least(meter, iterations);
  assert_int_equal(value - count_least(meter, ITERATIONS),
                   ITERATIONS * LIVE_LOOP_INSTRUCTIONS);

  /* Without what measuring adds only the call is left. */
  fake_kernel_reset();
  assert_int_equal(uvperf_meter_repeat(meter, 10, live_measure_nothing, NULL,
                                       &empty, 1, NULL),
                   0);
  assert_in_range(value - empty.least, 2 * LOOP, 2 * LOOP + 30);
  uvperf_meter_free(meter);

  assert_counts_loop(count_events, *state);
  assert_counts_loop(count_open_events, *state);
  assert_counts_loop(count_alone, *state);
}

/* The kernel clears as many bytes as are read. */
static void run_loop_and_read(void *buffer) {
  const size_t size = 1u << 20;
  int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

  live_loop(ITERATIONS);
  if (read(fd, buffer, size) != (ssize_t)size)
    abort();
  close(fd);
}

/* The instructions of one run in user space. */
static uint64_t add_sides_up(live_measure_run_t *run, void *buffer) {
  uint64_t both, user, kernel;

  live_measure_do(run, run_loop_and_read, buffer);
  both = live_measure_total(run, 0).value;
  user = live_measure_total(run, 1).value;
  kernel = live_measure_total(run, 2).value;
  assert_int_equal(live_measure_total(run, 0).time_running,
                   live_measure_total(run, 0).time_enabled);
  assert_in_range(user + kernel, both - LIVE_INSTRUCTIONS_SLACK,
                  both + LIVE_INSTRUCTIONS_SLACK);
  /* A page of zeros takes some tens of instructions, with rep stos too. */
  assert_in_range(kernel, (1u << 20) / 4096 * 10, UINT64_MAX);
  return user;
}

static void both_sides_add_up(void **state) {
  uint64_t least = UINT64_MAX;
  uint64_t user;
  live_measure_run_t run;
  char *buffer;
  int i;

  support_need_kernel_side(__func__);
  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  buffer = malloc(1u << 20);
  assert_non_null(buffer);
  live_measure_open(*state, &run,
                    "{instructions,instructions:u,instructions:k}", NULL);
  for (i = 0; i < RUNS; i++) {
    user = add_sides_up(&run, buffer);
    least = user < least ? user : least;
  }
  assert_in_range(least, LOOP, LOOP + SLACK);
  live_measure_close(&run);
  free(buffer);
}

/* The current count of a CPU. */
static uint64_t count_on(live_set_t *live, int cpu) {
  uvperf_count_t count;
  size_t i;

  live_set_read(live, 0);
  for (i = 0; i < uvperf_reading_info(live->reading)->nr_places; i++) {
    if (uvperf_reading_place(live->reading, i)->cpu != cpu)
      continue;
    assert_int_equal(
        uvperf_reading_get(live->reading, 0, UVPERF_ALL, i, &count), 0);
    return count.value;
  }
  fail_msg("CPU %d is not measured", cpu);
  return 0;
}

static void assert_cpu_counts(live_set_t *live, int cpu) {
  uint64_t before = count_on(live, cpu);
  cpu_set_t old;

  live_pin(cpu, &old);
  live_loop(ITERATIONS);
  live_unpin(&old);
  assert_in_range(count_on(live, cpu) - before, LOOP, UINT64_MAX);
}

static uint64_t cpus_come;

static void on_cpu(uvperf_handle_t *handle, int cpu, int status,
                   const uvperf_error_t *error) {
  cpus_come += status == 0;
}

static void plan_cpus(live_plan_t *plan) {
  live_plan_begin(plan);
  live_plan_hardware(plan, PERF_COUNT_HW_INSTRUCTIONS);
  live_plan_target(plan, UVPERF_TARGET_CPUS);
}

static void each_cpu_counts_the_loop_that_ran_on_it(void **state) {
  int cpus[CPU_SETSIZE];
  live_plan_t plan;
  live_set_t live;
  size_t nr, i;

  support_need_cpu_wide(__func__);
  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  plan_cpus(&plan);
  live_set_begin(*state, &live, &plan.options);
  nr = live_cpus(cpus, CPU_SETSIZE);
  for (i = 0; i < nr; i++)
    assert_cpu_counts(&live, cpus[i]);
  live_set_close(&live);
}

static void cpu_that_came_back_counts_its_loop(void **state) {
  live_plan_t plan;
  live_set_t live;
  uint64_t before;
  int cpu;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  live_need_loop(__func__);
  cpu = live_offline_cpu_need(__func__);
  plan_cpus(&plan);
  live_set_begin(*state, &live, &plan.options);
  uvperf_on_cpu(&live.set.handle, on_cpu);
  assert_int_equal(
      uvperf_set_read_start(&live.set, 1000, live_set_on_read, NULL), 0);
  assert_cpu_counts(&live, cpu);
  before = count_on(&live, cpu);
  cpus_come = 0;
  live_offline_cpu_bounce(cpu);
  assert_true(live_run_until(*state, &cpus_come, 1));
  assert_true(count_on(&live, cpu) >= before);
  assert_cpu_counts(&live, cpu);
  live_set_close(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(loop_is_counted_to_the_instruction),
      support_loop_test(both_sides_add_up),
      support_loop_test(each_cpu_counts_the_loop_that_ran_on_it),
      support_loop_test(cpu_that_came_back_counts_its_loop),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
