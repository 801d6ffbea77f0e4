/* SPDX-License-Identifier: MIT */
/* Live: one event by its name in one call, by uvperf_measure_event, and in many
 * by a meter. Failures that are scripted are in unit/set/test_measure_event.c,
 * names of hardware in peers/test_perfutils_helpers.c. */
#include "live_thread.h"
#include "measure_run.h"

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Measures; it must succeed. */
static void measure_event(const char *name, uvperf_measure_fn fn, void *arg,
                          uvperf_count_t *count) {
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  memset(count, 0xa5, sizeof(*count));
  if (uvperf_measure_event(name, fn, arg, count, &error) != 0)
    fail_msg("%s: %s", name, error.reason);
}

/* -- counts --------------------------------------------------------------- */

static void measure_event_counts_exactly_the_calls_made(void **state) {
  static const uint64_t nrs[] = {0, 1, 3, 1000};
  uvperf_count_t count;
  uint64_t nr;
  size_t i;

  (void)state;
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  for (i = 0; i < COUNT_OF(nrs); i++) {
    nr = nrs[i];
    live_syscall(5); /* nobody measures these */
    measure_event(LIVE_SYSCALL, measure_syscalls, &nr, &count);
    measure_count_is(&count, nr);
    assert_int_equal(count.nr_counts, 1);
  }
}

static void measure_event_counts_writes_to_a_word(void **state) {
  char name[MEASURE_NAME_BYTES];
  uvperf_count_t count;
  uint64_t nr = 7;

  (void)state;
  support_need_breakpoints(__func__);
  measure_event(measure_writes_name(name), measure_writes, &nr, &count);
  measure_count_is(&count, 7);
}

/* The first is for nothing, so that no page of the code is new afterwards. */
static void measure_event_counts_the_pages_touched(void **state) {
  uvperf_count_t count;
  char *region;

  (void)state;
  support_need_own_events(__func__);
  region = live_region();
  measure_event("page-faults:u", measure_nothing, NULL, &count);
  measure_event("page-faults:u", measure_touch, region, &count);
  measure_count_is(&count, LIVE_PAGES);
  live_region_free(region);
}

/* On one CPU each wait for the other thread gives it away. Switches are the
 * kernel's, so that nothing is left of them on the user's side. */
static void pass_three_times(void *thread) {
  int i;

  for (i = 0; i < 3; i++)
    live_thread_do(thread);
}

static void measure_event_counts_context_switches(void **state) {
  uvperf_count_t count;
  live_thread_t thread;
  cpu_set_t old;

  (void)state;
  support_need_kernel_side(__func__);
  live_pin(live_last_cpu(), &old);
  live_thread_start(&thread, measure_nothing, NULL);
  live_thread_do(&thread);
  measure_event("context-switches", pass_three_times, &thread, &count);
  assert_in_range(count.value, 3, 10000); /* others run here too */
  measure_event("context-switches:u", pass_three_times, &thread, &count);
  measure_count_is(&count, 0);
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

  (void)state;
  support_need_kernel_side(__func__);
  if (live_cpus(cpus, 2) < 2)
    support_skip(__func__, "two CPUs");
  live_pin(cpus[1], &old);
  measure_event("cpu-migrations", migrate, cpus, &count);
  measure_count_is(&count, 5);
  live_pin(cpus[1], &ignored);
  measure_event("cpu-migrations:u", migrate, cpus, &count);
  measure_count_is(&count, 0);
  live_unpin(&old);
}

/* Its clock and that of the wall tell the same time. */
static void measure_event_of_the_clock_is_no_more_than_the_wall(void **state) {
  uvperf_count_t count;
  uint64_t nr = 1000;
  uint64_t before;

  (void)state;
  support_need_own_events(__func__);
  before = live_now();
  measure_event("task-clock:u", measure_syscalls, &nr, &count);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_in_range(count.value, 1, live_now() - before);
  assert_in_range(count.time_enabled, 1, live_now() - before);
}

/* -- whose ---------------------------------------------------------------- */

typedef struct elsewhere_s {
  uvperf_count_t count;
  uint64_t nr;
  int rc;
} elsewhere_t;

static void measure_in_thread(void *arg) {
  elsewhere_t *elsewhere = arg;

  elsewhere->rc = uvperf_measure_event(LIVE_SYSCALL, measure_syscalls,
                                       &elsewhere->nr, &elsewhere->count, NULL);
}

