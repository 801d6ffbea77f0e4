/* SPDX-License-Identifier: MIT */
/* Live: events that this kernel refuses are opened with less, and run. */
#include "live_unprivileged.h"

#include "check_fallback.h"
#include "sys/sys.h"

#define BIT(position) (UINT64_C(1) << (position))

static uvperf_event_options_t allow(uint32_t fallbacks) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.fallbacks = fallbacks;
  return options;
}

/* Cycles of the user side. */
static void cycles_attr(struct perf_event_attr *attr) {
  uvperf_attr_hardware(attr, PERF_COUNT_HW_CPU_CYCLES);
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
}

static void need_no_cycles(const char *test) {
  struct perf_event_attr attr;
  int fd;

  support_need_own_events(test);
  cycles_attr(&attr);
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    return;
  uvperf__sys_close(fd);
  support_skip(test, "a machine without a hardware PMU");
}

static void expect_change(const live_collector_t *collector, size_t nth,
                          uint32_t which, uint32_t field, uint64_t from,
                          uint64_t to) {
  const uvperf_change_t *changes;
  size_t nr;

  changes = uvperf_changes(&collector->event.handle, 0, &nr);
  assert_true(nth < nr);
  fallback_is(&changes[nth], which, field, from, to);
}

static size_t count_changes(const live_collector_t *collector) {
  size_t nr;

  uvperf_changes(&collector->event.handle, 0, &nr);
  return nr;
}

/* Keeps the CPU busy until the clock has counted ns nanoseconds. */
static void burn(live_collector_t *collector, uint64_t ns) {
  uvperf_count_t count = {0};
  volatile int spin;

  while (count.value < ns) {
    for (spin = 0; spin < 100000; spin++)
      continue;
    assert_int_equal(uvperf_event_read(&collector->event, &count, NULL), 0);
  }
}

/* -- a clock -------------------------------------------------------------- */

/* Each sample has the time since the one before. */
static void is_of_the_clock(live_collector_t *collector,
                            const uvperf_record_t *record) {
  uint64_t *least = collector->hook_data;

  if (record->type == PERF_RECORD_SAMPLE && record->tid == live_tid() &&
      record->period == *least)
    return;
  fail_msg("a record of type %u, thread %u, period %llu", record->type,
           record->tid, (unsigned long long)record->period);
}

static void live_cycles_without_a_pmu_sample_by_the_task_clock(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t period = 1000000;

  need_no_cycles(__func__);
  cycles_attr(&attr);
  uvperf_attr_set_period(&attr, period);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
  attr.precise_ip = 2;
  live_begin(*state, &collector, &attr, &options, is_of_the_clock, &period);
  burn(&collector, 50 * period);
  assert_int_equal(live_run_until(*state, &collector.records, 5), 1);
  assert_int_equal(count_changes(&collector), 3);
  expect_change(&collector, 0, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_TYPE, 0, 1);
  expect_change(&collector, 1, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_CONFIG, 0, 1);
  expect_change(&collector, 2, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_PRECISE_IP, 2,
                0);
  live_close(&collector);
}

/* A clock as frequent as the requested cycles would keep a CPU busy all the
 * time. */
static void live_cycles_sampled_too_often_are_slowed_down(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t period;

  need_no_cycles(__func__);
  cycles_attr(&attr);
  uvperf_attr_set_period(&attr, 10);
  attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
  live_init(*state, &collector, &attr, &options);
  collector.hook = is_of_the_clock;
  collector.hook_data = &period;
  period = uvperf_handle_attr(&collector.event.handle, 0)->sample_period;
  assert_true(period >= 100000);
  live_start(&collector, NULL);
  burn(&collector, 100 * period);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_in_range(collector.records, 1, 200);
  expect_change(&collector, 2, UVPERF_FALLBACK_CLOCK, UVPERF_ATTR_SAMPLE_PERIOD,
                10, period);
  live_close(&collector);
}

static void live_cycles_of_a_cpu_count_by_the_cpu_clock(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_CLOCK);
  live_collector_t collector;
  struct perf_event_attr attr;

  need_no_cycles(__func__);
  support_need_cpu_wide(__func__);
  cycles_attr(&attr);
  options.pid = -1;
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(uvperf_handle_attr(&collector.event.handle, 0)->type,
                   PERF_TYPE_SOFTWARE);
  assert_int_equal(uvperf_handle_attr(&collector.event.handle, 0)->config,
                   PERF_COUNT_SW_CPU_CLOCK);
  live_start(&collector, NULL);
  burn(&collector, 1000000);
  live_close(&collector);
}

/* Options that only hardware has are not dropped either. */
static void live_cycles_with_branches_do_not_become_a_clock(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL);
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;

  need_no_cycles(__func__);
  cycles_attr(&attr);
  uvperf_attr_set_period(&attr, 1000000);
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                   UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
}

/* -- unknown to this kernel ----------------------------------------------- */

/* One step further than the newest kernel of this library. */
static void live_bits_that_never_were_are_cleared(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_KERNEL);
  live_collector_t collector;
  struct perf_event_attr attr;
  char *region;

  support_need_own_events(__func__);
  region = live_region();
  live_touch_attr(&attr, PERF_SAMPLE_ADDR | BIT(40));
  attr.read_format = PERF_FORMAT_ID | BIT(50);
  live_begin(*state, &collector, &attr, &options, NULL, NULL);
  assert_int_equal(count_changes(&collector), 2);
  expect_change(&collector, 0, UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_SAMPLE_TYPE,
                PERF_SAMPLE_ADDR | BIT(40), PERF_SAMPLE_ADDR);
  expect_change(&collector, 1, UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_READ_FORMAT,
                PERF_FORMAT_ID | BIT(50), PERF_FORMAT_ID);
  live_touch(region);
  live_end(&collector, LIVE_PAGES);
  live_region_free(region);
}

