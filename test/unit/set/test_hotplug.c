/* SPDX-License-Identifier: MIT */
/* Scripted: what a set does with CPUs that go and come, in a tree that replaces
 * sysfs and with the test's uevents. */
#include "live_set.h"

#include "fake_kernel.h"
#include "fake_uevents.h"
#include "loop/rings.h"
#include "make_cpus.h"
#include "make_evlist.h"
#include "scripted_evlist.h"
#include "scripted_hotplug.h"

static const scripted_row_t rows[] = {
    /* -- reports ----------------------------------------------------------- */
    /* As with an event whose PMU counts on other CPUs: the CPU has still come,
     * which the error distinguishes from a CPU that has gone. */
    {"set_whose_event_is_not_of_a_cpu_that_came_reports_it",
     "attrs 1; cpus 0-1; set follow; read_start; goes 1 0; run -> read e1, "
     "cpu1 ENODEV, cpu2 ENODEV\n"
     "fail open 1 ENODEV; comes 1 0-1; run -> read e1, open @1 ENODEV, DISABLE "
     "e1, close e1, cpu1 ENODEV no_event\n"
     "goes 1 0; run; comes 1 0-1; run -> open e2@1, cpu1 0\n"
     "nr -> 2\n"},
    /* -- when -------------------------------------------------------------- */
    {"set_of_fixed_cpus_follows_none",
     "attrs 1; cpus 0-1; set; follow -> EINVAL\n"},
    {"set_init_without_memory_to_follow_leaves_nothing",
     "each calloc ENOMEM; attrs 1; self 0; set follow\n"},
    /* There is no wakeup below the watermark. Only on a very slow machine would
     * the set's own check deliver it. */
    {"set_whose_cpu_went_delivers_what_is_left_there",
     "records 1; cpus 0-1; set follow; start; run; samples e3 e2 1; tail e3 -> "
     "0\n"
     "goes 1 0; run; tail e3 -> 24\n"},
    /* The user still has the record after the report of a CPU. */
    {"set_whose_cpu_goes_in_a_flush_is_busy_until_its_end",
     "records 1; cpus 0-1; set follow; start; run; samples e1 e0 1; on sample "
     "'goes 1 0|run|flush'; flush -> sample of t0 cpu0, read e2, cpu1 ENODEV, "
     "cpu2 ENODEV, EBUSY\n"
     "flush ->\n"},
    {"set_started_and_no_more_read_follows_the_cpus",
     "records 1; cpus 0-1; set follow; start; run; read_start; read_stop; goes "
     "1 0; run -> read e2, cpu1 ENODEV, cpu2 ENODEV\n"},
    /* -- in the callback --------------------------------------------------- */
    {"set_changed_when_a_cpu_went_opens_the_rest",
     "attrs 1; cpus 0-1; set follow; read_start; on 'cpu1 ENODEV' 'add cpus "
     "1|remove 0'; goes 1 0; run -> read e1, cpu1 ENODEV, open e2@1, DISABLE "
     "e0 e1, close e0 e1, cpu2 ENODEV\n"
     "comes 1 0-1; run -> read e2 e2, open e3@1, DISABLE e2, close e2, cpu1 0\n"
     "nr -> 1\n"},
    /* -- while a target is opened on libuv's pool -------------------------- */
    {"target_opened_while_a_cpu_comes_is_opened_again",
     "attrs 1; cpus 0-1; set follow; read_start; later cpus 0; goes 1 0; run "
     "-> read e1, cpu1 ENODEV, cpu2 ENODEV\n"
     "pool -> open e2@0, t1 added 0\n"
     "later cpus 0; comes 1 0-1; run -> read e1, open e3@1, DISABLE e1, close "
     "e1, cpu1 0\n"
     "pool -> open e4@0, DISABLE e4, close e4, t2 added EAGAIN no_cpu\n"
     "later cpus 0; pool; nr -> 4\n"},
};

static int setup(void **state) {
  /* The kernel is not asked what it knows by a scripted event. */
  if (evlist_make_setup(state) != 0 || make_cpus_begin(2) != 0)
    return -1;
  fake_uevents_begin();
  return fake_kernel_loop_setup(state);
}

