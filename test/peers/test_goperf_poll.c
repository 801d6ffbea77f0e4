/* SPDX-License-Identifier: MIT */
/* Live: the checks of go-perf's TestPoll. Here a context's deadline is a timer
 * of the loop, its cancel is uvperf_close, and ErrDisabled is UV_EOF. The
 * whole list is in ORIGINS. */
#include "live_thread.h"

#include <unistd.h>

#define NR 3

/* As in go-perf's tests, each sample wakes the loop. */
static void call_attr(struct perf_event_attr *attr, uint64_t tracepoint) {
  live_syscall_attr(attr, tracepoint, PERF_SAMPLE_TID);
  uvperf_attr_set_wakeup_events(attr, 1);
}

static void open_calls(uv_loop_t *loop, live_collector_t *collector,
                       uint64_t tracepoint, uint32_t tid) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  call_attr(&attr, tracepoint);
  options.pid = (int32_t)tid;
  live_init(loop, collector, &attr, &options);
}

static void assert_count(live_collector_t *collector, uint64_t value) {
  uvperf_count_t count;

  assert_int_equal(uvperf_event_read(&collector->event, &count, NULL), 0);
  assert_int_equal(count.value, value);
}

/* Expects that the wait continues and that nothing was delivered. */
static void assert_waiting(live_collector_t *collector, uint64_t records) {
  assert_int_equal(collector->records, records);
  assert_int_equal(collector->ends, 0);
  assert_int_equal(uvperf_is_active(&collector->event.handle), 1);
}

/* -- Timeout -------------------------------------------------------------- */

/* go-perf TestPoll/Timeout: a record that is there comes in the first turn of
 * the loop. Then nothing comes until a timer does. The timer ends nothing: the
 * next record comes as usual. */
static void
poll_with_a_timer_delivers_the_record_then_only_fires(void **state) {
  live_collector_t collector;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  open_calls(*state, &collector, id, 0);
  live_start(&collector, NULL);
  live_syscall(1);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_waiting(&collector, 1);
  assert_in_range(live_run_ms(*state, 20), 1, 10);
  assert_waiting(&collector, 1);
  live_syscall(1);
  assert_true(live_run_until(*state, &collector.records, 2));
  live_run_ms(*state, 20);
  assert_waiting(&collector, 2);
  assert_count(&collector, 2);
  live_close(&collector);
}

/* -- Cancel --------------------------------------------------------------- */

static void count_close(uvperf_handle_t *handle) {
  live_collector_t *collector = handle->data;

  collector->closed += 1;
}

/* A record is in the ring, and its wakeup is on the way, when the wait is
 * cancelled. */
static void cancel(uv_timer_t *timer) {
  live_collector_t *collector = timer->data;

  live_syscall(1);
  uvperf_close(&collector->event.handle, count_close);
  collector->hook_data = collector->closed == 0 ? collector : NULL;
  uv_close((uv_handle_t *)timer, NULL);
}

/* go-perf TestPoll/Cancel: the event is closed while the loop waits. Nothing
 * more is delivered. The wait ends at once, because nothing else keeps the
 * loop. The close callback has run once, and not inside uvperf_close. */
static void poll_cancelled_while_waiting_ends_without_a_record(void **state) {
  size_t fds = support_count_fds();
  live_collector_t collector;
  uv_timer_t timer;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  open_calls(*state, &collector, id, 0);
  live_start(&collector, NULL);
  live_syscall(1);
  assert_true(live_run_until(*state, &collector.records, 1));
  uv_timer_init(*state, &timer);
  timer.data = &collector;
  uv_timer_start(&timer, cancel, 10, 0);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_ptr_equal(collector.hook_data, &collector);
  assert_int_equal(collector.closed, 1);
  assert_int_equal(collector.records, 1);
  assert_int_equal(collector.ends, 0);
  live_syscall(1);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(collector.records, 1);
  assert_int_equal(collector.closed, 1);
  assert_int_equal(support_count_fds(), fds);
}

/* -- Expired -------------------------------------------------------------- */

static void stop_and_end(uv_timer_t *timer) {
  live_collector_t *collector = timer->data;

  uvperf_stop(&collector->event.handle);
  uv_close((uv_handle_t *)timer, NULL);
}

/* Runs the loop until a timer of 0 has stopped the event. */
static void run_expired(live_collector_t *collector) {
  uv_loop_t *loop = collector->event.handle.loop;
  uv_timer_t timer;

  uv_timer_init(loop, &timer);
  timer.data = collector;
  uv_timer_start(&timer, stop_and_end, 0, 0);
  assert_int_equal(uv_run(loop, UV_RUN_DEFAULT), 0);
  assert_int_equal(uvperf_is_active(&collector->event.handle), 0);
  assert_int_equal(collector->ends, 0);
}

/* go-perf TestPoll/Expired: the deadline has passed when the wait begins, so
 * the wait ends. The ring is empty. */
static void poll_with_an_expired_timer_and_no_record_ends(void **state) {
  live_collector_t collector;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  run_expired(&collector);
  assert_int_equal(collector.records, 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.records, 0);
  live_close(&collector);
}

/* The same happens with a record in the ring. The record is not lost. */
static void poll_with_an_expired_timer_keeps_the_record(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  live_comm(&next, 1);
  run_expired(&collector);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 1);
  live_start(&collector, NULL);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &collector.comms, 2));
  live_run_ms(*state, 5);
  assert_int_equal(collector.comms, 2);
  assert_int_equal(collector.out_of_order, 0);
  live_close(&collector);
}

/* -- DisabledExplicitly --------------------------------------------------- */

static void call(void *arg) {
  (void)arg;
  live_syscall(NR);
}

