/* SPDX-License-Identifier: MIT */
/* Live: events by their names, in one call by uvperf_measure_events, and in
 * many by a meter. Scripted failures are in unit/set/test_measure.c, names of
 * hardware events in unit/attr/test_generic_name.c. */
#include "live_thread.h"
#include "fake_kernel.h"
#include "live_measure.h"

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Measures; it must succeed. */
static void measure_event(const char *name, uvperf_measure_fn fn, void *arg,
                          uvperf_count_t *count) {
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  memset(count, 0xa5, sizeof(*count));
  if (uvperf_measure_events(name, fn, arg, count, 1, &error) != 0)
    fail_msg("%s: %s", name, error.reason);
}

/* -- counts --------------------------------------------------------------- */

/* On one CPU each wait for the other thread yields the CPU. Switches are the
 * kernel's, so none is left on the user's side. */
static void pass_three_times(void *thread) {
  int i;

  for (i = 0; i < 3; i++)
    live_thread_do(thread);
}

static void measure_event_counts_context_switches(void **state) {
  uvperf_count_t count;
  live_thread_t thread;
  cpu_set_t old;

  support_need_kernel_side(__func__);
  live_pin(live_last_cpu(), &old);
  live_thread_start(&thread, live_measure_nothing, NULL);
  live_thread_do(&thread);
  measure_event("context-switches", pass_three_times, &thread, &count);
  assert_in_range(count.value, 3, 10000); /* others run here too */
  measure_event("context-switches:u", pass_three_times, &thread, &count);
  live_measure_count_is(&count, 0);
  live_thread_end(&thread);
  live_unpin(&old);
}

static void migrate(void *cpus) {
  const int *to = cpus;
  cpu_set_t ignored;
  int i;

  for (i = 0; i < 5; i++)
    live_pin(to[i % 2], &ignored);
}

static void measure_event_counts_migrations(void **state) {
  uvperf_count_t count;
  cpu_set_t ignored;
  cpu_set_t old;
  int cpus[2];

  support_need_kernel_side(__func__);
  if (live_cpus(cpus, 2) < 2)
    support_skip(__func__, "two CPUs");
  live_pin(cpus[1], &old);
  measure_event("cpu-migrations", migrate, cpus, &count);
  live_measure_count_is(&count, 5);
  live_pin(cpus[1], &ignored);
  measure_event("cpu-migrations:u", migrate, cpus, &count);
  live_measure_count_is(&count, 0);
  live_unpin(&old);
}

/* -- sources -------------------------------------------------------------- */

typedef struct elsewhere_s {
  uvperf_count_t count;
  uint64_t nr;
  int rc;
} elsewhere_t;

static void measure_in_thread(void *arg) {
  elsewhere_t *elsewhere = arg;

  elsewhere->rc =
      uvperf_measure_events(LIVE_SYSCALL, live_measure_syscalls, &elsewhere->nr,
                            &elsewhere->count, 1, NULL);
}

static void measure_event_is_of_the_calling_thread(void **state) {
  elsewhere_t elsewhere = {.nr = 6};
  uvperf_count_t count;
  live_thread_t thread;
  live_thread_t other;
  uint64_t nr = 9;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_thread_start(&thread, measure_in_thread, &elsewhere);
  live_thread_do(&thread);
  assert_int_equal(elsewhere.rc, 0);
  live_measure_count_is(&elsewhere.count, 6);
  live_thread_end(&thread);
  /* Another thread's calls are its own. */
  live_thread_start(&other, live_measure_syscalls, &nr);
  measure_event(LIVE_SYSCALL, pass_three_times, &other, &count);
  live_measure_count_is(&count, 0);
  live_thread_end(&other);
}

/* -- leftovers ------------------------------------------------------------ */

static void measure_event_leaves_no_fd(void **state) {
  size_t fds = support_count_fds();
  uvperf_count_t count;
  uvperf_error_t error;
  size_t bytes;
  int i;

  support_need_own_events(__func__);
  for (i = 0; i < 200; i++) {
    measure_event("page-faults:u", live_measure_nothing, NULL, &count);
    assert_int_equal(uvperf_measure_events("no-such-event",
                                           live_measure_nothing, NULL, &count,
                                           1, &error),
                     UV_ENOENT);
  }
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(support_count_rings(&bytes), 0);
}

