/* SPDX-License-Identifier: MIT */
/* One call with a name replaces perf-utils' 24 functions. The test opens each
 * of their events on a scripted PMU, and live if this machine has it. The whole
 * list is in ORIGINS. */
#include "measure_run.h"
#include "other_kernel.h"

#include <errno.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define CACHE(cache, op, result)                                               \
  (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |            \
   PERF_COUNT_HW_CACHE_RESULT_##result << 16)

typedef struct helper_s {
  const char *theirs;
  const char *name;
  uint32_t type;
  uint64_t config;
} helper_t;

/* The order is that of perf-utils' tests. Cache events are ordered by operation
 * and result: first the ones in these tests, then the others of
 * CacheProfiler. */
static const helper_t helpers[] = {
    {"CPUInstructions", "instructions:u", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_INSTRUCTIONS},
    {"CPUCycles", "cycles:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"CacheRef", "cache-references:u", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CACHE_REFERENCES},
    {"CacheMiss", "cache-misses:u", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CACHE_MISSES},
    {"BusCycles", "bus-cycles:u", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
    {"StalledFrontendCycles", "stalled-cycles-frontend:u", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
    {"StalledBackendCycles", "stalled-cycles-backend:u", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
    {"CPURefCycles", "ref-cycles:u", PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_REF_CPU_CYCLES},
    {"CPUClock", "cpu-clock:u", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    {"CPUTaskClock", "task-clock:u", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_TASK_CLOCK},
    {"PageFaults", "page-faults:u", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_PAGE_FAULTS},
    {"ContextSwitches", "context-switches", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"CPUMigrations", "cpu-migrations", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_CPU_MIGRATIONS},
    {"MinorPageFaults", "minor-faults:u", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"MajorPageFaults", "major-faults:u", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"AlignmentFaults", "alignment-faults:u", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"EmulationFaults", "emulation-faults:u", PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_EMULATION_FAULTS},
    {"L1Data", "L1-dcache-loads:u", PERF_TYPE_HW_CACHE,
     CACHE(L1D, READ, ACCESS)},
    {"L1Data", "L1-dcache-load-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(L1D, READ, MISS)},
    {"L1Data", "L1-dcache-stores:u", PERF_TYPE_HW_CACHE,
     CACHE(L1D, WRITE, ACCESS)},
    {"L1Instructions", "L1-icache-load-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(L1I, READ, MISS)},
    {"L1Instructions", "L1-icache-loads:u", PERF_TYPE_HW_CACHE,
     CACHE(L1I, READ, ACCESS)},
    {"LLCache", "LLC-loads:u", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS)},
    {"LLCache", "LLC-load-misses:u", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS)},
    {"LLCache", "LLC-stores:u", PERF_TYPE_HW_CACHE, CACHE(LL, WRITE, ACCESS)},
    {"LLCache", "LLC-store-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(LL, WRITE, MISS)},
    {"DataTLB", "dTLB-loads:u", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS)},
    {"DataTLB", "dTLB-load-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(DTLB, READ, MISS)},
    {"DataTLB", "dTLB-stores:u", PERF_TYPE_HW_CACHE,
     CACHE(DTLB, WRITE, ACCESS)},
    {"DataTLB", "dTLB-store-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(DTLB, WRITE, MISS)},
    {"InstructionTLB", "iTLB-loads:u", PERF_TYPE_HW_CACHE,
     CACHE(ITLB, READ, ACCESS)},
    {"InstructionTLB", "iTLB-load-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(ITLB, READ, MISS)},
    {"BPU", "branch-loads:u", PERF_TYPE_HW_CACHE, CACHE(BPU, READ, ACCESS)},
    {"BPU", "branch-load-misses:u", PERF_TYPE_HW_CACHE, CACHE(BPU, READ, MISS)},
    {"NodeCache", "node-loads:u", PERF_TYPE_HW_CACHE,
     CACHE(NODE, READ, ACCESS)},
    {"NodeCache", "node-load-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(NODE, READ, MISS)},
    {"NodeCache", "node-stores:u", PERF_TYPE_HW_CACHE,
     CACHE(NODE, WRITE, ACCESS)},
    {"NodeCache", "node-store-misses:u", PERF_TYPE_HW_CACHE,
     CACHE(NODE, WRITE, MISS)},
};

/* There are 24 functions. Some of them have several names here. */
static void helpers_are_all_there(void **state) {
  size_t nr = 0;
  size_t i;

  (void)state;
  for (i = 0; i < COUNT_OF(helpers); i++)
    nr += i == 0 || strcmp(helpers[i].theirs, helpers[i - 1].theirs) != 0;
  assert_int_equal(nr, 24);
}

/* -- scripted ------------------------------------------------------------- */

/* Each name opens the same event as perf-utils does, and returns the PMU's
 * value and times. */
static void helper_of_each_name_returns_the_pmus_count(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measure_pmu_t pmu;
  size_t i;

  (void)state;
  for (i = 0; i < COUNT_OF(helpers); i++) {
    fake_kernel_reset();
    other_kernel();
    measure_pmu_add(&pmu, 1, 10);
    if (uvperf_measure_events(helpers[i].name, measure_pmu_work, &pmu, &count,
                              1, &error) != 0)
      fail_msg("%s: %s", helpers[i].theirs, error.reason);
    assert_int_equal(pmu.events[0]->attr.type, helpers[i].type);
    assert_int_equal(pmu.events[0]->attr.config, helpers[i].config);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    assert_int_equal(count.value, 1000);
    assert_int_equal(count.scaled, 2000);
    assert_int_equal(count.time_enabled, 2000);
    assert_int_equal(count.time_running, 1000);
    fake_assert_clean();
  }
}

/* Without a PMU, each name reports that. */
static void helper_of_each_name_without_a_pmu_says_so(void **state) {
  other_kernel_t *kernel;
  uvperf_count_t count;
  uvperf_error_t error;
  int called = 0;
  size_t i;

  (void)state;
  for (i = 0; i < COUNT_OF(helpers); i++) {
    if (helpers[i].type == PERF_TYPE_SOFTWARE)
      continue;
    fake_kernel_reset();
    kernel = other_kernel();
    kernel->cycles = -ENOENT;
    memset(&error, 0, sizeof(error));
    assert_int_equal(uvperf_measure_events(helpers[i].name, measure_note,
                                           &called, &count, 1, &error),
                     UV_ENOENT);
    assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
    assert_true(error.reason[0] != '\0');
    assert_int_equal(called, 0);
    fake_assert_clean();
  }
}

/* -- live ----------------------------------------------------------------- */

/* Each event counts, or an error has the reason. Software events need no more
 * than this test does, so they must count. */
static void live_helper_of_each_name_counts_or_names_why_not(void **state) {
  size_t fds = support_count_fds();
  uvperf_count_t count;
  uvperf_error_t error;
  int called = 0;
  int rc;
  size_t i;

  (void)state;
  support_need_kernel_side(__func__);
  for (i = 0; i < COUNT_OF(helpers); i++) {
    memset(&error, 0, sizeof(error));
    called = 0;
    rc = uvperf_measure_events(helpers[i].name, measure_note, &called, &count,
                               1, &error);
    if (rc != 0 && helpers[i].type == PERF_TYPE_SOFTWARE)
      fail_msg("%s: %s", helpers[i].theirs, error.reason);
    if (rc != 0 && (called || error.code != rc || error.reason[0] == '\0' ||
                    (error.cause != UVPERF_CAUSE_NO_EVENT &&
                     error.cause != UVPERF_CAUSE_NOT_SUPPORTED)))
      fail_msg("%s: %d '%s'", helpers[i].theirs, rc, error.reason);
    if (rc == 0) {
      assert_int_equal(called, 1);
      assert_in_range(count.state, UVPERF_COUNT_COUNTING,
                      UVPERF_COUNT_NEVER_SCHEDULED);
      assert_int_not_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
      assert_true(count.time_enabled > 0);
    }
  }
  assert_int_equal(support_count_fds(), fds);
}

#define TURNS 1000000

static void work(void *arg) {
  volatile uint64_t *turns = arg;

  while (*turns > 0)
    *turns -= 1;
}

/* CPUInstructions and CPUCycles, which each PMU has. */
static void live_helpers_of_a_hardware_pmu_count_the_work(void **state) {
  uvperf_count_t count;
  uint64_t turns;
  size_t i;

  (void)state;
  for (i = 0; i < 2; i++) {
    support_need_hardware(__func__, helpers[i].config, 0);
    turns = TURNS;
    assert_int_equal(
        uvperf_measure_events(helpers[i].name, work, &turns, &count, 1, NULL),
        0);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    assert_in_range(count.scaled, TURNS / 4, 100 * TURNS);
  }
}

/* A function that does nothing causes no faults, but the clocks continue.
 * Switches and migrations can happen at any time. */
static void live_helper_of_an_empty_function_counts_nothing(void **state) {
  uvperf_count_t count;
  size_t i;

  (void)state;
  support_need_kernel_side(__func__);
  for (i = 0; i < COUNT_OF(helpers); i++) {
    if (helpers[i].type != PERF_TYPE_SOFTWARE)
      continue;
    /* The first call is not checked, because its code may cause faults. */
    uvperf_measure_events(helpers[i].name, measure_nothing, NULL, &count, 1,
                          NULL);
    assert_int_equal(uvperf_measure_events(helpers[i].name, measure_nothing,
                                           NULL, &count, 1, NULL),
                     0);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    if (helpers[i].config == PERF_COUNT_SW_CPU_CLOCK ||
        helpers[i].config == PERF_COUNT_SW_TASK_CLOCK)
      assert_true(count.value > 0);
    else if (helpers[i].config != PERF_COUNT_SW_CONTEXT_SWITCHES &&
             helpers[i].config != PERF_COUNT_SW_CPU_MIGRATIONS)
      assert_int_equal(count.value, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(helpers_are_all_there),
      other_kernel_test(helper_of_each_name_returns_the_pmus_count),
      other_kernel_test(helper_of_each_name_without_a_pmu_says_so),
      cmocka_unit_test(live_helper_of_each_name_counts_or_names_why_not),
      cmocka_unit_test(live_helpers_of_a_hardware_pmu_count_the_work),
      cmocka_unit_test(live_helper_of_an_empty_function_counts_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
