/* SPDX-License-Identifier: MIT */
/* Scripted: an event that a kernel refuses is opened with less, if the options
 * allow it, and reports the changes. The kernels are scripted. */
#include "fake_pool.h"
#include "check_fallback.h"
#include "live.h"
#include "fake_version.h"

#include <errno.h>

#define BIT(position) (UINT64_C(1) << (position))

static uvperf_event_options_t allow(uint32_t fallbacks) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.fallbacks = fallbacks;
  return options;
}

static void expect_change(const live_collector_t *collector, size_t nth,
                          uint32_t which, uint32_t field, uint64_t from,
                          uint64_t to) {
  const uvperf_change_t *changes;
  size_t nr;

  changes = uvperf_changes(&collector->event.handle, 0, &nr);
  assert_non_null(changes);
  assert_true(nth < nr);
  fallback_is(&changes[nth], which, field, from, to);
}

static size_t count_changes(const live_collector_t *collector) {
  const uvperf_change_t *changes;
  size_t nr = 99;

  changes = uvperf_changes(&collector->event.handle, 0, &nr);
  if (nr == 0)
    assert_null(changes);
  return nr;
}

/* Init fails like that, and leaves nothing. */
static void assert_refused(uv_loop_t *loop, const struct perf_event_attr *attr,
                           const uvperf_event_options_t *options,
                           uvperf_error_t *error, int code) {
  uvperf_event_t event;

  memset(error, 0, sizeof(*error));
  assert_int_equal(uvperf_event_init(loop, &event, attr, options, error), code);
  assert_int_equal(error->code, code);
  uv_run(loop, UV_RUN_NOWAIT);
  fake_assert_clean();
}

/* The error is not that the kernel side is forbidden, which the fallback would
 * have solved. */
static void event_without_fds_in_a_fallback_says_so(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL);
  fake_version_t *kernel = fake_version();
  struct perf_event_attr attr;
  uvperf_error_t error;

  kernel->allows_user_only = 1;
  fake_fail(FAKE_OPEN, 2, -EMFILE);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  assert_refused(*state, &attr, &options, &error, UV_EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
}

/* -- opening -------------------------------------------------------------- */

static void event_that_opens_as_asked_has_no_changes(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL);
  live_collector_t collector;
  struct perf_event_attr attr;

  fake_version();
  fake_event_add(7);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.precise_ip = 3;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(fake_count(FAKE_OPEN), 1);
  assert_int_equal(count_changes(&collector), 0);
  live_close(&collector);
  fake_assert_clean();
}

static void event_without_fallbacks_is_tried_once(void **state) {
  fake_version_t *kernel = fake_version();
  struct perf_event_attr attr;
  uvperf_error_t error;

  kernel->cycles = -ENOENT;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  assert_refused(*state, &attr, NULL, &error, UV_ENOENT);
  assert_int_equal(fake_count(FAKE_OPEN), 1);
  assert_null(strstr(error.reason, "fallbacks"));
}

static void event_of_cycles_without_a_pmu_is_a_task_clock(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  fake_version_t *kernel = fake_version();
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  struct perf_event_attr attr;

  kernel->cycles = -ENOENT;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_period(&attr, 50);
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(fake->attr.type, PERF_TYPE_SOFTWARE);
  assert_int_equal(fake->attr.config, PERF_COUNT_SW_TASK_CLOCK);
  assert_true(fake->attr.sample_period >= 100000);
  assert_int_equal(fake->attr.disabled, 1);
  assert_memory_equal(uvperf_handle_attr(&collector.event.handle, 0),
                      &fake->attr, sizeof(attr));
  assert_int_equal(count_changes(&collector), 3);
  expect_change(&collector, 0, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_TYPE, 0, 1);
  expect_change(&collector, 1, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_CONFIG, 0,
                PERF_COUNT_SW_TASK_CLOCK);
  expect_change(&collector, 2, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_SAMPLE_PERIOD,
                50, fake->attr.sample_period);
  /* The caller's own attr is as it was. */
  assert_int_equal(attr.type, PERF_TYPE_HARDWARE);
  live_close(&collector);
  fake_assert_clean();
}

