/* SPDX-License-Identifier: MIT */
/* The life of a set: closing, by the user at every moment and by other code.
 * Closing inside its callback is in test_set_read_interval.c. */
#include "live_set.h"

#include <signal.h>

#include "fake_kernel.h"

/* Two dummies of the calling thread: any user may have them. */
static void plan_own(live_plan_t *plan) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  plan->attrs[0].exclude_kernel = 1;
  live_plan_software(plan, PERF_COUNT_SW_DUMMY);
  plan->attrs[1].exclude_kernel = 1;
  live_plan_target(plan, UVPERF_TARGET_SELF);
  plan->options.flags = UVPERF_SET_FIXED_CPUS;
}

static void open_own(uv_loop_t *loop, live_set_t *live) {
  live_plan_t plan;

  plan_own(&plan);
  live_set_begin(loop, live, &plan.options);
}

static void start(live_set_t *live) {
  assert_int_equal(uvperf_set_read_start(&live->set, 1, live_set_on_read, NULL),
                   0);
}

static void run_to_end(uv_loop_t *loop) {
  int turns;

  for (turns = 0; uv_run(loop, UV_RUN_NOWAIT) != 0 && turns < 100; turns++)
    continue;
  assert_in_range(turns, 0, 99);
}

static void set_close_right_after_init_is_clean(void **state) {
  size_t fds = support_count_fds();
  live_plan_t plan;
  live_set_t live;

  support_need_own_events(__func__);
  plan_own(&plan);
  live_set_open(*state, &live, &plan.options);
  assert_int_equal(support_count_fds(), fds + 2);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 0);
  live_set_close(&live);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

static void set_close_ends_readings_at_once(void **state) {
  live_set_t live;

  support_need_own_events(__func__);
  open_own(*state, &live);
  start(&live);
  assert_true(live_run_until(*state, &live.callbacks, 1));
  live.callbacks = 0;
  uvperf_close(&live.set.handle, live_set_on_close);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 1);
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  live_run_ms(*state, 10);
  assert_int_equal(live.callbacks, 0);
  assert_int_equal(live.closed, 1);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 1);
  uvperf_reading_free(live.reading);
  fake_assert_clean();
}

/* Closes the set in hook_data, and runs the loop. */
static void close_set(live_collector_t *collector,
                      const uvperf_record_t *record) {
  live_set_t *live = collector->hook_data;

  (void)record;
  uvperf_close(&live->set.handle, live_set_on_close);
  while (live->closed == 0)
    uv_run(collector->event.handle.loop, UV_RUN_NOWAIT);
}

static void flush_event(live_set_t *live) {
  live_collector_t *collector = live->hook_data;

  assert_int_equal(uvperf_flush(&collector->event.handle), 0);
}

static void set_closed_by_a_flush_in_its_read_callback_is_clean(void **state) {
  live_collector_t collector;
  uint64_t next = 0;
  live_set_t live;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  collector.hook = close_set;
  collector.hook_data = &live;
  live_start(&collector, NULL);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_comm(&next, 1);
  open_own(*state, &live);
  live.hook = flush_event;
  live.hook_data = &collector;
  start(&live);
  assert_true(live_run_until(*state, &live.callbacks, 1));
  assert_int_equal(live.closed, 1);
  assert_int_equal(collector.comms, 1);
  live_close(&collector);
  uvperf_reading_free(live.reading);
  fake_assert_clean();
}

/* Without a close callback: the handle's memory is needed until the loop has
 * run. */
static void set_close_without_callback_is_clean(void **state) {
  live_set_t live;

  support_need_own_events(__func__);
  open_own(*state, &live);
  uvperf_close(&live.set.handle, NULL);
  run_to_end(*state);
  uvperf_reading_free(live.reading);
  fake_assert_clean();
}

static void free_set(uvperf_handle_t *handle) {
  uvperf_set_t *set = uvperf_handle_set(handle);

  free(set);
}

static void set_freed_in_close_callback_is_clean(void **state) {
  uvperf_set_t *set;
  live_plan_t plan;

  support_need_own_events(__func__);
  set = malloc(sizeof(*set));
  plan_own(&plan);
  assert_int_equal(uvperf_set_init(*state, set, &plan.options, NULL), 0);
  uvperf_close(&set->handle, free_set);
  run_to_end(*state);
  fake_assert_clean();
}

