/* SPDX-License-Identifier: MIT */
/* The interval timer by a scripted clock, and on a loop by the real one. */
#include "live.h"

#include <signal.h>

#include "fake_clock.h"
#include "fake_kernel.h"
#include "loop/interval_timer.h"

#define MS UINT64_C(1000000)

/* Some uptime. */
#define START (12345678 * MS + 987654)

typedef struct owner_s {
  uvperf__interval_timer_t *interval_timer;
  uv_loop_t *loop;
  uvperf__teardown_t teardown;
  uint64_t ticks;
  uint64_t more; /* how often a tick goes on */
  uint64_t gone_on;
  uint64_t *spent_ns; /* by the ticks of all owners; NULL: not counted */
  uint64_t aimed_ms;
  int cancels;
  int closes;
  int closed;
  void (*hook)(struct owner_s *owner);
  /* For the live tests. */
  uint64_t start_ns; /* just before the interval timer was started */
  uint64_t interval_ns;
  uint64_t wrong;
} owner_t;

static int tick(void *arg, int is_new, uint64_t max_ns) {
  owner_t *owner = arg;

  if (owner->spent_ns != NULL) {
    assert_in_range(max_ns, MS / 10, MS);
    *owner->spent_ns += max_ns;
    fake_clock_set(START + 1000 * MS + *owner->spent_ns);
  } else {
    assert_int_equal(max_ns, MS);
  }
  owner->ticks += is_new != 0;
  owner->gone_on = is_new ? 0 : owner->gone_on + 1;
  if (owner->gone_on < owner->more)
    return 1;
  if (owner->hook != NULL)
    owner->hook(owner);
  return 0;
}

static void closed(void *arg) {
  owner_t *owner = arg;

  owner->closed += 1;
  uvperf__teardown_let_go(&owner->teardown);
}

static void release(void *arg) {
  owner_t *owner = arg;

  uvperf__interval_timer_free(owner->interval_timer);
}

static void cancel(void *arg) {
  ((owner_t *)arg)->cancels += 1;
}

static void close_interval_timer(owner_t *owner) {
  uvperf__interval_timer_close(owner->interval_timer);
  uvperf__teardown_end(&owner->teardown);
}

static void close_by_walk(void *arg) {
  owner_t *owner = arg;

  owner->closes += 1;
  close_interval_timer(owner);
}

static const uvperf__interval_timer_ops_t ops = {tick, cancel, close_by_walk};

static void make(uv_loop_t *loop, owner_t *owner) {
  memset(owner, 0, sizeof(*owner));
  owner->loop = loop;
  uvperf__teardown_init(&owner->teardown, loop, closed, release, NULL, owner);
  assert_int_equal(uvperf__interval_timer_new(&owner->interval_timer,
                                              &owner->teardown, &ops, owner),
                   0);
}

/* Makes it, and starts it at START. */
static void begin(uv_loop_t *loop, owner_t *owner, uint64_t interval_ms) {
  make(loop, owner);
  fake_clock_set(START);
  assert_int_equal(
      uvperf__interval_timer_start(owner->interval_timer, interval_ms), 0);
}

static void run_to_end(uv_loop_t *loop) {
  int turns;

  for (turns = 0; uv_run(loop, UV_RUN_NOWAIT) != 0 && turns < 100; turns++)
    continue;
  assert_in_range(turns, 0, 99);
}

static void unmake(uv_loop_t *loop, owner_t *owner) {
  close_interval_timer(owner);
  assert_int_equal(owner->closed, 0);
  run_to_end(loop);
  assert_int_equal(owner->closed, 1);
  fake_assert_clean();
}

/* Fires at a time, notes what the timer then requests, less a part of a
 * millisecond, and runs the check phase. Returns how often that ticked. */
static uint64_t fire_at(uv_loop_t *loop, owner_t *owner, uint64_t ns) {
  uint64_t before = owner->ticks;

  fake_clock_set(ns);
  fake_clock_fire(fake_clock_timer(loop));
  if (uvperf__interval_timer_is_active(owner->interval_timer))
    owner->aimed_ms = uv_timer_get_due_in(fake_clock_timer(loop)) - 1;
  uv_run(loop, UV_RUN_NOWAIT);
  return owner->ticks - before;
}

/* -- when ----------------------------------------------------------------- */

