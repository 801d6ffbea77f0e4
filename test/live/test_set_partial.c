/* SPDX-License-Identifier: MIT */
/* What a set reports about events that cannot be opened, while it counts the
 * rest: live, by a scripted kernel, and when fds and memory run out. */
#include "live_set.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "live_thread.h"
#include "util/alloc.h"

/* PERF_FORMAT_LOST, which older headers lack. */
#define READ_LOST (1u << 4)

static void syscalls(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

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
  (void)handle;
  (void)status;
  (void)record;
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

static void set_strict_refuses_for_one_unknown_attr(void **state) {
  size_t fds = support_count_fds();
  uvperf_error_t error;
  live_plan_t plan;
  uvperf_set_t set;

  plan_unknown(__func__, &plan);
  plan.options.flags = UVPERF_SET_STRICT;
  assert_int_equal(uvperf_set_init(*state, &set, &plan.options, &error),
                   UV_ENOENT);
  assert_int_equal(error.code, UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_non_null(strstr(error.reason, "4711"));
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(support_count_fds(), fds);
}

/* The thread that ends when the first event is opened. */
static live_thread_t *victim;

static int end_victim(struct perf_event_attr *attr) {
  (void)attr;
  if (victim != NULL)
    live_thread_end(victim);
  victim = NULL;
  return 0;
}

/* The threads of a process have been listed when the first event is opened:
 * the one that was listed last is gone before its own turn. */
static void set_thread_that_ends_after_listing_is_reported(void **state) {
  const uvperf_set_failure_t *failures;
  live_thread_t thread;
  uint64_t work = 1;
  uvperf_target_t *target;
  live_plan_t plan;
  live_set_t live;
  int was_reported = 0;
  size_t nr, i;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  target = live_plan_target(&plan, UVPERF_TARGET_PROCESS);
  target->pid = (int32_t)getpid();
  target->flags = UVPERF_TARGET_NO_INHERIT;
  live_thread_start(&thread, syscalls, &work);
  victim = &thread;
  fake_on_open(end_victim);
  live_set_begin(*state, &live, &plan.options);
  fake_on_open(NULL);
  assert_null(victim);
  failures = uvperf_set_failures(&live.set, &nr);
  /* libuv 1.45 to 1.48 has threads of its own, for io_uring, which end too. */
  for (i = 0; i < nr; i++) {
    check(&failures[i], UV_ESRCH, UVPERF_CAUSE_NO_TASK, 0, "");
    was_reported |= failures[i].pid == (int32_t)thread.tid;
  }
  assert_true(was_reported);
  live_syscall(8);
  assert_int_equal(live_set_read(&live, 0).value, 8);
  assert_int_equal(live_set_read(&live, 0).nr_missing, nr);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_COUNTING);
  live_set_close(&live);
}

/* -- a CPU that is offline ------------------------------------------------ */

static void plan_two_cpus(live_plan_t *plan, const char *cpus) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  live_plan_target(plan, UVPERF_TARGET_CPUS)->cpus = cpus;
}

/* The kernel's answer for CPU 1 is scripted. unit/set/ tests that the reason
 * lists the online CPUs, because /sys can be scripted there. */
static void set_of_cpus_one_offline_counts_the_rest(void **state) {
  /* Value, enabled, running, id and, from Linux 6.0 on, lost. */
  static const uint64_t words[] = {500, 1000, 1000, 1, 0};
  const uvperf_set_failure_t *failures;
  uvperf_count_t count;
  fake_event_t *fake;
  live_plan_t plan;
  live_set_t live;
  size_t i, nr;

  support_need_cpu_wide(__func__);
  plan_two_cpus(&plan, "0-1");
  /* Asked of the kernel once: now, before the opens are counted. */
  uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST);
  fake = fake_event_add(1);
  fake_event_add(2);
  fake_fail(FAKE_OPEN, 3, -ENODEV);
  fake_fail(FAKE_OPEN, 4, -ENODEV);
  live_set_begin(*state, &live, &plan.options);
  assert_int_equal(uvperf_set_nr_open(&live.set), 2);
  failures = uvperf_set_failures(&live.set, &nr);
  assert_int_equal(nr, 2);
  for (i = 0; i < 2; i++) {
    assert_int_equal(failures[i].error.code, UV_ENODEV);
    assert_int_equal(failures[i].error.attr_index, i);
    assert_int_equal(failures[i].cpu, 1);
    assert_int_equal(failures[i].pid, -1);
  }
  fake->read_data = words;
  fake->read_size = fake->attr.read_format & READ_LOST ? 40 : 32;
  count = live_set_read(&live, 0);
  assert_int_equal(count.value, 500);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.nr_counts, 1);
  assert_int_equal(count.nr_missing, 1);
  assert_int_equal(uvperf_reading_get(live.reading, 0, UVPERF_ALL, 1, &count),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_NOT_AVAILABLE);
  assert_int_equal(count.code, UV_ENODEV);
  live_set_close(&live);
  fake_assert_clean();
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

