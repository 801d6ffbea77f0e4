/* SPDX-License-Identifier: MIT */
/* The timer of a watch: periodic flushes, the one that was requested, and which
 * of them comes first. */
#include "support.h"

#include "loop/flush_timer.h"

/* Much longer than any test: the next multiple of it is hardly ever near. */
#define FAR_MS 1000000000

typedef struct due_s {
  uvperf__flush_timer_t timer;
  int flushes;
  int stop_after; /* flushes; 0: never */
  uint64_t at;    /* the last one, by uv_now */
} due_t;

static void on_due(uvperf__flush_timer_t *timer) {
  due_t *due = timer->timer.data;

  due->flushes += 1;
  due->at = uv_now(timer->timer.loop);
  if (due->flushes == due->stop_after) {
    uvperf__flush_timer_stop(timer);
    uv_stop(timer->timer.loop);
  }
}

static void init(due_t *due, uv_loop_t *loop) {
  memset(due, 0, sizeof(*due));
  uvperf__flush_timer_init(&due->timer, loop, on_due, due);
}

static void end(due_t *due) {
  if (!uv_is_closing((uv_handle_t *)&due->timer.timer))
    uv_close((uv_handle_t *)&due->timer.timer, NULL);
  uv_run(due->timer.timer.loop, UV_RUN_DEFAULT);
}

static int is_armed(const due_t *due) {
  return uv_is_active((const uv_handle_t *)&due->timer.timer);
}

/* Runs the loop, which the timer does not keep alive, until the callback has
 * stopped it. */
static void run_until_stopped(due_t *due, int flushes) {
  due->stop_after = flushes;
  uv_ref((uv_handle_t *)&due->timer.timer);
  uv_run(due->timer.timer.loop, UV_RUN_DEFAULT);
  uv_unref((uv_handle_t *)&due->timer.timer);
  assert_int_equal(due->flushes, flushes);
}

static void flush_timer_start_flushes_come_until_stop(void **state) {
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_start(&due.timer, 1);
  run_until_stopped(&due, 3);
  assert_false(is_armed(&due));
  end(&due);
}

/* Started at different times, with different intervals. */
static void flush_timer_of_each_watch_fires_at_the_same_time(void **state) {
  static const uint64_t interval[3] = {40, 40, 80};
  uint64_t started;
  due_t due[3];
  size_t i;

  for (i = 0; i < 3; i++) {
    uv_sleep(7);
    uv_update_time(*state);
    started = uv_now(*state);
    init(&due[i], *state);
    uvperf__flush_timer_start(&due[i].timer, interval[i]);
    assert_true(due[i].timer.flush_at > started);
    assert_true(due[i].timer.flush_at <= started + interval[i]);
    assert_int_equal(due[i].timer.flush_at % interval[i], 0);
  }
  for (i = 0; i < 2; i++) {
    due[2].flushes = 0;
    run_until_stopped(&due[2], 1);
    assert_int_equal(due[0].at, due[2].at);
    assert_int_equal(due[1].at, due[2].at);
    uvperf__flush_timer_start(&due[2].timer, interval[2]);
  }
  for (i = 0; i < 3; i++)
    end(&due[i]);
}

static void flush_timer_start_with_0_is_not_armed(void **state) {
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_start(&due.timer, FAR_MS);
  assert_true(is_armed(&due));
  uvperf__flush_timer_start(&due.timer, 0);
  assert_false(is_armed(&due));
  end(&due);
}

static void flush_timer_armed_does_not_keep_the_loop_alive(void **state) {
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_start(&due.timer, FAR_MS);
  uvperf__flush_timer_once(&due.timer, FAR_MS);
  assert_false(uv_loop_alive(*state));
  end(&due);
}

static void
flush_timer_once_comes_once_and_the_next_flush_is_armed(void **state) {
  uint64_t flush_at;
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_start(&due.timer, FAR_MS);
  flush_at = due.timer.flush_at;
  uvperf__flush_timer_once(&due.timer, 1);
  uv_ref((uv_handle_t *)&due.timer.timer);
  while (due.flushes == 0)
    uv_run(*state, UV_RUN_ONCE);
  assert_int_equal(due.flushes, 1);
  assert_int_equal(due.timer.once_at, 0);
  assert_int_equal(due.timer.flush_at, flush_at);
  assert_true(is_armed(&due));
  end(&due);
}

static void flush_timer_once_without_periodic_flushes_comes_too(void **state) {
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_once(&due.timer, 1);
  run_until_stopped(&due, 1);
  assert_false(is_armed(&due));
  end(&due);
}

static void
flush_timer_once_earlier_one_is_kept_later_one_gives_way(void **state) {
  uint64_t at;
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_once(&due.timer, FAR_MS);
  at = due.timer.once_at;
  uvperf__flush_timer_once(&due.timer, FAR_MS + 1);
  assert_int_equal(due.timer.once_at, at);
  uvperf__flush_timer_once(&due.timer, FAR_MS / 2);
  assert_int_equal(due.timer.once_at, at - FAR_MS / 2);
  end(&due);
}

static void flush_timer_stop_takes_both_away(void **state) {
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_start(&due.timer, FAR_MS);
  uvperf__flush_timer_once(&due.timer, FAR_MS);
  uvperf__flush_timer_stop(&due.timer);
  assert_false(is_armed(&due));
  assert_int_equal(due.timer.flush_at, 0);
  assert_int_equal(due.timer.once_at, 0);
  end(&due);
}

static void flush_timer_closed_by_others_is_left_alone(void **state) {
  due_t due;

  init(&due, *state);
  uvperf__flush_timer_start(&due.timer, FAR_MS);
  uv_close((uv_handle_t *)&due.timer.timer, NULL);
  uvperf__flush_timer_once(&due.timer, 1);
  uvperf__flush_timer_stop(&due.timer);
  end(&due);
  assert_int_equal(due.flushes, 0);
}

static void flush_timer_is_known_by_its_handle(void **state) {
  uv_timer_t other;
  uv_idle_t idle;
  due_t due;

  init(&due, *state);
  uv_timer_init(*state, &other);
  uv_idle_init(*state, &idle);
  assert_true(uvperf__flush_timer_is((uv_handle_t *)&due.timer.timer));
  assert_false(uvperf__flush_timer_is((uv_handle_t *)&other));
  assert_false(uvperf__flush_timer_is((uv_handle_t *)&idle));
  uv_close((uv_handle_t *)&other, NULL);
  uv_close((uv_handle_t *)&idle, NULL);
  end(&due);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(flush_timer_start_flushes_come_until_stop),
      support_loop_test(flush_timer_of_each_watch_fires_at_the_same_time),
      support_loop_test(flush_timer_start_with_0_is_not_armed),
      support_loop_test(flush_timer_armed_does_not_keep_the_loop_alive),
      support_loop_test(
          flush_timer_once_comes_once_and_the_next_flush_is_armed),
      support_loop_test(flush_timer_once_without_periodic_flushes_comes_too),
      support_loop_test(
          flush_timer_once_earlier_one_is_kept_later_one_gives_way),
      support_loop_test(flush_timer_stop_takes_both_away),
      support_loop_test(flush_timer_closed_by_others_is_left_alone),
      support_loop_test(flush_timer_is_known_by_its_handle),
  };

  return cmocka_run_group_tests_name("flush_timer", tests, NULL, NULL);
}
