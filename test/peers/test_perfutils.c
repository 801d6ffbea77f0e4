/* SPDX-License-Identifier: MIT */
/* The checks of the tests of perf-utils' profilers, groups and benchmarks, with
 * exact values, and the mistakes in its source. The whole list is in
 * ORIGINS. */
#include "live_thread.h"
#include "measure_run.h"
#include "other_kernel.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define HARDWARE                                                               \
  "cycles:u,instructions:u,cache-references:u,cache-misses:u,branches:u,"      \
  "branch-misses:u,bus-cycles:u,stalled-cycles-frontend:u,"                    \
  "stalled-cycles-backend:u,ref-cycles:u"
#define HARDWARE_NR 10

#define CACHES                                                                 \
  "L1-dcache-loads:u,L1-dcache-load-misses:u,L1-dcache-stores:u,"              \
  "L1-icache-loads:u,L1-icache-load-misses:u,LLC-loads:u,LLC-load-misses:u,"   \
  "LLC-stores:u,LLC-store-misses:u,dTLB-loads:u,dTLB-load-misses:u,"           \
  "dTLB-stores:u,dTLB-store-misses:u,iTLB-loads:u,iTLB-load-misses:u,"         \
  "branch-loads:u,branch-load-misses:u,node-loads:u,node-load-misses:u,"       \
  "node-stores:u,node-store-misses:u"
#define CACHES_NR 21

#define SOFTWARE                                                               \
  "cpu-clock,task-clock,page-faults,context-switches,cpu-migrations,"          \
  "minor-faults,major-faults,alignment-faults,emulation-faults"
#define SOFTWARE_NR 9

static int init_of_names(uv_loop_t *loop, uvperf_set_t *set, const char *names,
                         uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;

  options.names = names;
  options.targets = &self;
  options.nr_targets = 1;
  return uvperf_set_init(loop, set, &options, error);
}

