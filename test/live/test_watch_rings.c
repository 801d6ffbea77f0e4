/* SPDX-License-Identifier: MIT */
/* Live: rings that are added while the watch is started, that end one by one,
 * that are drained later, and that are read together. */
#include "live_rings.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys/sys.h"

/* Runs until the registrations are complete. */
static void start_registered(live_rings_t *watched) {
  live_rings_start(watched);
  live_run_ms(watched->loop, 20);
  watched->iterations = watched->drains_all = 0;
}

/* -- rings that come ------------------------------------------------------ */

/* P2: wakeups before the ring was registered have no effect. */
static void watch_ring_added_while_started_delivers_what_it_held(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = live_rings_make(*state);
  live_rings_add_own(watched, 1);
  start_registered(watched);
  watched->fds[1] = live_rings_open(0, -1);
  assert_int_equal(uvperf__ring_map(&watched->rings[1], watched->fds[1],
                                    uvperf__ring_round(1), 0),
                   0);
  live_comm(&next, 3);
  watched->nr = 2;
  assert_int_equal(uvperf__watch_add(watched->watch, &watched->rings[1],
                                     &watched->fds[1], 1),
                   0);
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &watched->records[1], 5));
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &watched->records[1], 7));
  assert_int_equal(watched->records[0], 7);
  live_rings_unmake(watched);
}

static void add_once(live_rings_t *watched) {
  if (watched->nr == 1)
    live_rings_add_own(watched, 1);
}

static void comm_once(live_rings_t *watched) {
  uint64_t next = 10;

  if (watched->nr == 1)
    return;
  watched->iteration_hook = NULL;
  live_comm(&next, 1);
}

/* The ring is added and drained in the same turn. The record comes after that,
 * before the loop polls the ring: a turn later it has still to be drained. */
static void watch_ring_added_in_a_drain_registers_from_then(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = live_rings_make(*state);
  live_rings_add_own(watched, 1);
  live_comm(&next, 2);
  watched->hook = add_once;
  watched->iteration_hook = comm_once;
  live_rings_start(watched);
  assert_true(live_run_until(*state, &watched->records[1], 1));
  assert_int_equal(watched->records[0], 3);
  live_rings_unmake(watched);
}

static void watch_more_rings_do_not_move_those_that_are_polled(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;
  size_t i;

  support_need_own_events(__func__);
  watched = live_rings_make(*state);
  start_registered(watched);
  for (i = 0; i < LIVE_RINGS_RINGS; i++) {
    live_rings_add_own(watched, 1);
    uv_run(*state, UV_RUN_NOWAIT);
  }
  live_run_ms(*state, 20);
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &watched->total, 2 * LIVE_RINGS_RINGS));
  for (i = 0; i < LIVE_RINGS_RINGS; i++) {
    assert_int_equal(watched->records[i], 2);
    assert_true(uvperf__watch_ring_wakeups(watched->watch, i) >= 1);
  }
  live_rings_unmake(watched);
}

/* epoll_ctl(2) has no use for a plain file. */
static void watch_ring_that_cannot_be_polled_is_not_added(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;
  int fd;

  support_need_own_events(__func__);
  fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  watched = live_rings_make(*state);
  live_rings_start(watched);
  assert_int_equal(
      uvperf__watch_add(watched->watch, &watched->rings[0], &fd, 1), UV_EPERM);
  assert_int_equal(uvperf__watch_nr_rings(watched->watch), 0);
  live_rings_add_own(watched, 1);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->total, 1));
  live_rings_unmake(watched);
  close(fd);
}

/* -- rings that end ------------------------------------------------------- */

static void ends_one_by_one(live_rings_t *watched) {
  uint64_t next = 0;

  live_rings_add_own(watched, 2);
  start_registered(watched);
  watched->codes[0] = UV_EBADF;
  live_comm(&next, 3);
  assert_true(live_run_until(watched->loop, &watched->ring_ends, 1));
  assert_true(live_run_until(watched->loop, &watched->total, 3));
  assert_int_equal(watched->ended_ring, 0);
  assert_int_equal(watched->end_status, UV_EBADF);
  assert_int_equal(watched->ends, 0);
  assert_int_equal(uvperf__watch_has_ended(watched->watch, 0), UV_EBADF);
  watched->codes[0] = 0;
  live_comm(&next, 2);
  assert_true(live_run_until(watched->loop, &watched->total, 5));
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->records[0], 0);
  watched->codes[1] = UV_ENOMEM;
  live_comm(&next, 1);
  assert_true(live_run_until(watched->loop, &watched->ends, 1));
  assert_int_equal(watched->ended_ring, 1);
  assert_int_equal(watched->end_status, UV_ENOMEM);
  assert_int_equal(watched->ring_ends, 1);
  assert_int_equal(uvperf__watch_is_active(watched->watch), 0);
  assert_int_equal(uvperf__watch_start(watched->watch, &live_rings_plain),
                   UV_EOF);
  live_rings_unmake(watched);
}

