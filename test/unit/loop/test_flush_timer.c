/* SPDX-License-Identifier: MIT */
/* The timer of the flushes of a loop: periodic flushes, those that were
 * requested, and which of them comes first. */
#include "support.h"

#include "loop/flush_timer.h"

/* Much longer than any test: the next multiple of it is hardly ever near. */
#define FAR_MS 1000000000
#define NR_INTERVALS 7

typedef struct due_s {
  uvperf__flush_t flush;
  int flushes;
  int stop_after; /* flushes; 0: never */
  uint64_t at;    /* the last one, by uv_now */
} due_t;

static uvperf__flush_timer_t timer;
static int fired;

static void on_due(uvperf__flush_t *flush) {
  due_t *due = (due_t *)flush;

  due->flushes += 1;
  due->at = uv_now(timer.timer.loop);
  if (due->flushes == due->stop_after) {
    uvperf__flush_stop(flush);
    uv_stop(timer.timer.loop);
  }
}

static void on_fired(uvperf__flush_timer_t *at) {
  assert_ptr_equal(at, &timer);
  fired += 1;
}

static void init(due_t *due) {
  memset(due, 0, sizeof(*due));
  uvperf__flush_init(&due->flush, &timer, on_due);
}

static int setup(void **state) {
  int rc = support_loop_setup(state);

  if (rc == 0)
    uvperf__flush_timer_init(&timer, *state, on_fired);
  fired = 0;
  return rc;
}

static int teardown(void **state) {
  if (!uv_is_closing((uv_handle_t *)&timer.timer))
    uv_close((uv_handle_t *)&timer.timer, NULL);
  return support_loop_teardown(state);
}

static int is_armed(void) {
  return uv_is_active((const uv_handle_t *)&timer.timer);
}

/* Runs the loop, which the timer does not keep alive, until the callback has
 * stopped it. */
static void run_until_stopped(due_t *due, int flushes) {
  due->stop_after = flushes;
  uv_ref((uv_handle_t *)&timer.timer);
  uv_run(timer.timer.loop, UV_RUN_DEFAULT);
  uv_unref((uv_handle_t *)&timer.timer);
  assert_int_equal(due->flushes, flushes);
}

static void flush_timer_start_flushes_come_until_stop(void **state) {
  due_t due;

  init(&due);
  uvperf__flush_start(&due.flush, 1);
  run_until_stopped(&due, 3);
  assert_int_equal(fired, 3);
  assert_false(is_armed());
}

/* Started at different times, with different intervals. */
static void flush_timer_of_each_watch_fires_at_the_same_time(void **state) {
  static const uint64_t interval[3] = {40, 40, 80};
  due_t due[3];
  size_t i;

  for (i = 0; i < 3; i++) {
    uv_sleep(7);
    uv_update_time(*state);
    init(&due[i]);
    uvperf__flush_start(&due[i].flush, interval[i]);
  }
  for (i = 0; i < 2; i++) {
    due[2].flushes = 0;
    run_until_stopped(&due[2], 1);
    assert_int_equal(due[0].at, due[2].at);
    assert_int_equal(due[1].at, due[2].at);
    uvperf__flush_start(&due[2].flush, interval[2]);
  }
  for (i = 0; i < 3; i++)
    uvperf__flush_stop(&due[i].flush);
  assert_false(is_armed());
}

static void flush_timer_of_many_intervals_has_each_at_its_time(void **state) {
  due_t due[NR_INTERVALS];
  due_t last;
  size_t i;

  for (i = 0; i < NR_INTERVALS; i++) {
    init(&due[i]);
    uvperf__flush_start(&due[i].flush, i + 1);
    assert_true(timer.armed_at > uv_now(*state));
    assert_true(timer.armed_at <= uv_now(*state) + 1);
  }
  init(&last);
  uvperf__flush_start(&last.flush, 100);
  run_until_stopped(&last, 1);
  for (i = 0; i < NR_INTERVALS; i++) {
    assert_true(due[i].flushes > 0);
    assert_true(due[i].at + i + 1 > last.at);
    uvperf__flush_stop(&due[i].flush);
  }
  assert_false(is_armed());
}