/* The loop knows of nothing: it need not run before uv_loop_close. */
static void set_init_fails_leaves_struct_and_loop_alone(void **state) {
  uvperf_set_t *set;
  uvperf_error_t error;
  live_plan_t plan;
  uv_loop_t loop;

  (void)state;
  support_need_own_events(__func__);
  set = malloc(sizeof(*set));
  plan_own(&plan);
  plan.attrs[0].type = plan.attrs[1].type = 42;
  assert_int_equal(uv_loop_init(&loop), 0);
  memset(set, 0x5a, sizeof(*set));
  assert_int_equal(uvperf_set_init(&loop, set, &plan.options, &error),
                   UV_ENOENT);
  assert_int_equal(error.code, UV_ENOENT);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(uv_loop_close(&loop), 0);
  free(set);
  fake_assert_clean();
}

static void set_1000_cycles_leave_fds_and_memory_as_they_were(void **state) {
  size_t fds = support_count_fds();
  live_set_t live;
  int i;

  support_need_own_events(__func__);
  for (i = 0; i < 1000; i++) {
    open_own(*state, &live);
    start(&live);
    if (i % 100 == 0)
      assert_true(live_run_until(*state, &live.callbacks, 1));
    live_set_close(&live);
  }
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

/* -- what happens when ---------------------------------------------------- */

/* Nothing counts once close was called; fds are closed by the loop. */
static void set_close_disables_at_once_and_closes_later(void **state) {
  live_plan_t plan;
  live_set_t live;

  support_need_own_events(__func__);
  fake_event_add(1);
  fake_event_add(2);
  plan_own(&plan);
  live_set_begin(*state, &live, &plan.options);
  fake_log_clear();
  uvperf_close(&live.set.handle, live_set_on_close);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE");
  live_set_wait_closed(&live);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl DISABLE, close, close");
  fake_assert_clean();
}

static void set_closed_in_forked_child_only_closes_fds(void **state) {
  live_plan_t plan;
  live_set_t live;

  support_need_own_events(__func__);
  fake_event_add(1);
  fake_event_add(2);
  plan_own(&plan);
  live_set_begin(*state, &live, &plan.options);
  start(&live);
  fake_process(4711);
  fake_log_clear();
  live_run_ms(*state, 5);
  assert_int_equal(live.callbacks, 0);
  assert_string_equal(fake_log(), "");
  live_set_close(&live);
  assert_string_equal(fake_log(), "close, close");
  fake_process(0);
  fake_assert_clean();
}

/* -- teardown by others --------------------------------------------------- */

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

/* The interval timer's one, and the hub's three. */
static void walk_close_closes_sets_and_leaves_foreign_timers(void **state) {
  size_t fds = support_count_fds();
  int poison = 0x5a;
  live_set_t live;
  uv_timer_t timer;
  int ours = 0;

  support_need_own_events(__func__);
  open_own(*state, &live);
  start(&live);
  uv_timer_init(*state, &timer);
  timer.data = &poison;
  uv_walk(*state, walk_close, &ours);
  assert_int_equal(ours, 1 + 3);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 1);
  uvperf_close(&live.set.handle, live_set_on_close);
  live_set_wait_closed(&live);
  assert_int_equal(live.callbacks, 0);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

static void
walk_close_then_close_of_set_after_teardown_calls_back(void **state) {
  live_set_t live;
  int ours = 0;

  support_need_own_events(__func__);
  open_own(*state, &live);
  uv_walk(*state, walk_close, &ours);
  run_to_end(*state);
  assert_int_equal(ours, 1 + 3);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 1);
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  assert_int_equal(uvperf_has_ref(&live.set.handle), 0);
  uvperf_close(&live.set.handle, live_set_on_close);
  assert_int_equal(live.closed, 1);
  uvperf_reading_free(live.reading);
  fake_assert_clean();
}

