/* SPDX-License-Identifier: MIT */
/* Live: the cost of one call of a function, by uvperf_measure, for a known
 * amount of work. Failures are in unit/set/test_measure.c. */
#include "live_thread.h"
#include "measure_run.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* -- counts --------------------------------------------------------------- */

static void measure_counts_exactly_the_calls_made(void **state) {
  static const uint64_t nrs[] = {0, 1, 3, 1000, 0, 7};
  measure_run_t run;
  uint64_t nr;
  size_t i;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  measure_open(*state, &run, LIVE_SYSCALL, NULL);
  for (i = 0; i < COUNT_OF(nrs); i++) {
    nr = nrs[i];
    live_syscall(5); /* not measured */
    measure_do(&run, measure_syscalls, &nr);
    measure_is(&run, 0, nr);
  }
  measure_close(&run);
}

/* The pages of a new mapping. The first measurement is discarded, so that no
 * page of the code is new afterwards. */
static void measure_counts_exactly_the_pages_of_a_mapping(void **state) {
  measure_run_t run;
  char *region;
  int i;

  support_need_own_events(__func__);
  measure_open(*state, &run, "{page-faults:u,minor-faults:u,major-faults:u}",
               NULL);
  measure_do(&run, measure_nothing, NULL);
  for (i = 0; i < 3; i++) {
    region = live_region();
    measure_do(&run, measure_touch, region);
    measure_is(&run, 0, LIVE_PAGES);
    measure_is(&run, 1, LIVE_PAGES);
    measure_is(&run, 2, 0);
    measure_do(&run, measure_touch, region); /* they are there now */
    measure_is(&run, 0, 0);
    measure_is(&run, 1, 0);
    live_region_free(region);
  }
  measure_close(&run);
}

/* Read by the kernel into pages that are not there: faults of the kernel's
 * side. */
static void read_into(void *arg) {
  ssize_t size = (ssize_t)(LIVE_PAGES * support_page_bytes());
  int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

  if (read(fd, arg, (size_t)size) != size)
    abort();
  close(fd);
}

static void measure_counts_the_kernels_side_unless_excluded(void **state) {
  measure_run_t run;
  char *region;

  support_need_kernel_side(__func__);
  measure_open(*state, &run, "page-faults,page-faults:u", NULL);
  region = live_region();
  measure_do(&run, read_into, region);
  live_region_free(region);
  region = live_region();
  measure_do(&run, read_into, region);
  measure_is(&run, 0, LIVE_PAGES);
  measure_is(&run, 1, 0);
  measure_close(&run);
  live_region_free(region);
}

/* -- groups --------------------------------------------------------------- */

typedef struct two_s {
  uint64_t calls;
  uint64_t writes;
} two_t;

static void work_twofold(void *arg) {
  const two_t *two = arg;
  uint64_t i;

  for (i = 0; i < two->calls; i++)
    live_called(i);
  live_write(two->writes);
}

static void open_two(uv_loop_t *loop, measure_run_t *run) {
  char calls[MEASURE_NAME_BYTES], writes[MEASURE_NAME_BYTES];
  char names[2 * MEASURE_NAME_BYTES + 4];

  snprintf(names, sizeof(names), "{%s,%s}", measure_calls_name(calls),
           measure_writes_name(writes));
  measure_open(loop, run, names, NULL);
}

/* PERF_EVENT_IOC_RESET of a leader alone leaves its siblings as they are. */
static void measure_begins_at_0_for_each_member_of_a_group(void **state) {
  static const two_t works[] = {{3, 5}, {1, 0}, {0, 2}, {0, 0}, {2, 1}};
  measure_run_t run;
  two_t work;
  size_t i;

  support_need_breakpoints(__func__);
  open_two(*state, &run);
  for (i = 0; i < COUNT_OF(works); i++) {
    work = works[i];
    work_twofold(&work); /* not measured */
    measure_do(&run, work_twofold, &work);
    measure_is(&run, 0, work.calls);
    measure_is(&run, 1, work.writes);
  }
  measure_close(&run);
}

/* A sibling counts while its leader does: never before the first measurement,
 * though it was opened enabled. */
