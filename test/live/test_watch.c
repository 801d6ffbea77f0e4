/* SPDX-License-Identifier: MIT */
/* Live: rings of this kernel on a loop, drained by a test that only walks
 * headers. One event is tested in test_event_*.c; here are several rings, and
 * several events on one ring. */
#include "live_rings.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/sys.h"

/* P23: looking at every head costs as much as a wakeup. */
static void
watch_one_of_ten_rings_is_active_drains_that_one(live_rings_t *watched) {
  size_t i;

  for (i = 0; i < 10; i++)
    if (i != 3)
      assert_int_equal(
          uvperf__sys_ioctl(watched->fds[i], PERF_EVENT_IOC_DISABLE, 0), 0);
  memset(watched->drains, 0, sizeof(watched->drains));
  live_rings_comm(watched, 1);
  assert_true(live_run_until(watched->loop, &watched->total, 1));
  live_run_ms(watched->loop, 20);
  for (i = 0; i < 10; i++)
    if (i == 3)
      assert_true(watched->drains[i] >= 1);
    else
      assert_int_equal(watched->drains[i], 0);
}

/* Fairness among the rings of one watch. */
static void
watch_slice_of_one_record_lets_rings_take_turns(live_rings_t *watched) {
  uvperf__watch_options_t options = live_rings_plain;
  size_t i;

  live_rings_comm(watched, 5);
  options.slice_records = 1;
  assert_int_equal(uvperf__watch_start(watched->watch, &options), 0);
  assert_true(live_run_until(watched->loop, &watched->total, 15));
  assert_int_equal(watched->nr_order, 15);
  for (i = 3; i < 15; i++)
    assert_int_equal(watched->order[i], watched->order[i - 3]);
  assert_int_not_equal(watched->order[0], watched->order[1]);
  assert_int_not_equal(watched->order[1], watched->order[2]);
}

/* -- several events on one ring ------------------------------------------- */

typedef struct shared_s {
  live_rings_t *watched;
  live_child_t children[2];
  int fds[2];
} shared_t;

/* An event of a task on a CPU is silent while the task runs elsewhere. */
static void pin_to_cpu_0(pid_t pid) {
  cpu_set_t cpus;

  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  assert_int_equal(sched_setaffinity(pid, sizeof(cpus), &cpus), 0);
}

/* Two children and one ring, the first event's. Tasks can share a ring only on
 * one CPU: perf_event_set_output() in kernel/events/core.c. */
static void make_shared(uv_loop_t *loop, shared_t *shared, uint64_t owners,
                        uint64_t followers) {
  const uint64_t records[2] = {owners, followers};
  size_t i;

  for (i = 0; i < 2; i++) {
    live_child_fork(&shared->children[i], records[i]);
    pin_to_cpu_0(shared->children[i].pid);
    shared->fds[i] = live_rings_open(shared->children[i].pid, 0);
  }
  shared->watched = live_rings_make(loop);
  live_rings_add(shared->watched, shared->fds[0], shared->fds, 2);
  assert_int_equal(uvperf__sys_ioctl(shared->fds[1], PERF_EVENT_IOC_SET_OUTPUT,
                                     shared->fds[0]),
                   0);
}

static void unmake_shared(shared_t *shared) {
  live_rings_unmake(shared->watched);
  uvperf__sys_close(shared->fds[1]);
}

static void end_child(shared_t *shared, size_t i) {
  live_child_go(&shared->children[i]);
  live_child_wait(&shared->children[i]);
}

/* Ends it, and runs the loop until the follower has taken the place of the dead
 * owner. Returns the number of wakeups before. */
static uint64_t end_owner(shared_t *shared) {
  uint64_t wakeups;

  live_rings_start(shared->watched);
  end_child(shared, 0);
  do {
    wakeups = live_rings_wakeups(shared->watched);
    live_run_ms(shared->watched->loop, 20);
  } while (live_rings_wakeups(shared->watched) - wakeups > 2);
  return wakeups;
}

/* P10: the wakeups of a ring go to one poller. */
static void watch_shared_ring_polls_one_fd_and_gets_all(void **state) {
  shared_t shared;

  support_need_own_events(__func__);
  make_shared(*state, &shared, 50, 50);
  live_rings_start(shared.watched);
  live_run_ms(*state, 5);
  end_child(&shared, 1);
  assert_true(live_run_until(*state, &shared.watched->total, 50));
  live_run_ms(*state, 20);
  assert_int_equal(shared.watched->ends, 0);
  end_child(&shared, 0);
  assert_true(live_run_until(*state, &shared.watched->ends, 1));
  assert_int_equal(shared.watched->total, 100);
  assert_int_equal(shared.watched->end_status, UV_EOF);
  unmake_shared(&shared);
}