static void measure_event_leaves_the_threads_cpus_alone(void **state) {
  uvperf_count_t count;
  cpu_set_t before;
  cpu_set_t after;

  support_need_own_events(__func__);
  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  measure_event("page-faults:u", live_measure_nothing, NULL, &count);
  assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
  assert_true(CPU_EQUAL(&before, &after));
}

/* -- a meter -------------------------------------------------------------- */

static void meter_counts_each_of_its_calls_alone(void **state) {
  size_t fds = support_count_fds();
  uvperf_count_t count;
  uvperf_meter_t *meter;
  uint64_t nr;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  meter = live_measure_meter(LIVE_SYSCALL, NULL);
  for (nr = 0; nr < 300; nr++) {
    live_syscall(5); /* not measured */
    assert_int_equal(uvperf_meter_measure(meter, live_measure_syscalls, &nr,
                                          &count, 1, NULL),
                     0);
    live_measure_count_is(&count, nr);
    assert_int_equal(support_count_fds(), fds + 1);
  }
  uvperf_meter_free(meter);
  assert_int_equal(support_count_fds(), fds);
}

static void free_elsewhere(void *meter) {
  uvperf_meter_free(meter);
}

typedef struct metered_elsewhere_s {
  uvperf_meter_t *meter;
  uvperf_error_t error;
  int rc;
  int called;
} metered_elsewhere_t;

static void measure_elsewhere(void *arg) {
  metered_elsewhere_t *elsewhere = arg;
  uvperf_count_t count;

  elsewhere->rc =
      uvperf_meter_measure(elsewhere->meter, live_measure_note,
                           &elsewhere->called, &count, 1, &elsewhere->error);
}

