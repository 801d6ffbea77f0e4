/* SPDX-License-Identifier: MIT */
/* The interval timer by a scripted clock, and on a loop by the real one. */
#include "live.h"

#include <signal.h>

#include "fake_clock.h"
#include "loop/interval_timer.h"
#include "scripted_kernel.h"

#define MS UINT64_C(1000000)

/* Some uptime. */
#define START (12345678 * MS + 987654)

typedef struct owner_s {
  uvperf__interval_timer_t *interval_timer;
  uvperf__teardown_t teardown;
  uint64_t ticks;
  uint64_t more; /* how often a tick goes on */
  uint64_t gone_on;
  uint64_t *spent_ns; /* by the ticks of all owners; NULL: not counted */
  int closed;
  int is_in_row;
  void (*hook)(struct owner_s *owner);
  /* For the live tests. */
  uint64_t start_ns; /* just before the interval timer was started */
  uint64_t interval_ns;
  uint64_t wrong;
} owner_t;

/* Prints what is called. */
static void say_call(const owner_t *owner, const char *what) {
  size_t before;

  if (!owner->is_in_row)
    return;
  say_next();
  before = say_length();
  say("%s", what);
  row_callback(before);
}

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
  say_call(owner, is_new ? "tick" : "goes on");
  if (owner->gone_on < owner->more)
    return 1;
  if (owner->hook != NULL)
    owner->hook(owner);
  return 0;
}

static void closed(void *arg) {
  owner_t *owner = arg;

  owner->closed += 1;
  say_call(owner, "closed");
  uvperf__teardown_let_go(&owner->teardown);
}

static void release(void *arg) {
  owner_t *owner = arg;

  uvperf__interval_timer_free(owner->interval_timer);
}

static void cancel(void *arg) {
  say_call(arg, "cancelled");
}

static void close_interval_timer(owner_t *owner) {
  uvperf__interval_timer_close(owner->interval_timer);
  uvperf__teardown_end(&owner->teardown);
}

static void close_by_walk(void *arg) {
  say_call(arg, "closed by a walk");
  close_interval_timer(arg);
}

static const uvperf__interval_timer_ops_t ops = {tick, cancel, close_by_walk};

static void make(uv_loop_t *loop, owner_t *owner) {
  memset(owner, 0, sizeof(*owner));
  uvperf__teardown_init(&owner->teardown, loop, closed, release, NULL, owner);
  assert_int_equal(uvperf__interval_timer_new(&owner->interval_timer,
                                              &owner->teardown, &ops, owner),
                   0);
}

/* -- the words of the rows ------------------------------------------------- */

static owner_t run;
static int is_made;

static void make_in_row(void) {
  make(&kernel_loop, &run);
  run.is_in_row = 1;
  is_made = 1;
}

/* "begin" makes it and starts it at START. */
static void do_start(const step_t *step) {
  uint64_t ms = step_value(step, 1);

  if (step_is(step, 0, "begin")) {
    make_in_row();
    fake_clock_set(START);
  }
  row_returned(uvperf__interval_timer_start(run.interval_timer, ms));
}

static void do_make(const step_t *step) {
  make_in_row();
  fake_clock_set(START);
}

static void do_stop(const step_t *step) {
  uvperf__interval_timer_stop(run.interval_timer);
}

static void do_close(const step_t *step) {
  is_made = 0;
  close_interval_timer(&run);
}

/* So many microseconds after START. */
static void do_at(const step_t *step) {
  fake_clock_set(START + step_value(step, 1) * 1000);
}

/* The timer fires then; in how many milliseconds it is due next, less a part of
 * one, and what the check phase does. */
static void do_fire(const step_t *step) {
  const uv_timer_t *timer = fake_clock_timer(&kernel_loop);

  do_at(step);
  fake_clock_fire(fake_clock_timer(&kernel_loop));
  if (uvperf__interval_timer_is_active(run.interval_timer))
    say("due in %llu", (unsigned long long)(uv_timer_get_due_in(timer) - 1));
  uv_run(&kernel_loop, UV_RUN_NOWAIT);
}

static void do_goes_on(const step_t *step) {
  run.more = step_value(step, 1);
}

static void do_active(const step_t *step) {
  say("%d", uvperf__interval_timer_is_active(run.interval_timer));
}

static void do_ref(const step_t *step) {
  uvperf__interval_timer_set_ref(run.interval_timer, step_is(step, 0, "ref"));
}

static const scripted_verb_t verbs[] = {
    {"begin", do_start}, {"start", do_start},     {"make", do_make},
    {"stop", do_stop},   {"close", do_close},     {"time", do_at},
    {"fire", do_fire},   {"goes_on", do_goes_on}, {"active", do_active},
    {"ref", do_ref},     {"unref", do_ref},       {NULL, NULL}};

static void begin_row(void) {
  is_made = 0;
}

static int is_open(void) {
  return is_made;
}

static void close_row(void) {
  if (is_made)
    close_interval_timer(&run);
}

static void end_row(void) {
  assert_int_equal(run.closed, 1);
}

static const scripted_subject_t interval_timer = {
    {verbs, NULL}, NULL, begin_row, NULL, is_open, close_row, end_row};

/* -- rows: times in microseconds, intervals in milliseconds ---------------- */

