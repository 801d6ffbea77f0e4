/* SPDX-License-Identifier: MIT */
/* Live: rings that are added while the watch is started, that end one by one,
 * that are drained later, and that are read together. */
#include "live_rings.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sys/sys.h"

/* -- rings that come ------------------------------------------------------ */

/* P2: wakeups before the ring was registered have no effect. */
static void
watch_ring_added_while_started_delivers_what_it_held(live_rings_t *watched) {
  watched->fds[1] = live_rings_open(0, -1);
  assert_int_equal(uvperf__ring_map(&watched->rings[1], watched->fds[1],
                                    uvperf__ring_round(1), 0),
                   0);
  live_rings_comm(watched, 3);
  watched->nr = 2;
  assert_int_equal(uvperf__watch_add(watched->watch, &watched->rings[1],
                                     &watched->fds[1], 1),
                   0);
  live_rings_comm(watched, 2);
  assert_true(live_run_until(watched->loop, &watched->records[1], 5));
  live_rings_comm(watched, 2);
  assert_true(live_run_until(watched->loop, &watched->records[1], 7));
  assert_int_equal(watched->records[0], 7);
}

static void add_once(live_rings_t *watched) {
  if (watched->nr == 1)
    live_rings_add_own(watched, 1);
}

static void comm_once(live_rings_t *watched) {
  if (watched->nr == 1)
    return;
  watched->iteration_hook = NULL;
  live_rings_comm(watched, 1);
}

/* The ring is added and drained in the same turn. The record comes after that,
 * before the loop polls the ring: a turn later it has still to be drained. */
static void
watch_ring_added_in_a_drain_registers_from_then(live_rings_t *watched) {
  live_rings_comm(watched, 2);
  watched->hook = add_once;
  watched->iteration_hook = comm_once;
  live_rings_start(watched);
  assert_true(live_run_until(watched->loop, &watched->records[1], 1));
  assert_int_equal(watched->records[0], 3);
}

static void
watch_more_rings_do_not_move_those_that_are_polled(live_rings_t *watched) {
  size_t i;

  for (i = 0; i < LIVE_RINGS_RINGS; i++) {
    live_rings_add_own(watched, 1);
    uv_run(watched->loop, UV_RUN_NOWAIT);
  }
  live_run_ms(watched->loop, 20);
  live_rings_comm(watched, 2);
  assert_true(
      live_run_until(watched->loop, &watched->total, 2 * LIVE_RINGS_RINGS));
  for (i = 0; i < LIVE_RINGS_RINGS; i++) {
    assert_int_equal(watched->records[i], 2);
    assert_true(uvperf__watch_ring_wakeups(watched->watch, i) >= 1);
  }
}

/* epoll_ctl(2) has no use for a plain file. */
static void
watch_ring_that_cannot_be_polled_is_not_added(live_rings_t *watched) {
  int fd;

  fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  assert_int_equal(
      uvperf__watch_add(watched->watch, &watched->rings[0], &fd, 1), UV_EPERM);
  assert_int_equal(uvperf__watch_nr_rings(watched->watch), 0);
  live_rings_add_own(watched, 1);
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 1));
  close(fd);
}

/* -- rings that end ------------------------------------------------------- */

static void ends_one_by_one(live_rings_t *watched) {
  watched->codes[0] = UV_EBADF;
  live_rings_comm(watched, 3);
  assert_true(live_run_until(watched->loop, &watched->ring_ends, 1));
  assert_true(live_run_until(watched->loop, &watched->total, 3));
  assert_int_equal(watched->ended_ring, 0);
  assert_int_equal(watched->end_status, UV_EBADF);
  assert_int_equal(watched->ends, 0);
  assert_int_equal(uvperf__watch_has_ended(watched->watch, 0), UV_EBADF);
  watched->codes[0] = 0;
  live_rings_comm(watched, 2);
  assert_true(live_run_until(watched->loop, &watched->total, 5));
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->records[0], 0);
  watched->codes[1] = UV_ENOMEM;
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->ends, 1));
  assert_int_equal(watched->ended_ring, 1);
  assert_int_equal(watched->end_status, UV_ENOMEM);
  assert_int_equal(watched->ring_ends, 1);
  assert_int_equal(uvperf__watch_is_active(watched->watch), 0);
  assert_int_equal(uvperf__watch_start(watched->watch, &live_rings_plain),
                   UV_EOF);
}

/* Existing records are left out, once for each check, and later ones are
 * delivered. */
