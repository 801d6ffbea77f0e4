/* SPDX-License-Identifier: MIT */
/* Scripted: the loop closes no event that takes the kernel long. The thread
 * pool does, and events that it cannot get are closed at once. */
#include "opened_set.h"

#include <errno.h>

#include "fake_clock.h"
#include "fake_pool.h"

static live_set_t *begin(uv_loop_t *loop, scripted_set_t *scripted) {
  scripted_set_plan(scripted, 0);
  scripted->make.attrs[0].type = PERF_TYPE_TRACEPOINT;
  fake_pool_hold();
  scripted_set_open_planned(loop, scripted);
  live_stream_start(&scripted->stream, NULL);
  return &scripted->stream.live;
}

/* Software events are closed at once, but not many. */
static live_set_t *begin_many(uv_loop_t *loop, live_set_t *live, size_t nr) {
  evlist_make_t make;
  size_t i;

  evlist_make_setup(NULL);
  for (i = 0; i < nr; i++)
    fake_event_add(100 + i);
  evlist_make(&make, nr == 64 ? 16 : 9);
  evlist_add_cpus(&make, nr == 64 ? "0-3" : "0-6");
  fake_pool_hold();
  live_set_begin(loop, live, &make.options);
  assert_int_equal(uvperf_set_nr_open(&live->set), nr);
  return live;
}

/* Until its inner handles are closed. */
static void run_loop(uv_loop_t *loop) {
  while (uv_run(loop, UV_RUN_NOWAIT) != 0)
    continue;
}

static void set_of_tracepoints_is_closed_by_the_pool(void **state) {
  scripted_set_t scripted;
  live_set_t *live = begin(*state, &scripted);

  fake_log_clear();
  uvperf_close(&live->set.handle, live_set_on_close);
  run_loop(*state);
  assert_string_equal(fake_log(), "read, read");
  assert_int_equal(live->closed, 0);
  assert_int_equal(uvperf_is_closing(&live->set.handle), 1);
  fake_log_clear();
  fake_pool_finish();
  assert_string_equal(fake_log(),
                      "ioctl DISABLE, ioctl DISABLE, ioctl DISABLE, "
                      "ioctl DISABLE, close, close, munmap, close, munmap, "
                      "close");
  live_set_wait_closed(live);
  fake_assert_clean();
}

static uint32_t closing_fds(const live_set_t *live) {
  uvperf_stats_t stats;

  uvperf_stats(&live->set.handle, &stats);
  return stats.closing_fds;
}

/* The handle may be closed while the pool closes its events. */
static void remove_target(uv_loop_t *loop, int closes_early) {
  scripted_set_t scripted;
  live_set_t *live = begin(loop, &scripted);

  fake_log_clear();
  assert_int_equal(uvperf_set_remove(&live->set, 0, NULL, NULL), 0);
  /* Their lost records are counted. Events that write into rings write nothing
   * more. */
  assert_string_equal(fake_log(), "read, read, ioctl DISABLE, ioctl DISABLE");
  assert_int_equal(uvperf_set_nr_open(&live->set), 0);
  assert_int_equal(closing_fds(live), 2);
  if (closes_early) {
    uvperf_close(&live->set.handle, live_set_on_close);
    run_loop(loop);
    assert_int_equal(live->closed, 0);
  }
  fake_pool_finish();
  if (!closes_early) {
    assert_int_equal(closing_fds(live), 0);
    uvperf_close(&live->set.handle, live_set_on_close);
  }
  do
    run_loop(loop);
  while (fake_pool_waits() && (fake_pool_run(), 1));
  live_set_wait_closed(live);
  fake_assert_clean();
}

static void target_of_tracepoints_is_removed_by_the_pool(void **state) {
  remove_target(*state, 0);
  remove_target(*state, 1);
}

static void on_target(uvperf_set_t *set, int status, void *data, uint32_t index,
                      const uvperf_error_t *error) {
  (void)set;
  (void)index;
  (void)error;
  *(int *)data = status;
}

