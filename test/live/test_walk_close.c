/* SPDX-License-Identifier: MIT */
/* Other code closes inner handles of each kind of handle, by uv_walk with
 * uvperf_walk_close or without, all of them or one. What a handle does that is
 * closed afterwards is also in test_teardown.c. */
#include "life.h"

#include <unistd.h>

/* -- inner handles that others close --------------------------------------- */

/* Those of the loop are closed, and it is freed, before the owner is. */
static void handle_closed_after_the_loop_calls_back_at_once(life_t *life) {
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  int is_started;

  for (is_started = 0; is_started < 2; is_started++) {
    life_open(life);
    if (is_started)
      life_start(life);
    if (is_started)
      life_write(life, 3);
    life_uv_close_all(life->loop);
    life_free_loop(life);
    uvperf_stats(life->handle, &stats);
    assert_int_equal(stats.records, 0);
    assert_int_equal(uvperf_ring(life->handle, 0, &ring), 0);
    assert_int_equal(ring.waiting != 0, is_started);
    life_close(life);
    life_expect_now(life, "closed");
    life_end(life);
  }
}

/* It is told apart from a handle that closes. */
static void handle_uv_closed_by_others_cannot_be_started(life_t *life) {
  int turns;

  for (turns = 0; turns < 4; turns++) {
    life_reach(life, LIFE_STARTED);
    life_uv_close_all(life->loop);
    life_turns(life, turns);
    assert_int_equal(uvperf_is_closing(life->handle), 0);
    assert_int_equal(life_try_start(life), UV_EALREADY);
    life_stop(life);
    if (life->kind == LIFE_FLIGHT) { /* which the loop does not serve */
      life_start(life);
    } else {
      assert_int_equal(life_try_start(life), UV_EINVAL);
      assert_int_equal(uvperf_is_active(life->handle), 0);
    }
    /* What is there can still be taken, but not by the loop. */
    if (life->kind & LIFE_FLIGHTS) {
      assert_int_equal(life_snap_later(life, 0), UV_EINVAL);
      assert_int_equal(life->error.cause, UVPERF_CAUSE_LOOP);
      assert_false(fake_pool_waits());
      assert_int_equal(life_snap(life, 0), 0);
    } else {
      assert_int_equal(uvperf_flush(life->handle), 0);
    }
    life_expect_now(life, "%d", LIFE_WRITTEN);
    life_end(life);
  }
}

