/* SPDX-License-Identifier: MIT */
/* Live: a breakpoint that is moved while it runs, and while it is stopped. */
#include "live_control.h"

#include <linux/hw_breakpoint.h>

static volatile uint64_t one_word;
static volatile uint64_t other_word;

static void write_words(uint64_t nr_one, uint64_t nr_other) {
  while (nr_one-- > 0)
    one_word += 1;
  while (nr_other-- > 0)
    other_word += 1;
}

static void one_word_attr(struct perf_event_attr *attr) {
  live_write_attr(attr, PERF_SAMPLE_ADDR);
  attr->bp_addr = (uintptr_t)&one_word;
}

typedef struct hits_s {
  uint64_t one;
  uint64_t other;
} hits_t;

static void on_hit(live_collector_t *collector, const uvperf_record_t *record) {
  hits_t *hits = collector->hook_data;

  if (record->type == PERF_RECORD_SAMPLE &&
      record->addr == (uintptr_t)&one_word)
    hits->one += 1;
  if (record->type == PERF_RECORD_SAMPLE &&
      record->addr == (uintptr_t)&other_word)
    hits->other += 1;
}

static void expect_hits(live_collector_t *collector, uint64_t one,
                        uint64_t other) {
  const hits_t *hits = collector->hook_data;

  live_control_expect_records(collector, one + other);
  assert_int_equal(hits->one, one);
  assert_int_equal(hits->other, other);
}

/* Opens a breakpoint on one_word that runs and records its hits. */
static void open_running(uv_loop_t *loop, live_collector_t *collector,
                         hits_t *hits) {
  struct perf_event_attr attr;

  one_word_attr(&attr);
  live_begin(loop, collector, &attr, NULL, on_hit, hits);
}

static int move_to(live_collector_t *collector, const volatile uint64_t *word) {
  struct perf_event_attr attr =
      *uvperf_handle_attr(&collector->event.handle, 0);

  attr.bp_addr = (uintptr_t)word;
  return uvperf_event_modify(&collector->event, &attr, NULL);
}