static const scripted_row_t rows[] = {
    /* However late this one was: the next is aimed at its own time. */
    {"interval_timer_ticks_once_at_each_multiple_of_interval",
     "begin 10; fire 9999 -> due in 0\n"
     "fire 10000 -> due in 10, tick\n"
     "fire 19999 -> due in 0\n"
     "fire 27919 -> due in 2, tick\n"
     "fire 29999 -> due in 0\n"
     "fire 39999 -> due in 0, tick\n"
     "fire 40000 -> due in 10, tick\n"},
    /* Like a timer that was started from an old time of the loop. */
    {"interval_timer_timer_fires_early_does_not_tick_and_waits",
     "begin 1000; fire 0 -> due in 1000\n"
     "fire 999999 -> due in 0\n"
     "fire 1000000 -> due in 1000, tick\n"},
    {"interval_timer_late_for_several_intervals_ticks_once",
     "begin 10; fire 35000 -> due in 5, tick\n"
     "fire 39999 -> due in 0\n"
     "fire 40000 -> due in 10, tick\n"
     "fire 1000000000 -> due in 10, tick\n"
     "fire 1000009999 -> due in 0\n"
     "fire 1000010000 -> due in 10, tick\n"},
    /* After a century and two. */
    {"interval_timer_longest_interval_does_not_overflow",
     "make; start 0xffffffffffffffff; fire 3153600000000000; fire "
     "6307200000000000; active -> 1\n"},
    /* -- ticks that go on -------------------------------------------------- */
    /* The loop does not wait for fds meanwhile, and then it does again. */
    {"interval_timer_tick_goes_on_once_after_each_poll_phase",
     "begin 1000; goes_on 3; fire 1000000 -> due in 1000, tick\n"
     "waits -> 0\n"
     "turn 1 -> goes on\n"
     "waits -> 0\n"
     "turn 1 -> goes on\n"
     "turn 1 -> goes on\n"
     "waits -> 1\n"},
    {"interval_timer_multiples_while_a_tick_goes_on_are_left_out",
     "begin 1000; goes_on 3; fire 1000000; fire 2000000 -> due in 1000, goes "
     "on\n"
     "fire 3000000 -> due in 1000, goes on\n"
     "turn 2 -> goes on\n"
     "fire 3999000 -> due in 1\n"
     "fire 4000000 -> due in 1000, tick\n"},
    {"interval_timer_stopped_while_a_tick_goes_on_ends_it",
     "begin 1000; goes_on 3; fire 1000000; turn 1; stop; alive -> 0\n"
     "start 1000; fire 2000000 -> due in 1000, tick\n"},
    {"interval_timer_in_forked_child_goes_on_with_no_tick",
     "begin 1000; goes_on 3; fire 1000000; fork; turn 3 ->\n"
     "waits -> 1\n"
     "unfork\n"},
    /* -- start and stop ---------------------------------------------------- */
    {"interval_timer_stopped_and_started_counts_from_the_start",
     "make; active -> 0\n"
     "start 10; active -> 1\n"
     "stop; stop; active -> 0\n"
     "time 7000; start 10; fire 16999 -> due in 0\n"
     "fire 17000 -> due in 10, tick\n"},
    {"interval_timer_stopped_in_tick_stays_stopped",
     "begin 10; on tick stop; fire 10000 -> due in 10, tick\n"
     "active -> 0\n"},
    {"interval_timer_restarted_in_tick_has_the_new_interval",
     "begin 10; on tick 'stop|start 3'; fire 11000; fire 13999 -> due in 0\n"
     "fire 14000 -> due in 3, tick\n"
     "fire 17000 -> due in 3, tick\n"},
    {"interval_timer_keeps_loop_alive_while_started_unless_unrefd",
     "make; alive -> 0\n"
     "start 1000000; alive -> 1\n"
     "unref; alive -> 0\n"
     "active -> 1\n"
     "ref; alive -> 1\n"
     "stop; alive -> 0\n"},
    {"interval_timer_in_forked_child_stops_without_a_tick",
     "begin 10; fork; fire 10000 ->\n"
     "active -> 0\n"
     "unfork\n"},
    /* -- close ------------------------------------------------------------- */
    {"interval_timer_closed_in_tick_is_clean",
     "begin 10; on tick close; fire 10000 -> due in 10, tick, closed\n"
     "turn ->\n"},
    {"interval_timer_timer_uv_closed_by_others_is_survived",
     "make; start 1; uv_close all; active -> 0\n"
     "stop; start 1 -> EINVAL\n"},
    {"interval_timer_whose_hub_others_have_closed_is_cancelled",
     "begin 10; uv_close hub; fire 10000 -> cancelled\n"
     "active -> 0\n"
     "start 10 -> EINVAL\n"},
    {"interval_timer_that_others_have_closed_is_closed_at_once",
     "make; start 1; uv_close all; turn; unref; ref; start 1 -> EINVAL\n"
     "close -> closed\n"},
};

/* -- other tests ----------------------------------------------------------- */

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

static void fire_timer(uv_handle_t *handle, void *arg) {
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

static void walk_close(uv_handle_t *handle, void *arg) {
  unsigned *ours = arg;

  if (uvperf__interval_timer_close_owner(handle))
    *ours += 1;
  else if (!uvperf__hub_is(handle) && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void not_ours(uv_timer_t *timer) {
}

static void not_ours_either(uv_idle_t *idle) {
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
  run_to_end(*state);
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
      TICKER(interval_timers_share_the_time_of_an_iteration),
      TICKER(interval_timer_new_without_memory_is_enomem),
      TICKER(interval_timer_is_found_by_its_handles_and_foreign_ones_are_not),
      TICKER(interval_timer_closed_twice_aborts),
      TICKER(live_ticks_are_never_early_nor_two_for_an_interval),
      TICKER(live_ticks_of_a_blocked_loop_are_not_made_up_for),
      TICKER(live_tick_after_long_work_is_not_early),
  };

  return SCRIPTED_ROWS_AND_TESTS(&interval_timer, rows, tests);
}