/* It would always count 0. */
static void meter_of_another_thread_measures_nothing(void **state) {
  size_t fds = support_count_fds();
  metered_elsewhere_t elsewhere = {.rc = 0};
  live_thread_t thread;

  support_need_own_events(__func__);
  elsewhere.meter = live_measure_meter("page-faults:u", NULL);
  live_thread_start(&thread, measure_elsewhere, &elsewhere);
  live_thread_do(&thread);
  live_thread_end(&thread);
  assert_int_equal(elsewhere.rc, UV_EINVAL);
  assert_int_equal(elsewhere.error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(elsewhere.called, 0);
  live_thread_start(&thread, free_elsewhere, elsewhere.meter);
  live_thread_do(&thread);
  live_thread_end(&thread);
  assert_int_equal(support_count_fds(), fds);
}

typedef struct metered_s {
  uvperf_meter_t *meter, *inner;
  uvperf_count_t count;
} metered_t;

static void measure_by_both(void *arg) {
  metered_t *metered = arg;
  uvperf_count_t count;
  uvperf_error_t error;
  uint64_t nr = 4;

  live_write(1);
  assert_int_equal(uvperf_meter_measure(metered->meter, live_measure_writes,
                                        &nr, &count, 1, &error),
                   UV_EBUSY);
  assert_int_equal(error.cause, UVPERF_CAUSE_BUSY);
  assert_int_equal(uvperf_meter_measure(metered->inner, live_measure_writes,
                                        &nr, &metered->count, 1, NULL),
                   0);
  live_write(2);
}

static void meter_within_itself_is_busy_and_another_counts(void **state) {
  char name[LIVE_MEASURE_NAME_BYTES];
  uvperf_count_t count;
  metered_t metered;

  support_need_breakpoints(__func__);
  metered.meter = live_measure_meter(live_measure_writes_name(name), NULL);
  metered.inner = live_measure_meter(name, NULL);
  assert_int_equal(uvperf_meter_measure(metered.meter, measure_by_both,
                                        &metered, &count, 1, NULL),
                   0);
  live_measure_count_is(&count, 7);
  live_measure_count_is(&metered.count, 4);
  uvperf_meter_free(metered.inner);
  uvperf_meter_free(metered.meter);
}

static void meter_in_a_forked_child_is_eperm(void **state) {
  uvperf_count_t count;
  uvperf_meter_t *meter;
  int called = 0;
  pid_t pid;

  support_need_own_events(__func__);
  meter = live_measure_meter("page-faults:u", NULL);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    _exit(uvperf_meter_measure(meter, live_measure_note, &called, &count, 1,
                               NULL) != UV_EPERM ||
          called != 0);
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(
      uvperf_meter_measure(meter, live_measure_note, &called, &count, 1, NULL),
      0);
  uvperf_meter_free(meter);
}

/* -- several events ------------------------------------------------------- */

static void work_for_all(void *region) {
  live_syscall(3);
  live_touch(region);
}

static void measure_events_counts_each_of_a_list(void **state) {
  uvperf_count_t counts[5];
  uvperf_error_t error = {.code = 1};
  char *region;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  region = live_region();
  assert_int_equal(uvperf_measure_events(
                       "{" LIVE_SYSCALL
                       ",page-faults:u},task-clock:u,dummy:u," LIVE_SYSCALL,
                       work_for_all, region, counts, 5, &error),
                   0);
  assert_int_equal(error.code, 0);
  live_measure_count_is(&counts[0], 3);
  assert_in_range(counts[1].value, LIVE_PAGES, 10 * LIVE_PAGES);
  assert_int_equal(counts[2].state, UVPERF_COUNT_COUNTING);
  assert_true(counts[2].value > 0);
  live_measure_count_is(&counts[3], 0);
  live_measure_count_is(&counts[4], 3); /* the same name again */
  /* The two of the group were on together. */
  assert_true(counts[0].time_enabled == counts[1].time_enabled);
  live_region_free(region);
}

/* One call more than before. */
static void call_once_more(void *times) {
  live_syscall(++*(uint64_t *)times);
}

static void meter_repeat_has_the_mean_and_the_deviation(void **state) {
  uvperf_meter_t *meter;
  uvperf_runs_t runs[2];
  uint64_t times = 0;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  meter = live_measure_meter(LIVE_SYSCALL ",dummy:u", NULL);
  assert_int_equal(
      uvperf_meter_repeat(meter, 4, call_once_more, &times, runs, 2, NULL), 0);
  assert_int_equal(times, 4);
  assert_int_equal(runs[0].nr, 4);
  assert_int_equal(runs[0].sum.value, 10);
  assert_int_equal(runs[0].least, 1);
  assert_int_equal(runs[0].most, 4);
  assert_true(runs[0].mean == 2.5);
  /* The square root of 5 / 3. */
  assert_true(runs[0].deviation > 1.29099 && runs[0].deviation < 1.29100);
  assert_int_equal(runs[1].nr, 4);
  assert_int_equal(runs[1].most, 0);
  assert_true(runs[1].mean == 0 && runs[1].deviation == 0);
  uvperf_meter_free(meter);
}

/* Two targets, of which one is another thread. */
static void meter_of_attrs_and_targets_counts_all_of_them(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t targets[2] = {UVPERF_TARGET_INIT, UVPERF_TARGET_INIT};
  struct perf_event_attr writes, dummy;
  uvperf_event_list_t *list = NULL;
  uvperf_count_t counts[2];
  uvperf_meter_t *meter;
  live_thread_t thread;
  uint64_t nr = 2;

  support_need_breakpoints(__func__);
  live_write_attr(&writes, 0);
  uvperf_attr_set_period(&writes, 0);
  uvperf_attr_software(&dummy, PERF_COUNT_SW_DUMMY);
  dummy.exclude_kernel = 1;
  uvperf_event_list_add(&list, &writes, NULL, -1, NULL);
  uvperf_event_list_add(&list, &dummy, NULL, 0, NULL);
  options.events = list;
  options.targets = targets;
  options.nr_targets = 2;
  options.flags = UVPERF_SET_STRICT;
  live_thread_start(&thread, live_measure_writes, &nr);
  live_thread_do(&thread);
  targets[1].type = UVPERF_TARGET_THREAD;
  targets[1].pid = (int32_t)thread.tid;
  assert_int_equal(uvperf_meter_new(&meter, &options, NULL), 0);
  assert_int_equal(uvperf_meter_item(meter, 1)->leader, 0);
  assert_null(uvperf_meter_item(meter, 2));
  assert_int_equal(
      uvperf_meter_measure(meter, pass_three_times, &thread, counts, 2, NULL),
      0);
  assert_int_equal(counts[0].value, 6);
  assert_int_equal(counts[0].nr_counts, 2);
  uvperf_meter_free(meter);
  options.flags = UVPERF_SET_RECORDS;
  assert_int_equal(uvperf_meter_new(&meter, &options, NULL), UV_EINVAL);
  assert_null(meter);
  uvperf_event_list_free(list);
  live_thread_end(&thread);
}

/* -- names ---------------------------------------------------------------- */

static void assert_no_one_event(const char *name, int code, int cause,
                                const char *piece) {
  size_t allocations = fake_live_allocations();
  uvperf_count_t count;
  uvperf_count_t same;
  uvperf_error_t error;
  int called = 0;

  memset(&error, 0, sizeof(error));
  memset(&count, 0xa5, sizeof(count));
  memset(&same, 0xa5, sizeof(same));
  assert_int_equal(uvperf_measure_events(name, live_measure_note, &called,
                                         &count, 1, &error),
                   code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  if (strstr(error.reason, piece) == NULL)
    fail_msg("'%s' is not in '%s'", piece, error.reason);
  assert_int_equal(called, 0);
  assert_memory_equal(&count, &same, sizeof(count));
  assert_int_equal(
      uvperf_measure_events(name, live_measure_note, &called, &count, 1, NULL),
      code);
  assert_int_equal(fake_live_allocations(), allocations);
}

static void measure_events_without_room_for_each_is_einval(void **state) {
  support_need_own_events(__func__);
  assert_no_one_event("page-faults:u,dummy:u", UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                      "2");
  assert_no_one_event("{page-faults:u,cs:u,dummy:u}", UV_EINVAL,
                      UVPERF_CAUSE_ARGUMENT, "3");
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  assert_no_one_event("syscalls:sys_*_getpgid", UV_EINVAL,
                      UVPERF_CAUSE_ARGUMENT, "2");
}

static void measure_event_of_no_event_is_the_parsers_error(void **state) {
  assert_no_one_event("", UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  assert_no_one_event("page-falts", UV_ENOENT, UVPERF_CAUSE_NO_EVENT,
                      "page-faults");
  assert_no_one_event("page-faults:", UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  assert_no_one_event("{page-faults", UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "}");
}

static void measure_event_of_bad_arguments_is_einval(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_count_t count;
  uvperf_meter_t *meter;
  uvperf_error_t error;
  int called = 0;

  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_measure_events(NULL, live_measure_note, &called,
                                         &count, 1, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(
      uvperf_measure_events("dummy:u", NULL, &called, &count, 1, &error),
      UV_EINVAL);
  assert_int_equal(uvperf_measure_events("dummy:u", live_measure_note, &called,
                                         NULL, 1, &error),
                   UV_EINVAL);
  assert_int_equal(uvperf_measure_events(NULL, NULL, NULL, NULL, 1, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_meter_new(NULL, &options, &error), UV_EINVAL);
  assert_int_equal(uvperf_meter_new(&meter, NULL, &error), UV_EINVAL);
  assert_int_equal(uvperf_meter_new(&meter, &options, &error), UV_EINVAL);
  assert_null(meter);
  options.names = "";
  assert_int_equal(uvperf_meter_new(&meter, &options, &error), UV_EINVAL);
  assert_null(meter);
  assert_int_equal(
      uvperf_meter_measure(NULL, live_measure_note, &called, &count, 1, &error),
      UV_EINVAL);
  uvperf_meter_free(NULL);
  assert_int_equal(called, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_event_counts_context_switches),
      cmocka_unit_test(measure_event_counts_migrations),
      cmocka_unit_test(measure_event_is_of_the_calling_thread),
      cmocka_unit_test(measure_event_leaves_no_fd),
      cmocka_unit_test(measure_event_leaves_the_threads_cpus_alone),
      cmocka_unit_test(meter_counts_each_of_its_calls_alone),
      cmocka_unit_test(meter_of_another_thread_measures_nothing),
      cmocka_unit_test(meter_within_itself_is_busy_and_another_counts),
      cmocka_unit_test(meter_in_a_forked_child_is_eperm),
      cmocka_unit_test(measure_events_counts_each_of_a_list),
      cmocka_unit_test(measure_events_without_room_for_each_is_einval),
      cmocka_unit_test(meter_repeat_has_the_mean_and_the_deviation),
      cmocka_unit_test(meter_of_attrs_and_targets_counts_all_of_them),
      cmocka_unit_test(measure_event_of_no_event_is_the_parsers_error),
      cmocka_unit_test(measure_event_of_bad_arguments_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