/* start, profile, stop: a set is read while it counts, and after that. */
static void profile(measure_run_t *run, uvperf_measure_fn fn, void *arg) {
  assert_int_equal(uvperf_reset(&run->set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_enable(&run->set.handle, UVPERF_ALL, NULL), 0);
  fn(arg);
  assert_int_equal(uvperf_set_read(&run->set, run->reading, NULL), 0);
  assert_int_equal(uvperf_disable(&run->set.handle, UVPERF_ALL, NULL), 0);
}

/* -- profilers, scripted -------------------------------------------------- */

/* Lets each event be on a counter for a different time. */
static void count_differently(void *arg) {
  measure_pmu_t *pmus = arg;
  size_t i;

  for (i = 0; i < CACHES_NR; i++) {
    if (pmus[i].nr == 0)
      continue;
    pmus[i].values[0] += 100 + i;
    pmus[i].enabled += 4000;
    pmus[i].running += i % 2 == 0 ? 4000 : 1000;
    measure_pmu_publish(&pmus[i]);
  }
}

static void check_profiler(uv_loop_t *loop, const char *names, size_t nr) {
  measure_pmu_t pmus[CACHES_NR];
  uvperf_count_t count;
  measure_run_t run;
  size_t i;

  other_kernel();
  memset(pmus, 0, sizeof(pmus));
  for (i = 0; i < nr; i++)
    measure_pmu_add(&pmus[i], 1, 10 + i);
  measure_open(loop, &run, names, NULL);
  count_differently(pmus); /* before it was started */
  profile(&run, count_differently, pmus);
  assert_int_equal(uvperf_reading_info(run.reading)->nr_attrs, nr);
  for (i = 0; i < nr; i++) {
    count = measure_total(&run, i);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    assert_int_equal(count.value, 100 + i);
    assert_int_equal(count.time_enabled, 4000);
    assert_int_equal(count.time_running, i % 2 == 0 ? 4000 : 1000);
    assert_int_equal(count.scaled, (100 + i) * (i % 2 == 0 ? 1 : 4));
    assert_true(count.ratio == (i % 2 == 0 ? 1 : 0.25));
  }
  measure_close(&run);
  fake_assert_clean();
}

static void profiler_of_hardware_has_times_of_each_event(void **state) {
  check_profiler(*state, HARDWARE, HARDWARE_NR);
}

static void profiler_of_caches_has_times_of_each_event(void **state) {
  check_profiler(*state, CACHES, CACHES_NR);
}

static void profiler_of_instructions_counts(void **state) {
  check_profiler(*state, "instructions:u", 1);
}

/* An access is not a hit, so the names are those of the kernel. */
static void profiler_of_caches_has_the_kernels_names(void **state) {
  static const char *const labels[] = {"L1-dcache-loads:u",
                                       "L1-dcache-load-misses:u"};
  measure_pmu_t pmus[2];
  measure_run_t run;
  size_t i;

  other_kernel();
  for (i = 0; i < 2; i++)
    measure_pmu_add(&pmus[i], 1, 10 + i);
  measure_open(*state, &run, "L1-dcache-loads:u,L1-dcache-load-misses:u", NULL);
  for (i = 0; i < 2; i++)
    assert_string_equal(uvperf_set_item(&run.set, i)->label, labels[i]);
  measure_close(&run);
  fake_assert_clean();
}

/* -- profilers of which nothing opens ------------------------------------- */

static void check_nothing(uv_loop_t *loop, const char *names) {
  other_kernel_t *kernel = other_kernel();
  uvperf_error_t error;
  uvperf_set_t set;

  kernel->cycles = -ENOENT;
  memset(&error, 0, sizeof(error));
  assert_int_equal(init_of_names(loop, &set, names, &error), UV_ENOENT);
  assert_int_equal(error.code, UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_true(error.reason[0] != '\0');
  uv_run(loop, UV_RUN_NOWAIT);
  fake_assert_clean();
}

static void profiler_without_a_single_counter_is_an_error(void **state) {
  check_nothing(*state, "instructions:u");
  check_nothing(*state, HARDWARE);
  check_nothing(*state, CACHES);
}

/* Some events are opened and others are not. This is no error, but it is
 * reported. */
static void profiler_of_some_counters_reports_the_missing_ones(void **state) {
  const uvperf_set_failure_t *failures;
  other_kernel_t *kernel = other_kernel();
  measure_pmu_t pmu;
  measure_run_t run;
  size_t nr;

  kernel->cycles = -ENOENT;
  measure_pmu_add(&pmu, 1, 10);
  measure_open(*state, &run, "cycles:u,page-faults:u,instructions:u", NULL);
  failures = uvperf_set_failures(&run.set, &nr);
  assert_int_equal(nr, 2);
  assert_int_equal(failures[0].error.attr_index, 0);
  assert_int_equal(failures[1].error.attr_index, 2);
  assert_int_equal(failures[1].error.code, UV_ENOENT);
  profile(&run, measure_pmu_work, &pmu);
  assert_int_equal(measure_total(&run, 0).state, UVPERF_COUNT_NOT_AVAILABLE);
  assert_int_equal(measure_total(&run, 0).code, UV_ENOENT);
  assert_int_equal(measure_total(&run, 1).value, 1000);
  assert_int_equal(measure_total(&run, 2).state, UVPERF_COUNT_NOT_AVAILABLE);
  measure_close(&run);
  fake_assert_clean();
}

static int nr_opened; /* opens before the one that fails */

static int fail_an_open(struct perf_event_attr *attr) {
  (void)attr;
  return nr_opened-- == 0 ? -EACCES : 0;
}

/* Whichever member is refused, all opened events are closed in the end. */
static void group_of_which_one_is_refused_leaves_no_fd(void **state) {
  static const char names[] = "{cs:u,faults:u,minor-faults:u,dummy:u}";
  measure_pmu_t pmu;
  measure_run_t run;
  int i;

  for (i = 0; i < 4; i++) {
    fake_kernel_reset();
    measure_pmu_add(&pmu, 4, 10);
    nr_opened = i;
    fake_on_open(fail_an_open);
    measure_open(*state, &run, names, NULL);
    assert_int_equal(uvperf_set_nr_open(&run.set), 3);
    measure_close(&run);
    fake_assert_clean();
  }
}

/* A set needs at least one attr. */
static void group_of_nothing_is_einval(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  uvperf_set_t set;

  options.targets = &self;
  options.nr_targets = 1;
  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_set_init(*state, &set, &options, &error), UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
}

/* The bits of the user's attr are kept, in a group too. */
static void group_members_keep_their_own_bits(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;

  other_kernel();
  measure_pmu_add(&pmu, 3, 10);
  measure_open(*state, &run, "{cycles:k,instructions:u,cache-misses:uI}", NULL);
  assert_int_equal(pmu.events[0]->attr.exclude_user, 1);
  assert_int_equal(pmu.events[0]->attr.exclude_kernel, 0);
  assert_int_equal(pmu.events[1]->attr.exclude_user, 0);
  assert_int_equal(pmu.events[1]->attr.exclude_kernel, 1);
  assert_int_equal(pmu.events[2]->attr.exclude_idle, 1);
  measure_close(&run);
  fake_assert_clean();
}

/* -- profilers, live ------------------------------------------------------ */

/* Expects that each event is open or has a reason. */
static void check_live(uv_loop_t *loop, const char *names, size_t nr) {
  const uvperf_set_failure_t *failures;
  uvperf_error_t error;
  measure_run_t run;
  size_t nr_failures;
  size_t i;
  int rc;

  rc = init_of_names(loop, &run.set, names, &error);
  if (rc != 0) {
    assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
    uv_run(loop, UV_RUN_NOWAIT);
    return;
  }
  assert_int_equal(uvperf_reading_new(&run.reading), 0);
  profile(&run, measure_nothing, NULL);
  failures = uvperf_set_failures(&run.set, &nr_failures);
  assert_int_equal(nr_failures + uvperf_set_nr_open(&run.set), nr);
  for (i = 0; i < nr_failures; i++) {
    assert_int_equal(measure_total(&run, failures[i].error.attr_index).state,
                     UVPERF_COUNT_NOT_AVAILABLE);
    assert_true(failures[i].error.reason[0] != '\0');
  }
  measure_close(&run);
}

static void live_profilers_of_hardware_count_or_name_why_not(void **state) {
  support_need_own_events(__func__);
  check_live(*state, "instructions:u", 1);
  check_live(*state, HARDWARE, HARDWARE_NR);
  check_live(*state, CACHES, CACHES_NR);
}

#define TURNS 1000000

static void work(void *arg) {
  volatile uint64_t *turns = arg;

  while (*turns > 0)
    *turns -= 1;
}

/* Checks the first two events. Each CPU counts a few of these for each turn.
 * The other events may be missing, or have to share counters. */
static void live_profiler_of_a_hardware_pmu_counts(void **state) {
  uvperf_count_t count;
  uint64_t turns = TURNS;
  measure_run_t run;
  size_t i;

  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 0);
  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  measure_open(*state, &run, HARDWARE, NULL);
  profile(&run, work, &turns);
  for (i = 0; i < 2; i++) {
    count = measure_total(&run, i);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    assert_in_range(count.scaled, TURNS / 4, 100 * TURNS);
  }
  measure_close(&run);
}

static void live_profiler_of_software_counts_each(void **state) {
  uvperf_count_t count;
  measure_run_t run;
  char *region;
  size_t i;

  support_need_kernel_side(__func__);
  measure_open(*state, &run, SOFTWARE, NULL);
  assert_int_equal(uvperf_set_nr_open(&run.set), SOFTWARE_NR);
  region = live_region();
  profile(&run, measure_touch, region);
  for (i = 0; i < SOFTWARE_NR; i++) {
    count = measure_total(&run, i);
    assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
    assert_true(count.time_enabled > 0);
    assert_int_equal(count.time_running, count.time_enabled);
  }
  assert_true(measure_total(&run, 0).value > 0);
  assert_true(measure_total(&run, 1).value > 0);
  assert_in_range(measure_total(&run, 2).value, LIVE_PAGES, 10000);
  assert_int_equal(measure_total(&run, 6).value, 0);
  measure_close(&run);
  live_region_free(region);
}

typedef struct move_s {
  int cpus[2];
  char *region;
} move_t;

static void move_and_touch(void *arg) {
  move_t *move = arg;
  cpu_set_t ignored;
  int i;

  for (i = 0; i < 3; i++)
    live_pin(move->cpus[i % 2], &ignored);
  live_touch(move->region);
}

/* This is the group of perf-utils, with its counts. */
static void live_group_of_migrations_and_faults_counts_both(void **state) {
  measure_run_t run;
  cpu_set_t ignored;
  cpu_set_t old;
  move_t move;

  support_need_kernel_side(__func__);
  if (live_cpus(move.cpus, 2) < 2)
    support_skip(__func__, "two CPUs");
  live_pin(move.cpus[1], &old);
  measure_open(*state, &run, "{cpu-migrations,minor-faults}", NULL);
  move.region = live_region();
  measure_do(&run, move_and_touch, &move); /* its code may fault */
  live_region_free(move.region);
  live_pin(move.cpus[1], &ignored);
  move.region = live_region();
  measure_do(&run, move_and_touch, &move);
  measure_is(&run, 0, 3);
  measure_is(&run, 1, LIVE_PAGES);
  live_region_free(move.region);
  measure_close(&run);
  live_unpin(&old);
}

/* NewProfiler with an event, a process, a CPU or a thread that does not
 * exist. */
static void assert_not_there(uv_loop_t *loop, uint32_t type,
                             const uvperf_target_t *target, int code,
                             int cause) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  const struct perf_event_attr *attrs[1];
  size_t fds = support_count_fds();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_set_t set;

  uvperf_attr_init(&attr, type, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  attrs[0] = &attr;
  options.attrs = attrs;
  options.nr_attrs = 1;
  options.targets = target;
  options.nr_targets = 1;
  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_set_init(loop, &set, &options, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  assert_true(error.reason[0] != '\0');
  uv_run(loop, UV_RUN_NOWAIT);
  assert_int_equal(support_count_fds(), fds);
}

static int nothing_to_do(void *arg) {
  (void)arg;
  return 0;
}

static void live_profiler_of_a_missing_counter_names_it(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  pid_t pid = support_fork(nothing_to_do, NULL);

  assert_int_equal(support_wait(pid), 0);
  support_need_own_events(__func__);
  assert_not_there(*state, 4242, &target, UV_ENOENT, UVPERF_CAUSE_NO_EVENT);
  target.type = UVPERF_TARGET_PROCESS;
  target.pid = pid;
  assert_not_there(*state, PERF_TYPE_SOFTWARE, &target, UV_ESRCH,
                   UVPERF_CAUSE_NO_TASK);
  target.type = UVPERF_TARGET_THREAD;
  assert_not_there(*state, PERF_TYPE_SOFTWARE, &target, UV_ESRCH,
                   UVPERF_CAUSE_NO_TASK);
  support_need_cpu_wide(__func__);
  target.type = UVPERF_TARGET_CPUS;
  target.pid = 0;
  target.cpus = "8000";
  assert_not_there(*state, PERF_TYPE_SOFTWARE, &target, UV_EINVAL,
                   UVPERF_CAUSE_NO_CPU);
}

/* -- processes ------------------------------------------------------------ */

#define THREADS 4

static void two_syscalls(void *arg) {
  (void)arg;
  live_syscall(2);
}

static void have_all_do(void *arg) {
  live_thread_t *threads = arg;
  size_t i;

  live_syscall(1);
  for (i = 0; i < THREADS; i++)
    live_thread_do(&threads[i]);
}

static uvperf_target_t own_process(void) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_PROCESS;
  target.pid = getpid();
  return target;
}

static size_t count_places(const uvperf_reading_t *reading, uint32_t tid) {
  size_t found = 0;
  size_t i;

  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++)
    found += (uint32_t)uvperf_reading_place(reading, i)->pid == tid;
  return found;
}