static void measure_event_is_of_the_calling_thread(void **state) {
  elsewhere_t elsewhere = {.nr = 6};
  uvperf_count_t count;
  live_thread_t thread;
  live_thread_t other;
  uint64_t nr = 9;

  (void)state;
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_thread_start(&thread, measure_in_thread, &elsewhere);
  live_thread_do(&thread);
  assert_int_equal(elsewhere.rc, 0);
  measure_count_is(&elsewhere.count, 6);
  live_thread_end(&thread);
  /* What another does meanwhile is its own. */
  live_thread_start(&other, measure_syscalls, &nr);
  measure_event(LIVE_SYSCALL, pass_three_times, &other, &count);
  measure_count_is(&count, 0);
  live_thread_end(&other);
}

typedef struct within_s {
  char name[MEASURE_NAME_BYTES];
  uvperf_count_t count;
  int rc;
} within_t;

static void measure_within(void *arg) {
  within_t *within = arg;
  uint64_t nr = 4;

  live_write(1);
  within->rc = uvperf_measure_event(within->name, measure_writes, &nr,
                                    &within->count, NULL);
  live_write(2);
}

static void measure_event_within_another(void **state) {
  uvperf_count_t count;
  within_t within;

  (void)state;
  support_need_breakpoints(__func__);
  measure_writes_name(within.name);
  measure_event(within.name, measure_within, &within, &count);
  measure_count_is(&count, 7);
  assert_int_equal(within.rc, 0);
  measure_count_is(&within.count, 4);
}

/* -- what is left --------------------------------------------------------- */

static void measure_event_leaves_no_fd(void **state) {
  size_t fds = support_count_fds();
  uvperf_count_t count;
  uvperf_error_t error;
  size_t bytes;
  int i;

  (void)state;
  support_need_own_events(__func__);
  for (i = 0; i < 200; i++) {
    measure_event("page-faults:u", measure_nothing, NULL, &count);
    assert_int_equal(uvperf_measure_event("no-such-event", measure_nothing,
                                          NULL, &count, &error),
                     UV_ENOENT);
  }
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(support_count_rings(&bytes), 0);
}

static void measure_event_leaves_the_threads_cpus_alone(void **state) {
  uvperf_count_t count;
  cpu_set_t before;
  cpu_set_t after;

  (void)state;
  support_need_own_events(__func__);
  assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
  measure_event("page-faults:u", measure_nothing, NULL, &count);
  assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
  assert_true(CPU_EQUAL(&before, &after));
}

/* -- a meter -------------------------------------------------------------- */

static uvperf_meter_t *make_meter(const char *name) {
  uvperf_meter_t *meter;
  uvperf_error_t error;

  if (uvperf_meter_new(&meter, name, &error) != 0)
    fail_msg("%s: %s", name, error.reason);
  return meter;
}