static void flush_timer_start_with_0_is_not_armed(void **state) {
  due_t due;

  init(&due);
  uvperf__flush_start(&due.flush, FAR_MS);
  assert_true(is_armed());
  uvperf__flush_start(&due.flush, 0);
  assert_false(is_armed());
}

static void flush_timer_armed_does_not_keep_the_loop_alive(void **state) {
  due_t due;

  init(&due);
  uvperf__flush_start(&due.flush, FAR_MS);
  uvperf__flush_once(&due.flush, FAR_MS);
  assert_false(uv_loop_alive(*state));
}

static void
flush_timer_once_comes_once_and_the_next_flush_is_armed(void **state) {
  due_t due, other;

  init(&due);
  init(&other);
  uvperf__flush_start(&due.flush, FAR_MS);
  uvperf__flush_once(&due.flush, 1);
  uvperf__flush_once(&other.flush, FAR_MS / 2);
  uv_ref((uv_handle_t *)&timer.timer);
  while (due.flushes == 0)
    uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(due.flushes, 1);
  assert_int_equal(other.flushes, 0);
  assert_int_equal(due.flush.once_at, 0);
  assert_true(timer.armed_at > uv_now(*state));
}

static void flush_timer_once_without_periodic_flushes_comes_too(void **state) {
  due_t due;

  init(&due);
  uvperf__flush_once(&due.flush, 1);
  run_until_stopped(&due, 1);
  assert_false(is_armed());
}

static void
flush_timer_once_earlier_one_is_kept_later_one_gives_way(void **state) {
  uint64_t at;
  due_t due;

  init(&due);
  uvperf__flush_once(&due.flush, FAR_MS);
  at = due.flush.once_at;
  assert_int_equal(timer.armed_at, at);
  uvperf__flush_once(&due.flush, FAR_MS + 1);
  assert_int_equal(due.flush.once_at, at);
  uvperf__flush_once(&due.flush, FAR_MS / 2);
  assert_int_equal(due.flush.once_at, at - FAR_MS / 2);
  assert_int_equal(timer.armed_at, at - FAR_MS / 2);
}

static void flush_timer_stop_takes_both_away(void **state) {
  due_t due, other;

  init(&due);
  init(&other);
  uvperf__flush_start(&due.flush, FAR_MS);
  uvperf__flush_start(&other.flush, FAR_MS);
  uvperf__flush_once(&due.flush, FAR_MS);
  uvperf__flush_stop(&due.flush);
  assert_true(is_armed());
  uvperf__flush_stop(&other.flush);
  assert_false(is_armed());
}

static void flush_timer_closed_by_others_is_left_alone(void **state) {
  due_t due;

  init(&due);
  uvperf__flush_start(&due.flush, FAR_MS);
  uv_close((uv_handle_t *)&timer.timer, NULL);
  uvperf__flush_once(&due.flush, 1);
  uvperf__flush_stop(&due.flush);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(due.flushes, 0);
}

static void flush_timer_is_known_by_its_handle(void **state) {
  uv_timer_t other;
  uv_idle_t idle;

  uv_timer_init(*state, &other);
  uv_idle_init(*state, &idle);
  assert_true(uvperf__flush_timer_is((uv_handle_t *)&timer.timer));
  assert_false(uvperf__flush_timer_is((uv_handle_t *)&other));
  assert_false(uvperf__flush_timer_is((uv_handle_t *)&idle));
  uv_close((uv_handle_t *)&other, NULL);
  uv_close((uv_handle_t *)&idle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
}

#define TEST(f) support_loop_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(flush_timer_start_flushes_come_until_stop),
      TEST(flush_timer_of_each_watch_fires_at_the_same_time),
      TEST(flush_timer_of_many_intervals_has_each_at_its_time),
      TEST(flush_timer_start_with_0_is_not_armed),
      TEST(flush_timer_armed_does_not_keep_the_loop_alive),
      TEST(flush_timer_once_comes_once_and_the_next_flush_is_armed),
      TEST(flush_timer_once_without_periodic_flushes_comes_too),
      TEST(flush_timer_once_earlier_one_is_kept_later_one_gives_way),
      TEST(flush_timer_stop_takes_both_away),
      TEST(flush_timer_closed_by_others_is_left_alone),
      TEST(flush_timer_is_known_by_its_handle),
  };

  return cmocka_run_group_tests_name("flush_timer", tests, NULL, NULL);
}
