/* SPDX-License-Identifier: MIT */
/* Live: whether every record reaches the callback although a perf fd reports
 * readiness only once. There is no flush timer unless a test says so. */
#include "live.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

/* Enables by hand, so that records are there before start. */
static void start_without_enable(live_collector_t *collector) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  options.flush_ms = -1;
  options.flags = UVPERF_START_NO_ENABLE;
  options.slice_us = LIVE_SLICE_US;
  live_start(collector, &options);
}

typedef struct late_start_s {
  live_collector_t *collector;
  uint64_t next;
  int turn;
} late_start_t;

/* Runs in the poll phase: the fd is registered in the next turn's. */
static void on_readable(uv_poll_t *poll, int status, int events) {
  late_start_t *late = poll->data;

  assert_int_equal(status, 0);
  start_without_enable(late->collector);
  late->turn = 1;
  uv_poll_stop(poll);
}

/* Runs before the poll phase that registers the fd, after the check phase of
 * the turn in which the handle was started. */
static void on_prepare(uv_prepare_t *prepare) {
  late_start_t *late = prepare->data;

  if (late->turn++ == 1)
    live_comm(&late->next, 3);
}

static void event_start_in_poll_phase_loses_no_wakeup(void **state) {
  live_collector_t collector;
  late_start_t late = {&collector, 0, 0};
  uv_prepare_t prepare;
  uv_poll_t poll;
  int fds[2];

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(pipe(fds), 0);
  uv_poll_init(*state, &poll, fds[0]);
  poll.data = &late;
  uv_poll_start(&poll, UV_READABLE, on_readable);
  uv_prepare_init(*state, &prepare);
  prepare.data = &late;
  uv_prepare_start(&prepare, on_prepare);
  assert_int_equal(write(fds[1], "", 1), 1);
  assert_true(live_run_until(*state, &collector.comms, 3));
  uv_close((uv_handle_t *)&poll, NULL);
  uv_close((uv_handle_t *)&prepare, NULL);
  live_close(&collector);
  close(fds[0]);
  close(fds[1]);
}

/* P3: a full ring wakes no process, and dropped records do not either. */
static void event_ring_full_at_start_goes_on(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  live_collector_t collector;
  uvperf_stats_t stats;
  uint64_t next = 0;
  uint64_t delivered;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  options.ring_bytes = 1;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_comm(&next, 1000);
  start_without_enable(&collector);
  live_run_ms(*state, 20);
  delivered = collector.comms;
  assert_in_range(delivered, 20, 999);
  assert_int_equal(collector.out_of_order, 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.lost_records, 0);
  live_comm(&next, 1);
  /* The next record that fits brings the LOST record with it. */
  assert_true(live_run_until(*state, &collector.comms, delivered + 1));
  assert_int_equal(collector.others, 1);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.lost_records, 1000 - delivered);
  live_close(&collector);
}

/* P4: side-band records do not count for wakeup_events. */
static void event_sideband_with_wakeup_events_comes_by_flush(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t next = 0;
  uvperf_stats_t stats;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  uvperf_attr_set_wakeup_events(&attr, 1);
  live_init(*state, &collector, &attr, NULL);
  live_start(&collector, NULL);
  live_run_ms(*state, 10);
  live_comm(&next, 1);
  live_run_ms(*state, 20);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(collector.comms, 0); /* the fact itself */
  assert_int_equal(stats.wakeups, 0);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(
      uvperf_start(&collector.event.handle, &options, live_on_record, NULL), 0);
  assert_true(live_run_until(*state, &collector.comms, 1));
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &collector.comms, 2));
  live_close(&collector);
}

/* P6: an fd without a ring is POLLHUP at once and for ever. */
static void event_without_ring_is_not_polled(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_stats_t stats;

  support_need_own_events(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(support_ring_bytes(&collector.event.handle), 0);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL, NULL, NULL), 0);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  assert_true(live_run_ms(*state, 50) < 20);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.wakeups, 0);
  live_close(&collector);
}

/* P21: polling the loop's own fd from outside consumes the wakeup. But the
 * outer loop runs this loop for it, which finds the record by itself. */
static void event_loop_polled_from_outside_gets_each_record(void **state) {
  live_collector_t collector;
  struct epoll_event ready;
  uvperf_stats_t stats;
  uint64_t wakeups;
  uint64_t next = 0;
  uint64_t n;
  int outer;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  live_run_ms(*state, 5);
  uvperf_stats(&collector.event.handle, &stats);
  wakeups = stats.wakeups;
  outer = epoll_create1(EPOLL_CLOEXEC);
  ready.events = EPOLLIN;
  assert_int_equal(
      epoll_ctl(outer, EPOLL_CTL_ADD, uv_backend_fd(*state), &ready), 0);
  for (n = 1; n <= 20; n++) {
    live_comm(&next, 1);
    assert_int_equal(epoll_wait(outer, &ready, 1, 1000), 1);
    uv_run(*state, UV_RUN_NOWAIT);
    assert_int_equal(collector.comms, n);
  }
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.wakeups, wakeups); /* they were lost */
  close(outer);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_start_in_poll_phase_loses_no_wakeup),
      support_loop_test(event_ring_full_at_start_goes_on),
      support_loop_test(event_sideband_with_wakeup_events_comes_by_flush),
      support_loop_test(event_without_ring_is_not_polled),
      support_loop_test(event_loop_polled_from_outside_gets_each_record),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