static void
interval_timer_ticks_once_at_each_multiple_of_interval(void **state) {
  owner_t owner;
  uint64_t late;
  uint64_t i;

  begin(*state, &owner, 10);
  for (i = 1; i <= 1000; i++) {
    assert_int_equal(fire_at(*state, &owner, START + 10 * i * MS - 1), 0);
    late = i * 7919 % (10 * MS);
    assert_int_equal(fire_at(*state, &owner, START + 10 * i * MS + late), 1);
    /* However late this one was: the next is aimed at its own time. */
    assert_int_equal(owner.aimed_ms, (10 * MS - late) / MS);
  }
  unmake(*state, &owner);
}

/* Like a timer that was started from an old time of the loop. */
static void
interval_timer_timer_fires_early_does_not_tick_and_waits(void **state) {
  owner_t owner;

  begin(*state, &owner, 1000);
  assert_int_equal(fire_at(*state, &owner, START), 0);
  assert_int_equal(owner.aimed_ms, 1000);
  assert_int_equal(fire_at(*state, &owner, START + 1000 * MS - 1), 0);
  assert_int_equal(owner.aimed_ms, 0);
  assert_int_equal(fire_at(*state, &owner, START + 1000 * MS), 1);
  unmake(*state, &owner);
}

static void interval_timer_late_for_several_intervals_ticks_once(void **state) {
  owner_t owner;

  begin(*state, &owner, 10);
  assert_int_equal(fire_at(*state, &owner, START + 35 * MS), 1);
  assert_int_equal(owner.aimed_ms, 5);
  assert_int_equal(fire_at(*state, &owner, START + 40 * MS - 1), 0);
  assert_int_equal(fire_at(*state, &owner, START + 40 * MS), 1);
  assert_int_equal(fire_at(*state, &owner, START + 1000000 * MS), 1);
  assert_int_equal(fire_at(*state, &owner, START + 1000010 * MS - 1), 0);
  assert_int_equal(fire_at(*state, &owner, START + 1000010 * MS), 1);
  unmake(*state, &owner);
}

static void interval_timer_longest_interval_does_not_overflow(void **state) {
  uint64_t century = UINT64_C(100) * 365 * 86400 * 1000 * MS;
  owner_t owner;

  make(*state, &owner);
  fake_clock_set(START);
  assert_int_equal(
      uvperf__interval_timer_start(owner.interval_timer, UINT64_MAX), 0);
  assert_int_equal(fire_at(*state, &owner, START + century), 0);
  assert_int_equal(fire_at(*state, &owner, START + 2 * century), 0);
  unmake(*state, &owner);
}

/* -- ticks that go on ------------------------------------------------------ */

/* Begins a tick that continues this number of times. */
static void begin_long_tick(uv_loop_t *loop, owner_t *owner, uint64_t more) {
  begin(loop, owner, 1000);
  owner->more = more;
  assert_int_equal(fire_at(loop, owner, START + 1000 * MS), 1);
  assert_int_equal(owner->gone_on, 0);
}

/* The loop does not wait for fds meanwhile, and then it does again. */
static void
interval_timer_tick_goes_on_once_after_each_poll_phase(void **state) {
  owner_t owner;
  size_t i;

  begin_long_tick(*state, &owner, 3);
  for (i = 1; i <= 3; i++) {
    assert_int_equal(uv_backend_timeout(*state), 0);
    uv_run(*state, UV_RUN_NOWAIT);
    assert_int_equal(owner.gone_on, i);
  }
  assert_true(uv_backend_timeout(*state) > 0);
  unmake(*state, &owner);
}

static void
interval_timer_multiples_while_a_tick_goes_on_are_left_out(void **state) {
  owner_t owner;

  begin_long_tick(*state, &owner, 3);
  assert_int_equal(fire_at(*state, &owner, START + 2000 * MS), 0);
  assert_int_equal(fire_at(*state, &owner, START + 3000 * MS), 0);
  assert_int_equal(owner.gone_on, 2);
  while (owner.gone_on < owner.more)
    uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(fire_at(*state, &owner, START + 3999 * MS), 0);
  assert_int_equal(fire_at(*state, &owner, START + 4000 * MS), 1);
  unmake(*state, &owner);
}

static void interval_timer_stopped_while_a_tick_goes_on_ends_it(void **state) {
  owner_t owner;

  begin_long_tick(*state, &owner, 3);
  uv_run(*state, UV_RUN_NOWAIT);
  uvperf__interval_timer_stop(owner.interval_timer);
  assert_int_equal(uv_loop_alive(*state), 0);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 1000), 0);
  assert_int_equal(fire_at(*state, &owner, START + 2000 * MS), 1);
  assert_int_equal(owner.gone_on, 0);
  unmake(*state, &owner);
}