/* getTids and its purpose: each thread occurs once, so that nothing is counted
 * twice. */
static void process_has_each_of_its_threads_once(void **state) {
  uvperf_target_t target = own_process();
  live_thread_t threads[THREADS];
  measure_run_t run;
  size_t i;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  for (i = 0; i < THREADS; i++)
    live_thread_start(&threads[i], two_syscalls, NULL);
  measure_open(*state, &run, LIVE_SYSCALL, &target);
  measure_do(&run, have_all_do, threads);
  measure_is(&run, 0, 1 + 2 * THREADS);
  assert_true(uvperf_reading_info(run.reading)->nr_places >= 1 + THREADS);
  assert_int_equal(count_places(run.reading, live_tid()), 1);
  for (i = 0; i < THREADS; i++)
    assert_int_equal(count_places(run.reading, threads[i].tid), 1);
  measure_close(&run);
  for (i = 0; i < THREADS; i++)
    live_thread_end(&threads[i]);
}

static void work_of_a_new_thread(void *arg) {
  live_thread_t thread;

  (void)arg;
  live_syscall(1);
  live_thread_start(&thread, two_syscalls, NULL);
  live_thread_do(&thread);
  live_thread_end(&thread);
}

static void work_of_a_new_process(void *arg) {
  pid_t pid;

  (void)arg;
  live_syscall(1);
  pid = fork();
  if (pid == 0) {
    live_syscall(5);
    _exit(0);
  }
  if (pid < 0 || waitpid(pid, NULL, 0) != pid)
    abort();
}

