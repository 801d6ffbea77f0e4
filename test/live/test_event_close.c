/* SPDX-License-Identifier: MIT */
/* Live: closing, by the user at every moment. For closes by other code with
 * uv_walk see test_walk_close.c. */
#include "live.h"

#include <signal.h>
#include <unistd.h>

static size_t count_rings(void) {
  size_t bytes;

  return support_count_rings(&bytes);
}

static void run_to_end(uv_loop_t *loop) {
  int turns;

  for (turns = 0; uv_run(loop, UV_RUN_NOWAIT) != 0 && turns < 100; turns++)
    continue;
  assert_in_range(turns, 0, 99);
}

static void on_closed(uvperf_handle_t *handle) {
  live_collector_t *collector = handle->data;

  collector->closed += 1;
}

/* Closes at the record whose number hook_data holds. */
static void close_at(live_collector_t *collector,
                     const uvperf_record_t *record) {
  (void)record;
  if (collector->comms == *(uint64_t *)collector->hook_data)
    uvperf_close(&collector->event.handle, on_closed);
}

static void close_in_callback(uv_loop_t *loop, uint64_t at, uint32_t slice) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  uint64_t next = 0;

  live_init_comm(loop, &collector);
  collector.hook = close_at;
  collector.hook_data = &at;
  options.flush_ms = -1;
  options.slice_records = slice;
  options.slice_us = LIVE_SLICE_US;
  live_start(&collector, &options);
  live_comm(&next, 20);
  run_to_end(loop);
  assert_int_equal(collector.comms, at + 1);
  assert_int_equal(collector.ends, 0);
  assert_int_equal(collector.closed, 1);
}

static void event_close_at_first_record_of_slice_is_clean(void **state) {
  support_need_own_events(__func__);
  close_in_callback(*state, 0, 10);
  close_in_callback(*state, 10, 10);
}

static void event_close_in_middle_of_slice_is_clean(void **state) {
  support_need_own_events(__func__);
  close_in_callback(*state, 5, 10);
  close_in_callback(*state, 15, 10);
}

static void event_close_at_last_record_of_slice_is_clean(void **state) {
  support_need_own_events(__func__);
  close_in_callback(*state, 9, 10);
  close_in_callback(*state, 19, 10);
}

static void close_record(uvperf_handle_t *handle, int status,
                         const uvperf_record_t *record) {
  live_on_record(handle, status, record);
  if (record->type == UVPERF_RECORD_NONE)
    uvperf_close(handle, on_closed);
}

static void event_close_at_end_of_slice_is_clean(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  options.slice_records = 3;
  options.slice_us = LIVE_SLICE_US;
  options.flags = UVPERF_START_SLICE_END;
  assert_int_equal(
      uvperf_start(&collector.event.handle, &options, close_record, NULL), 0);
  live_comm(&next, 10);
  run_to_end(*state);
  assert_int_equal(collector.comms, 3);
  assert_int_equal(collector.closed, 1);
}

static void event_close_at_eof_is_clean(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 5);
  live_comm_attr(&attr);
  options.pid = child.pid;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, close_record, NULL), 0);
  live_child_go(&child);
  live_child_wait(&child);
  run_to_end(*state);
  assert_int_equal(collector.comms, 5);
  assert_int_equal(collector.ends, 1);
  assert_int_equal(collector.closed, 1);
}

static void event_close_in_flush_is_clean(void **state) {
  live_collector_t collector;
  uint64_t next = 0;
  uint64_t at = 2;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  collector.hook = close_at;
  collector.hook_data = &at;
  live_start(&collector, NULL);
  live_comm(&next, 10);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 3);
  run_to_end(*state);
  assert_int_equal(collector.closed, 1);
}

/* The hook of an event: closes the other event, and runs the loop. */
static void close_other(live_collector_t *collector,
                        const uvperf_record_t *record) {
  live_collector_t *other = collector->hook_data;

  (void)record;
  if (other->closed == 0)
    uvperf_close(&other->event.handle, on_closed);
  while (other->closed == 0)
    uv_run(collector->event.handle.loop, UV_RUN_NOWAIT);
}

static void flush_other(live_collector_t *collector,
                        const uvperf_record_t *record) {
  live_collector_t *other = collector->hook_data;

  (void)record;
  assert_int_equal(uvperf_flush(&other->event.handle), 0);
}