static void interval_timer_in_forked_child_goes_on_with_no_tick(void **state) {
  owner_t owner;
  int i;

  begin_long_tick(*state, &owner, 3);
  fake_process(4711);
  for (i = 0; i < 3; i++)
    uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(owner.gone_on, 0);
  assert_true(uv_backend_timeout(*state) > 0);
  unmake(*state, &owner);
}

static void fire_timer(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (handle->type == UV_TIMER && uv_is_active(handle))
    fake_clock_fire((uv_timer_t *)handle);
}

/* Each needs 1 ms, and gets 250 us in each iteration. */
static void interval_timers_share_the_time_of_an_iteration(void **state) {
  uint64_t spent_ns = 0;
  owner_t owners[4];
  size_t i, n;

  fake_clock_set(START);
  for (i = 0; i < 4; i++) {
    make(*state, &owners[i]);
    owners[i].more = 3;
    owners[i].spent_ns = &spent_ns;
    assert_int_equal(
        uvperf__interval_timer_start(owners[i].interval_timer, 1000), 0);
  }
  fake_clock_set(START + 1000 * MS);
  uv_walk(*state, fire_timer, NULL);
  for (n = 0; n < 4; n++) {
    uv_run(*state, UV_RUN_NOWAIT);
    assert_int_equal(spent_ns, (n + 1) * MS);
    for (i = 0; i < 4; i++)
      assert_int_equal(owners[i].gone_on, n);
  }
  assert_true(uv_backend_timeout(*state) > 0);
  for (i = 0; i < 4; i++)
    close_interval_timer(&owners[i]);
  run_to_end(*state);
  fake_assert_clean();
}

/* -- start and stop ------------------------------------------------------- */

static void
interval_timer_stopped_and_started_counts_from_the_start(void **state) {
  owner_t owner;

  make(*state, &owner);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 0);
  fake_clock_set(START);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 10), 0);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 1);
  uvperf__interval_timer_stop(owner.interval_timer);
  uvperf__interval_timer_stop(owner.interval_timer);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 0);
  fake_clock_set(START + 7 * MS);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 10), 0);
  assert_int_equal(fire_at(*state, &owner, START + 17 * MS - 1), 0);
  assert_int_equal(fire_at(*state, &owner, START + 17 * MS), 1);
  unmake(*state, &owner);
}

static void stop_timer(owner_t *owner) {
  uvperf__interval_timer_stop(owner->interval_timer);
}

static void interval_timer_stopped_in_tick_stays_stopped(void **state) {
  owner_t owner;

  begin(*state, &owner, 10);
  owner.hook = stop_timer;
  assert_int_equal(fire_at(*state, &owner, START + 10 * MS), 1);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 0);
  unmake(*state, &owner);
}

static void start_with_3(owner_t *owner) {
  uvperf__interval_timer_stop(owner->interval_timer);
  assert_int_equal(uvperf__interval_timer_start(owner->interval_timer, 3), 0);
}

static void
interval_timer_restarted_in_tick_has_the_new_interval(void **state) {
  owner_t owner;

  begin(*state, &owner, 10);
  owner.hook = start_with_3;
  assert_int_equal(fire_at(*state, &owner, START + 11 * MS), 1);
  owner.hook = NULL;
  assert_int_equal(fire_at(*state, &owner, START + 14 * MS - 1), 0);
  assert_int_equal(fire_at(*state, &owner, START + 14 * MS), 1);
  assert_int_equal(fire_at(*state, &owner, START + 17 * MS), 1);
  unmake(*state, &owner);
}

static void
interval_timer_keeps_loop_alive_while_started_unless_unrefd(void **state) {
  owner_t owner;

  make(*state, &owner);
  assert_int_equal(uv_loop_alive(*state), 0);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 1000000),
                   0);
  assert_int_equal(uv_loop_alive(*state), 1);
  uvperf__interval_timer_set_ref(owner.interval_timer, 0);
  assert_int_equal(uv_loop_alive(*state), 0);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 1);
  uvperf__interval_timer_set_ref(owner.interval_timer, 1);
  assert_int_equal(uv_loop_alive(*state), 1);
  uvperf__interval_timer_stop(owner.interval_timer);
  assert_int_equal(uv_loop_alive(*state), 0);
  unmake(*state, &owner);
}