static void close_type(uv_handle_t *handle, void *type) {
  if (handle->type == *(uv_handle_type *)type && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

/* Without one of them records would wait for ever, or targets end unseen. */
static void handle_without_one_inner_handle_is_not_started(life_t *life) {
  static const uv_handle_type types[] = {UV_IDLE, UV_CHECK, UV_TIMER};
  size_t i;

  for (i = 0; i < 3; i++) {
    life_open(life);
    life_start(life);
    life_turns(life, 5);
    life_stop(life);
    uv_walk(life->loop, close_type, (void *)&types[i]);
    assert_int_equal(life_try_start(life), UV_EINVAL);
    assert_int_equal(uvperf_is_active(life->handle), 0);
    life_end(life);
  }
}

static void uv_close_nth(uv_handle_t *handle, void *arg) {
  int *left = arg;

  if (uv_is_closing(handle))
    return;
  if (*left == 0)
    uv_close(handle, NULL);
  *left -= 1;
}

/* The n-th is closed by others in a run of the loop before the rest is, by us
 * or by others. Returns whether there is an n-th. */
static int close_nth_first(life_t *life, int n, life_fn closer) {
  int left = n;
  int was_active;

  life_open(life);
  life_start(life);
  was_active = uvperf_is_active(life->handle);
  uv_walk(life->loop, uv_close_nth, &left);
  life_turns(life, 1);
  was_active -= uvperf_is_active(life->handle); /* the hub is gone */
  closer(life);
  assert_int_equal(life->closed, 0);
  life_expect(life, "%sclosed", was_active ? "ECANCELED " : "");
  life_end(life);
  return left < 0;
}

static void handle_of_which_others_closed_one_part_is_closed(life_t *life) {
  int n = 0;

  while (close_nth_first(life, n, life_close)) {
    assert_int_equal(close_nth_first(life, n, life_brute), 1);
    n++;
  }
  assert_in_range(n, 4, 12);
}

static void count_polls(uv_handle_t *handle, void *nr) {
  *(int *)nr += handle->type == UV_POLL;
}

/* Leaves what the loop needs to notice: the poll of the handle that was started
 * last, which is the last one. */
static void close_most(uv_handle_t *handle, void *polls) {
  if (handle->type == UV_CHECK || handle->type == UV_TIMER ||
      (handle->type == UV_POLL && --*(int *)polls > 0))
    uv_close(handle, NULL);
}

/* The close in the callback has nothing to wait for, so it is done at once. */
static void handle_closed_as_it_is_told_of_a_close_is_freed(life_t *life) {
  life_t *other;
  int polls = 0;

  life_open(life);
  life_start(life);
  other = life_add(life, LIFE_EVENT);
  life_open(other);
  life_start(other);
  life_turns(life, 5);
  uv_walk(life->loop, count_polls, &polls);
  uv_walk(life->loop, close_most, &polls);
  life_turns(life, 5);
  assert_string_equal(life_seen(life), "");
  life_act(life, LIFE_STATUS, 1, life_close);
  life_write(other, 1);
  life_expect(life, "ECANCELED closed");
  life_end(life);
}

/* -- uv_walk --------------------------------------------------------------- */

static void walk_close(uv_handle_t *handle, void *nr) {
  *(size_t *)nr += (size_t)uvperf_walk_close(handle);
}

/* Foreign handles have data that is not a pointer to follow. Ours are the
 * watch's one, the hub's three, one for each polled ring, the interval timer's
 * one, and the socket of those that follow CPUs, if there is one. */
static void walk_close_finds_each_inner_handle(life_t *life) {
  const int is_order = (life->kind & (LIFE_ORDER | LIFE_ORDER_FLIGHT)) != 0;
  int poison = 0x5a;
  uv_timer_t timer;
  size_t rings, nr, follows;
  uv_idle_t idle;
  uv_poll_t poll;
  int pipes[2];

  life_open(life);
  life_start(life);
  uv_timer_init(life->loop, &timer);
  uv_idle_init(life->loop, &idle);
  assert_int_equal(pipe(pipes), 0);
  uv_poll_init(life->loop, &poll, pipes[0]);
  timer.data = idle.data = poll.data = &poison;
  rings = life->kind & LIFE_PLAIN ? uvperf_nr_rings(life->handle) : 0;
  follows = is_order || life->kind & LIFE_READERS;
  nr = 0;
  uv_walk(life->loop, walk_close, &nr);
  nr -= 4 + rings + (life->kind == LIFE_LEADER ? 1 : 0) +
        (life->kind & LIFE_SETS ? 1 : 0);
  assert_in_range(nr, 0, follows);
  assert_false(uv_is_closing((uv_handle_t *)&timer));
  assert_false(uv_is_closing((uv_handle_t *)&idle));
  assert_false(uv_is_closing((uv_handle_t *)&poll));
  assert_int_equal(uvperf_is_closing(life->handle), 1);
  life_uv_close_all(life->loop);
  life_close(life);
  life_turns(life, 5);
  close(pipes[0]);
  close(pipes[1]);
  life_end(life);
}

int main(void) {
  const life_test_t tests[] = {
      LIFE_TEST(handle_closed_after_the_loop_calls_back_at_once, LIFE_ANY),
      LIFE_TEST(handle_uv_closed_by_others_cannot_be_started, LIFE_ANY),
      LIFE_TEST(handle_without_one_inner_handle_is_not_started, LIFE_PLAIN),
      LIFE_TEST(handle_of_which_others_closed_one_part_is_closed, LIFE_ANY),
      LIFE_TEST(handle_closed_as_it_is_told_of_a_close_is_freed, LIFE_PLAIN),
      LIFE_TEST(walk_close_finds_each_inner_handle, LIFE_ANY),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
