/* SPDX-License-Identifier: MIT */
/* Live: the counts of one call of a function, by a meter, for a known amount of
 * work. Failures are in unit/set/test_measure.c. */
#include "live_thread.h"
#include "live_measure.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct metered_s {
  uvperf_meter_t *meter;
  uvperf_count_t counts[5];
  size_t nr;
} metered_t;

static void metered_open(metered_t *run, const char *names,
                         const uvperf_target_t *target) {
  run->meter = live_measure_meter(names, target);
  for (run->nr = 0; uvperf_meter_item(run->meter, run->nr) != NULL;)
    run->nr++;
}

static void metered_do(metered_t *run, uvperf_measure_fn fn, void *arg) {
  assert_int_equal(
      uvperf_meter_measure(run->meter, fn, arg, run->counts, run->nr, NULL), 0);
}

static void metered_is(const metered_t *run, size_t event, uint64_t value) {
  live_measure_count_is(&run->counts[event], value);
}

/* -- counts --------------------------------------------------------------- */

/* The pages of a new mapping. The first measurement is discarded, so that no
 * page of the code is new afterwards. */
static void measure_counts_exactly_the_pages_of_a_mapping(void **state) {
  metered_t run;
  char *region;
  int i;

  support_need_own_events(__func__);
  metered_open(&run, "{page-faults:u,minor-faults:u,major-faults:u}", NULL);
  metered_do(&run, live_measure_nothing, NULL);
  for (i = 0; i < 3; i++) {
    region = live_region();
    metered_do(&run, live_measure_touch, region);
    metered_is(&run, 0, LIVE_PAGES);
    metered_is(&run, 1, LIVE_PAGES);
    metered_is(&run, 2, 0);
    metered_do(&run, live_measure_touch, region); /* they are there now */
    metered_is(&run, 0, 0);
    metered_is(&run, 1, 0);
    live_region_free(region);
  }
  uvperf_meter_free(run.meter);
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
  metered_t run;
  char *region;

  support_need_kernel_side(__func__);
  metered_open(&run, "page-faults,page-faults:u", NULL);
  region = live_region();
  metered_do(&run, read_into, region);
  live_region_free(region);
  region = live_region();
  metered_do(&run, read_into, region);
  metered_is(&run, 0, LIVE_PAGES);
  metered_is(&run, 1, 0);
  uvperf_meter_free(run.meter);
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

#define TWO_BYTES (2 * LIVE_MEASURE_NAME_BYTES + 4)

static const char *name_two(char names[TWO_BYTES]) {
  char calls[LIVE_MEASURE_NAME_BYTES], writes[LIVE_MEASURE_NAME_BYTES];

  snprintf(names, TWO_BYTES, "{%s,%s}", live_measure_calls_name(calls),
           live_measure_writes_name(writes));
  return names;
}

/* PERF_EVENT_IOC_RESET of a leader alone leaves its siblings as they are. */
static void measure_begins_at_0_for_each_member_of_a_group(void **state) {
  static const two_t works[] = {{3, 5}, {1, 0}, {0, 2}, {0, 0}, {2, 1}};
  char names[TWO_BYTES];
  metered_t run;
  two_t work;
  size_t i;

  support_need_breakpoints(__func__);
  metered_open(&run, name_two(names), NULL);
  for (i = 0; i < COUNT_OF(works); i++) {
    work = works[i];
    work_twofold(&work); /* not measured */
    metered_do(&run, work_twofold, &work);
    metered_is(&run, 0, work.calls);
    metered_is(&run, 1, work.writes);
  }
  uvperf_meter_free(run.meter);
}

/* A sibling counts while its leader does: never before the first measurement,
 * though it was opened enabled. */
static void set_reset_is_of_the_whole_group_and_of_its_times(void **state) {
  char names[TWO_BYTES];
  uvperf_count_t count;
  live_measure_run_t run;
  two_t work = {3, 5};
  size_t i;

  support_need_breakpoints(__func__);
  live_measure_open(*state, &run, name_two(names), NULL);
  work_twofold(&work);
  live_measure_do(&run, live_measure_nothing, NULL);
  live_measure_is(&run, 1, 0);
  live_measure_do(&run, work_twofold, &work);
  assert_int_equal(uvperf_reset(&run.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  for (i = 0; i < 2; i++) {
    count = live_measure_total(&run, i);
    assert_int_equal(count.state, UVPERF_COUNT_NOT_ENABLED);
    assert_int_equal(count.value, 0);
    assert_int_equal(count.time_enabled, 0);
    assert_int_equal(count.time_running, 0);
  }
  live_measure_close(&run);
}

/* -- times ---------------------------------------------------------------- */

/* Their sum is at most the time that passed. If each were the sum of those
 * before, it would be many times over. */
static void measure_times_are_of_this_call_alone(void **state) {
  char name[LIVE_MEASURE_NAME_BYTES];
  uvperf_count_t count;
  metered_t run;
  uint64_t nr = 1000;
  uint64_t before;
  uint64_t wall;
  uint64_t sum = 0;
  int i;

  support_need_breakpoints(__func__);
  metered_open(&run, live_measure_writes_name(name), NULL);
  before = live_now();
  for (i = 0; i < 50; i++) {
    uint64_t begin = live_now();

    metered_do(&run, live_measure_writes, &nr);
    metered_is(&run, 0, nr);
    count = run.counts[0];
    assert_in_range(count.time_enabled, 1, live_now() - begin);
    sum += count.time_enabled;
  }
  wall = live_now() - before;
  assert_in_range(sum, 50, wall);
  uvperf_meter_free(run.meter);
}

static void measure_interval_equals_the_calls(void **state) {
  char name[LIVE_MEASURE_NAME_BYTES];
  live_measure_run_t run;
  uint64_t before;
  uint64_t after;
  uint64_t nr = 1000;

  support_need_breakpoints(__func__);
  live_measure_open(*state, &run, live_measure_writes_name(name), NULL);
  before = live_now();
  live_measure_do(&run, live_measure_writes, &nr);
  after = live_now();
  assert_in_range(uvperf_reading_info(run.reading)->time, before, after);
  assert_in_range(uvperf_reading_info(run.reading)->interval, 1,
                  after - before);
  live_measure_close(&run);
}

/* -- the cost of measuring ------------------------------------------------ */

static void ioctls(void *arg) {
  uint64_t i;

  for (i = 0; i < *(const uint64_t *)arg; i++)
    ioctl(-1, 0);
}

/* Measuring is an ioctl that returns and another that is made: these can be
 * seen. An empty function has the same. */
static void measure_of_nothing_is_the_cost_of_measuring(void **state) {
  uvperf_runs_t empty[5];
  metered_t run;
  uint64_t nr;

  support_need_tracepoint(__func__, "syscalls:sys_enter_ioctl");
  metered_open(&run,
               "{page-faults,minor-faults,cpu-migrations,"
               "syscalls:sys_enter_ioctl,syscalls:sys_exit_ioctl}",
               NULL);
  assert_int_equal(uvperf_meter_repeat(run.meter, 20, live_measure_nothing,
                                       NULL, empty, run.nr, NULL),
                   0);
  for (nr = 0; nr < 5; nr++)
    assert_int_equal(empty[nr].least, nr >= 3);
  for (nr = 0; nr < 4; nr++) {
    metered_do(&run, ioctls, &nr);
    metered_is(&run, 0, 0);
    metered_is(&run, 1, 0);
    metered_is(&run, 2, 0);
    metered_is(&run, 3, empty[3].least + nr);
    metered_is(&run, 4, empty[4].least + nr);
  }
  uvperf_meter_free(run.meter);
}

/* The system calls of a measurement: one return, from the ioctl that enabled,
 * and one entry, of the one that disables. */
static void measure_makes_no_system_call_of_its_own(void **state) {
  metered_t run;
  uint64_t nr = 3;

  support_need_tracepoint(__func__, "raw_syscalls:sys_enter");
  metered_open(&run, "{raw_syscalls:sys_enter,raw_syscalls:sys_exit}", NULL);
  metered_do(&run, live_measure_nothing, NULL);
  metered_is(&run, 0, 1);
  metered_is(&run, 1, 1);
  metered_do(&run, live_measure_syscalls, &nr);
  metered_is(&run, 0, 4);
  metered_is(&run, 1, 4);
  uvperf_meter_free(run.meter);
}

/* -- other targets -------------------------------------------------------- */

static void have_worker_do(void *worker) {
  live_worker_do(worker);
}

static void four_syscalls(void *arg) {
  live_syscall(4);
}

static void
measure_of_another_process_counts_what_it_did_meanwhile(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_worker_t worker;
  metered_t run;
  int i;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_worker_fork(&worker, four_syscalls, NULL);
  target.type = UVPERF_TARGET_PROCESS;
  target.pid = worker.pid;
  metered_open(&run, LIVE_SYSCALL, &target);
  for (i = 0; i < 3; i++) {
    live_worker_do(&worker);
    metered_do(&run, have_worker_do, &worker);
    metered_is(&run, 0, 4);
    live_syscall(2);
    metered_do(&run, live_measure_nothing, NULL);
    assert_int_equal(run.counts[0].value, 0);
  }
  uvperf_meter_free(run.meter);
  live_worker_end(&worker);
}

/* Meanwhile other tests make these calls, too. */
static void measure_on_every_cpu_has_the_callers_part(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  metered_t run;
  uint64_t nr = 1000;

  support_need_cpu_wide(__func__);
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  target.type = UVPERF_TARGET_CPUS;
  metered_open(&run, LIVE_SYSCALL, &target);
  metered_do(&run, live_measure_syscalls, &nr);
  assert_int_equal(run.counts[0].nr_counts, sysconf(_SC_NPROCESSORS_ONLN));
  assert_int_equal(run.counts[0].nr_missing, 0);
  assert_in_range(run.counts[0].value, nr, UINT32_MAX);
  uvperf_meter_free(run.meter);
}

/* A debug exception can come when its breakpoint has just been closed. The
 * kernel then sends a signal, which ends the process even if it is ignored. */
static void on_trap(int number) {
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_counts_exactly_the_pages_of_a_mapping),
      cmocka_unit_test(measure_counts_the_kernels_side_unless_excluded),
      cmocka_unit_test(measure_begins_at_0_for_each_member_of_a_group),
      support_loop_test(set_reset_is_of_the_whole_group_and_of_its_times),
      cmocka_unit_test(measure_times_are_of_this_call_alone),
      support_loop_test(measure_interval_equals_the_calls),
      cmocka_unit_test(measure_of_nothing_is_the_cost_of_measuring),
      cmocka_unit_test(measure_makes_no_system_call_of_its_own),
      cmocka_unit_test(measure_of_another_process_counts_what_it_did_meanwhile),
      cmocka_unit_test(measure_on_every_cpu_has_the_callers_part),
  };

  signal(SIGTRAP, on_trap);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