static void event_closed_by_a_flush_in_its_callback_is_clean(void **state) {
  live_collector_t flushed;
  live_collector_t closed;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &closed);
  closed.hook = flush_other;
  closed.hook_data = &flushed;
  live_start(&closed, NULL);
  live_init_comm(*state, &flushed);
  flushed.hook = close_other;
  flushed.hook_data = &closed;
  live_start(&flushed, NULL);
  assert_int_equal(uvperf_stop(&flushed.event.handle), 0);
  live_comm(&next, 3);
  run_to_end(*state);
  assert_int_equal(closed.closed, 1);
  assert_int_equal(closed.comms, 1);
  assert_int_equal(flushed.comms, 3);
  live_close(&flushed);
}

static void on_cancelled(uvperf_handle_t *handle, int status) {
  live_collector_t *collector = handle->data;

  assert_int_equal(status, UV_ECANCELED);
  assert_int_equal(collector->closed, 0);
  collector->ends += 1;
}

static void event_closed_by_a_flush_in_its_snapshot_is_clean(void **state) {
  live_collector_t flushed;
  live_collector_t closed;
  struct perf_event_attr attr;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  uvperf_attr_set_wakeup_events(&attr, 0);
  attr.write_backward = 1;
  live_init(*state, &closed, &attr, NULL);
  closed.hook = flush_other;
  closed.hook_data = &flushed;
  live_start(&closed, NULL);
  live_init_comm(*state, &flushed);
  flushed.hook = close_other;
  flushed.hook_data = &closed;
  live_start(&flushed, NULL);
  assert_int_equal(uvperf_stop(&flushed.event.handle), 0);
  live_comm(&next, 3);
  assert_int_equal(uvperf_snapshot(&closed.event.handle, 0, on_cancelled, NULL),
                   0);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_int_equal(closed.ends, 1);
  assert_int_equal(closed.closed, 1);
  assert_int_equal(closed.records, 1);
  live_close(&flushed);
}

static void event_close_right_after_init_is_clean(void **state) {
  live_collector_t collector;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_close(&collector);
}

static void free_event(uvperf_handle_t *handle) {
  uvperf_event_t *event = uvperf_handle_event(handle);

  free(event);
}

static void on_nothing(uvperf_handle_t *handle, int status,
                       const uvperf_record_t *record) {
  (void)handle;
  (void)status;
  (void)record;
}

static void event_freed_in_close_callback_is_clean(void **state) {
  uvperf_event_t *event;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  event = malloc(sizeof(*event));
  live_comm_attr(&attr);
  assert_int_equal(uvperf_event_init(*state, event, &attr, NULL, NULL), 0);
  assert_int_equal(uvperf_start(&event->handle, NULL, on_nothing, NULL), 0);
  uvperf_close(&event->handle, free_event);
  run_to_end(*state);
}

