/* SPDX-License-Identifier: MIT */
/* How often the loop turns while a set waits: not for ever, and not repeatedly
 * for a record whose time has not come. The program is linked with --wrap for
 * uv_now. */
#include "scripted_set.h"

#include <poll.h>

#include "set/internal.h"

static uint64_t scripted_now; /* 0: the loop's time */

uint64_t __real_uv_now(const uv_loop_t *loop);

uint64_t __wrap_uv_now(const uv_loop_t *loop) {
  return scripted_now != 0 ? scripted_now : __real_uv_now(loop);
}

/* -- live ----------------------------------------------------------------- */

/* The end of one waits for the slack, and others can end meanwhile. */
static void set_end_that_waits_for_the_slack_lets_the_loop_sleep(void **state) {
  live_child_t children[2];
  live_stream_t stream;
  live_plan_t plan;
  int i;

  support_need_own_events(__func__);
  live_stream_plan(&plan);
  live_stream_plan_mode(&plan, 1);
  live_stream_plan_comm(&plan);
  plan.options.slack_us = 600000;
  for (i = 0; i < 2; i++) {
    live_child_fork(&children[i], 3);
    live_stream_plan_target(&plan, UVPERF_TARGET_THREAD, children[i].pid);
  }
  live_stream_begin(*state, &stream, &plan);
  live_run_ms(*state, 10);
  live_child_go(&children[0]);
  live_child_wait(&children[0]);
  assert_true(live_run_ms(*state, 400) < 60);
  assert_true(live_run_until(*state, &stream.nr_ends, 1));
  assert_int_equal(stream.comms, 3);
  live_child_go(&children[1]);
  live_child_wait(&children[1]);
  assert_true(live_run_until(*state, &stream.eofs, 1));
  assert_int_equal(stream.comms, 6);
  live_stream_close(&stream);
}

/* -- scripted ------------------------------------------------------------- */

static scripted_set_t scripted;

/* P7: a ring whose owner has hung up stays readable, also while its records
 * have to wait. */
static void set_ring_that_waits_and_has_hung_up_does_not_spin(void **state) {
  uint64_t begin;

  scripted_set_plan(&scripted, 1);
  scripted.make.options.slack_us = 1000000;
  scripted_set_open_planned(*state, &scripted);
  live_stream_start(&scripted.stream, NULL);
  live_run_ms(*state, 5);
  begin = uv_hrtime();
  scripted_set_sample(&scripted, 0, 100, begin - scripted.base);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  scripted.events[1]->revents = POLLHUP;
  fake_event_wake(scripted.events[1]);
  assert_true(live_run_ms(*state, 100) < 150);
  if (uv_hrtime() - begin < 1000000000) {
    assert_int_equal(scripted.stream.samples, 0);
    assert_int_equal(scripted.stream.faults, 0);
  }
  /* The record comes before the end is reported. */
  assert_int_equal(uvperf_flush(&scripted.stream.live.set.handle), 0);
  assert_int_equal(scripted.stream.samples, 1);
  assert_true(live_run_until(*state, &scripted.stream.faults, 1));
  assert_int_equal(scripted.stream.fault, UV_EMFILE);
  assert_int_equal(uvperf_is_active(&scripted.stream.live.set.handle), 1);
  fake_event_quiet(scripted.events[1]);
  scripted_set_close(&scripted);
}

/* A set that measures the calling thread, and waits for it to end. */
static set_t *begin_idle(uv_loop_t *loop, int32_t flush_ms) {
  uvperf_stream_options_t options = live_stream_plain;

  scripted_set_plan(&scripted, 0);
  scripted.make.targets[0].type = UVPERF_TARGET_SELF;
  scripted_set_open_planned(loop, &scripted);
  options.flush_ms = flush_ms;
  live_stream_start(&scripted.stream, &options);
  return scripted.stream.live.set.handle.impl;
}

static void end_target(void) {
  size_t i;

  for (i = 0; i < 4; i++)
    scripted.events[i]->revents = POLLHUP;
}

/* The deadline of live_run_ms is a turn, and may be two. */
static void set_idle_without_flushes_wakes_once_a_second(void **state) {
  unsigned polls;
  set_t *impl;

  impl = begin_idle(*state, -1);
  live_run_ms(*state, 1500);
  polls = fake_count(FAKE_POLL);
  assert_true(live_run_ms(*state, 1200) <= 2 + 2);
  assert_in_range(fake_count(FAKE_POLL) - polls, 1, 2);
  /* After an iteration with records the end is found sooner. */
  impl->probe_at = uv_now(*state) + 1000000;
  scripted_set_sample(&scripted, 0, 100, 1);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 1);
  assert_true(impl->probe_at <= uv_now(*state) + 200);
  /* After the record of an exit it is checked more often. */
  impl->probe_ms = 10;
  scripted_set_sample(&scripted, 0, 100, 2);
  scripted_set_wake(&scripted, 0);
  assert_int_equal(scripted.stream.samples, 2);
  assert_in_range(impl->probe_ms, 10, 20);
  scripted_set_close(&scripted);
}

/* Each flush finds ends, and a flush that finds nothing is one turn. */
static void set_idle_with_flushes_probes_in_them_alone(void **state) {
  uint64_t due;
  set_t *impl;

  impl = begin_idle(*state, 100);
  live_run_ms(*state, 20);
  due = uv_now(*state) + 1000000;
  impl->probe_at = due;
  assert_true(live_run_ms(*state, 1000) <= 10 + 2);
  assert_int_equal(impl->probe_at, due);
  end_target();
  assert_true(live_run_until(*state, &scripted.stream.nr_ends, 1));
  assert_int_equal(scripted.stream.eofs, 1);
  scripted_set_close(&scripted);
}

/* Makes the probe that is due next. Returns the interval after it. */
static uint64_t probe_next(set_t *impl) {
  scripted_now = impl->probe_at;
  assert_int_equal(uvperf__set_flush_due(impl), 0);
  return impl->probe_at - scripted_now;
}

/* For ten minutes, then after a record, then after the record of an exit. */
static void set_probes_more_rarely_until_something_happens(void **state) {
  uint64_t interval, begun;
  set_t *impl;

  impl = begin_idle(*state, -1);
  begun = impl->probe_at = scripted_now = 1000000;
  do {
    interval = probe_next(impl);
    assert_in_range(interval, 1, 1000);
  } while (scripted_now < begun + 600000);
  assert_int_equal(interval, 1000);
  uvperf__set_iteration_end(impl);
  assert_in_range(impl->probe_at - scripted_now, 1, 100);
  assert_in_range(probe_next(impl), 1, 200);
  uvperf__set_task_exited(impl);
  uvperf__set_iteration_end(impl);
  assert_int_equal(impl->probe_at, scripted_now + 10);
  assert_in_range(probe_next(impl), 1, 20);
  scripted_now = 0;
  scripted_set_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_end_that_waits_for_the_slack_lets_the_loop_sleep),
      scripted_set_test(set_ring_that_waits_and_has_hung_up_does_not_spin),
      scripted_set_test(set_idle_without_flushes_wakes_once_a_second),
      scripted_set_test(set_idle_with_flushes_probes_in_them_alone),
      scripted_set_test(set_probes_more_rarely_until_something_happens),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