static void set_reset_is_of_the_whole_group_and_of_its_times(void **state) {
  uvperf_count_t count;
  measure_run_t run;
  two_t work = {3, 5};
  size_t i;

  support_need_breakpoints(__func__);
  open_two(*state, &run);
  work_twofold(&work);
  measure_do(&run, measure_nothing, NULL);
  measure_is(&run, 1, 0);
  measure_do(&run, work_twofold, &work);
  assert_int_equal(uvperf_reset(&run.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  for (i = 0; i < 2; i++) {
    count = measure_total(&run, i);
    assert_int_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
    assert_int_equal(count.value, 0);
    assert_int_equal(count.time_enabled, 0);
    assert_int_equal(count.time_running, 0);
  }
  measure_close(&run);
}

/* -- times ---------------------------------------------------------------- */

/* Their sum is at most the time that passed. If each were the sum of those
 * before, it would be many times over. */
static void measure_times_are_of_this_call_alone(void **state) {
  char name[MEASURE_NAME_BYTES];
  uvperf_count_t count;
  measure_run_t run;
  uint64_t nr = 1000;
  uint64_t before;
  uint64_t wall;
  uint64_t sum = 0;
  int i;

  support_need_breakpoints(__func__);
  measure_open(*state, &run, measure_writes_name(name), NULL);
  before = live_now();
  for (i = 0; i < 50; i++) {
    uint64_t begin = live_now();

    measure_do(&run, measure_writes, &nr);
    measure_is(&run, 0, nr);
    count = measure_total(&run, 0);
    assert_in_range(count.time_enabled, 1, live_now() - begin);
    sum += count.time_enabled;
  }
  wall = live_now() - before;
  assert_in_range(sum, 50, wall);
  measure_close(&run);
}

static void measure_interval_equals_the_calls(void **state) {
  char name[MEASURE_NAME_BYTES];
  measure_run_t run;
  uint64_t before;
  uint64_t after;
  uint64_t nr = 1000;

  support_need_breakpoints(__func__);
  measure_open(*state, &run, measure_writes_name(name), NULL);
  before = live_now();
  measure_do(&run, measure_writes, &nr);
  after = live_now();
  assert_in_range(uvperf_reading_info(run.reading)->time, before, after);
  assert_in_range(uvperf_reading_info(run.reading)->interval, 1,
                  after - before);
  measure_close(&run);
}

/* -- overhead ------------------------------------------------------------- */

static void ioctls(void *arg) {
  uint64_t i;

  for (i = 0; i < *(const uint64_t *)arg; i++)
    ioctl(-1, 0);
}

/* Measuring is an ioctl that returns and another that is made: these can be
 * seen. */
static void measure_overhead_taken_off_leaves_the_functions_own(void **state) {
  uvperf_reading_t *overhead;
  measure_run_t run;
  uint64_t nr;

  support_need_tracepoint(__func__, "syscalls:sys_enter_ioctl");
  assert_int_equal(uvperf_reading_new(&overhead), 0);
  measure_open(*state, &run,
               "{page-faults,minor-faults,cpu-migrations,"
               "syscalls:sys_enter_ioctl,syscalls:sys_exit_ioctl}",
               NULL);
  assert_int_equal(uvperf_measure_overhead(&run.set, 20, overhead, NULL), 0);
  for (nr = 0; nr < 4; nr++) {
    measure_do(&run, ioctls, &nr);
    measure_is(&run, 3, nr + 1);
    measure_is(&run, 4, nr + 1);
    assert_int_equal(uvperf_reading_subtract(run.reading, overhead), 0);
    measure_is(&run, 0, 0);
    measure_is(&run, 1, 0);
    measure_is(&run, 2, 0);
    measure_is(&run, 3, nr);
    measure_is(&run, 4, nr);
  }
  uvperf_reading_free(overhead);
  measure_close(&run);
}

/* The system calls of a measurement: one return, from the ioctl that enabled,
 * and one entry, of the one that disables. */
static void measure_makes_no_system_call_of_its_own(void **state) {
  measure_run_t run;
  uint64_t nr = 3;

  support_need_tracepoint(__func__, "raw_syscalls:sys_enter");
  measure_open(*state, &run, "{raw_syscalls:sys_enter,raw_syscalls:sys_exit}",
               NULL);
  measure_do(&run, measure_nothing, NULL);
  measure_is(&run, 0, 1);
  measure_is(&run, 1, 1);
  measure_do(&run, measure_syscalls, &nr);
  measure_is(&run, 0, 4);
  measure_is(&run, 1, 4);
  measure_close(&run);
}

/* The least is no more than any measurement of an empty function, which takes
 * some time. */
static void measure_overhead_of_a_clock_is_its_least(void **state) {
  uvperf_reading_t *overhead;
  uvperf_count_t count;
  measure_run_t run;
  uint64_t least;

  support_need_own_events(__func__);
  assert_int_equal(uvperf_reading_new(&overhead), 0);
  measure_open(*state, &run, "task-clock:u", NULL);
  assert_int_equal(uvperf_measure_overhead(&run.set, 0, overhead, NULL), 0);
  assert_int_equal(uvperf_reading_total(overhead, 0, &count), 0);
  least = count.value;
  assert_in_range(least, 1, 1000000000);
  assert_int_equal(uvperf_measure_overhead(&run.set, 1, run.reading, NULL), 0);
  assert_int_equal(uvperf_reading_subtract(run.reading, overhead), 0);
  assert_true(measure_total(&run, 0).value < UINT64_MAX / 2);
  uvperf_reading_free(overhead);
  measure_close(&run);
}

/* -- the set meanwhile ---------------------------------------------------- */

static void measure_of_a_set_that_is_enabled_is_ebusy(void **state) {
  char name[MEASURE_NAME_BYTES];
  measure_run_t run;
  uvperf_error_t error;
  int called = 0;

  support_need_breakpoints(__func__);
  measure_open(*state, &run, measure_writes_name(name), NULL);
  assert_int_equal(uvperf_enable(&run.set.handle, UVPERF_ALL, NULL), 0);
  live_write(2);
  assert_int_equal(
      uvperf_measure(&run.set, measure_note, &called, run.reading, &error),
      UV_EBUSY);
  assert_int_equal(error.cause, UVPERF_CAUSE_BUSY);
  assert_int_equal(uvperf_measure_overhead(&run.set, 1, run.reading, NULL),
                   UV_EBUSY);
  assert_int_equal(called, 0);
  live_write(3);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  measure_is(&run, 0, 5); /* it was not reset */
  assert_int_equal(uvperf_disable(&run.set.handle, UVPERF_ALL, NULL), 0);
  measure_do(&run, measure_note, &called);
  assert_int_equal(called, 1);
  measure_close(&run);
}

/* Events between two measurements are not counted. */
static void measure_leaves_the_set_disabled(void **state) {
  char name[MEASURE_NAME_BYTES];
  measure_run_t run;
  uint64_t nr = 3;

  support_need_breakpoints(__func__);
  measure_open(*state, &run, measure_writes_name(name), NULL);
  measure_do(&run, measure_writes, &nr);
  live_write(5);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  measure_is(&run, 0, 3);
  assert_int_equal(uvperf_enable(&run.set.handle, UVPERF_ALL, NULL), 0);
  live_write(2);
  assert_int_equal(uvperf_disable(&run.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  measure_is(&run, 0, 5);
  measure_close(&run);
}

typedef struct nested_s {
  measure_run_t *same;
  measure_run_t *other;
  int rc;
} nested_t;

static void measure_again(void *arg) {
  nested_t *nested = arg;
  uint64_t nr = 4;

  live_write(1);
  nested->rc = uvperf_measure(&nested->same->set, measure_writes, &nr,
                              nested->same->reading, NULL);
  if (uvperf_measure(&nested->other->set, measure_writes, &nr,
                     nested->other->reading, NULL) != 0)
    abort();
  live_write(2);
}

static void measure_within_a_measurement_takes_a_set_of_its_own(void **state) {
  char name[MEASURE_NAME_BYTES];
  measure_run_t outer;
  measure_run_t inner;
  nested_t nested = {.same = &outer, .other = &inner};

  support_need_breakpoints(__func__);
  measure_open(*state, &outer, measure_writes_name(name), NULL);
  measure_open(*state, &inner, name, NULL);
  measure_do(&outer, measure_again, &nested);
  assert_int_equal(nested.rc, UV_EBUSY);
  measure_is(&outer, 0, 7);
  measure_is(&inner, 0, 4);
  measure_close(&inner);
  measure_close(&outer);
}

/* -- the function uses the set -------------------------------------------- */

typedef struct targets_s {
  measure_run_t *run;
  live_thread_t *thread;
  uint32_t index; /* the target to remove, or the one added */
} targets_t;

static void writes_of_thread(void *arg) {
  (void)arg;
  live_write(10);
}

static void remove_target(void *arg) {
  targets_t *targets = arg;

  live_write(1);
  live_thread_do(targets->thread);
  if (uvperf_set_remove(&targets->run->set, targets->index) != 0)
    abort();
  live_thread_do(targets->thread);
  live_write(2);
}

static void add_target(void *arg) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  targets_t *targets = arg;

  live_write(1);
  live_thread_do(targets->thread);
  target.type = UVPERF_TARGET_THREAD;
  target.pid = (int32_t)targets->thread->tid;
  if (uvperf_set_add(&targets->run->set, &target, NULL, &targets->index,
                     NULL) != 0)
    abort();
  live_thread_do(targets->thread);
}

/* The breakpoint of the thread: another address space's would be the same. */
static void measure_of_targets_that_come_and_go(void **state) {
  char name[MEASURE_NAME_BYTES];
  live_thread_t thread;
  measure_run_t run;
  targets_t targets = {.run = &run, .thread = &thread};

  support_need_breakpoints(__func__);
  live_thread_start(&thread, writes_of_thread, NULL);
  measure_open(*state, &run, measure_writes_name(name), NULL);
  measure_do(&run, add_target, &targets);
  assert_int_equal(uvperf_reading_info(run.reading)->nr_places, 2);
  measure_is(&run, 0, 11);
  measure_do(&run, remove_target, &targets);
  assert_int_equal(uvperf_reading_info(run.reading)->nr_places, 1);
  measure_is(&run, 0, 3);
  measure_close(&run);
  live_thread_end(&thread);
}

static void disable_in_the_middle(void *arg) {
  measure_run_t *run = arg;

  live_write(3);
  if (uvperf_disable(&run->set.handle, UVPERF_ALL, NULL) != 0)
    abort();
  live_write(4);
}

static void reset_in_the_middle(void *arg) {
  measure_run_t *run = arg;

  live_write(3);
  if (uvperf_reset(&run->set.handle, UVPERF_ALL, NULL) != 0)
    abort();
  live_write(4);
}

static void measure_of_a_function_that_disables_or_resets(void **state) {
  char name[MEASURE_NAME_BYTES];
  measure_run_t run;

  support_need_breakpoints(__func__);
  measure_open(*state, &run, measure_writes_name(name), NULL);
  measure_do(&run, disable_in_the_middle, &run);
  measure_is(&run, 0, 3);
  measure_do(&run, reset_in_the_middle, &run);
  measure_is(&run, 0, 4);
  measure_close(&run);
}

/* -- other targets -------------------------------------------------------- */

static void have_worker_do(void *worker) {
  live_worker_do(worker);
}

static void four_syscalls(void *arg) {
  (void)arg;
  live_syscall(4);
}

static void
measure_of_another_process_counts_what_it_did_meanwhile(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_worker_t worker;
  measure_run_t run;
  int i;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_worker_fork(&worker, four_syscalls, NULL);
  target.type = UVPERF_TARGET_PROCESS;
  target.pid = worker.pid;
  measure_open(*state, &run, LIVE_SYSCALL, &target);
  for (i = 0; i < 3; i++) {
    live_worker_do(&worker);
    measure_do(&run, have_worker_do, &worker);
    measure_is(&run, 0, 4);
    live_syscall(2);
    measure_do(&run, measure_nothing, NULL);
    assert_int_equal(measure_total(&run, 0).value, 0);
  }
  measure_close(&run);
  live_worker_end(&worker);
}

/* Meanwhile other tests make these calls, too. */
static void measure_on_every_cpu_has_the_callers_part(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  measure_run_t run;
  uint64_t nr = 1000;

  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  target.type = UVPERF_TARGET_CPUS;
  measure_open(*state, &run, LIVE_SYSCALL, &target);
  measure_do(&run, measure_syscalls, &nr);
  assert_int_equal(uvperf_reading_info(run.reading)->nr_places,
                   sysconf(_SC_NPROCESSORS_ONLN));
  assert_int_equal(measure_total(&run, 0).nr_missing, 0);
  assert_in_range(measure_total(&run, 0).value, nr, UINT32_MAX);
  measure_close(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(measure_counts_exactly_the_calls_made),
      support_loop_test(measure_counts_exactly_the_pages_of_a_mapping),
      support_loop_test(measure_counts_the_kernels_side_unless_excluded),
      support_loop_test(measure_begins_at_0_for_each_member_of_a_group),
      support_loop_test(set_reset_is_of_the_whole_group_and_of_its_times),
      support_loop_test(measure_times_are_of_this_call_alone),
      support_loop_test(measure_interval_equals_the_calls),
      support_loop_test(measure_overhead_taken_off_leaves_the_functions_own),
      support_loop_test(measure_makes_no_system_call_of_its_own),
      support_loop_test(measure_overhead_of_a_clock_is_its_least),
      support_loop_test(measure_of_a_set_that_is_enabled_is_ebusy),
      support_loop_test(measure_leaves_the_set_disabled),
      support_loop_test(measure_within_a_measurement_takes_a_set_of_its_own),
      support_loop_test(measure_of_targets_that_come_and_go),
      support_loop_test(measure_of_a_function_that_disables_or_resets),
      support_loop_test(
          measure_of_another_process_counts_what_it_did_meanwhile),
      support_loop_test(measure_on_every_cpu_has_the_callers_part),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