static void interval_timer_in_forked_child_stops_without_a_tick(void **state) {
  owner_t owner;

  begin(*state, &owner, 10);
  fake_process(4711);
  assert_int_equal(fire_at(*state, &owner, START + 10 * MS), 0);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 0);
  unmake(*state, &owner);
}

static void interval_timer_new_without_memory_is_enomem(void **state) {
  owner_t owner;

  memset(&owner, 0, sizeof(owner));
  uvperf__teardown_init(&owner.teardown, *state, closed, release, NULL, &owner);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__interval_timer_new(&owner.interval_timer,
                                              &owner.teardown, &ops, &owner),
                   UV_ENOMEM);
  fake_assert_clean();
}

/* -- close ---------------------------------------------------------------- */

static void interval_timer_closed_in_tick_is_clean(void **state) {
  owner_t owner;

  begin(*state, &owner, 10);
  owner.hook = close_interval_timer;
  assert_int_equal(fire_at(*state, &owner, START + 10 * MS), 1);
  run_to_end(*state);
  assert_int_equal(owner.closed, 1);
  assert_int_equal(owner.ticks, 1);
  fake_assert_clean();
}

static void walk_close(uv_handle_t *handle, void *arg) {
  unsigned *ours = arg;

  if (uvperf__interval_timer_close_owner(handle))
    *ours += 1;
  else if (!uvperf__hub_is(handle) && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void not_ours(uv_timer_t *timer) {
  (void)timer;
}

static void not_ours_either(uv_idle_t *idle) {
  (void)idle;
}

static void
interval_timer_is_found_by_its_handles_and_foreign_ones_are_not(void **state) {
  int poison = 0x5a;
  unsigned ours = 0;
  uv_timer_t timers[2];
  owner_t owner;
  uv_idle_t idles[2];

  make(*state, &owner);
  uv_timer_init(*state, &timers[0]);
  uv_timer_init(*state, &timers[1]);
  uv_timer_start(&timers[1], not_ours, 1000, 0);
  uv_idle_init(*state, &idles[0]);
  uv_idle_init(*state, &idles[1]);
  uv_idle_start(&idles[1], not_ours_either);
  timers[0].data = timers[1].data = &poison;
  idles[0].data = idles[1].data = &poison;
  uv_walk(*state, walk_close, &ours);
  /* And once more, while it closes. */
  uv_walk(*state, walk_close, &ours);
  assert_int_equal(ours, 2);
  assert_int_equal(owner.closes, 1);
  run_to_end(*state);
  assert_int_equal(owner.closed, 1);
  fake_assert_clean();
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void interval_timer_timer_uv_closed_by_others_is_survived(void **state) {
  owner_t owner;

  make(*state, &owner);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 1), 0);
  uv_walk(*state, uv_close_all, NULL);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 0);
  uvperf__interval_timer_stop(owner.interval_timer);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 1),
                   UV_EINVAL);
  unmake(*state, &owner);
  assert_int_equal(owner.ticks, 0);
}

static void close_hub(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (uvperf__hub_is(handle))
    uv_close(handle, NULL);
}

static void
interval_timer_whose_hub_others_have_closed_is_cancelled(void **state) {
  owner_t owner;

  begin(*state, &owner, 10);
  uv_walk(*state, close_hub, NULL);
  assert_int_equal(fire_at(*state, &owner, START + 10 * MS), 0);
  assert_int_equal(owner.cancels, 1);
  assert_int_equal(uvperf__interval_timer_is_active(owner.interval_timer), 0);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 10),
                   UV_EINVAL);
  unmake(*state, &owner);
}

static void
interval_timer_that_others_have_closed_is_closed_at_once(void **state) {
  owner_t owner;

  make(*state, &owner);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 1), 0);
  uv_walk(*state, uv_close_all, NULL);
  run_to_end(*state);
  uvperf__interval_timer_set_ref(owner.interval_timer, 0);
  uvperf__interval_timer_set_ref(owner.interval_timer, 1);
  assert_int_equal(uvperf__interval_timer_start(owner.interval_timer, 1),
                   UV_EINVAL);
  close_interval_timer(&owner);
  assert_int_equal(owner.closed, 1);
  fake_assert_clean();
}

static int close_twice(void *arg) {
  owner_t *owner = arg;

  close_interval_timer(owner);
  close_interval_timer(owner);
  return 0;
}