static void skips_one(live_rings_t *watched) {
  watched->codes[0] = UV_EPROTO;
  live_rings_comm(watched, 3);
  assert_true(live_run_until(watched->loop, &watched->skips[0], 1));
  assert_true(live_run_until(watched->loop, &watched->total, 3));
  watched->codes[0] = 0;
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->records[0], 0);
  assert_true(watched->rings[0].skipped > 0);
  assert_int_equal(watched->rings[0].skipped, watched->rings[0].tail);
  assert_int_equal(watched->rings[0].page->data_tail, watched->rings[0].tail);
  assert_int_equal(uvperf__watch_has_ended(watched->watch, 0), 0);
  live_rings_comm(watched, 2);
  assert_true(live_run_until(watched->loop, &watched->total, 7));
  assert_int_equal(watched->records[0], 2);
  assert_int_equal(watched->ring_ends + watched->ends, 0);
}

/* Every ring has ended, but one comes. */
static void
watch_ring_after_all_have_ended_can_be_started(live_rings_t *watched) {
  watched->codes[0] = UV_EBADF;
  live_rings_start(watched);
  assert_true(live_run_until(watched->loop, &watched->ends, 1));
  live_rings_add_own(watched, 1);
  live_rings_comm(watched, 1);
  live_rings_start(watched);
  assert_true(live_run_until(watched->loop, &watched->total, 1));
  assert_int_equal(watched->records[1], 1);
}

/* Flush drains without a turn; the ring may be in the queue. */
static void
watch_ring_that_ends_in_a_flush_is_drained_no_more(live_rings_t *watched) {
  live_rings_comm(watched, 1);
  live_rings_start(watched);
  watched->codes[1] = UV_EBADF;
  assert_int_equal(uvperf__watch_flush(watched->watch), 0);
  assert_int_equal(watched->ended_ring, 1);
  assert_int_equal(watched->total, 2);
  watched->codes[1] = 0;
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 4));
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->records[1], 0);
}

/* The last ring of the queue ends outside of a turn: rings queued later are
 * still drained. */
static void
watch_ring_queued_after_the_last_one_ended_is_drained(live_rings_t *watched) {
  watched->codes[1] = UV_EBADF;
  assert_int_equal(uvperf__watch_flush(watched->watch), 0);
  assert_int_equal(watched->ended_ring, 1);
  live_rings_add_own(watched, 1);
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->records[2], 1));
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->records[2], 2));
}

/* -- rings that are read together ----------------------------------------- */

static void watch_together_drains_once_in_a_turn(live_rings_t *watched) {
  live_rings_comm(watched, 2);
  assert_true(live_run_until(watched->loop, &watched->total, 6));
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->drains_all, 1);
  assert_int_equal(watched->iterations, 1);
  assert_int_equal(watched->slice_ends, 1);
}

static void
watch_together_slice_of_one_record_delivers_the_rest(live_rings_t *watched) {
  uvperf__watch_options_t options = live_rings_plain;

  live_rings_comm(watched, 5);
  options.slice_records = 1;
  assert_int_equal(uvperf__watch_start(watched->watch, &options), 0);
  assert_true(live_run_until(watched->loop, &watched->total, 15));
  assert_int_equal(watched->slice_ends, 15);
  assert_true(live_run_ms(watched->loop, 50) < 20);
}

/* Leftover records cause no spinning, and no ring is taken for dead. */
static void
watch_together_leaves_records_until_it_looks_again(live_rings_t *watched) {
  int i;

  watched->leaves = 1;
  for (i = 0; i < 5; i++) {
    live_rings_comm(watched, 1);
    assert_true(live_run_ms(watched->loop, 20) < 20);
  }
  assert_int_equal(watched->total, 0);
  watched->leaves = 0;
  assert_true(live_run_ms(watched->loop, 20) < 20);
  assert_int_equal(watched->total, 0);
  uvperf__watch_flush_in(watched->watch, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 10));
}

/* An fd that hangs up for ever is not polled while records are left for later:
 * neither until the end, nor after stop and start. */