/* Threads and processes that are created later count too, even after they have
 * ended. They do not count in the next measurement, although
 * PERF_EVENT_IOC_RESET would not remove their counts. */
static void process_with_children_counts_each_run_alone(void **state) {
  uvperf_target_t target = own_process();
  measure_run_t run;
  int i;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  measure_open(*state, &run, LIVE_SYSCALL, &target);
  for (i = 0; i < 3; i++) {
    measure_do(&run, work_of_a_new_thread, NULL);
    measure_is(&run, 0, 3);
    measure_do(&run, work_of_a_new_process, NULL);
    measure_is(&run, 0, 6);
    measure_do(&run, measure_nothing, NULL);
    measure_is(&run, 0, 0);
  }
  measure_close(&run);
}

/* -- benchmarks ----------------------------------------------------------- */

typedef struct bench_s {
  uint64_t calls;
  uint64_t writes;
  uint64_t runs;
} bench_t;

static void bench(void *arg) {
  bench_t *work = arg;

  work->runs += 1;
  live_syscall(work->calls);
  live_write(work->writes);
}

/* RunBenchmarks and BenchmarkTracepoints call the function again for each
 * event, and once without an event. Here all events count each call. Two events
 * of one name are two events. */
static void benchmark_of_several_events_is_one_run(void **state) {
  char names[3 * MEASURE_NAME_BYTES + 8];
  char writes[MEASURE_NAME_BYTES];
  bench_t work = {.calls = 3, .writes = 5};
  size_t fds = support_count_fds();
  uvperf_runs_t runs[3];
  uvperf_meter_t *meter;
  size_t i;

  (void)state;
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  support_need_breakpoints(__func__);
  measure_writes_name(writes);
  snprintf(names, sizeof(names), "%s,%s,%s", LIVE_SYSCALL, writes, writes);
  meter = measure_meter(names, NULL);
  assert_int_equal(uvperf_meter_repeat(meter, 10, bench, &work, runs, 3, NULL),
                   0);
  assert_int_equal(work.runs, 10);
  for (i = 0; i < 3; i++) {
    assert_int_equal(runs[i].nr, 10);
    assert_true(runs[i].mean == (i == 0 ? 3 : 5));
    assert_true(runs[i].deviation == 0);
  }
  uvperf_meter_free(meter);
  assert_int_equal(support_count_fds(), fds);
}

