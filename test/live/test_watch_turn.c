/* SPDX-License-Identifier: MIT */
/* Live: what a turn of the loop does without: no system call to detect a forked
 * child, no clock for a single record, one timer for two purposes. */
#include "live_rings.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include "fake_clock.h"
#include "fake_kernel.h"
#include "sys/sys.h"

/* -- the process ---------------------------------------------------------- */

static void watch_turns_ask_no_getpid(live_rings_t *watched) {
  unsigned calls;

  calls = fake_count(FAKE_GETPID);
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 1));
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 2));
  assert_int_equal(fake_count(FAKE_GETPID), calls);
}

static void run_in_thread(void *arg) {
  live_rings_t *watched = arg;

  live_run_until(watched->loop, &watched->total, 2);
}

static void watch_loop_moves_to_another_thread_goes_on(live_rings_t *watched) {
  uv_thread_t thread;

  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 1));
  live_rings_comm(watched, 1);
  assert_int_equal(uv_thread_create(&thread, run_in_thread, watched), 0);
  uv_thread_join(&thread);
  assert_int_equal(watched->total, 2);
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 3));
}

static int run_in_child(void *arg) {
  live_rings_t *watched = arg;
  uint64_t iterations = watched->iterations;

  if (uv_loop_fork(watched->loop) != 0)
    return 1;
  live_run_ms(watched->loop, 20);
  return watched->iterations == iterations && watched->total == 1 &&
                 !uvperf__watch_is_busy(watched->watch)
             ? 0
             : 2;
}

/* Forks while the parent's work is pending. */
static int fork_and_wait(live_rings_t *watched) {
  live_run_until(watched->loop, &watched->total, 1);
  uvperf__watch_drain(watched->watch);
  return support_wait(support_fork(run_in_child, watched));
}

typedef struct forker_s {
  live_rings_t *watched;
  int status; /* of the child */
} forker_t;

static void fork_in_thread(void *arg) {
  forker_t *forker = arg;

  forker->status = fork_and_wait(forker->watched);
}

static void watch_forked_child_takes_no_turn(live_rings_t *watched) {
  live_rings_comm(watched, 1);
  assert_int_equal(fork_and_wait(watched), 0);
}

static void
watch_forked_child_of_another_thread_takes_no_turn(live_rings_t *watched) {
  forker_t forker = {watched, -1};
  uv_thread_t thread;

  live_rings_comm(watched, 1);
  assert_int_equal(uv_thread_create(&thread, fork_in_thread, &forker), 0);
  uv_thread_join(&thread);
  assert_int_equal(forker.status, 0);
  assert_int_equal(watched->total, 1);
}

/* -- the clock ------------------------------------------------------------ */

static void watch_slice_of_one_record_reads_no_clock(live_rings_t *watched) {
  uint64_t looks;

  looks = fake_clock_looks();
  live_rings_comm(watched, 1);
  while (watched->total < 1)
    uv_run(watched->loop, UV_RUN_ONCE);
  assert_int_equal(fake_clock_looks(), looks);
}

static void write_another(live_rings_t *watched) {
  watched->hook = NULL;
  live_rings_comm(watched, 1);
}

/* One that comes while the first is delivered is not forgotten. */
static void
watch_record_that_comes_during_the_only_one_is_next(live_rings_t *watched) {
  watched->hook = write_another;
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 2));
}

/* As if each callback took more than a slice's time. */
static void take_long(live_rings_t *watched) {
  fake_clock_set(watched->total * 10 * live_rings_plain.slice_ns);
}

static void assert_slices(live_rings_t *watched, uint64_t nr) {
  uint64_t slices = uvperf__watch_slices(watched->watch);

  watched->hook = take_long;
  fake_clock_set(1);
  while (uvperf__watch_slices(watched->watch) < slices + nr)
    uv_run(watched->loop, UV_RUN_ONCE);
  fake_clock_set(0);
  assert_int_equal(watched->total, nr);
}

static void
watch_slow_records_of_one_ring_are_a_slice_each(live_rings_t *watched) {
  live_rings_comm(watched, 3);
  assert_slices(watched, 3);
}

static void
watch_slow_records_of_three_rings_are_a_slice_each(live_rings_t *watched) {
  live_rings_comm(watched, 1);
  assert_slices(watched, 3);
}

static void add_ring(live_rings_t *watched) {
  take_long(watched);
  if (watched->nr > 1)
    return;
  live_rings_add_own(watched, 1);
  live_rings_comm(watched, 1);
}

