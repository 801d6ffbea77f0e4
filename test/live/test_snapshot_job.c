/* SPDX-License-Identifier: MIT */
/* Live: snapshots of each kind of handle on libuv's thread pool, which has one
 * thread here, while the loop continues, and the handle is closed or forked.
 * Their contents are in test_life_snapshot.c. */
#include "life.h"

#include <stdlib.h>
#include <unistd.h>

#include "live_busy_pool.h"

#define CLOSES 24

static live_busy_pool_t busy;

/* A snapshot waits for writers, and for a thread of the pool. */
static void begin(life_t *life) {
  fake_on_membarrier(NULL);
  fake_pool_pass();
  life_open(life);
  life_start(life);
  life_write(life, 5);
  live_busy_pool_begin(&busy, life->loop);
  assert_int_equal(life_snap_later(life, UVPERF_SNAPSHOT_OLDEST_FIRST), 0);
}

static void loop_goes_on_while_a_snapshot_waits_for_the_pool(life_t *life) {
  begin(life);
  life_write(life, 2); /* which are in it too */
  live_run_ms(life->loop, 5);
  life_expect_now(life, "%s", "");
  assert_int_equal(life_snap_later(life, 0), UV_EBUSY);
  live_busy_pool_end(&busy);
  life_expect(life, "7 done");
  /* A stopped snapshot delivers nothing, and loses nothing. */
  live_busy_pool_begin(&busy, life->loop);
  life_write(life, 3);
  assert_int_equal(life_snap_later(life, 0), 0);
  life_stop(life);
  live_busy_pool_end(&busy);
  life_expect(life, "done ECANCELED");
  assert_int_equal(life_snap_later(life, 0), 0);
  life_expect(life, "3 done");
}

/* It takes the pool some milliseconds: closed before, while and after. */
static void handle_closed_at_any_moment_of_its_snapshot_is_clean(life_t *life) {
  int i, turns;

  for (i = 0; i < CLOSES; i++) {
    begin(life);
    live_busy_pool_end(&busy);
    usleep((useconds_t)(i / 2 * 1500));
    for (turns = i % 2; turns > 0; turns--)
      uv_run(life->loop, UV_RUN_NOWAIT);
    life_close(life);
    while (life->closed == 0)
      life_turns(life, 1);
    if (life->records == 0)
      life_expect_now(life, "done ECANCELED closed");
    else
      life_expect_now(life, "5 done closed");
    life_end(life);
  }
}

static void handle_closed_by_others_waits_for_the_pool(life_t *life) {
  static void (*const closers[])(uv_loop_t * loop) = {life_walk_close_all,
                                                      life_uv_close_all};
  size_t bytes;
  int i;

  for (i = 0; i < 2; i++) {
    begin(life);
    closers[i](life->loop);
    live_run_ms(life->loop, 2);
    life_close(life);
    live_run_ms(life->loop, 2);
    life_expect_now(life, "%s", "");
    assert_true(support_count_rings(&bytes) > 0);
    live_busy_pool_end(&busy);
    life_expect(life, "done ECANCELED closed");
    life_end(life);
  }
}

/* The parent's request never ends in it. */
static int close_in_child(void *arg) {
  life_t *life = arg;

  if (uv_loop_fork(life->loop) != 0 || life_snap_later(life, 0) != UV_EPERM)
    return 1;
  life_close(life);
  life_turns(life, 5);
  if (strcmp(life_seen(life), "done ECANCELED closed") != 0)
    return 2;
  return uv_loop_close(life->loop) == UV_EBUSY ? 0 : 3;
}

static void child_forked_while_a_snapshot_is_taken_closes(life_t *life) {
  begin(life);
  assert_int_equal(support_wait(support_fork(close_in_child, life)), 0);
  live_busy_pool_end(&busy);
  life_expect(life, "5 done");
}

int main(void) {
  const unsigned int kinds = LIFE_FLIGHTS | LIFE_LIVE;
  const life_test_t tests[] = {
      LIFE_TEST(loop_goes_on_while_a_snapshot_waits_for_the_pool, kinds),
      LIFE_TEST(handle_closed_at_any_moment_of_its_snapshot_is_clean, kinds),
      LIFE_TEST(handle_closed_by_others_waits_for_the_pool, kinds),
      LIFE_TEST(child_forked_while_a_snapshot_is_taken_closes, kinds),
  };

  setenv("UV_THREADPOOL_SIZE", "1", 1);
  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