static int take_time(fake_event_t *fake, unsigned long request,
                     uintptr_t argument) {
  (void)fake;
  (void)request;
  (void)argument;
  opened_set_take_time(NULL);
  return 0;
}

enum leaving {
  REMOVED,
  SET_CLOSED,
  EVENT_CLOSED
};

/* While a target is being opened, another one is removed, or another handle
 * closes. */
static void leave_while_opening(uv_loop_t *loop, enum leaving how,
                                const char *log) {
  fake_event_t *events[6];
  live_set_t live, other;
  live_collector_t event;
  evlist_make_t make;
  uvperf_target_t target;
  int status = 1;
  size_t i;

  evlist_make_setup(NULL);
  counters_script(events, 6);
  evlist_make(&make, 1);
  make.attrs[0].type = PERF_TYPE_TRACEPOINT;
  evlist_add_cpus(&make, "0-1");
  target = make.targets[0];
  target.data = &status;
  fake_pool_hold();
  if (how != REMOVED) {
    if (how == SET_CLOSED)
      live_set_begin(loop, &other, &make.options);
    else
      live_init(loop, &event, &make.attrs[0], NULL);
    make.options.flags = UVPERF_SET_TARGETS_LATER;
    make.options.nr_targets = 0;
  }
  live_set_begin(loop, &live, &make.options);
  for (i = 0; i < 6; i++)
    events[i]->on_ioctl = take_time;
  fake_on_open(opened_set_take_time);
  opened_set_take_time(NULL);
  fake_log_clear();
  assert_int_equal(uvperf_set_add(&live.set, &target, on_target, NULL, NULL),
                   0);
  if (how == REMOVED)
    assert_int_equal(uvperf_set_remove(&live.set, 0, NULL, NULL), 0);
  else if (how == SET_CLOSED)
    uvperf_close(&other.set.handle, live_set_on_close);
  else
    uvperf_close(&event.event.handle, NULL);
  run_loop(loop);
  fake_pool_finish();
  assert_int_equal(status, 0);
  assert_string_equal(fake_log(), log);
  fake_clock_set(0);
  if (how == SET_CLOSED)
    live_set_wait_closed(&other);
  uvperf_close(&live.set.handle, live_set_on_close);
  run_loop(loop);
  fake_pool_finish();
  live_set_wait_closed(&live);
  fake_assert_clean();
}

/* They count no longer than necessary, but the target is opened before their
 * events are closed. */
static void events_that_leave_are_disabled_first_and_closed_last(void **state) {
  const char *log = "open, ioctl DISABLE, ioctl DISABLE, open, ioctl ENABLE, "
                    "ioctl ENABLE, close, close";

  leave_while_opening(*state, REMOVED, log);
  leave_while_opening(*state, SET_CLOSED, log);
  leave_while_opening(
      *state, EVENT_CLOSED,
      "ioctl DISABLE, open, open, ioctl ENABLE, ioctl ENABLE, close");
}

static void targets_removed_at_the_same_time_are_closed_together(void **state) {
  scripted_set_t scripted;
  live_set_t *live;

  scripted_set_plan(&scripted, 0);
  scripted.make.attrs[0].type = PERF_TYPE_TRACEPOINT;
  scripted.make.targets[0].cpus = "0";
  evlist_add_cpus(&scripted.make, "1");
  fake_pool_hold();
  scripted_set_open_planned(*state, &scripted);
  live = &scripted.stream.live;
  assert_int_equal(uvperf_set_remove(&live->set, 0, NULL, NULL), 0);
  assert_int_equal(closing_fds(live), 1);
  assert_int_equal(uvperf_set_remove(&live->set, 1, NULL, NULL), 0);
  assert_int_equal(closing_fds(live), 2);
  fake_pool_finish();
  assert_int_equal(closing_fds(live), 0);
  scripted_set_close(&scripted);
}