static void live_defer_callchain_is_cleared_if_it_is_unknown(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_KERNEL);
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_own_events(__func__);
  if (uvperf_kernel_knows(UVPERF_ATTR_DEFER_CALLCHAIN, 1) != 0)
    support_skip(__func__, "a kernel before Linux 6.19");
  live_touch_attr(&attr, PERF_SAMPLE_CALLCHAIN);
  uvperf_attr_set(&attr, UVPERF_ATTR_DEFER_CALLCHAIN, 1);
  uvperf_attr_set(&attr, UVPERF_ATTR_DEFER_OUTPUT, 1);
  assert_int_equal(
      uvperf_event_init(*state, &collector.event, &attr, NULL, &error),
      UV_EINVAL);
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(count_changes(&collector), 2);
  expect_change(&collector, 0, UVPERF_FALLBACK_KERNEL,
                UVPERF_ATTR_DEFER_CALLCHAIN, 1, 0);
  expect_change(&collector, 1, UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_DEFER_OUTPUT,
                1, 0);
  live_close(&collector);
}

static void live_field_after_the_kernels_struct_is_cut(void **state) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_KERNEL);
  live_collector_t collector;
  union {
    struct perf_event_attr attr;
    uint8_t bytes[144];
  } wide;

  support_need_own_events(__func__);
  if (uvperf_kernel_knows(UVPERF_ATTR_CONFIG4, 1) != 0)
    support_skip(__func__, "a kernel without config4");
  uvperf_attr_init_sized(&wide.attr, sizeof(wide), PERF_TYPE_SOFTWARE,
                         PERF_COUNT_SW_DUMMY);
  wide.attr.exclude_kernel = 1;
  wide.attr.exclude_hv = 1;
  uvperf_attr_set(&wide.attr, UVPERF_ATTR_CONFIG4, 5);
  live_init(*state, &collector, &wide.attr, &options);
  assert_true(uvperf_handle_attr(&collector.event.handle, 0)->size <
              sizeof(wide));
  assert_int_equal(count_changes(&collector), 1);
  expect_change(&collector, 0, UVPERF_FALLBACK_KERNEL, UVPERF_ATTR_CONFIG4, 5,
                0);
  live_close(&collector);
}

/* -- the user side -------------------------------------------------------- */

/* Found by root, before the child drops the privilege to read it; or 0. */
static uint64_t tracepoint;

/* Opens it with its fallback, and counts what is provoked. */
static void count_with(live_unprivileged_report_t *report,
                       const struct perf_event_attr *attr,
                       void (*provoke)(void), uint64_t value) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_USER);
  uvperf_count_t count = {0};
  uvperf_event_t event;
  uvperf_error_t error;
  uv_loop_t loop;
  size_t nr;

  options.flags = UVPERF_EVENT_NO_RING;
  uv_loop_init(&loop);
  if (uvperf_event_init(&loop, &event, attr, &options, &error) != 0) {
    live_unprivileged_wrong(report, "%d: %s", error.code, error.reason);
    return;
  }
  uvperf_changes(&event.handle, 0, &nr);
  if (nr != 2 || !uvperf_handle_attr(&event.handle, 0)->exclude_kernel)
    live_unprivileged_wrong(report, "%d changes", (int)nr);
  uvperf_enable(&event.handle, 0, NULL);
  provoke();
  uvperf_disable(&event.handle, 0, NULL);
  uvperf_event_read(&event, &count, NULL);
  if (count.value != value)
    live_unprivileged_wrong(report, "%d were counted", (int)count.value);
  uvperf_close(&event.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop) != 0)
    live_unprivileged_wrong(report, "the loop was not empty");
}

static void write_7(void) {
  live_write(7);
}

static void call_7(void) {
  live_syscall(7);
}

static void breakpoint(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_write_attr(&attr, 0);
  attr.exclude_kernel = 0;
  attr.exclude_hv = 0;
  count_with(report, &attr, write_7, 7);
}

static void system_call(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_syscall_attr(&attr, tracepoint, PERF_SAMPLE_RAW);
  attr.exclude_kernel = 0;
  attr.exclude_hv = 0;
  count_with(report, &attr, call_7, 7);
}

/* Only a lower perf_event_paranoid would help. */
static void whole_cpu(live_unprivileged_report_t *report) {
  uvperf_event_options_t options = allow(UVPERF_FALLBACK_ALL);
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;
  uv_loop_t loop;
  int rc;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  options.pid = -1;
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  uv_loop_init(&loop);
  rc = uvperf_event_init(&loop, &event, &attr, &options, &error);
  if (rc != UV_EACCES || error.cause != UVPERF_CAUSE_PERMISSION)
    live_unprivileged_wrong(report, "%d: %s", rc, error.reason);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}

static void live_unprivileged_event_falls_back_to_the_user_side(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"breakpoints", breakpoint},
      {"system calls", system_call},
      {"a whole CPU", whole_cpu},
  };

  support_need_breakpoints(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(live_cycles_without_a_pmu_sample_by_the_task_clock),
      support_loop_test(live_cycles_sampled_too_often_are_slowed_down),
      support_loop_test(live_cycles_of_a_cpu_count_by_the_cpu_clock),
      support_loop_test(live_cycles_with_branches_do_not_become_a_clock),
      support_loop_test(live_bits_that_never_were_are_cleared),
      support_loop_test(live_defer_callchain_is_cleared_if_it_is_unknown),
      support_loop_test(live_field_after_the_kernels_struct_is_cut),
      cmocka_unit_test(live_unprivileged_event_falls_back_to_the_user_side),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