/* The slice of a single record has read no clock, so it ends with that. */
static void
watch_ring_queued_by_a_single_record_has_its_own_slice(live_rings_t *watched) {
  uint64_t slices;

  live_rings_comm(watched, 1);
  slices = uvperf__watch_slices(watched->watch);
  watched->hook = add_ring;
  fake_clock_set(1);
  while (watched->total < 1)
    uv_run(watched->loop, UV_RUN_ONCE);
  assert_int_equal(watched->total, 1);
  while (watched->total < 3)
    uv_run(watched->loop, UV_RUN_ONCE);
  fake_clock_set(0);
  assert_int_equal(uvperf__watch_slices(watched->watch), slices + 3);
}

/* -- the timer ------------------------------------------------------------- */

/* Starts with a ring that does not wake. */
static void start_silent(live_rings_t *watched, uint64_t flush_ms) {
  uvperf__watch_options_t options = live_rings_plain;

  live_rings_add_unwoken(watched);
  options.flush_ms = flush_ms;
  assert_int_equal(uvperf__watch_start(watched->watch, &options), 0);
  live_run_ms(watched->loop, 5);
}

static void
watch_keeps_flushing_before_a_later_flush_in(live_rings_t *watched) {
  uint64_t nr;

  start_silent(watched, 5);
  uvperf__watch_flush_in(watched->watch, 1000000);
  for (nr = 1; nr <= 3; nr++) {
    live_rings_comm(watched, 1);
    assert_true(live_run_until(watched->loop, &watched->total, nr));
  }
  assert_int_equal(live_rings_wakeups(watched), 0);
}

static void watch_flush_in_comes_before_the_flush_timer(live_rings_t *watched) {
  start_silent(watched, 1000000);
  live_rings_comm(watched, 1);
  uvperf__watch_flush_in(watched->watch, 5);
  assert_true(live_run_until(watched->loop, &watched->total, 1));
}

/* flush_in is called when the flush is overdue, because the loop has not
 * run. */
static void watch_overdue_flush_comes_despite_flush_in(live_rings_t *watched) {
  start_silent(watched, 5);
  live_rings_comm(watched, 1);
  uv_sleep(20);
  uv_update_time(watched->loop);
  uvperf__watch_flush_in(watched->watch, 1000000);
  assert_true(live_run_until(watched->loop, &watched->total, 1));
}

/* Watches that wait are not a turn each. */
static void watches_started_apart_flush_in_the_same_turn(live_rings_t *first) {
  live_rings_t *watched[4] = {first};
  size_t i;

  for (i = 0; i < 4; i++) {
    if (i > 0)
      watched[i] = live_rings_make(first->loop);
    start_silent(watched[i], 50);
    uv_sleep(7);
  }
  assert_true(live_run_ms(first->loop, 500) <= 10 + 3);
  live_rings_comm(first, 1);
  fake_clock_set(1); /* a slow machine has time for all of them, too */
  assert_true(live_run_until(first->loop, &first->total, 1));
  fake_clock_set(0);
  for (i = 0; i < 4; i++)
    assert_int_equal(watched[i]->total, 1);
  for (i = 1; i < 4; i++)
    live_rings_unmake(watched[i]);
}

static const live_rings_row_t rows[] = {
    LIVE_RINGS_ROW(watch_turns_ask_no_getpid, 1, LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_loop_moves_to_another_thread_goes_on, 1,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_forked_child_takes_no_turn, 1, LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_forked_child_of_another_thread_takes_no_turn, 1,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_slice_of_one_record_reads_no_clock, 1,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_record_that_comes_during_the_only_one_is_next, 1,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_slow_records_of_one_ring_are_a_slice_each, 1,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_slow_records_of_three_rings_are_a_slice_each, 3,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_ring_queued_by_a_single_record_has_its_own_slice, 1,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_keeps_flushing_before_a_later_flush_in, 0,
                   LIVE_RINGS_OPEN),
    LIVE_RINGS_ROW(watch_flush_in_comes_before_the_flush_timer, 0,
                   LIVE_RINGS_OPEN),
    LIVE_RINGS_ROW(watch_overdue_flush_comes_despite_flush_in, 0,
                   LIVE_RINGS_OPEN),
    LIVE_RINGS_ROW(watches_started_apart_flush_in_the_same_turn, 0,
                   LIVE_RINGS_OPEN),
};

int main(void) {
  return SUPPORT_RUN_LOOP_ROWS(rows, live_rings_run_row);
}