static void watch_ring_ends_is_reported_and_the_others_go_on(void **state) {
  support_need_own_events(__func__);
  ends_one_by_one(live_rings_make(*state));
}

static void watch_together_ring_ends_the_others_go_on(void **state) {
  support_need_own_events(__func__);
  ends_one_by_one(live_rings_make_together(*state));
}

/* Existing records are left out, once for each check, and later ones are
 * delivered. */
static void skips_one(live_rings_t *watched) {
  uint64_t next = 0;

  live_rings_add_own(watched, 2);
  start_registered(watched);
  watched->codes[0] = UV_EPROTO;
  live_comm(&next, 3);
  assert_true(live_run_until(watched->loop, &watched->skips[0], 1));
  assert_true(live_run_until(watched->loop, &watched->total, 3));
  watched->codes[0] = 0;
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->records[0], 0);
  assert_true(watched->rings[0].skipped > 0);
  assert_int_equal(watched->rings[0].skipped, watched->rings[0].tail);
  assert_int_equal(watched->rings[0].page->data_tail, watched->rings[0].tail);
  assert_int_equal(uvperf__watch_has_ended(watched->watch, 0), 0);
  live_comm(&next, 2);
  assert_true(live_run_until(watched->loop, &watched->total, 7));
  assert_int_equal(watched->records[0], 2);
  assert_int_equal(watched->ring_ends + watched->ends, 0);
  live_rings_unmake(watched);
}

static void watch_ring_without_sense_is_skipped_and_read_on(void **state) {
  support_need_own_events(__func__);
  skips_one(live_rings_make(*state));
}

static void watch_together_ring_without_sense_is_read_on(void **state) {
  support_need_own_events(__func__);
  skips_one(live_rings_make_together(*state));
}

/* Every ring has ended, but one comes. */
static void watch_ring_after_all_have_ended_can_be_started(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = live_rings_make(*state);
  live_rings_add_own(watched, 1);
  watched->codes[0] = UV_EBADF;
  live_rings_start(watched);
  assert_true(live_run_until(*state, &watched->ends, 1));
  live_rings_add_own(watched, 1);
  live_comm(&next, 1);
  live_rings_start(watched);
  assert_true(live_run_until(*state, &watched->total, 1));
  assert_int_equal(watched->records[1], 1);
  live_rings_unmake(watched);
}

/* Flush drains without a turn; the ring may be in the queue. */
static void watch_ring_that_ends_in_a_flush_is_drained_no_more(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = live_rings_make(*state);
  live_rings_add_own(watched, 3);
  live_comm(&next, 1);
  live_rings_start(watched);
  watched->codes[1] = UV_EBADF;
  assert_int_equal(uvperf__watch_flush(watched->watch), 0);
  assert_int_equal(watched->ended_ring, 1);
  assert_int_equal(watched->total, 2);
  watched->codes[1] = 0;
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->total, 4));
  live_run_ms(*state, 20);
  assert_int_equal(watched->records[1], 0);
  live_rings_unmake(watched);
}

/* The last ring of the queue ends outside of a turn: rings queued later are
 * still drained. */
static void
watch_ring_queued_after_the_last_one_ended_is_drained(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = live_rings_make(*state);
  live_rings_add_own(watched, 2);
  live_rings_start(watched);
  watched->codes[1] = UV_EBADF;
  assert_int_equal(uvperf__watch_flush(watched->watch), 0);
  assert_int_equal(watched->ended_ring, 1);
  live_rings_add_own(watched, 1);
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->records[2], 1));
  live_comm(&next, 1);
  assert_true(live_run_until(*state, &watched->records[2], 2));
  live_rings_unmake(watched);
}

/* -- rings that are read together ----------------------------------------- */

static void watch_together_drains_once_in_a_turn(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = live_rings_make_together(*state);
  live_rings_add_own(watched, 3);
  start_registered(watched);
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &watched->total, 6));
  live_run_ms(*state, 20);
  assert_int_equal(watched->drains_all, 1);
  assert_int_equal(watched->iterations, 1);
  assert_int_equal(watched->slice_ends, 1);
  live_rings_unmake(watched);
}

static void watch_together_slice_of_one_record_delivers_the_rest(void **state) {
  uvperf__watch_options_t options = live_rings_plain;
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = live_rings_make_together(*state);
  live_rings_add_own(watched, 3);
  live_comm(&next, 5);
  options.slice_records = 1;
  assert_int_equal(uvperf__watch_start(watched->watch, &options), 0);
  assert_true(live_run_until(*state, &watched->total, 15));
  assert_int_equal(watched->slice_ends, 15);
  assert_true(live_run_ms(*state, 50) < 20);
  live_rings_unmake(watched);
}

