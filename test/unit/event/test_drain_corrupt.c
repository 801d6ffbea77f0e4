/* SPDX-License-Identifier: MIT */
/* Scripted: what an event handle does if the ring holds bytes that no kernel
 * writes, and if the end comes in ways that cannot be produced here. How a perf
 * fd wakes a loop needs live tests. */
#include "scripted_event.h"

#include <errno.h>
#include <poll.h>

/* -- corruption ----------------------------------------------------------- */

static void event_unsound_with_a_gone_target_reports_both(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  scripted_event_turns(*state, 3);
  fake->revents = POLLHUP;
  fake_event_wake(fake);
  scripted_event_turns(*state, 1);
  scripted_event_append_header(fake, PERF_RECORD_COMM, 0, 64);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "EPROTO EOF");
  live_close(&collector);
}

/* -- the end -------------------------------------------------------------- */

static void append_late(fake_event_t *fake) {
  scripted_event_append(fake, PERF_RECORD_EXIT);
  fake->on_poll = NULL;
}

/* P8: poll(2) consumes the wakeup of records written since the drain. */
static void
event_record_between_drain_and_probe_comes_before_eof(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  scripted_event_turns(*state, 3);
  fake->revents = POLLHUP;
  fake->on_poll = append_late;
  fake_event_wake(fake);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "EXIT EOF");
  assert_int_equal(fake_count(FAKE_POLL), 1);
  live_close(&collector);
}

/* P8, P18: one empty wakeup is normal and costs no poll(2). */
static void event_empty_wakeup_is_silent(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  scripted_event_turns(*state, 3);
  fake_event_wake(fake);
  scripted_event_turns(*state, 1);
  assert_int_equal(fake_count(FAKE_POLL), 0);
  /* The second one asks and finds no error. */
  scripted_event_turns(*state, 1);
  assert_int_equal(fake_count(FAKE_POLL), 1);
  scripted_event_turns(*state, 4);
  assert_string_equal(delivered, "");
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  scripted_event_append(fake, PERF_RECORD_COMM);
  fake_event_wake(fake);
  scripted_event_turns(*state, 2);
  assert_string_equal(delivered, "COMM");
  fake_event_quiet(fake);
  live_close(&collector);
}

/* P9: perf_poll() says POLLERR for a pinned event in error state. */
static void event_pinned_in_error_state_ends_with_ebadf(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  scripted_event_turns(*state, 3);
  fake->revents = POLLERR;
  fake_event_wake(fake);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "EBADF");
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  live_close(&collector);
}

/* A pinned event whose records all wake, and that is not in error state. */
static fake_event_t *open_pinned(uv_loop_t *loop, live_collector_t *collector) {
  static const uint64_t value;
  struct perf_event_attr attr;
  fake_event_t *fake;

  delivered[0] = '\0';
  deliveries = 0;
  scripted_event_attr(&attr);
  attr.pinned = 1;
  fake = fake_event_add(1);
  fake->read_data = &value;
  fake->read_size = sizeof(value);
  live_init(loop, collector, &attr, NULL);
  return fake;
}

static void start_pinned(live_collector_t *collector) {
  assert_int_equal(uvperf_start(&collector->event.handle, NULL,
                                scripted_event_on_record, NULL),
                   0);
}

/* P9: before Linux 6.15 only read(2) reports it. */
static void event_pinned_in_error_state_ends_without_pollerr(void **state) {
  live_collector_t collector;
  fake_event_t *fake = open_pinned(*state, &collector);

  start_pinned(&collector);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "");
  scripted_event_append(fake, PERF_RECORD_COMM);
  fake->read_size = 0;
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_string_equal(delivered, "COMM EBADF");
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  live_close(&collector);
}

/* Its task was asleep when delivery began, say. */
static void event_pinned_in_error_state_later_ends_by_itself(void **state) {
  live_collector_t collector;
  fake_event_t *fake = open_pinned(*state, &collector);

  start_pinned(&collector);
  scripted_event_turns(*state, 6);
  fake->read_size = 0;
  assert_int_equal(live_run_until(*state, &deliveries, 1), 1);
  assert_string_equal(delivered, "EBADF");
  live_close(&collector);
}

/* PERF_EVENT_IOC_ENABLE ends the error state: start tries again. */
static void event_pinned_in_error_state_is_started_after_a_flush(void **state) {
  live_collector_t collector;
  fake_event_t *fake = open_pinned(*state, &collector);

  start_pinned(&collector);
  scripted_event_turns(*state, 6);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  fake->read_size = 0;
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_string_equal(delivered, "");
  fake->read_size = sizeof(uint64_t);
  start_pinned(&collector);
  scripted_event_turns(*state, 6);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  live_close(&collector);
}

static void event_probe_fails_ends_with_its_error(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  scripted_event_turns(*state, 3);
  fake_fail(FAKE_POLL, 1, -ENOMEM);
  fake_event_wake(fake);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "ENOMEM");
  fake_event_quiet(fake);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_unsound_with_a_gone_target_reports_both),
      fake_kernel_test(event_record_between_drain_and_probe_comes_before_eof),
      fake_kernel_test(event_empty_wakeup_is_silent),
      fake_kernel_test(event_pinned_in_error_state_ends_with_ebadf),
      fake_kernel_test(event_pinned_in_error_state_ends_without_pollerr),
      fake_kernel_test(event_pinned_in_error_state_later_ends_by_itself),
      fake_kernel_test(event_pinned_in_error_state_is_started_after_a_flush),
      fake_kernel_test(event_probe_fails_ends_with_its_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