static int opened;

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  (void)handle;
  (void)error;
  opened = status;
}

static void event_of_cycles_on_the_pool_has_the_changes(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  live_collector_t collector;
  struct perf_event_attr attr;
  int fails;

  options.open_cb = on_open;
  for (fails = 0; fails < 2; fails++) {
    fake_version()->cycles = -ENOENT;
    fake_event_add(7);
    fake_pool_hold();
    uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
    uvperf_attr_set_period(&attr, 1000000); /* it has a ring */
    opened = 1;
    live_init(*state, &collector, &attr, &options);
    assert_int_equal(count_changes(&collector), 0);
    if (fails)
      fake_fail_from(FAKE_MMAP, 1, -EPERM);
    fake_pool_finish();
    assert_int_equal(opened, fails ? UV_EPERM : 0);
    assert_int_equal(count_changes(&collector), fails ? 0 : 2);
    if (!fails)
      expect_change(&collector, 0, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_TYPE, 0,
                    1);
    live_close(&collector);
    fake_assert_clean();
  }
}

static void event_of_cycles_of_a_cpu_or_cgroup_is_a_cpu_clock(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  fake_version_t *kernel = fake_version();
  fake_event_t *of_cpu = fake_event_add(7);
  fake_event_t *of_cgroup = fake_event_add(8);
  fake_event_t *of_task = fake_event_add(9);
  live_collector_t collector;
  struct perf_event_attr attr;

  kernel->cycles = -ENOENT;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  options.pid = -1;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(of_cpu->attr.config, PERF_COUNT_SW_CPU_CLOCK);
  live_close(&collector);
  options.pid = 0;
  options.cgroup = 33;
  options.flags |= UVPERF_EVENT_CGROUP;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(of_cgroup->attr.config, PERF_COUNT_SW_CPU_CLOCK);
  assert_int_equal(of_cgroup->pid, 33);
  assert_int_equal(of_cgroup->flags,
                   PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
  live_close(&collector);
  options.flags &= ~UVPERF_EVENT_CGROUP;
  options.cgroup = 0;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(of_task->attr.config, PERF_COUNT_SW_TASK_CLOCK);
  live_close(&collector);
  fake_assert_clean();
}

static void event_falls_back_to_the_highest_precise_ip(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_PRECISE);
  fake_version_t *kernel = fake_version();
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  struct perf_event_attr attr;

  kernel->precise_ip = 1;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  attr.precise_ip = 3;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(fake->attr.precise_ip, 1);
  assert_int_equal(fake_count(FAKE_OPEN), 3);
  assert_int_equal(count_changes(&collector), 1);
  expect_change(&collector, 0, UVPERF_FALLBACK_PRECISE, UVPERF_ATTR_PRECISE_IP,
                3, 1);
  live_close(&collector);
  fake_assert_clean();
}

/* A kernel of 2017, that lets its user see little, on a machine without a PMU.
 * What one change brings to light the next one takes away. */