/* "lock" measures the thread and "no lock" the process. Neither moves the
 * thread to another CPU. */
static void benchmark_leaves_the_threads_cpus_alone(void **state) {
  uvperf_target_t target = own_process();
  bench_t work = {.calls = 4};
  measure_run_t of_process;
  measure_run_t of_thread;
  cpu_set_t before;
  cpu_set_t after;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  measure_open(*state, &of_thread, LIVE_SYSCALL, NULL);
  measure_open(*state, &of_process, LIVE_SYSCALL, &target);
  measure_do(&of_thread, bench, &work);
  measure_do(&of_process, bench, &work);
  measure_is(&of_thread, 0, 4);
  measure_is(&of_process, 0, 4);
  assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
  assert_true(CPU_EQUAL(&before, &after));
  measure_close(&of_thread);
  measure_close(&of_process);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      other_kernel_loop_test(profiler_of_instructions_counts),
      other_kernel_loop_test(profiler_of_hardware_has_times_of_each_event),
      other_kernel_loop_test(profiler_of_caches_has_times_of_each_event),
      other_kernel_loop_test(profiler_of_caches_has_the_kernels_names),
      other_kernel_loop_test(profiler_without_a_single_counter_is_an_error),
      other_kernel_loop_test(
          profiler_of_some_counters_reports_the_missing_ones),
      other_kernel_loop_test(group_of_which_one_is_refused_leaves_no_fd),
      other_kernel_loop_test(group_of_nothing_is_einval),
      other_kernel_loop_test(group_members_keep_their_own_bits),
      support_loop_test(live_profilers_of_hardware_count_or_name_why_not),
      support_loop_test(live_profiler_of_a_hardware_pmu_counts),
      support_loop_test(live_profiler_of_software_counts_each),
      support_loop_test(live_group_of_migrations_and_faults_counts_both),
      support_loop_test(live_profiler_of_a_missing_counter_names_it),
      support_loop_test(process_has_each_of_its_threads_once),
      support_loop_test(process_with_children_counts_each_run_alone),
      support_loop_test(benchmark_of_several_events_is_one_run),
      support_loop_test(benchmark_leaves_the_threads_cpus_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