/* Leftover records cause no spinning, and no ring is taken for dead. */
static void watch_together_leaves_records_until_it_looks_again(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;
  int i;

  support_need_own_events(__func__);
  watched = live_rings_make_together(*state);
  live_rings_add_own(watched, 2);
  start_registered(watched);
  watched->leaves = 1;
  for (i = 0; i < 5; i++) {
    live_comm(&next, 1);
    assert_true(live_run_ms(*state, 20) < 20);
  }
  assert_int_equal(watched->total, 0);
  watched->leaves = 0;
  assert_true(live_run_ms(*state, 20) < 20);
  assert_int_equal(watched->total, 0);
  uvperf__watch_flush_in(watched->watch, 1);
  assert_true(live_run_until(*state, &watched->total, 10));
  live_rings_unmake(watched);
}

/* An fd that hangs up for ever is not polled while records are left for later:
 * neither until the end, nor after stop and start. */
static void watch_together_target_exits_with_records_left(void **state) {
  live_child_t child;
  live_rings_t *watched;
  uint64_t wakeups;

  support_need_own_events(__func__);
  live_child_fork(&child, 50);
  watched = live_rings_make_together(*state);
  live_rings_add(watched, live_rings_open(child.pid, -1), &watched->fds[0], 1);
  start_registered(watched);
  watched->leaves = 1;
  live_child_go(&child);
  live_child_wait(&child);
  live_run_ms(*state, 20);
  assert_int_equal(watched->ends, 0);
  wakeups = uvperf__watch_wakeups(watched->watch);
  live_run_ms(*state, 20);
  assert_int_equal(uvperf__watch_wakeups(watched->watch), wakeups);
  uvperf__watch_stop(watched->watch);
  live_rings_start(watched);
  live_run_ms(*state, 20);
  assert_int_equal(uvperf__watch_wakeups(watched->watch), wakeups);
  watched->leaves = 0;
  uvperf__watch_drain(watched->watch);
  assert_true(live_run_until(*state, &watched->ends, 1));
  assert_int_equal(watched->end_status, UV_EOF);
  assert_int_equal(watched->total, 50);
  live_rings_unmake(watched);
}

/* -- flush_in ------------------------------------------------------------- */

/* Rings that are not woken, with a record each. */
static live_rings_t *make_unwoken(uv_loop_t *loop) {
  struct perf_event_attr attr;
  live_rings_t *watched = live_rings_make(loop);
  uint64_t next = 0;
  int i;

  for (i = 0; i < 2; i++) {
    live_comm_attr(&attr);
    uvperf_attr_set_wakeup_bytes(&attr, 2048);
    watched->fds[i] = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    live_rings_add(watched, watched->fds[i], &watched->fds[i], 1);
  }
  start_registered(watched);
  live_comm(&next, 1);
  return watched;
}

static void watch_flush_in_drains_all_rings(void **state) {
  live_rings_t *watched;
  uint64_t next = 0;

  support_need_own_events(__func__);
  watched = make_unwoken(*state);
  live_run_ms(*state, 20);
  assert_int_equal(watched->total, 0);
  uvperf__watch_drain(watched->watch);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(watched->total, 2);
  live_comm(&next, 1);
  uvperf__watch_flush_in(watched->watch, 2);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_true(live_run_until(*state, &watched->total, 4));
  assert_int_equal(uvperf__watch_wakeups(watched->watch), 0);
  live_rings_unmake(watched);
}

static void watch_flush_in_of_a_stopped_watch_does_nothing(void **state) {
  live_rings_t *watched;

  support_need_own_events(__func__);
  watched = make_unwoken(*state);
  uvperf__watch_flush_in(watched->watch, 2);
  uvperf__watch_stop(watched->watch);
  uvperf__watch_drain(watched->watch);
  uvperf__watch_flush_in(watched->watch, 1);
  live_run_ms(*state, 20);
  assert_int_equal(watched->total, 0);
  live_rings_unmake(watched);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(watch_ring_added_while_started_delivers_what_it_held),
      support_loop_test(watch_ring_added_in_a_drain_registers_from_then),
      support_loop_test(watch_more_rings_do_not_move_those_that_are_polled),
      support_loop_test(watch_ring_that_cannot_be_polled_is_not_added),
      support_loop_test(watch_ring_ends_is_reported_and_the_others_go_on),
      support_loop_test(watch_together_ring_ends_the_others_go_on),
      support_loop_test(watch_ring_without_sense_is_skipped_and_read_on),
      support_loop_test(watch_together_ring_without_sense_is_read_on),
      support_loop_test(watch_ring_after_all_have_ended_can_be_started),
      support_loop_test(watch_ring_that_ends_in_a_flush_is_drained_no_more),
      support_loop_test(watch_ring_queued_after_the_last_one_ended_is_drained),
      support_loop_test(watch_together_drains_once_in_a_turn),
      support_loop_test(watch_together_slice_of_one_record_delivers_the_rest),
      support_loop_test(watch_together_leaves_records_until_it_looks_again),
      support_loop_test(watch_together_target_exits_with_records_left),
      support_loop_test(watch_flush_in_drains_all_rings),
      support_loop_test(watch_flush_in_of_a_stopped_watch_does_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
