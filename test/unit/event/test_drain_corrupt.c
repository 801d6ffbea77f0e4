/* SPDX-License-Identifier: MIT */
/* Scripted: what an event handle does if the ring holds bytes that no kernel
 * writes, and if the end comes in ways that cannot be produced here. How a perf
 * fd wakes a loop needs live tests. */
#include "scripted_event.h"

#include <errno.h>
#include <poll.h>

/* -- corruption ----------------------------------------------------------- */

static void event_record_with_unsound_body_comes_raw_and_goes_on(void **state) {
  live_collector_t collector;
  uvperf_stats_t stats;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  scripted_event_append(fake, PERF_RECORD_COMM);
  scripted_event_append_header(fake, PERF_RECORD_MMAP2, 16,
                               16); /* no room for a body */
  scripted_event_append(fake, PERF_RECORD_EXIT);
  scripted_event_append_header(fake, 1000, 64, 64); /* from a newer kernel */
  scripted_event_append(fake, PERF_RECORD_SAMPLE);
  scripted_event_turns(*state, 4);
  assert_string_equal(delivered, "COMM EPROTO+raw EXIT unknown SAMPLE");
  memset(&stats, 0xff, sizeof(stats));
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.corrupt, 1);
  assert_int_equal(stats.records, 5);
  assert_memory_equal(stats.reserved, (uint64_t[8]){0}, sizeof(stats.reserved));
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  live_close(&collector);
}

/* The delivered, skipped and waiting bytes are everything ever written; the
 * kernel may overwrite all but the waiting bytes. */
static void expect_sum(live_collector_t *collector, const fake_event_t *fake,
                       uint64_t corrupt) {
  uvperf_stats_t stats;

  uvperf_stats(&collector->event.handle, &stats);
  assert_int_equal(stats.bytes + stats.skipped_bytes, fake->page->data_head);
  assert_int_equal(fake->page->data_tail, fake->page->data_head);
  assert_int_equal(stats.corrupt, corrupt);
}

static void unsound_header(uv_loop_t *loop, uint16_t size) {
  live_collector_t collector;
  uvperf_stats_t stats;
  fake_event_t *fake;

  fake = scripted_event_open(loop, &collector);
  scripted_event_append(fake, PERF_RECORD_COMM);
  scripted_event_append_header(fake, PERF_RECORD_COMM, size, 64);
  scripted_event_append_header(fake, PERF_RECORD_EXIT, 64, 64);
  scripted_event_turns(loop, 4);
  assert_string_equal(delivered, "COMM EPROTO");
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.skipped_bytes, 128);
  expect_sum(&collector, fake, 1);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  scripted_event_append(fake, PERF_RECORD_SAMPLE);
  fake_event_wake(fake);
  scripted_event_turns(loop, 2);
  fake_event_quiet(fake);
  assert_string_equal(delivered, "COMM EPROTO SAMPLE");
  scripted_event_append_header(fake, PERF_RECORD_COMM, size, 64);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  expect_sum(&collector, fake, 2);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL,
                                scripted_event_on_record, NULL),
                   0);
  scripted_event_append(fake, PERF_RECORD_COMM);
  scripted_event_turns(loop, 4);
  assert_string_equal(delivered, "COMM EPROTO SAMPLE EPROTO COMM");
  expect_sum(&collector, fake, 2);
  live_close(&collector);
}

static void event_unsound_header_is_skipped_and_reading_goes_on(void **state) {
  unsound_header(*state, 0);
  unsound_header(*state, 4);
  unsound_header(*state, 12);
  unsound_header(*state, 65528);
}

static void event_impossible_head_is_skipped_and_reading_goes_on(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  fake->page->data_head += support_ring_bytes(&collector.event.handle) + 8;
  scripted_event_turns(*state, 4);
  assert_string_equal(delivered, "EPROTO");
  expect_sum(&collector, fake, 1);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  scripted_event_append(fake, PERF_RECORD_COMM);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_string_equal(delivered, "EPROTO COMM");
  expect_sum(&collector, fake, 1);
  live_close(&collector);
}