static void meter_counts_each_of_its_calls_alone(void **state) {
  size_t fds = support_count_fds();
  uvperf_count_t count;
  uvperf_meter_t *meter;
  uint64_t nr;

  (void)state;
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  meter = make_meter(LIVE_SYSCALL);
  for (nr = 0; nr < 300; nr++) {
    live_syscall(5); /* nobody measures these */
    assert_int_equal(
        uvperf_meter_measure(meter, measure_syscalls, &nr, &count, NULL), 0);
    measure_count_is(&count, nr);
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
      uvperf_meter_measure(elsewhere->meter, measure_note, &elsewhere->called,
                           &count, &elsewhere->error);
}

/* It would count 0 whatever happens. */
static void meter_of_another_thread_measures_nothing(void **state) {
  size_t fds = support_count_fds();
  metered_elsewhere_t elsewhere = {.rc = 0};
  live_thread_t thread;

  (void)state;
  support_need_own_events(__func__);
  elsewhere.meter = make_meter("page-faults:u");
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
  assert_int_equal(
      uvperf_meter_measure(metered->meter, measure_writes, &nr, &count, &error),
      UV_EBUSY);
  assert_int_equal(error.cause, UVPERF_CAUSE_BUSY);
  assert_int_equal(uvperf_meter_measure(metered->inner, measure_writes, &nr,
                                        &metered->count, NULL),
                   0);
  live_write(2);
}

static void meter_within_itself_is_busy_and_another_counts(void **state) {
  char name[MEASURE_NAME_BYTES];
  uvperf_count_t count;
  metered_t metered;

  (void)state;
  support_need_breakpoints(__func__);
  metered.meter = make_meter(measure_writes_name(name));
  metered.inner = make_meter(name);
  assert_int_equal(uvperf_meter_measure(metered.meter, measure_by_both,
                                        &metered, &count, NULL),
                   0);
  measure_count_is(&count, 7);
  measure_count_is(&metered.count, 4);
  uvperf_meter_free(metered.inner);
  uvperf_meter_free(metered.meter);
}

static void meter_in_a_forked_child_is_eperm(void **state) {
  uvperf_count_t count;
  uvperf_meter_t *meter;
  int called = 0;
  pid_t pid;

  (void)state;
  support_need_own_events(__func__);
  meter = make_meter("page-faults:u");
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    _exit(uvperf_meter_measure(meter, measure_note, &called, &count, NULL) !=
              UV_EPERM ||
          called != 0);
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(
      uvperf_meter_measure(meter, measure_note, &called, &count, NULL), 0);
  uvperf_meter_free(meter);
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
  assert_int_equal(
      uvperf_measure_event(name, measure_note, &called, &count, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  if (strstr(error.reason, piece) == NULL)
    fail_msg("'%s' is not in '%s'", piece, error.reason);
  assert_int_equal(called, 0);
  assert_memory_equal(&count, &same, sizeof(count));
  assert_int_equal(
      uvperf_measure_event(name, measure_note, &called, &count, NULL), code);
  assert_int_equal(fake_live_allocations(), allocations);
}

static void measure_event_of_several_events_is_einval(void **state) {
  (void)state;
  assert_no_one_event("page-faults,cs", UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                      "'page-faults,cs' stands for 2 events");
  assert_no_one_event("{page-faults,cs,dummy}", UV_EINVAL,
                      UVPERF_CAUSE_ARGUMENT, "stands for 3 events");
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  assert_no_one_event("syscalls:sys_*_getpgid", UV_EINVAL,
                      UVPERF_CAUSE_ARGUMENT, "stands for 2 events");
}

static void measure_event_of_no_event_is_the_parsers_error(void **state) {
  (void)state;
  assert_no_one_event("", UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  assert_no_one_event("page-falts", UV_ENOENT, UVPERF_CAUSE_NO_EVENT,
                      "page-faults");
  assert_no_one_event("page-faults:", UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  assert_no_one_event("{page-faults", UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "}");
}

/* A group of one is one event. */
static void measure_event_of_a_group_of_one_counts(void **state) {
  uvperf_count_t count;
  uint64_t nr = 2;

  (void)state;
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  measure_event("{" LIVE_SYSCALL "}", measure_syscalls, &nr, &count);
  measure_count_is(&count, 2);
}

static void measure_event_of_bad_arguments_is_einval(void **state) {
  uvperf_count_t count;
  uvperf_meter_t *meter;
  uvperf_error_t error;
  int called = 0;

  (void)state;
  memset(&error, 0, sizeof(error));
  assert_int_equal(
      uvperf_measure_event(NULL, measure_note, &called, &count, &error),
      UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(
      uvperf_measure_event("dummy:u", NULL, &called, &count, &error),
      UV_EINVAL);
  assert_int_equal(
      uvperf_measure_event("dummy:u", measure_note, &called, NULL, &error),
      UV_EINVAL);
  assert_int_equal(uvperf_measure_event(NULL, NULL, NULL, NULL, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_meter_new(NULL, "dummy:u", &error), UV_EINVAL);
  assert_int_equal(uvperf_meter_new(&meter, NULL, &error), UV_EINVAL);
  assert_int_equal(uvperf_meter_new(&meter, "page-faults,cs", &error),
                   UV_EINVAL);
  assert_null(meter);
  assert_int_equal(
      uvperf_meter_measure(NULL, measure_note, &called, &count, &error),
      UV_EINVAL);
  uvperf_meter_free(NULL);
  assert_int_equal(called, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_event_counts_exactly_the_calls_made),
      cmocka_unit_test(measure_event_counts_writes_to_a_word),
      cmocka_unit_test(measure_event_counts_the_pages_touched),
      cmocka_unit_test(measure_event_counts_context_switches),
      cmocka_unit_test(measure_event_counts_migrations),
      cmocka_unit_test(measure_event_of_the_clock_is_no_more_than_the_wall),
      cmocka_unit_test(measure_event_is_of_the_calling_thread),
      cmocka_unit_test(measure_event_within_another),
      cmocka_unit_test(measure_event_leaves_no_fd),
      cmocka_unit_test(measure_event_leaves_the_threads_cpus_alone),
      cmocka_unit_test(meter_counts_each_of_its_calls_alone),
      cmocka_unit_test(meter_of_another_thread_measures_nothing),
      cmocka_unit_test(meter_within_itself_is_busy_and_another_counts),
      cmocka_unit_test(meter_in_a_forked_child_is_eperm),
      cmocka_unit_test(measure_event_of_several_events_is_einval),
      cmocka_unit_test(measure_event_of_no_event_is_the_parsers_error),
      cmocka_unit_test(measure_event_of_a_group_of_one_counts),
      cmocka_unit_test(measure_event_of_bad_arguments_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