/* The struct is the caller's at once, whatever the loop still holds. */
static void event_init_fails_leaves_struct_to_the_caller(void **state) {
  uvperf_event_t *event;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_own_events(__func__);
  event = malloc(sizeof(*event));
  uvperf_attr_init(&attr, 42, 0);
  attr.exclude_kernel = 1;
  assert_int_equal(uvperf_event_init(*state, event, &attr, NULL, &error),
                   UV_ENOENT);
  assert_int_equal(error.code, UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  free(event);
}

static void
event_1000_cycles_leave_fds_and_mappings_as_they_were(void **state) {
  size_t fds = support_count_fds();
  size_t mappings = count_rings();
  live_collector_t collector;
  uint64_t next;
  int i;

  support_need_own_events(__func__);
  for (i = 0; i < 1000; i++) {
    next = 0;
    live_init_comm(*state, &collector);
    live_start(&collector, NULL);
    live_comm(&next, 2);
    if (i % 2)
      assert_true(live_run_until(*state, &collector.comms, 2));
    live_close(&collector);
  }
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(count_rings(), mappings);
}

/* P11: a closed fd whose ring is mapped lives on and is still reported. */
static void event_close_leaves_neither_fd_nor_mapping(void **state) {
  size_t fds = support_count_fds();
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  assert_int_equal(count_rings(), 1);
  live_run_ms(*state, 5);
  live_close(&collector);
  assert_int_equal(count_rings(), 0);
  assert_int_equal(support_count_fds(), fds);
  live_comm(&next, 100);
  assert_true(live_run_ms(*state, 50) < 20);
  assert_int_equal(collector.comms, 0);
}

/* -- programming errors --------------------------------------------------- */

static int close_twice(void *arg) {
  live_collector_t *collector = arg;

  uvperf_close(&collector->event.handle, NULL);
  uvperf_close(&collector->event.handle, NULL);
  return 0;
}

static int close_after_close_callback(void *arg) {
  live_collector_t *collector = arg;

  uv_loop_fork(collector->event.handle.loop);
  live_close(collector);
  uvperf_close(&collector->event.handle, NULL);
  return 0;
}

static int start_after_close_callback(void *arg) {
  live_collector_t *collector = arg;

  uv_loop_fork(collector->event.handle.loop);
  live_close(collector);
  uvperf_start(&collector->event.handle, NULL, live_on_record, NULL);
  return 0;
}

/* While it closes, and in its close callback. */
static void expect_closing(uvperf_handle_t *handle, uint64_t records) {
  uvperf_event_t *event = uvperf_handle_event(handle);
  const uvperf_record_t *record;
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  uvperf_count_t count;
  uvperf_error_t error;
  uint64_t id;

  assert_int_equal(uvperf_stop(handle), 0);
  uvperf_stats(handle, &stats);
  assert_int_equal(stats.records, records);
  assert_int_equal(uvperf_has_record(handle), 0);
  assert_int_equal(uvperf_nr_rings(handle), 0);
  assert_int_equal(uvperf_ring(handle, 0, &ring), UV_ECANCELED);
  assert_int_equal(uvperf_start(handle, NULL, live_on_record, &error),
                   UV_ECANCELED);
  assert_int_equal(error.code, UV_ECANCELED);
  assert_int_equal(uvperf_flush(handle), UV_ECANCELED);
  assert_int_equal(uvperf_next(handle, &record), UV_ECANCELED);
  assert_int_equal(uvperf_snapshot(handle, 0, NULL, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_enable(handle, 0, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_disable(handle, UVPERF_ALL, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_change_period(handle, 0, 5, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_event_read(event, &count, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_event_pause(event, 1, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_event_id(event, &id), UV_ECANCELED);
  assert_int_equal(uvperf_on_cpu(handle, NULL), UV_ECANCELED);
  assert_non_null(uvperf_handle_attr(handle, 0));
  uvperf_event_fd(event);
}

static void expect_closing_there(uvperf_handle_t *handle) {
  live_collector_t *collector = handle->data;

  expect_closing(handle, 3);
  collector->closed += 1;
}

static void event_that_closes_answers_until_its_close_callback(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  live_comm(&next, 3);
  assert_true(live_run_until(*state, &collector.comms, 3));
  uvperf_close(&collector.event.handle, expect_closing_there);
  expect_closing(&collector.event.handle, 3);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_int_equal(collector.closed, 1);
  assert_int_equal(uvperf_is_closing(&collector.event.handle), 1);
}

static void event_closed_twice_or_used_after_it_aborts(void **state) {
  live_collector_t collector;

#ifdef NDEBUG
  support_skip(__func__, "a build with asserts (no NDEBUG)");
#endif
  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_int_equal(support_wait(support_fork(close_twice, &collector)),
                   128 + SIGABRT);
  assert_int_equal(
      support_wait(support_fork(close_after_close_callback, &collector)),
      128 + SIGABRT);
  assert_int_equal(
      support_wait(support_fork(start_after_close_callback, &collector)),
      128 + SIGABRT);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_close_at_first_record_of_slice_is_clean),
      support_loop_test(event_close_in_middle_of_slice_is_clean),
      support_loop_test(event_close_at_last_record_of_slice_is_clean),
      support_loop_test(event_close_at_end_of_slice_is_clean),
      support_loop_test(event_close_at_eof_is_clean),
      support_loop_test(event_close_in_flush_is_clean),
      support_loop_test(event_closed_by_a_flush_in_its_callback_is_clean),
      support_loop_test(event_closed_by_a_flush_in_its_snapshot_is_clean),
      support_loop_test(event_close_right_after_init_is_clean),
      support_loop_test(event_freed_in_close_callback_is_clean),
      support_loop_test(event_init_fails_leaves_struct_to_the_caller),
      support_loop_test(event_1000_cycles_leave_fds_and_mappings_as_they_were),
      support_loop_test(event_close_leaves_neither_fd_nor_mapping),
      support_loop_test(event_that_closes_answers_until_its_close_callback),
      support_loop_test(event_closed_twice_or_used_after_it_aborts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
