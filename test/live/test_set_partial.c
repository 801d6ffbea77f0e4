/* SPDX-License-Identifier: MIT */
/* What a set reports about events that cannot be opened, while it counts the
 * rest, and when memory runs out. */
#include "live_set.h"

#include <fcntl.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "util/alloc.h"

/* For target 0. */
static void check(const uvperf_set_failure_t *failure, int code, int cause,
                  size_t attr, const char *piece) {
  const uvperf_error_t *error = &failure->error;

  if (error->code != code || error->cause != cause ||
      strstr(error->reason, piece) == NULL)
    fail_msg("not \"%s\" but %d, %s: %s", piece, error->code,
             uvperf_cause_name(error->cause), error->reason);
  assert_true(strlen(error->reason) < sizeof(error->reason) - 1);
  assert_int_equal(error->attr_index, attr);
  assert_int_equal(error->target_index, 0);
}

/* -- one that is not there ------------------------------------------------ */

/* A plan of three attrs, of which the second is of a PMU that does not
 * exist. */
static void plan_unknown(const char *test, live_plan_t *plan) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  uvperf_attr_init(live_plan_attr(plan), 4711, 0);
  live_plan_syscall(plan, support_need_tracepoint(test, LIVE_SYSCALL));
  live_plan_target(plan, UVPERF_TARGET_SELF);
  plan->options.flags = UVPERF_SET_FIXED_CPUS;
}

static void
set_of_three_attrs_one_unknown_counts_two_and_says_so(void **state) {
  const uvperf_set_failure_t *failures;
  const uvperf_place_t *place;
  uvperf_count_t count;
  live_plan_t plan;
  live_set_t live;
  size_t nr;

  plan_unknown(__func__, &plan);
  live_set_begin(*state, &live, &plan.options);
  assert_int_equal(uvperf_set_nr_open(&live.set), 2);
  failures = uvperf_set_failures(&live.set, &nr);
  assert_int_equal(nr, 1);
  check(&failures[0], UV_ENOENT, UVPERF_CAUSE_NO_EVENT, 1, "4711");
  assert_int_equal(failures[0].pid, live_tid());
  assert_int_equal(failures[0].cpu, -1);
  live_syscall(6);
  assert_int_equal(live_set_read(&live, 2).value, 6);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_COUNTING);
  count = live_set_read(&live, 1);
  assert_int_equal(count.state, UVPERF_COUNT_NOT_AVAILABLE);
  assert_int_equal(count.code, UV_ENOENT);
  assert_int_equal(count.nr_missing, 1);
  place = uvperf_reading_place(live.reading, 0);
  assert_true(uvperf_set_fd(&live.set, 0, place->serial) >= 0);
  assert_int_equal(uvperf_set_fd(&live.set, 1, place->serial), -1);
  live_set_close(&live);
}

static void ignore(uvperf_handle_t *handle, int status,
                   const uvperf_record_t *record) {
}

/* Its counts work, but no record could ever come. */
static void set_whose_sampling_attr_is_unknown_is_not_started(void **state) {
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;

  plan_unknown(__func__, &plan);
  plan.attrs[1].sample_period = 1;
  plan.options.flags = UVPERF_SET_RECORDS;
  live_set_open(*state, &live, &plan.options);
  assert_int_equal(uvperf_start(&live.set.handle, NULL, ignore, &error),
                   UV_ENOENT);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(error.reason, "4711"));
  live_set_close(&live);
}

/* -- a CPU that is offline ------------------------------------------------ */

static void plan_two_cpus(live_plan_t *plan, const char *cpus) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  live_plan_target(plan, UVPERF_TARGET_CPUS)->cpus = cpus;
}

static int open_switch(int cpu) {
  char path[64];
  int fd;

  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
  fd = open(path, O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

/* Only with UVPERF_TEST_OFFLINE_CPU=1. The CPU is online again before any
 * assert. */
static void set_of_cpus_one_really_offline_counts_the_rest(void **state) {
  const char *name = getenv("UVPERF_TEST_OFFLINE_CPU");
  const uvperf_set_failure_t *failures;
  uvperf_count_t count;
  uvperf_reading_t *reading;
  char cpus[32];
  live_plan_t plan;
  uvperf_set_t set;
  ssize_t went, came;
  size_t i, nr;
  int cpu, rc, fd;

  if (name == NULL)
    support_skip(__func__, "UVPERF_TEST_OFFLINE_CPU, a CPU to be taken away");
  support_need_cpu_wide(__func__);
  cpu = atoi(name);
  snprintf(cpus, sizeof(cpus), "0,%d", cpu);
  plan_two_cpus(&plan, cpus);
  fd = open_switch(cpu);
  went = write(fd, "0", 1);
  rc = uvperf_set_init(*state, &set, &plan.options, NULL);
  came = write(fd, "1", 1);
  close(fd);
  assert_int_equal(went, 1);
  assert_int_equal(came, 1);
  assert_int_equal(rc, 0);
  failures = uvperf_set_failures(&set, &nr);
  assert_int_equal(nr, 2);
  for (i = 0; i < 2; i++) {
    check(&failures[i], UV_ENODEV, UVPERF_CAUSE_NO_CPU, i,
          "the online CPUs are");
    assert_int_equal(failures[i].cpu, cpu);
    assert_int_equal(failures[i].pid, -1);
  }
  assert_int_equal(uvperf_enable(&set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf_set_read(&set, reading, NULL), 0);
  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(count.nr_missing, 1);
  uvperf_reading_free(reading);
  uvperf_close(&set.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
}

/* -- no memory ------------------------------------------------------------ */

/* Uses up the scripted failure that nothing has hit. */
static void use_up(unsigned failures) {
  while (fake_failures() == failures)
    uvperf__free(uvperf__calloc(1, 1));
}

/* The set continues unchanged. */
static void set_target_added_out_of_memory_leaves_nothing(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  unsigned failures;
  live_plan_t plan;
  live_set_t live;
  size_t fds, nr;
  unsigned i;
  int rc;

  plan_unknown(__func__, &plan);
  live_set_begin(*state, &live, &plan.options);
  live_syscall(1);
  fds = support_count_fds();
  for (i = 1, rc = UV_ENOMEM; rc != 0; i++) {
    failures = fake_failures();
    fake_fail(FAKE_CALLOC, i, 0);
    rc = uvperf_set_add(&live.set, &target, NULL, NULL, &error);
    assert_int_equal(rc, fake_failures() > failures ? UV_ENOMEM : 0);
    uvperf_set_failures(&live.set, &nr);
    assert_int_equal(nr, rc == 0 ? 2 : 1);
    assert_int_equal(support_count_fds(), rc == 0 ? fds + 2 : fds);
    live_syscall(1);
  }
  assert_in_range(i, 4, 100);
  use_up(failures);
  /* One each time round and one before, and the last one twice. */
  assert_int_equal(live_set_read(&live, 2).value, i + 1);
  assert_int_equal(uvperf_reading_info(live.reading)->nr_places, 2);
  live_set_close(&live);
  fake_assert_clean();
}

#define PARTIAL(test)                                                          \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      PARTIAL(set_of_three_attrs_one_unknown_counts_two_and_says_so),
      PARTIAL(set_whose_sampling_attr_is_unknown_is_not_started),
      PARTIAL(set_of_cpus_one_really_offline_counts_the_rest),
      PARTIAL(set_target_added_out_of_memory_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
