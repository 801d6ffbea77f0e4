/* SPDX-License-Identifier: MIT */
/* Live: what happens when the target of an event is gone. */
#include "live.h"

#include <unistd.h>

static void open_child(uv_loop_t *loop, live_collector_t *collector,
                       const live_child_t *child) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  options.pid = child->pid;
  live_init(loop, collector, &attr, &options);
}

static void assert_ended_once(uv_loop_t *loop, live_collector_t *collector,
                              uint64_t comms) {
  assert_int_equal(collector->comms, comms);
  assert_int_equal(collector->out_of_order, 0);
  assert_int_equal(collector->ends, 1);
  assert_int_equal(collector->end_status, UV_EOF);
  assert_int_equal(uvperf_is_active(&collector->event.handle), 0);
  /* Silence: the loop has nothing to live for. */
  assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
  assert_int_equal(collector->ends, 1);
  assert_int_equal(collector->after_end, 0);
  assert_int_equal(
      uvperf_start(&collector->event.handle, NULL, live_on_record, NULL),
      UV_EOF);
  assert_int_equal(uvperf_stop(&collector->event.handle), 0);
  assert_int_equal(uvperf_flush(&collector->event.handle), 0);
}

/* P7: POLLHUP alone, with every record still in the ring. */
static void
event_target_exits_with_records_left_delivers_them_then_eof(void **state) {
  live_collector_t collector;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 100);
  open_child(*state, &collector, &child);
  live_start(&collector, NULL);
  live_run_ms(*state, 5);
  live_child_go(&child);
  live_child_wait(&child);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_ended_once(*state, &collector, 100);
  live_close(&collector);
}

static void event_target_exits_in_slices_delivers_all_before_eof(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 100);
  open_child(*state, &collector, &child);
  options.flush_ms = -1;
  options.slice_records = 7;
  live_start(&collector, &options);
  live_run_ms(*state, 5);
  live_child_go(&child);
  live_child_wait(&child);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_ended_once(*state, &collector, 100);
  live_close(&collector);
}

static void stop_at_slice_end(uvperf_handle_t *handle, int status,
                              const uvperf_record_t *record) {
  live_on_record(handle, status, record);
  if (status == 0 && record->type == UVPERF_RECORD_NONE)
    assert_int_equal(uvperf_stop(handle), 0);
}

static void
event_stopped_at_its_last_slice_ends_after_next_start(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 10);
  open_child(*state, &collector, &child);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_child_go(&child);
  live_child_wait(&child);
  options.flush_ms = -1;
  options.slice_us = LIVE_SLICE_US;
  options.flags = UVPERF_START_SLICE_END;
  assert_int_equal(
      uvperf_start(&collector.event.handle, &options, stop_at_slice_end, NULL),
      0);
  live_run_ms(*state, 20);
  assert_int_equal(collector.comms, 10);
  assert_int_equal(collector.ends, 0);
  live_start(&collector, NULL);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_ended_once(*state, &collector, 10);
  live_close(&collector);
}

static void
event_target_gone_before_start_delivers_rest_then_eof(void **state) {
  live_collector_t collector;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 10);
  open_child(*state, &collector, &child);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_child_go(&child);
  live_child_wait(&child);
  live_start(&collector, NULL);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_ended_once(*state, &collector, 10);
  live_close(&collector);
}

/* Stopped when it hangs up, then started again: the end is still reported. */
static void
event_target_gone_while_stopped_ends_after_next_start(void **state) {
  live_collector_t collector;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 10);
  open_child(*state, &collector, &child);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_start(&collector, NULL);
  live_run_ms(*state, 5);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_child_go(&child);
  live_child_wait(&child);
  live_run_ms(*state, 5);
  assert_int_equal(collector.comms, 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 10);
  live_start(&collector, NULL);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_ended_once(*state, &collector, 10);
  live_close(&collector);
}

/* P7, P8: a dead target is POLLHUP for ever; the loop must not turn for it. */
static void event_dead_target_lets_the_loop_sleep(void **state) {
  live_collector_t collector;
  uvperf_stats_t stats;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 1);
  open_child(*state, &collector, &child);
  live_start(&collector, NULL);
  live_child_go(&child);
  live_child_wait(&child);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_true(live_run_ms(*state, 100) < 20);
  uvperf_stats(&collector.event.handle, &stats);
  assert_true(stats.wakeups < 10);
  live_close(&collector);
}

/* REFRESH running out disables without a POLLHUP, and so does DISABLE: neither
 * is an end. */
static void event_disabled_is_not_an_end(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  live_init(*state, &collector, &attr, NULL);
  live_start(&collector, NULL);
  live_comm(&next, 2);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_true(live_run_until(*state, &collector.comms, 2));
  live_run_ms(*state, 20);
  assert_int_equal(collector.ends, 0);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &collector.comms, 4));
  live_close(&collector);
}

/* An inherited event ends with the last of the children, not with the task it
 * was opened on: is_event_hup() in kernel/events/core.c. */
static void event_inherited_by_living_child_has_not_ended(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  int hold[2];
  int start[2];
  pid_t pid;
  char byte;

  support_need_own_events(__func__);
  assert_int_equal(pipe(hold), 0);
  assert_int_equal(pipe(start), 0);
  pid = fork();
  if (pid == 0) {
    close(hold[1]);
    if (read(start[0], &byte, 1) != 1)
      _exit(1);
    if (fork() == 0) {
      /* Lives until the test closes its end, its parent does not. */
      if (read(hold[0], &byte, 1) != 0)
        _exit(1);
      _exit(0);
    }
    _exit(0);
  }
  close(hold[0]);
  live_comm_attr(&attr);
  attr.inherit = 1;
  options.pid = pid;
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  live_init(*state, &collector, &attr, &options);
  live_start(&collector, NULL);
  live_run_ms(*state, 5);
  assert_int_equal(write(start[1], "", 1), 1);
  live_child_wait(&(live_child_t){pid, -1});
  live_run_ms(*state, 50);
  assert_int_equal(collector.ends, 0);
  close(hold[1]);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_int_equal(collector.end_status, UV_EOF);
  live_close(&collector);
  close(start[0]);
  close(start[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(
          event_target_exits_with_records_left_delivers_them_then_eof),
      support_loop_test(event_target_exits_in_slices_delivers_all_before_eof),
      support_loop_test(event_target_gone_before_start_delivers_rest_then_eof),
      support_loop_test(event_target_gone_while_stopped_ends_after_next_start),
      support_loop_test(event_stopped_at_its_last_slice_ends_after_next_start),
      support_loop_test(event_dead_target_lets_the_loop_sleep),
      support_loop_test(event_disabled_is_not_an_end),
      support_loop_test(event_inherited_by_living_child_has_not_ended),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