static void events_are_closed_by_the_pool_if_they_are_64_or_more(void **state) {
  live_set_t live;
  size_t nr;

  for (nr = 63; nr <= 64; nr++) {
    begin_many(*state, &live, nr);
    assert_int_equal(uvperf_set_remove(&live.set, 0, NULL, NULL), 0);
    assert_int_equal(closing_fds(&live), nr == 64 ? 64 : 0);
    fake_pool_finish();
    live_set_close(&live);
    fake_assert_clean();

    begin_many(*state, &live, nr);
    uvperf_close(&live.set.handle, live_set_on_close);
    run_loop(*state);
    assert_int_equal(live.closed, nr == 63);
    assert_int_equal(fake_pool_waits(), nr == 64);
    fake_pool_finish();
    live_set_wait_closed(&live);
    fake_assert_clean();
  }
}

/* The handle is closed after the last step of opening. Another request of the
 * pool then closes the target's events. The handle waits for it, and for its
 * inner handles. */
static void target_that_comes_too_late_is_closed_by_the_pool(void **state) {
  uvperf_target_t target;
  opened_set_t opened;
  int status = 0;

  opened_set_plan(&opened, UVPERF_SET_TARGETS_LATER);
  opened.make.options.nr_targets = 0;
  opened.opened = 1;
  assert_int_equal(
      uvperf_set_init(*state, &opened.set, &opened.make.options, NULL), 0);
  target = opened.make.targets[0];
  target.data = &status;
  assert_int_equal(uvperf_set_add(&opened.set, &target, on_target, NULL, NULL),
                   0);
  fake_clock_set(1); /* so that all steps are one request */
  fake_pool_work();
  fake_clock_set(0);
  assert_true(opened.events[3]->fd >= 0);
  uvperf_close(&opened.set.handle, opened_set_on_close);
  fake_log_clear();
  fake_pool_run();
  assert_int_equal(status, UV_ECANCELED);
  assert_string_equal(fake_log(), "");
  fake_pool_finish();
  assert_int_equal(opened.closed, 0);
  do
    fake_pool_finish();
  while (uv_run(*state, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(opened.closed, 1);
  fake_assert_clean();
}

/* Linux has closed an fd whose close(2) fails. */
static void set_of_tracepoints_closes_though_calls_fail(void **state) {
  const enum fake_call calls[] = {FAKE_IOCTL, FAKE_CLOSE};
  scripted_set_t scripted;
  live_set_t *live;
  size_t i;

  for (i = 0; i < 2; i++) {
    live = begin(*state, &scripted);
    uvperf_close(&live->set.handle, live_set_on_close);
    run_loop(*state);
    fake_fail_from(calls[i], 1, -EINTR);
    fake_pool_finish();
    assert_true(fake_failures() > 3);
    live_set_wait_closed(live);
    fake_assert_clean();
  }
}

static void set_of_tracepoints_closes_without_memory(void **state) {
  unsigned failures, nth = 0;
  scripted_set_t scripted;
  live_set_t *live;

  do {
    nth += 1;
    live = begin(*state, &scripted);
    uvperf_close(&live->set.handle, live_set_on_close);
    fake_fail(FAKE_CALLOC, nth, 0);
    run_loop(*state);
    failures = fake_failures();
    fake_pool_finish();
    live_set_wait_closed(live);
    fake_assert_clean();
  } while (failures > 0);
  assert_true(nth > 1);
}

static void set_that_the_pool_refuses_is_closed_at_once(void **state) {
  scripted_set_t scripted;
  live_set_t *live = begin(*state, &scripted);

  fake_pool_reset();
  uvperf_close(&live->set.handle, live_set_on_close);
  run_loop(*state);
  live_set_wait_closed(live);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_of_tracepoints_is_closed_by_the_pool),
      scripted_set_test(target_of_tracepoints_is_removed_by_the_pool),
      scripted_set_test(events_that_leave_are_disabled_first_and_closed_last),
      scripted_set_test(targets_removed_at_the_same_time_are_closed_together),
      scripted_set_test(events_are_closed_by_the_pool_if_they_are_64_or_more),
      scripted_set_test(target_that_comes_too_late_is_closed_by_the_pool),
      scripted_set_test(set_of_tracepoints_closes_though_calls_fail),
      scripted_set_test(set_of_tracepoints_closes_without_memory),
      scripted_set_test(set_that_the_pool_refuses_is_closed_at_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