/* Each check skips it once, and the turns of the loop stay free for others. */
static void event_ring_broken_in_each_turn_is_reported_each_time(void **state) {
  live_collector_t collector;
  uvperf_stats_t stats;
  fake_event_t *fake;
  uint64_t i;

  fake = scripted_event_open(*state, &collector);
  scripted_event_turns(*state, 3);
  for (i = 1; i <= 20; i++) {
    delivered[0] = '\0';
    scripted_event_append_header(fake, PERF_RECORD_SAMPLE, 0, 32);
    fake_event_wake(fake);
    scripted_event_turns(*state, 1);
    fake_event_quiet(fake);
    scripted_event_turns(*state, 3);
    assert_string_equal(delivered, "EPROTO");
    expect_sum(&collector, fake, i);
  }
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.skipped_bytes, 20 * 32);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  live_close(&collector);
}

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

static void event_split_head_ends_and_cannot_be_started_again(void **state) {
  live_collector_t collector;
  uvperf_ring_info_t ring;
  uvperf_error_t error;
  uvperf_stats_t stats;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  scripted_event_append(fake, PERF_RECORD_COMM);
  fake->page->data_head += 4;
  scripted_event_turns(*state, 4);
  assert_string_equal(delivered, "COMM EPROTO");
  assert_int_equal(uvperf_ring(&collector.event.handle, 0, &ring), 0);
  assert_int_equal(ring.status, UV_EPROTO);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.bytes, fake->page->data_head - 4);
  assert_int_equal(stats.corrupt, 1);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL,
                                scripted_event_on_record, &error),
                   UV_EPROTO);
  assert_int_equal(error.cause, UVPERF_CAUSE_UNKNOWN);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_string_equal(delivered, "COMM EPROTO");
  live_close(&collector);
}

static void stop_at_slice(uvperf_handle_t *handle, int status,
                          const uvperf_record_t *record) {
  scripted_event_on_slice(handle, status, record);
  if (status == 0 && record->type == UVPERF_RECORD_NONE)
    assert_int_equal(uvperf_stop(handle), 0);
}

/* The records before the end are a slice like any other. After a stop there,
 * the next start reports the end. */
static void event_end_comes_after_the_end_of_its_slice(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  uvperf_stats_t stats;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  scripted_event_append(fake, PERF_RECORD_COMM);
  fake->page->data_head += 4;
  options.flags = UVPERF_START_SLICE_END;
  options.slice_us = LIVE_SLICE_US;
  assert_int_equal(
      uvperf_start(&collector.event.handle, &options, stop_at_slice, NULL), 0);
  scripted_event_turns(*state, 4);
  assert_string_equal(delivered, "COMM slice");
  assert_int_equal(uvperf_start(&collector.event.handle, &options,
                                scripted_event_on_slice, NULL),
                   0);
  scripted_event_turns(*state, 4);
  assert_string_equal(delivered, "COMM slice EPROTO");
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.corrupt, 1);
  live_close(&collector);
}

static void event_impossible_head_in_flush_is_reported_once(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  fake->page->data_head += support_ring_bytes(&collector.event.handle) + 8;
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_string_equal(delivered, "EPROTO");
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

#define SCRIPTED(test)                                                         \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRIPTED(event_record_with_unsound_body_comes_raw_and_goes_on),
      SCRIPTED(event_unsound_header_is_skipped_and_reading_goes_on),
      SCRIPTED(event_impossible_head_is_skipped_and_reading_goes_on),
      SCRIPTED(event_ring_broken_in_each_turn_is_reported_each_time),
      SCRIPTED(event_unsound_with_a_gone_target_reports_both),
      SCRIPTED(event_split_head_ends_and_cannot_be_started_again),
      SCRIPTED(event_end_comes_after_the_end_of_its_slice),
      SCRIPTED(event_impossible_head_in_flush_is_reported_once),
      SCRIPTED(event_record_between_drain_and_probe_comes_before_eof),
      SCRIPTED(event_empty_wakeup_is_silent),
      SCRIPTED(event_pinned_in_error_state_ends_with_ebadf),
      SCRIPTED(event_pinned_in_error_state_ends_without_pollerr),
      SCRIPTED(event_pinned_in_error_state_later_ends_by_itself),
      SCRIPTED(event_pinned_in_error_state_is_started_after_a_flush),
      SCRIPTED(event_probe_fails_ends_with_its_error),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