static void set_timer_uv_closed_by_others_is_survived(void **state) {
  size_t fds = support_count_fds();
  live_set_t live;

  support_need_own_events(__func__);
  open_own(*state, &live);
  start(&live);
  uv_walk(*state, uv_close_all, NULL);
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  assert_int_equal(uvperf_is_closing(&live.set.handle), 0);
  live_set_close(&live);
  assert_int_equal(live.callbacks, 0);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

/* It can still be read and controlled, but not on the loop. */
static void set_closed_after_others_closed_its_timer_frees_all(void **state) {
  size_t fds = support_count_fds();
  live_set_t live;

  support_need_own_events(__func__);
  open_own(*state, &live);
  start(&live);
  uv_walk(*state, uv_close_all, NULL);
  run_to_end(*state);
  assert_int_equal(live.closed, 0);
  assert_int_equal(uvperf_set_read_start(&live.set, 1, live_set_on_read, NULL),
                   UV_EALREADY);
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  assert_int_equal(uvperf_set_read_start(&live.set, 1, live_set_on_read, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_COUNTING);
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_set_close(&live);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

/* -- programming errors --------------------------------------------------- */

static int close_twice(void *arg) {
  live_set_t *live = arg;

  uvperf_close(&live->set.handle, NULL);
  uvperf_close(&live->set.handle, NULL);
  return 0;
}

static int close_after_close_callback(void *arg) {
  live_set_t *live = arg;

  uv_loop_fork(live->set.handle.loop);
  live_set_close(live);
  uvperf_close(&live->set.handle, NULL);
  return 0;
}

static int read_after_close_callback(void *arg) {
  live_set_t *live = arg;

  uv_loop_fork(live->set.handle.loop);
  live_set_close(live);
  uvperf_set_read(&live->set, NULL, NULL);
  return 0;
}

/* While it closes, and in its close callback. */
static void expect_closing(uvperf_handle_t *handle) {
  uvperf_set_t *set = uvperf_handle_set(handle);
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_reading_t *reading;
  uvperf_stats_t stats;
  size_t nr;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf_stop(handle), 0);
  uvperf_stats(handle, &stats);
  assert_int_equal(uvperf_enable(handle, UVPERF_ALL, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_reset(handle, UVPERF_ALL, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_set_read(set, reading, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_set_read_stop(set), UV_ECANCELED);
  assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, NULL),
                   UV_ECANCELED);
  assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_set_fill_map(set, 0, 0, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_set_on_end(set, NULL), UV_ECANCELED);
  assert_int_equal(uvperf_set_nr_attrs(set), 2);
  assert_non_null(uvperf_set_item(set, 0));
  uvperf_set_failures(set, &nr);
  uvperf_set_nr_open(set);
  uvperf_set_fd(set, 0, 0);
  assert_null(uvperf_set_source(set, 1));
  uvperf_reading_free(reading);
}

static int closed;

static void expect_closing_there(uvperf_handle_t *handle) {
  expect_closing(handle);
  closed += 1;
}

static void set_that_closes_answers_until_its_close_callback(void **state) {
  live_set_t live;

  support_need_own_events(__func__);
  open_own(*state, &live);
  closed = 0;
  uvperf_close(&live.set.handle, expect_closing_there);
  expect_closing(&live.set.handle);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_int_equal(closed, 1);
  uvperf_reading_free(live.reading);
}

static int ask_after_close(void *arg) {
  live_set_t *live = arg;

  uvperf_close(&live->set.handle, NULL);
  uvperf_ref(&live->set.handle);
  uvperf_unref(&live->set.handle);
  uvperf_has_ref(&live->set.handle);
  return uvperf_is_active(&live->set.handle) +
         !uvperf_is_closing(&live->set.handle);
}

static void set_closed_twice_or_used_after_it_aborts(void **state) {
  live_set_t live;

#ifdef NDEBUG
  support_skip(__func__, "a build with asserts (no NDEBUG)");
#endif
  support_need_own_events(__func__);
  open_own(*state, &live);
  assert_int_equal(support_wait(support_fork(close_twice, &live)),
                   128 + SIGABRT);
  assert_int_equal(
      support_wait(support_fork(close_after_close_callback, &live)),
      128 + SIGABRT);
  assert_int_equal(support_wait(support_fork(read_after_close_callback, &live)),
                   128 + SIGABRT);
  assert_int_equal(support_wait(support_fork(ask_after_close, &live)), 0);
  live_set_close(&live);
}

static void set_size_equals_the_structs(void **state) {
  (void)state;
  assert_int_equal(uvperf_handle_size(UVPERF_HANDLE_SET), sizeof(uvperf_set_t));
}

#define SET_CLOSE(test)                                                        \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SET_CLOSE(set_close_right_after_init_is_clean),
      SET_CLOSE(set_close_ends_readings_at_once),
      SET_CLOSE(set_closed_by_a_flush_in_its_read_callback_is_clean),
      SET_CLOSE(set_close_without_callback_is_clean),
      SET_CLOSE(set_freed_in_close_callback_is_clean),
      SET_CLOSE(set_init_fails_leaves_struct_and_loop_alone),
      SET_CLOSE(set_1000_cycles_leave_fds_and_memory_as_they_were),
      SET_CLOSE(set_close_disables_at_once_and_closes_later),
      SET_CLOSE(set_closed_in_forked_child_only_closes_fds),
      SET_CLOSE(walk_close_closes_sets_and_leaves_foreign_timers),
      SET_CLOSE(walk_close_then_close_of_set_after_teardown_calls_back),
      SET_CLOSE(set_timer_uv_closed_by_others_is_survived),
      SET_CLOSE(set_closed_after_others_closed_its_timer_frees_all),
      SET_CLOSE(set_that_closes_answers_until_its_close_callback),
      SET_CLOSE(set_closed_twice_or_used_after_it_aborts),
      SET_CLOSE(set_size_equals_the_structs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
