/* SPDX-License-Identifier: MIT */
/* Live: what a turn of the loop does without: no system call to detect a forked
 * child, no clock for a single record, one timer for two purposes. */
#include "live_rings.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include "fake_clock.h"
#include "fake_kernel.h"
#include "sys/sys.h"

/* Runs until the registrations are complete. */
static live_rings_t *make_registered(uv_loop_t *loop, size_t rings) {
  live_rings_t *watched = live_rings_make(loop);

  live_rings_add_own(watched, rings);
  live_rings_start(watched);
  live_run_ms(loop, 20);
  return watched;
}

/* -- the process ---------------------------------------------------------- */

static void watch_turns_ask_no_getpid(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;
  unsigned calls;

  support_need_own_events(__func__);
  calls = fake_count(FAKE_GETPID);
  watched = make_registered(*state, 1);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->total, 1));
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->total, 2));
  assert_int_equal(fake_count(FAKE_GETPID), calls);
  live_rings_unmake(watched);
}

static void run_in_thread(void *arg) {
  live_rings_t *watched = arg;

  live_run_until(watched->loop, &watched->total, 2);
}

static void watch_loop_moves_to_another_thread_goes_on(void **state) {
  live_rings_t *watched;
  uv_thread_t thread;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_registered(*state, 1);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->total, 1));
  live_comm(&next, 1);
  assert_int_equal(uv_thread_create(&thread, run_in_thread, watched), 0);
  uv_thread_join(&thread);
  assert_int_equal(watched->total, 2);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->total, 3));
  live_rings_unmake(watched);
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

static void watch_forked_child_takes_no_turn(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_registered(*state, 1);
  live_comm(&next, 1);
  assert_int_equal(fork_and_wait(watched), 0);
  live_rings_unmake(watched);
}

static void watch_forked_child_of_another_thread_takes_no_turn(void **state) {
  forker_t forker = {NULL, -1};
  uv_thread_t thread;
  uint64_t next = 0;

  support_need_own_events(__func__);
  forker.watched = make_registered(*state, 1);
  live_comm(&next, 1);
  assert_int_equal(uv_thread_create(&thread, fork_in_thread, &forker), 0);
  uv_thread_join(&thread);
  assert_int_equal(forker.status, 0);
  assert_int_equal(forker.watched->total, 1);
  live_rings_unmake(forker.watched);
}

/* -- the clock ------------------------------------------------------------ */

static void watch_slice_of_one_record_reads_no_clock(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;
  uint64_t looks;

  support_need_own_events(__func__);
  watched = make_registered(*state, 1);
  looks = fake_clock_looks();
  live_comm(&next, 1);
  while (watched->total < 1)
    uv_run(*state, UV_RUN_ONCE);
  assert_int_equal(fake_clock_looks(), looks);
  live_rings_unmake(watched);
}

static void write_another(live_rings_t *watched) {
  uint64_t next = 20;

  watched->hook = NULL;
  live_comm(&next, 1);
}

/* One that comes while the first is delivered is not forgotten. */
static void watch_record_that_comes_during_the_only_one_is_next(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_registered(*state, 1);
  watched->hook = write_another;
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->total, 2));
  live_rings_unmake(watched);
}

/* As if each callback took more than a slice's time. */
static void take_long(live_rings_t *watched) {
  fake_clock_set(watched->total * 10 * live_rings_plain.slice_ns);
}

static void assert_slices(uv_loop_t *loop, live_rings_t *watched, uint64_t nr) {
  uint64_t slices = uvperf__watch_slices(watched->watch);

  watched->hook = take_long;
  fake_clock_set(1);
  while (uvperf__watch_slices(watched->watch) < slices + nr)
    uv_run(loop, UV_RUN_ONCE);
  fake_clock_set(0);
  assert_int_equal(watched->total, nr);
  live_rings_unmake(watched);
}

static void watch_slow_records_of_one_ring_are_a_slice_each(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_registered(*state, 1);
  live_comm(&next, 3);
  assert_slices(*state, watched, 3);
}

static void watch_slow_records_of_three_rings_are_a_slice_each(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_registered(*state, 3);
  live_comm(&next, 1);
  assert_slices(*state, watched, 3);
}