static void
watch_together_target_exits_with_records_left(live_rings_t *watched) {
  live_child_t child;
  uint64_t wakeups;

  live_child_fork(&child, 50);
  live_rings_add(watched, live_rings_open(child.pid, -1), &watched->fds[0], 1);
  live_rings_start_registered(watched);
  watched->leaves = 1;
  live_child_go(&child);
  live_child_wait(&child);
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->ends, 0);
  wakeups = live_rings_wakeups(watched);
  live_run_ms(watched->loop, 20);
  assert_int_equal(live_rings_wakeups(watched), wakeups);
  uvperf__watch_stop(watched->watch);
  live_rings_start(watched);
  live_run_ms(watched->loop, 20);
  assert_int_equal(live_rings_wakeups(watched), wakeups);
  watched->leaves = 0;
  uvperf__watch_drain(watched->watch);
  assert_true(live_run_until(watched->loop, &watched->ends, 1));
  assert_int_equal(watched->end_status, UV_EOF);
  assert_int_equal(watched->total, 50);
}

/* -- flush_in ------------------------------------------------------------- */

/* Starts with rings that are not woken, with a record each. */
static void start_unwoken(live_rings_t *watched) {
  live_rings_add_unwoken(watched);
  live_rings_add_unwoken(watched);
  live_rings_start_registered(watched);
  live_rings_comm(watched, 1);
}

static void watch_flush_in_drains_all_rings(live_rings_t *watched) {
  start_unwoken(watched);
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->total, 0);
  uvperf__watch_drain(watched->watch);
  uv_run(watched->loop, UV_RUN_NOWAIT);
  assert_int_equal(watched->total, 2);
  live_rings_comm(watched, 1);
  uvperf__watch_flush_in(watched->watch, 2);
  uv_run(watched->loop, UV_RUN_NOWAIT);
  assert_true(live_run_until(watched->loop, &watched->total, 4));
  assert_int_equal(live_rings_wakeups(watched), 0);
}

static void
watch_flush_in_of_a_stopped_watch_does_nothing(live_rings_t *watched) {
  start_unwoken(watched);
  uvperf__watch_flush_in(watched->watch, 2);
  uvperf__watch_stop(watched->watch);
  uvperf__watch_drain(watched->watch);
  uvperf__watch_flush_in(watched->watch, 1);
  live_run_ms(watched->loop, 20);
  assert_int_equal(watched->total, 0);
}

static const live_rings_row_t rows[] = {
    LIVE_RINGS_ROW(watch_ring_added_while_started_delivers_what_it_held, 1,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_ring_added_in_a_drain_registers_from_then, 1,
                   LIVE_RINGS_OPEN),
    LIVE_RINGS_ROW(watch_more_rings_do_not_move_those_that_are_polled, 0,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_ring_that_cannot_be_polled_is_not_added, 0,
                   LIVE_RINGS_STARTED),
    {"watch_ring_ends_is_reported_and_the_others_go_on", ends_one_by_one, 2,
     LIVE_RINGS_REGISTERED},
    {"watch_together_ring_ends_the_others_go_on", ends_one_by_one, 2,
     LIVE_RINGS_TOGETHER | LIVE_RINGS_REGISTERED},
    {"watch_ring_without_sense_is_skipped_and_read_on", skips_one, 2,
     LIVE_RINGS_REGISTERED},
    {"watch_together_ring_without_sense_is_read_on", skips_one, 2,
     LIVE_RINGS_TOGETHER | LIVE_RINGS_REGISTERED},
    LIVE_RINGS_ROW(watch_ring_after_all_have_ended_can_be_started, 1,
                   LIVE_RINGS_OPEN),
    LIVE_RINGS_ROW(watch_ring_that_ends_in_a_flush_is_drained_no_more, 3,
                   LIVE_RINGS_OPEN),
    LIVE_RINGS_ROW(watch_ring_queued_after_the_last_one_ended_is_drained, 2,
                   LIVE_RINGS_STARTED),
    LIVE_RINGS_ROW(watch_together_drains_once_in_a_turn, 3,
                   LIVE_RINGS_TOGETHER | LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_together_slice_of_one_record_delivers_the_rest, 3,
                   LIVE_RINGS_TOGETHER),
    LIVE_RINGS_ROW(watch_together_leaves_records_until_it_looks_again, 2,
                   LIVE_RINGS_TOGETHER | LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_together_target_exits_with_records_left, 0,
                   LIVE_RINGS_TOGETHER),
    LIVE_RINGS_ROW(watch_flush_in_drains_all_rings, 0, LIVE_RINGS_OPEN),
    LIVE_RINGS_ROW(watch_flush_in_of_a_stopped_watch_does_nothing, 0,
                   LIVE_RINGS_OPEN),
};

int main(void) {
  return SUPPORT_RUN_LOOP_ROWS(rows, live_rings_run_row);
}