static void check_tid(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const live_thread_t *thread = collector->hook_data;

  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_int_equal(record->pid, getpid());
  assert_int_equal(record->tid, thread->tid);
}

/* go-perf TestPoll/DisabledExplicitly: another thread makes samples while the
 * loop waits. All of them come, but no sample comes after the event is
 * disabled. This is not the end: samples come again after the event is enabled
 * again. */
static void poll_of_a_disabled_event_delivers_earlier_records(void **state) {
  live_collector_t collector;
  live_thread_t thread;
  uint64_t round;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_thread_start(&thread, call, NULL);
  open_calls(*state, &collector, id, thread.tid);
  collector.hook = check_tid;
  collector.hook_data = &thread;
  live_start(&collector, NULL);
  live_run_ms(*state, 5);
  for (round = 1; round <= 3; round++) {
    live_thread_go(&thread);
    assert_true(live_run_until(*state, &collector.records, round * NR));
    live_thread_wait(&thread);
    assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
    live_thread_do(&thread);
    live_run_ms(*state, 10);
    assert_waiting(&collector, round * NR);
    assert_count(&collector, round * NR);
    assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  }
  live_thread_end(&thread);
  live_close(&collector);
}

/* The event is disabled before the first turn of the loop. The records in the
 * ring are delivered, and no later ones. */
static void poll_of_an_event_disabled_before_the_first_turn(void **state) {
  live_collector_t collector;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  open_calls(*state, &collector, id, 0);
  live_start(&collector, NULL);
  live_syscall(NR);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  live_syscall(NR);
  assert_true(live_run_until(*state, &collector.records, NR));
  live_run_ms(*state, 10);
  assert_waiting(&collector, NR);
  assert_count(&collector, NR);
  live_close(&collector);
}

/* -- DisabledByRefresh ---------------------------------------------------- */

static void call_twice(void *arg) {
  call(arg);
  call(arg);
}

/* go-perf TestPoll/DisabledByRefresh: another thread continues to make calls
 * while the loop waits. The given number of samples comes, but no end is
 * reported. */
static void poll_of_a_refreshed_event_delivers_that_number(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  live_thread_t thread;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_thread_start(&thread, call_twice, NULL);
  open_calls(*state, &collector, id, thread.tid);
  collector.hook = check_tid;
  collector.hook_data = &thread;
  options.flush_ms = -1;
  options.flags = UVPERF_START_NO_ENABLE;
  live_start(&collector, &options);
  live_run_ms(*state, 5);
  live_thread_do(&thread);
  live_run_ms(*state, 5);
  assert_waiting(&collector, 0);
  assert_int_equal(uvperf_event_refresh(&collector.event, NR, NULL), 0);
  live_thread_go(&thread);
  assert_true(live_run_until(*state, &collector.records, NR));
  live_thread_wait(&thread);
  live_run_ms(*state, 20);
  assert_waiting(&collector, NR);
  assert_count(&collector, NR);
  live_thread_end(&thread);
  live_close(&collector);
}

/* -- DisabledByExit ------------------------------------------------------- */

static void check_pid(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const live_worker_t *worker = collector->hook_data;

  assert_int_equal(collector->ends, 0);
  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_int_equal(record->pid, worker->pid);
  assert_int_equal(record->tid, worker->pid);
}

static void start_with_worker(uv_loop_t *loop, live_collector_t *collector,
                              live_worker_t *worker, uint64_t tracepoint) {
  live_worker_fork(worker, call, NULL);
  open_calls(loop, collector, tracepoint, (uint32_t)worker->pid);
  collector->hook = check_pid;
  collector->hook_data = worker;
  live_start(collector, NULL);
}

static void assert_ended(live_collector_t *collector) {
  assert_true(
      live_run_until(collector->event.handle.loop, &collector->ends, 1));
  assert_int_equal(collector->records, NR);
  assert_int_equal(collector->end_status, UV_EOF);
  assert_int_equal(uv_run(collector->event.handle.loop, UV_RUN_DEFAULT), 0);
  assert_int_equal(collector->ends, 1);
  assert_int_equal(collector->after_end, 0);
  assert_count(collector, NR);
}

/* go-perf TestPoll/DisabledByExit: the child is gone before the loop turns. Its
 * samples come, and then UV_EOF. */
static void
poll_of_a_child_that_is_gone_delivers_its_samples_then_eof(void **state) {
  live_collector_t collector;
  live_worker_t worker;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  start_with_worker(*state, &collector, &worker, id);
  live_worker_do(&worker);
  live_worker_end(&worker);
  assert_ended(&collector);
  live_close(&collector);
}

/* The same happens while the loop waits: the samples come first, and the end
 * after them. */
static void poll_of_a_child_that_ends_delivers_eof(void **state) {
  live_collector_t collector;
  live_worker_t worker;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  start_with_worker(*state, &collector, &worker, id);
  live_run_ms(*state, 5);
  live_worker_do(&worker);
  assert_true(live_run_until(*state, &collector.records, NR));
  live_run_ms(*state, 10);
  assert_waiting(&collector, NR);
  live_worker_end(&worker);
  assert_ended(&collector);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(poll_with_a_timer_delivers_the_record_then_only_fires),
      support_loop_test(poll_cancelled_while_waiting_ends_without_a_record),
      support_loop_test(poll_with_an_expired_timer_and_no_record_ends),
      support_loop_test(poll_with_an_expired_timer_keeps_the_record),
      support_loop_test(poll_of_a_disabled_event_delivers_earlier_records),
      support_loop_test(poll_of_an_event_disabled_before_the_first_turn),
      support_loop_test(poll_of_a_refreshed_event_delivers_that_number),
      support_loop_test(
          poll_of_a_child_that_is_gone_delivers_its_samples_then_eof),
      support_loop_test(poll_of_a_child_that_ends_delivers_eof),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