/* P10: the owner's fd is POLLHUP for ever while a follower still writes. */
static void watch_owner_of_ring_dies_polls_the_follower(void **state) {
  shared_t shared;
  uint64_t wakeups;

  support_need_own_events(__func__);
  make_shared(*state, &shared, 10, 50);
  wakeups = end_owner(&shared);
  assert_true(live_run_until(*state, &shared.watched->total, 10));
  /* Silence, although the owner hangs up for ever. */
  assert_true(live_run_ms(*state, 50) < 20);
  assert_true(live_rings_wakeups(shared.watched) - wakeups < 5);
  assert_int_equal(shared.watched->ends, 0);
  end_child(&shared, 1);
  assert_true(live_run_until(*state, &shared.watched->ends, 1));
  assert_int_equal(shared.watched->total, 60);
  unmake_shared(&shared);
}

static void watch_without_ref_that_polls_the_follower_has_none(void **state) {
  shared_t shared;
  int turns;

  support_need_own_events(__func__);
  make_shared(*state, &shared, 3, 3);
  uvperf__watch_set_ref(shared.watched->watch, 0);
  end_owner(&shared);
  for (turns = 0; turns < 100 && uv_loop_alive(*state); turns++)
    live_run_ms(*state, 10);
  assert_int_equal(uv_loop_alive(*state), 0);
  end_child(&shared, 1);
  assert_true(live_run_until(*state, &shared.watched->ends, 1));
  assert_int_equal(shared.watched->total, 6);
  unmake_shared(&shared);
}

static void on_other(uv_poll_t *poll, int status, int events) {
}

/* libuv has an fd in one handle of a loop only. */
static void watch_whose_follower_cannot_be_polled_ends(void **state) {
  shared_t shared;
  uv_poll_t other;

  support_need_own_events(__func__);
  make_shared(*state, &shared, 3, 3);
  assert_int_equal(uv_poll_init(*state, &other, shared.fds[1]), 0);
  assert_int_equal(uv_poll_start(&other, UV_READABLE, on_other), 0);
  end_owner(&shared);
  assert_true(live_run_until(*state, &shared.watched->ends, 1));
  assert_int_equal(shared.watched->end_status, UV_EEXIST);
  assert_int_equal(shared.watched->total, 3);
  uv_close((uv_handle_t *)&other, NULL);
  end_child(&shared, 1);
  unmake_shared(&shared);
}

/* Closed while the poll of the dead owner is being replaced. */
static void watch_closed_while_replacing_is_clean(void **state) {
  shared_t shared;
  int i;

  support_need_own_events(__func__);
  for (i = 0; i < 6; i++) {
    make_shared(*state, &shared, 3, 3);
    live_rings_start(shared.watched);
    end_child(&shared, 0);
    for (int turn = 0; turn < i; turn++)
      uv_run(*state, UV_RUN_NOWAIT);
    unmake_shared(&shared);
    end_child(&shared, 1);
  }
}

static void close_any(uv_handle_t *handle, void *arg) {
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

/* The handle that is being replaced is not there for others to close. */
static void
watch_closed_by_others_while_replacing_lets_the_loop_end(void **state) {
  shared_t shared;
  int turns;

  support_need_own_events(__func__);
  make_shared(*state, &shared, 1, 1);
  live_rings_start(shared.watched);
  live_run_ms(*state, 5);
  uvperf__watch_set_fds(shared.watched->watch, 0, &shared.fds[1], 1);
  uv_walk(*state, close_any, NULL);
  for (turns = 0; turns < 10 && uv_run(*state, UV_RUN_NOWAIT); turns++)
    continue;
  assert_int_equal(uv_loop_alive(*state), 0);
  end_child(&shared, 1);
  end_child(&shared, 0);
  unmake_shared(&shared);
}

static const live_rings_row_t rows[] = {
    LIVE_RINGS_ROW(watch_one_of_ten_rings_is_active_drains_that_one, 10,
                   LIVE_RINGS_REGISTERED),
    LIVE_RINGS_ROW(watch_slice_of_one_record_lets_rings_take_turns, 3,
                   LIVE_RINGS_OPEN),
};

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(watch_shared_ring_polls_one_fd_and_gets_all),
      support_loop_test(watch_owner_of_ring_dies_polls_the_follower),
      support_loop_test(watch_without_ref_that_polls_the_follower_has_none),
      support_loop_test(watch_whose_follower_cannot_be_polled_ends),
      support_loop_test(watch_closed_while_replacing_is_clean),
      support_loop_test(
          watch_closed_by_others_while_replacing_lets_the_loop_end),
  };

  return SUPPORT_RUN_LOOP_ROWS_AND_TESTS(rows, live_rings_run_row, tests);
}
