/* SPDX-License-Identifier: MIT */
/* Live: the target of an event or of a set is gone. All its records come, then
 * UV_EOF, once. */
#include "life.h"

#define NR 50

static void end_child(live_child_t *child) {
  live_child_go(child);
  live_child_wait(child);
}

/* The loop has nothing to live for, and does not turn for a hang-up. */
static void expect_ended(life_t *life) {
  uvperf_stats_t stats;

  assert_int_equal(uvperf_is_active(life->handle), 0);
  assert_int_equal(uv_run(life->loop, UV_RUN_DEFAULT), 0);
  assert_true(live_run_ms(life->loop, 50) < 20);
  assert_int_equal(life_try_start(life), UV_EOF);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_NO_TASK);
  life_stop(life);
  assert_int_equal(uvperf_flush(life->handle), 0);
  assert_int_equal(uvperf_has_record(life->handle), 0);
  life_expect(life, "%s", "");
  uvperf_stats(life->handle, &stats);
  assert_true(stats.wakeups < NR + 10);
  life_end(life);
}

/* P7: POLLHUP alone, with every record still in the ring. */
static void target_that_exits_delivers_all_then_eof(life_t *life) {
  static const uint32_t slices[] = {0, 1, 7};
  live_child_t child;
  size_t i;

  for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
    life_open_child(life, &child, NR);
    life_start_with(life, slices[i], 0);
    life_turns(life, 5);
    end_child(&child);
    life_expect(life, "%d EOF", NR);
    expect_ended(life);
  }
}

static void target_gone_before_the_start_delivers_all_then_eof(life_t *life) {
  live_child_t child;

  life_open_child(life, &child, NR);
  life_enable(life);
  end_child(&child);
  life_start(life);
  life_expect(life, "%d EOF", NR);
  expect_ended(life);
}

static void target_gone_while_stopped_ends_after_the_next_start(life_t *life) {
  live_child_t child;

  life_open_child(life, &child, NR);
  life_start(life);
  life_turns(life, 5);
  life_stop(life);
  end_child(&child);
  life_expect(life, "%s", "");
  assert_int_equal(uvperf_flush(life->handle), 0);
  life_expect_now(life, "%d", NR);
  life_start(life);
  life_expect(life, "EOF");
  expect_ended(life);
}

static void handle_stopped_at_its_last_slice_ends_after_a_start(life_t *life) {
  live_child_t child;

  life_open_child(life, &child, NR);
  life_enable(life);
  end_child(&child);
  life_start_with(life, 0, UVPERF_START_SLICE_END);
  life_act(life, LIFE_SLICE, 1, life_stop);
  life_expect(life, "%d slice", NR);
  life_start(life);
  life_expect(life, "EOF");
  expect_ended(life);
}

static void next_of_a_target_that_is_gone_has_all_then_eof(life_t *life) {
  live_child_t child;
  int rc;

  life_open_child(life, &child, NR);
  life_enable(life);
  end_child(&child);
  do
    rc = life_next(life);
  while (rc == 0 || rc == UV_EAGAIN);
  assert_int_equal(rc, UV_EOF);
  assert_int_equal(life_next(life), UV_EOF);
  life_expect(life, "%d", NR);
}

int main(void) {
  const unsigned int kinds = LIFE_MORTAL | LIFE_LIVE;
  const life_test_t tests[] = {
      LIFE_TEST(target_that_exits_delivers_all_then_eof, kinds),
      LIFE_TEST(target_gone_before_the_start_delivers_all_then_eof, kinds),
      LIFE_TEST(target_gone_while_stopped_ends_after_the_next_start, kinds),
      LIFE_TEST(handle_stopped_at_its_last_slice_ends_after_a_start, kinds),
      LIFE_TEST(next_of_a_target_that_is_gone_has_all_then_eof, kinds),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