static void event_falls_back_through_all_in_their_order(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL);
  fake_version_t *kernel = fake_version();
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  struct perf_event_attr attr;

  kernel->attr_size = 112;
  kernel->known[UVPERF__WORD_FLAGS] = BIT(29) - 1;
  kernel->known[UVPERF__WORD_SAMPLE_TYPE] = BIT(20) - 1;
  kernel->allows_user_only = 1;
  kernel->cycles = -ENOENT;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_frequency(&attr, 100);
  attr.sample_type = PERF_SAMPLE_IP | UVPERF_SAMPLE_CODE_PAGE_SIZE;
  attr.precise_ip = 2;
  uvperf_attr_set(&attr, UVPERF_ATTR_KSYMBOL, 1);
  uvperf_attr_set(&attr, UVPERF_ATTR_BUILD_ID, 1);
  uvperf_attr_set(&attr, UVPERF_ATTR_AUX_SAMPLE_SIZE, 4096);
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(count_changes(&collector), 9);
  expect_change(&collector, 0, UVPERF_FALLBACK_KERNEL,
                UVPERF_ATTR_AUX_SAMPLE_SIZE, 4096, 0);
  expect_change(&collector, 1, UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_KSYMBOL, 1,
                0);
  expect_change(&collector, 2, UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_BUILD_ID, 1,
                0);
  expect_change(&collector, 3, UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_SAMPLE_TYPE,
                PERF_SAMPLE_IP | UVPERF_SAMPLE_CODE_PAGE_SIZE, PERF_SAMPLE_IP);
  expect_change(&collector, 4, UVPERF_FALLBACK_USER, UVPERF_ATTR_EXCLUDE_KERNEL,
                0, 1);
  expect_change(&collector, 5, UVPERF_FALLBACK_USER, UVPERF_ATTR_EXCLUDE_HV, 0,
                1);
  expect_change(&collector, 6, UVPERF_FALLBACK_PRECISE, UVPERF_ATTR_PRECISE_IP,
                2, 0);
  expect_change(&collector, 7, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_TYPE, 0, 1);
  expect_change(&collector, 8, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_CONFIG, 0, 1);
  assert_int_equal(fake->attr.size, 112);
  assert_int_equal(uvperf_handle_attr(&collector.event.handle, 0)->size, 112);
  assert_int_equal(fake->attr.sample_freq, 100);
  live_close(&collector);
  fake_assert_clean();
}

static void event_that_falls_back_joins_its_group(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_PRECISE);
  fake_version_t *kernel = fake_version();
  fake_event_t *leader_fake = fake_event_add(7);
  fake_event_t *fake = fake_event_add(8);
  live_collector_t leader, sibling;
  struct perf_event_attr attr;

  kernel->precise_ip = 0;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  live_init(*state, &leader, &attr, &options);
  attr.precise_ip = 2;
  options.leader = &leader.event;
  options.cpu = 1;
  options.flags |= UVPERF_EVENT_CPU;
  live_init(*state, &sibling, &attr, &options);
  assert_int_equal(fake->group_fd, leader_fake->fd);
  assert_int_equal(fake->cpu, 1);
  assert_int_equal(count_changes(&leader), 0);
  assert_int_equal(count_changes(&sibling), 1);
  live_close(&sibling);
  live_close(&leader);
  fake_assert_clean();
}

/* -- what is not opened --------------------------------------------------- */

/* A clock has no branch stack: to say yes would be to drop it. */
static void
event_that_no_fallback_helps_reports_the_first_failure(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL);
  fake_version_t *kernel = fake_version();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;

  kernel->cycles = -ENOENT;
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  assert_refused(*state, &attr, &options, &error, UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_non_null(strstr(error.reason, "'cpu-cycles'"));
  assert_non_null(strstr(error.reason, "fallbacks"));
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, NULL),
                   UV_ENOENT);
  fake_assert_clean();
}

/* E2BIG for the attr's size, and then for another reason. */
static void event_too_big_for_two_reasons_is_refused(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL);
  fake_version_t *kernel = fake_version();
  uvperf_error_t error;
  union {
    struct perf_event_attr attr;
    uint8_t bytes[128];
  } wide;

  kernel->attr_size = 112;
  kernel->cycles = -E2BIG;
  uvperf_attr_init_sized(&wide.attr, sizeof(wide.bytes), PERF_TYPE_HARDWARE,
                         PERF_COUNT_HW_CPU_CYCLES);
  assert_int_equal(uvperf_attr_set(&wide.attr, UVPERF_ATTR_SIG_DATA, 1), 0);
  assert_refused(*state, &wide.attr, &options, &error, UV_E2BIG);
  assert_int_equal(error.cause, UVPERF_CAUSE_OLD_KERNEL);
  assert_int_equal(fake_count(FAKE_OPEN), 2);
}

