/* SPDX-License-Identifier: MIT */
/* Live: a program closes all handles of its loop by uv_walk, with
 * uvperf_walk_close and without. */
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

static void walk_close(uv_handle_t *handle, void *arg) {
  int *ours = arg;

  if (uvperf_walk_close(handle))
    *ours += 1;
  else if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void walk_close_closes_owner_and_leaves_foreign_handles(void **state) {
  size_t fds = support_count_fds();
  live_collector_t collector;
  int poison = 0x5a;
  uv_timer_t timer;
  uv_idle_t idle;
  uv_poll_t poll;
  int pipes[2];
  int ours = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  uv_timer_init(*state, &timer);
  uv_idle_init(*state, &idle);
  assert_int_equal(pipe(pipes), 0);
  uv_poll_init(*state, &poll, pipes[0]);
  /* Foreign data is not a pointer to follow. */
  timer.data = idle.data = poll.data = &poison;
  uv_walk(*state, walk_close, &ours);
  assert_int_equal(ours, 5);
  assert_int_equal(uvperf_is_closing(&collector.event.handle), 1);
  uvperf_close(&collector.event.handle, on_closed);
  run_to_end(*state);
  assert_int_equal(collector.closed, 1);
  close(pipes[0]);
  close(pipes[1]);
  assert_int_equal(support_count_fds(), fds);
}

static void walk_close_then_close_after_teardown_calls_back(void **state) {
  live_collector_t collector;
  int ours = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  uv_walk(*state, walk_close, &ours);
  run_to_end(*state);
  assert_int_equal(uvperf_is_closing(&collector.event.handle), 1);
  uvperf_close(&collector.event.handle, on_closed);
  assert_int_equal(collector.closed, 1);
}

/* P15: other code uv_closes everything without the owner's knowledge; the close
 * callbacks are still pending when the owner closes too. */
static void event_inner_handles_uv_closed_by_others_are_survived(void **state) {
  size_t fds = support_count_fds();
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  live_comm(&next, 3);
  uv_walk(*state, uv_close_all, NULL);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  uvperf_close(&collector.event.handle, on_closed);
  run_to_end(*state);
  assert_int_equal(collector.closed, 1);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(count_rings(), 0);
}

static void
event_closed_after_others_closed_inner_handles_frees_all(void **state) {
  size_t fds = support_count_fds();
  live_collector_t collector;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  uv_walk(*state, uv_close_all, NULL);
  run_to_end(*state);
  assert_int_equal(collector.closed, 0);
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, live_on_record, NULL),
      UV_EALREADY);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, live_on_record, NULL),
      UV_EINVAL);
  uvperf_close(&collector.event.handle, on_closed);
  run_to_end(*state);
  assert_int_equal(collector.closed, 1);
  assert_int_equal(support_count_fds(), fds);
}

static void inner_closed(uvperf_handle_t *handle) {
  live_collector_t *outer = ((live_collector_t *)handle->data)->hook_data;
  uvperf_stats_t stats;

  uvperf_stats(handle, &stats);
  assert_int_equal(uvperf_stop(handle), 0);
  uvperf_stats(&outer->event.handle, &stats);
  assert_int_equal(uvperf_stop(&outer->event.handle), 0);
  on_closed(handle);
}

static void outer_closed(uvperf_handle_t *handle) {
  live_collector_t *inner = ((live_collector_t *)handle->data)->hook_data;

  uvperf_close(&inner->event.handle, inner_closed);
  assert_int_equal(inner->closed, 1);
  assert_int_equal(uvperf_stop(handle), 0);
  on_closed(handle);
}

static void event_closed_in_a_close_callback_calls_back_in_it(void **state) {
  live_collector_t outer, inner;

  support_need_own_events(__func__);
  live_init_comm(*state, &outer);
  live_init_comm(*state, &inner);
  outer.hook_data = &inner;
  inner.hook_data = &outer;
  uv_walk(*state, uv_close_all, NULL);
  run_to_end(*state);
  uvperf_close(&outer.event.handle, outer_closed);
  assert_int_equal(outer.closed, 1);
}

static void uv_close_type(uv_handle_t *handle, void *type) {
  if (handle->type == *(uv_handle_type *)type && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

/* The hub's handles are gone, so nothing is delivered any more: all handles of
 * the loop hear of it, and nothing spins. Handles that come later have another
 * hub. */
static void hub_uv_closed_by_others_ends_all_handles_of_the_loop(void **state) {
  static const uv_handle_type types[] = {UV_CHECK, UV_IDLE};
  live_collector_t collector[2], later;
  uint64_t next = 0;
  uint64_t of_later;
  size_t i, n;

  support_need_own_events(__func__);
  for (i = 0; i < 2; i++) {
    for (n = 0; n < 2; n++) {
      live_init_comm(*state, &collector[n]);
      live_start(&collector[n], NULL);
    }
    live_run_ms(*state, 5);
    uv_walk(*state, uv_close_type, (void *)&types[i]);
    live_comm(&next, 1);
    assert_true(live_run_until(*state, &collector[1].ends, 1));
    assert_true(live_run_ms(*state, 50) < 20);
    for (n = 0; n < 2; n++) {
      assert_int_equal(collector[n].ends, 1);
      assert_int_equal(collector[n].end_status, UV_ECANCELED);
      assert_int_equal(collector[n].records, 0);
      assert_int_equal(uvperf_is_active(&collector[n].event.handle), 0);
    }
    live_init_comm(*state, &later);
    live_start(&later, NULL);
    of_later = 0;
    live_comm(&of_later, 2);
    assert_true(live_run_until(*state, &later.comms, 2));
    for (n = 0; n < 2; n++)
      live_close(&collector[n]);
    live_close(&later);
  }
}

/* The hook of an event in a flush. */
static void close_hub(live_collector_t *collector,
                      const uvperf_record_t *record) {
  uvperf_handle_t *handle = &collector->event.handle;
  uv_handle_type type = UV_IDLE;

  if (record->type == UVPERF_RECORD_NONE)
    return;
  uv_walk(handle->loop, uv_close_type, &type);
  assert_true(
      live_run_until(handle->loop, &collector->ends, collector->ends + 1));
  assert_int_equal(uvperf_next(handle, &record), UV_EBUSY);
  assert_int_equal(uvperf_flush(handle), UV_EBUSY);
}

static void hub_uv_closed_by_others_in_a_flush_ends_the_event(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  collector.hook = close_hub;
  live_start(&collector, NULL);
  live_comm(&next, 2);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.comms, 1);
  assert_int_equal(collector.end_status, UV_ECANCELED);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(walk_close_closes_owner_and_leaves_foreign_handles),
      support_loop_test(walk_close_then_close_after_teardown_calls_back),
      support_loop_test(event_inner_handles_uv_closed_by_others_are_survived),
      support_loop_test(hub_uv_closed_by_others_ends_all_handles_of_the_loop),
      support_loop_test(hub_uv_closed_by_others_in_a_flush_ends_the_event),
      support_loop_test(
          event_closed_after_others_closed_inner_handles_frees_all),
      support_loop_test(event_closed_in_a_close_callback_calls_back_in_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