static void add_ring(live_rings_t *watched) {
  uint64_t next = 10;

  take_long(watched);
  if (watched->nr > 1)
    return;
  live_rings_add_own(watched, 1);
  live_comm(&next, 1);
}

/* The slice of a single record has read no clock, so it ends with that. */
static void
watch_ring_queued_by_a_single_record_has_its_own_slice(void **state) {
  live_rings_t *watched;
  uint64_t slices;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_registered(*state, 1);
  live_comm(&next, 1);
  slices = uvperf__watch_slices(watched->watch);
  watched->hook = add_ring;
  fake_clock_set(1);
  while (watched->total < 1)
    uv_run(*state, UV_RUN_ONCE);
  assert_int_equal(watched->total, 1);
  while (watched->total < 3)
    uv_run(*state, UV_RUN_ONCE);
  fake_clock_set(0);
  assert_int_equal(uvperf__watch_slices(watched->watch), slices + 3);
  live_rings_unmake(watched);
}

/* -- the timer ------------------------------------------------------------- */

/* A watch whose ring does not wake. */
static live_rings_t *make_silent(uv_loop_t *loop, uint64_t flush_ms) {
  uvperf__watch_options_t options = live_rings_plain;
  live_rings_t *watched = live_rings_make(loop);
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  uvperf_attr_set_wakeup_bytes(&attr, 2048);
  watched->fds[0] = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  live_rings_add(watched, watched->fds[0], &watched->fds[0], 1);
  options.flush_ms = flush_ms;
  assert_int_equal(uvperf__watch_start(watched->watch, &options), 0);
  live_run_ms(loop, 5);
  return watched;
}

static void watch_keeps_flushing_before_a_later_flush_in(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;
  uint64_t nr;

  support_need_own_events(__func__);
  watched = make_silent(*state, 5);
  uvperf__watch_flush_in(watched->watch, 1000000);
  for (nr = 1; nr <= 3; nr++) {
    live_comm(&next, 1);
    assert_true(live_run_until(*state, &watched->total, nr));
  }
  assert_int_equal(uvperf__watch_wakeups(watched->watch), 0);
  live_rings_unmake(watched);
}

static void watch_flush_in_comes_before_the_flush_timer(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_silent(*state, 1000000);
  live_comm(&next, 1);
  uvperf__watch_flush_in(watched->watch, 5);
  assert_true(live_run_until(*state, &watched->total, 1));
  live_rings_unmake(watched);
}

/* flush_in is called when the flush is overdue, because the loop has not
 * run. */
static void watch_overdue_flush_comes_despite_flush_in(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_silent(*state, 5);
  live_comm(&next, 1);
  uv_sleep(20);
  uv_update_time(*state);
  uvperf__watch_flush_in(watched->watch, 1000000);
  assert_true(live_run_until(*state, &watched->total, 1));
  live_rings_unmake(watched);
}

/* Watches that wait are not a turn each. */
static void watches_started_apart_flush_in_the_same_turn(void **state) {
  live_rings_t *watched[4];
  uint64_t next = 0;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < 4; i++) {
    watched[i] = make_silent(*state, 50);
    uv_sleep(7);
  }
  assert_true(live_run_ms(*state, 500) <= 10 + 3);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched[0]->total, 1));
  for (i = 0; i < 4; i++) {
    assert_int_equal(watched[i]->total, 1);
    live_rings_unmake(watched[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(watch_turns_ask_no_getpid),
      support_loop_test(watch_loop_moves_to_another_thread_goes_on),
      support_loop_test(watch_forked_child_takes_no_turn),
      support_loop_test(watch_forked_child_of_another_thread_takes_no_turn),
      support_loop_test(watch_slice_of_one_record_reads_no_clock),
      support_loop_test(watch_record_that_comes_during_the_only_one_is_next),
      support_loop_test(watch_slow_records_of_one_ring_are_a_slice_each),
      support_loop_test(watch_slow_records_of_three_rings_are_a_slice_each),
      support_loop_test(watch_ring_queued_by_a_single_record_has_its_own_slice),
      support_loop_test(watch_keeps_flushing_before_a_later_flush_in),
      support_loop_test(watch_flush_in_comes_before_the_flush_timer),
      support_loop_test(watch_overdue_flush_comes_despite_flush_in),
      support_loop_test(watches_started_apart_flush_in_the_same_turn),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