static void interval_timer_closed_twice_aborts(void **state) {
  owner_t owner;

#ifdef NDEBUG
  support_skip(__func__, "a build with asserts (no NDEBUG)");
#endif
  make(*state, &owner);
  assert_int_equal(support_wait(support_fork(close_twice, &owner)),
                   128 + SIGABRT);
  unmake(*state, &owner);
}

/* -- on a loop ------------------------------------------------------------ */

/* The nth tick is not before n intervals have passed. */
static void check_tick(owner_t *owner) {
  uint64_t since = uv_hrtime() - owner->start_ns;

  owner->wrong += since < owner->ticks * owner->interval_ns;
}

static void spin(uint64_t ns) {
  uint64_t start = uv_hrtime();

  while (uv_hrtime() - start < ns)
    continue;
}

/* Every third time the loop is late for the next two ticks. */
static void check_and_block(owner_t *owner) {
  check_tick(owner);
  if (owner->ticks % 3 == 0)
    spin(owner->interval_ns * 5 / 2);
}

static void run_for_ticks(uv_loop_t *loop, owner_t *owner, uint64_t ms,
                          uint64_t nr) {
  owner->interval_ns = ms * MS;
  owner->start_ns = uv_hrtime();
  assert_int_equal(uvperf__interval_timer_start(owner->interval_timer, ms), 0);
  assert_true(live_run_until(loop, &owner->ticks, nr));
  assert_int_equal(owner->wrong, 0);
}

static void live_ticks_are_never_early_nor_two_for_an_interval(void **state) {
  owner_t owner;

  make(*state, &owner);
  owner.hook = check_tick;
  run_for_ticks(*state, &owner, 1, 100);
  unmake(*state, &owner);
}

static void live_ticks_of_a_blocked_loop_are_not_made_up_for(void **state) {
  owner_t owner;

  make(*state, &owner);
  owner.hook = check_and_block;
  run_for_ticks(*state, &owner, 2, 30);
  unmake(*state, &owner);
}

/* A timer that is started after long work is early by as much, as libuv counts
 * from its cached time. */
static void live_tick_after_long_work_is_not_early(void **state) {
  owner_t owner;

  make(*state, &owner);
  owner.hook = check_tick;
  uv_update_time(*state);
  spin(50 * MS);
  run_for_ticks(*state, &owner, 40, 1);
  unmake(*state, &owner);
}

static int setup(void **state) {
  fake_clock_set(0);
  return fake_kernel_loop_setup(state);
}

#define TICKER(test)                                                           \
  support_loop_test_setup_teardown(test, setup, fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TICKER(interval_timer_ticks_once_at_each_multiple_of_interval),
      TICKER(interval_timer_timer_fires_early_does_not_tick_and_waits),
      TICKER(interval_timer_late_for_several_intervals_ticks_once),
      TICKER(interval_timer_longest_interval_does_not_overflow),
      TICKER(interval_timer_tick_goes_on_once_after_each_poll_phase),
      TICKER(interval_timer_multiples_while_a_tick_goes_on_are_left_out),
      TICKER(interval_timer_stopped_while_a_tick_goes_on_ends_it),
      TICKER(interval_timer_in_forked_child_goes_on_with_no_tick),
      TICKER(interval_timers_share_the_time_of_an_iteration),
      TICKER(interval_timer_stopped_and_started_counts_from_the_start),
      TICKER(interval_timer_stopped_in_tick_stays_stopped),
      TICKER(interval_timer_restarted_in_tick_has_the_new_interval),
      TICKER(interval_timer_keeps_loop_alive_while_started_unless_unrefd),
      TICKER(interval_timer_in_forked_child_stops_without_a_tick),
      TICKER(interval_timer_new_without_memory_is_enomem),
      TICKER(interval_timer_closed_in_tick_is_clean),
      TICKER(interval_timer_is_found_by_its_handles_and_foreign_ones_are_not),
      TICKER(interval_timer_timer_uv_closed_by_others_is_survived),
      TICKER(interval_timer_whose_hub_others_have_closed_is_cancelled),
      TICKER(interval_timer_that_others_have_closed_is_closed_at_once),
      TICKER(interval_timer_closed_twice_aborts),
      TICKER(live_ticks_are_never_early_nor_two_for_an_interval),
      TICKER(live_ticks_of_a_blocked_loop_are_not_made_up_for),
      TICKER(live_tick_after_long_work_is_not_early),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