/* -- more than there are fds ---------------------------------------------- */

#define MANY 400

/* Returns what is wrong with a set of 400 events if 100 files may be open; 0 if
 * nothing is. */
static int try_many(void *arg) {
  static struct perf_event_attr attrs[MANY];
  static const struct perf_event_attr *pointers[MANY];
  const struct rlimit limit = {100, 100};
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  size_t memory = fake_live_allocations();
  uvperf_error_t error;
  uvperf_set_t set;
  uv_loop_t loop;
  size_t fds, i;

  for (i = 0; i < MANY; i++) {
    uvperf_attr_software(&attrs[i], PERF_COUNT_SW_DUMMY);
    attrs[i].exclude_kernel = 1;
    pointers[i] = &attrs[i];
  }
  options.attrs = pointers;
  options.nr_attrs = MANY;
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = *(const uint32_t *)arg;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || uv_loop_init(&loop) != 0)
    return 1;
  fds = support_count_fds();
  if (uvperf_set_init(&loop, &set, &options, &error) != UV_EMFILE)
    return 2;
  if (error.code != UV_EMFILE || error.cause != UVPERF_CAUSE_FILES)
    return 3;
  if (error.limit != 100 || error.needed < MANY + 3 ||
      error.needed > MANY + 3 + fds)
    return 4;
  if (strstr(error.reason, "RLIMIT_NOFILE") == NULL)
    return 5;
  if (support_count_fds() != fds || fake_live_allocations() != memory)
    return 6;
  return uv_loop_close(&loop) == 0 ? 0 : 7;
}

static void set_of_400_events_at_100_fds_says_how_many_it_needs(void **state) {
  uint32_t strict = UVPERF_SET_STRICT;
  uint32_t partial = 0;

  (void)state;
  support_need_own_events(__func__);
  assert_int_equal(support_wait(support_fork(try_many, &partial)), 0);
  assert_int_equal(support_wait(support_fork(try_many, &strict)), 0);
}

/* -- no memory ------------------------------------------------------------ */

/* Any allocation that fails: ENOMEM, and nothing is left. */
static void set_init_out_of_memory_leaves_nothing(void **state) {
  size_t fds = support_count_fds();
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;
  unsigned i;
  int rc;

  plan_unknown(__func__, &plan);
  for (i = 1, rc = UV_ENOMEM; rc != 0; i++) {
    fake_kernel_reset();
    fake_fail(FAKE_CALLOC, i, 0);
    rc = uvperf_set_init(*state, &live.set, &plan.options, &error);
    assert_int_equal(rc, fake_failures() > 0 ? UV_ENOMEM : 0);
    if (rc == 0)
      continue;
    assert_int_equal(error.code, UV_ENOMEM);
    assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    assert_int_equal(support_count_fds(), fds);
    fake_assert_clean();
  }
  assert_in_range(i, 5, 100);
  uvperf_close(&live.set.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

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
      PARTIAL(set_strict_refuses_for_one_unknown_attr),
      PARTIAL(set_thread_that_ends_after_listing_is_reported),
      PARTIAL(set_of_cpus_one_offline_counts_the_rest),
      PARTIAL(set_of_cpus_one_really_offline_counts_the_rest),
      PARTIAL(set_of_400_events_at_100_fds_says_how_many_it_needs),
      PARTIAL(set_init_out_of_memory_leaves_nothing),
      PARTIAL(set_target_added_out_of_memory_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