/* One that the kernel refuses after it has disabled the event. */
static void refuse(live_collector_t *collector) {
  struct perf_event_attr attr =
      *uvperf_handle_attr(&collector->event.handle, 0);
  uvperf_error_t error;

  attr.bp_type = HW_BREAKPOINT_EMPTY;
  live_control_expect_refused(
      uvperf_event_modify(&collector->event, &attr, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "bp_type");
}

static void event_modify_moves_a_running_breakpoint(void **state) {
  live_collector_t collector;
  hits_t hits = {0, 0};

  support_need_breakpoints(__func__);
  open_running(*state, &collector, &hits);
  write_words(3, 4);
  expect_hits(&collector, 3, 0);
  assert_int_equal(move_to(&collector, &other_word), 0);
  assert_int_equal(uvperf_handle_attr(&collector.event.handle, 0)->bp_addr,
                   (uintptr_t)&other_word);
  write_words(3, 4);
  expect_hits(&collector, 3, 4);
  assert_int_equal(move_to(&collector, &one_word), 0);
  write_words(2, 5);
  expect_hits(&collector, 5, 4);
  live_close(&collector);
}

static void event_modify_that_fails_leaves_it_running(void **state) {
  live_collector_t collector;
  hits_t hits = {0, 0};

  support_need_breakpoints(__func__);
  open_running(*state, &collector, &hits);
  refuse(&collector);
  write_words(3, 4);
  expect_hits(&collector, 3, 0);
  assert_int_equal(uvperf_handle_attr(&collector.event.handle, 0)->bp_addr,
                   (uintptr_t)&one_word);
  assert_int_equal(move_to(&collector, &other_word), 0);
  refuse(&collector);
  write_words(3, 4);
  expect_hits(&collector, 3, 4);
  live_close(&collector);
}

static void event_modify_leaves_a_stopped_one_stopped(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  hits_t hits = {0, 0};

  support_need_breakpoints(__func__);
  open_running(*state, &collector, &hits);
  /* Also after it was modified while it ran. */
  assert_int_equal(move_to(&collector, &other_word), 0);
  assert_int_equal(uvperf_disable(&event->handle, 0, NULL), 0);
  assert_int_equal(move_to(&collector, &one_word), 0);
  write_words(3, 4);
  refuse(&collector);
  write_words(3, 4);
  expect_hits(&collector, 0, 0);
  assert_int_equal(uvperf_enable(&event->handle, 0, NULL), 0);
  write_words(3, 4);
  expect_hits(&collector, 3, 0);
  live_close(&collector);
}

/* The request is compared with what the kernel has. */
static void event_modify_after_set_period_succeeds(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_breakpoints(__func__);
  one_word_attr(&attr);
  live_control_begin(*state, &collector, &attr);
  assert_int_equal(uvperf_change_period(&collector.event.handle, 0, 2, NULL),
                   0);
  assert_int_equal(move_to(&collector, &other_word), 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  write_words(10, 6);
  live_control_expect_records(&collector, 3);
  /* The attr that it was opened with has another period. */
  live_control_expect_refused(
      uvperf_event_modify(&collector.event, &attr, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "attr.sample_period");
  write_words(10, 6);
  live_control_expect_records(&collector, 6);
  live_close(&collector);
}

static void event_modify_takes_length_type_and_the_first_attr(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  volatile uint32_t *half = (volatile uint32_t *)&one_word;

  support_need_breakpoints(__func__);
  one_word_attr(&attr);
  attr.read_format = PERF_FORMAT_GROUP; /* init adds PERF_FORMAT_ID */
  live_control_begin(*state, &collector, &attr);
  attr.bp_len = 4;
  attr.bp_type = HW_BREAKPOINT_RW;
  assert_int_equal(uvperf_event_modify(&collector.event, &attr, NULL), 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  half[1] = 1;
  live_control_expect_records(&collector, 0);
  half[0] = 1;
  live_control_expect_records(&collector, 1);
  (void)half[0];
  live_control_expect_records(&collector, 2);
  live_close(&collector);
}

static void event_modify_of_what_may_not_differ_is_einval(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_breakpoints(__func__);
  one_word_attr(&attr);
  live_control_begin(*state, &collector, &attr);
  attr.sample_type |= PERF_SAMPLE_IP;
  live_control_expect_refused(
      uvperf_event_modify(&collector.event, &attr, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "attr.sample_type");
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  live_control_expect_refused(
      uvperf_event_modify(&collector.event, &attr, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "attr.type");
  live_close(&collector);
}

/* AMD's later processors have breakpoints of 16 bytes. */
static void event_modify_to_invalid_values_names_them(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  int rc;

  support_need_breakpoints(__func__);
  one_word_attr(&attr);
  live_control_begin(*state, &collector, &attr);
  attr.bp_len = 0;
  live_control_expect_refused(
      uvperf_event_modify(&collector.event, &attr, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "bp_len");
  attr.bp_len = 16;
  attr.bp_addr &= ~UINT64_C(15);
  rc = uvperf_event_modify(&collector.event, &attr, &error);
  if (rc == UV_ENOTSUP)
    live_control_expect_refused(rc, &error, UV_ENOTSUP,
                                UVPERF_CAUSE_NOT_SUPPORTED, "bp_len");
  live_close(&collector);
}

static void event_modify_of_a_software_event_is_enotsup(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_own_events(__func__);
  live_touch_attr(&attr, PERF_SAMPLE_IP);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_event_modify(&collector.event, &attr, &error), &error, UV_ENOTSUP,
      UVPERF_CAUSE_NOT_SUPPORTED, "");
  live_close(&collector);
}

static void event_modify_with_unknown_fields_is_e2big(void **state) {
  union {
    struct perf_event_attr attr;
    uint8_t bytes[512];
  } future;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_breakpoints(__func__);
  one_word_attr(&attr);
  live_init(*state, &collector, &attr, NULL);
  memset(&future, 0, sizeof(future));
  future.attr = attr;
  future.attr.size = sizeof(future);
  assert_int_equal(uvperf_event_modify(&collector.event, &future.attr, NULL),
                   0);
  future.bytes[sizeof(future) - 1] = 1;
  live_control_expect_refused(
      uvperf_event_modify(&collector.event, &future.attr, &error), &error,
      UV_E2BIG, UVPERF_CAUSE_OLD_KERNEL, "");
  assert_in_range(error.limit, PERF_ATTR_SIZE_VER5, 511);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_modify_moves_a_running_breakpoint),
      support_loop_test(event_modify_that_fails_leaves_it_running),
      support_loop_test(event_modify_leaves_a_stopped_one_stopped),
      support_loop_test(event_modify_after_set_period_succeeds),
      support_loop_test(event_modify_takes_length_type_and_the_first_attr),
      support_loop_test(event_modify_of_what_may_not_differ_is_einval),
      support_loop_test(event_modify_to_invalid_values_names_them),
      support_loop_test(event_modify_of_a_software_event_is_enotsup),
      support_loop_test(event_modify_with_unknown_fields_is_e2big),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