static void event_that_falls_back_leaves_the_error_alone(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  fake_version_t *kernel = fake_version();
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error, before;

  kernel->cycles = -ENOENT;
  fake_event_add(7);
  memset(&error, 0x55, sizeof(error));
  before = error;
  memset(&collector, 0, sizeof(collector));
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  assert_int_equal(
      uvperf_event_init(*state, &collector.event, &attr, &options, &error), 0);
  assert_memory_equal(&error, &before, sizeof(error));
  collector.event.handle.data = &collector;
  live_close(&collector);
  fake_assert_clean();
}

static void event_that_falls_back_without_memory_is_enomem(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  struct perf_event_attr attr;
  uvperf_error_t error;
  unsigned failures = 1;
  unsigned i;

  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  for (i = 1; i < 100 && failures != 0; i++) {
    fake_version_t *kernel = fake_version();
    uvperf_event_t event;
    int rc;

    fake_kernel_reset();
    kernel = fake_version();
    kernel->cycles = -ENOENT;
    fake_event_add(7);
    fake_fail(FAKE_CALLOC, i, 0);
    rc = uvperf_event_init(*state, &event, &attr, &options, &error);
    failures = fake_failures();
    assert_int_equal(rc, failures != 0 ? UV_ENOMEM : 0);
    if (rc == 0)
      uvperf_close(&event.handle, NULL);
    else
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    uv_run(*state, UV_RUN_DEFAULT);
    fake_assert_clean();
  }
  assert_in_range(i, 4, 99);
}

/* -- the options ---------------------------------------------------------- */

/* The options of a program compiled before there were fallbacks; the bytes
 * after them are not its own. */
static void event_with_options_of_the_first_version_opens(void **state) {
  const size_t size = offsetof(uvperf_event_options_t, fallbacks);
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_options_t *old = malloc(size);
  fake_version_t *kernel = fake_version();
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  assert_non_null(old);
  options.size = size;
  options.cpu = 1;
  options.flags |= UVPERF_EVENT_CPU;
  memcpy(old, &options, size);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  live_init(*state, &collector, &attr, old);
  assert_int_equal(fake->cpu, 1);
  live_close(&collector);
  kernel->cycles = -ENOENT;
  assert_refused(*state, &attr, old, &error, UV_ENOENT);
  assert_int_equal(fake_count(FAKE_OPEN), 2);
  free(old);
}

static void event_with_unknown_fallbacks_is_refused(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL + 1);
  struct perf_event_attr attr;
  uvperf_error_t error;

  fake_version();
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  assert_refused(*state, &attr, &options, &error, UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_version_loop_test(event_without_fds_in_a_fallback_says_so),
      fake_version_loop_test(event_that_opens_as_asked_has_no_changes),
      fake_version_loop_test(event_without_fallbacks_is_tried_once),
      fake_version_loop_test(event_of_cycles_without_a_pmu_is_a_task_clock),
      fake_version_loop_test(event_of_cycles_on_the_pool_has_the_changes),
      fake_version_loop_test(event_of_cycles_of_a_cpu_or_cgroup_is_a_cpu_clock),
      fake_version_loop_test(event_falls_back_to_the_highest_precise_ip),
      fake_version_loop_test(event_falls_back_through_all_in_their_order),
      fake_version_loop_test(event_that_falls_back_joins_its_group),
      fake_version_loop_test(
          event_that_no_fallback_helps_reports_the_first_failure),
      fake_version_loop_test(event_too_big_for_two_reasons_is_refused),
      fake_version_loop_test(event_that_falls_back_leaves_the_error_alone),
      fake_version_loop_test(event_that_falls_back_without_memory_is_enomem),
      fake_version_loop_test(event_with_options_of_the_first_version_opens),
      fake_version_loop_test(event_with_unknown_fallbacks_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