static int teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  fake_uevents_end();
  return make_cpus_end() != 0 ? -1 : rc;
}

/* Counts the allocations of a set's init. A set that follows CPUs allocates the
 * hotplug. If it has read sysfs, it allocates a table of the CPUs too. */
static unsigned allocations_of_init(uv_loop_t *loop, uint32_t type,
                                    const char *cpus, uint32_t flags) {
  unsigned before;
  live_plan_t plan;
  live_set_t live;
  uint64_t i;

  fake_kernel_reset();
  for (i = 0; i < 8; i++)
    fake_event_add(100 + i);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_target(&plan, type)->cpus = cpus;
  plan.options.flags = flags;
  before = fake_count(FAKE_CALLOC);
  live_set_open(loop, &live, &plan.options);
  before = fake_count(FAKE_CALLOC) - before;
  live_set_close(&live);
  return before;
}

static void set_init_reads_cpus_if_its_events_belong_to_cpus(void **state) {
  const struct {
    uint32_t type;
    const char *cpus;
    uint32_t flags;
    unsigned tables;
  } cases[] = {{UVPERF_TARGET_SELF, NULL, 0, 0},
               {UVPERF_TARGET_SELF, "0", 0, 1},
               {UVPERF_TARGET_SELF, "0", UVPERF_SET_RECORDS, 1},
               {UVPERF_TARGET_SELF, NULL, UVPERF_SET_RECORDS, 1},
               {UVPERF_TARGET_CPUS, NULL, 0, 1}};
  unsigned fixed;
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    fixed = allocations_of_init(*state, cases[i].type, cases[i].cpus,
                                cases[i].flags | UVPERF_SET_FIXED_CPUS);
    assert_int_equal(allocations_of_init(*state, cases[i].type, cases[i].cpus,
                                         cases[i].flags) -
                         fixed,
                     1 + cases[i].tables);
  }
}

static char seen[64]; /* as in "1 ENODEV, 1 0" */

static void on_cpu(uvperf_handle_t *base, int cpu, int status,
                   const uvperf_error_t *error) {
  size_t used = strlen(seen);

  assert_null(error);
  snprintf(seen + used, sizeof(seen) - used, "%s%d %s", used == 0 ? "" : ", ",
           cpu, status == 0 ? "0" : uv_err_name(status));
}

/* Adds a target to a set that has not read which CPUs are online. Then a CPU
 * goes, and the set starts. */
static void cpu_goes_after_a_target(uv_loop_t *loop, const char *cpus,
                                    const char *expected) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_plan_t plan;
  live_set_t live;
  uvperf__handle_t *base;
  uint64_t i;

  for (i = 0; i < 8; i++)
    fake_event_add(100 + i);
  seen[0] = '\0';
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_target(&plan, UVPERF_TARGET_CPUS)->cpus = "0-1";
  live_set_open(loop, &live, &plan.options);
  base = live.set.handle.impl;
  uvperf__hotplug_free(base->hotplug);
  assert_int_equal(uvperf__rings_make_hotplug(base), 0);
  uvperf_on_cpu(&live.set.handle, on_cpu);
  target.cpus = cpus;
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, NULL, NULL), 0);
  hotplug_take_down(1, "0\n");
  assert_int_equal(
      uvperf_set_read_start(&live.set, HOTPLUG_NEVER, live_set_on_read, NULL),
      0);
  hotplug_run(loop);
  assert_string_equal(seen, expected);
  live_set_close(&live);
  fake_assert_clean();
}

static void set_reads_cpus_before_a_target_on_cpus_is_added(void **state) {
  cpu_goes_after_a_target(*state, "0-1", "1 ENODEV");
}

static void set_reads_no_cpus_before_a_task_is_added(void **state) {
  cpu_goes_after_a_target(*state, NULL, "");
}

#define SET(test) support_loop_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SET(set_init_reads_cpus_if_its_events_belong_to_cpus),
      SET(set_reads_cpus_before_a_target_on_cpus_is_added),
      SET(set_reads_no_cpus_before_a_task_is_added),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
