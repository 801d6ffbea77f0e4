/* SPDX-License-Identifier: MIT */
/* What a callback may do with its handle: stop, start and close it, run the
 * loop inside a flush or snapshot, and use other handles. Each kind of handle,
 * each way in which records come, and each callback. */
#include "life.h"

#include "make_cpus.h"
#include "fake_clock.h"
#include "fake_uevents.h"

#define NR 5

static const unsigned int moments[] = {1, 3, NR};
#define MOMENTS (sizeof(moments) / sizeof(moments[0]))

/* Calls a function with each way in which records of the kind come. */
static void each_way(life_t *life,
                     void (*run)(life_t *life, enum life_way way)) {
  int way;

  for (way = 0; way < LIFE_WAYS; way++)
    if (life_has(life, (enum life_way)way))
      run(life, (enum life_way)way);
}

/* NR records of a started handle, which acts in the at-th callback. */
static void begin(life_t *life, enum life_way way, unsigned int at,
                  life_fn act) {
  life_open(life);
  life_start(life);
  life_write(life, NR);
  life_act(life, LIFE_RECORD, at, act);
  life_deliver(life, way);
}

/* The end of a snapshot with a callback that is cut short. */
static const char *cut(enum life_way way) {
  return way == LIFE_POOL ? " done ECANCELED" : "";
}

/* -- stop and start ------------------------------------------------------- */

static void stop_each_way(life_t *life, enum life_way way) {
  size_t i;

  for (i = 0; i < MOMENTS; i++) {
    begin(life, way, moments[i], life_stop);
    life_expect(life, "%u%s", moments[i], cut(way));
    assert_int_equal(uvperf_is_active(life->handle), 0);
    assert_int_equal(uv_loop_alive(life->loop), 0);
    life_write(life, 2);
    life_start(life);
    if (life->kind & LIFE_PLAIN) {
      life_expect(life, "%u", NR + 2 - moments[i]);
    } else {
      assert_int_equal(life_snap(life, UVPERF_SNAPSHOT_OLDEST_FIRST), 0);
      life_expect(life, "2");
      assert_int_equal(life_snap(life, UVPERF_SNAPSHOT_ALL), 0);
      life_expect(life, "%u", NR + 2);
    }
    life_end(life);
  }
}

/* The rest of a snapshot is in those of all records only. */
static void handle_stopped_in_a_callback_keeps_the_rest(life_t *life) {
  each_way(life, stop_each_way);
}

static void restart(life_t *life) {
  life_stop(life);
  life_start(life);
}

static void restart_each_way(life_t *life, enum life_way way) {
  size_t i;

  for (i = 0; i < MOMENTS; i++) {
    begin(life, way, moments[i], restart);
    life_expect(life, "%u%s", life->kind & LIFE_PLAIN ? NR : moments[i],
                cut(way));
    if (life->kind & LIFE_FLIGHTS)
      assert_int_equal(life_snap(life, 0), 0);
    life_expect(life, "%s", "");
    life_end(life);
  }
}

static void handle_restarted_in_a_callback_goes_on(life_t *life) {
  each_way(life, restart_each_way);
}

static void start_each_way(life_t *life, enum life_way way) {
  if (way != LIFE_FLUSH_STOPPED && way != LIFE_SNAPSHOT_STOPPED)
    return;
  begin(life, way, 2, life_start);
  life_expect_now(life, "%u", NR);
  assert_int_equal(life_try_start(life), UV_EALREADY);
  life_end(life);
}

static void handle_started_in_its_delivery_goes_on(life_t *life) {
  each_way(life, start_each_way);
}

/* Slices of two records, and a snapshot with a callback if the rings are
 * overwritable. */
static void begin_slices(life_t *life, enum life_place place, unsigned int nth,
                         life_fn act) {
  life_open(life);
  life_start_with(life, 2, UVPERF_START_SLICE_END);
  life_write(life, NR);
  life_act(life, place, nth, act);
  if (life->kind & LIFE_FLIGHTS)
    life_deliver(life, LIFE_POOL);
}

static void handle_stopped_at_the_end_of_a_slice_keeps_the_rest(life_t *life) {
  const char *end = life->kind & LIFE_FLIGHTS ? " done ECANCELED" : "";

  begin_slices(life, LIFE_SLICE, 2, life_stop);
  life_expect(life, "2 slice 2 slice%s", end);
  life_start(life);
  life_expect(life, life->kind & LIFE_FLIGHTS ? "" : "1");
  life_end(life);
  begin_slices(life, LIFE_SLICE, 3, life_stop);
  life_expect(life, "2 slice 2 slice 1 slice%s", end);
  assert_int_equal(uv_loop_alive(life->loop), 0);
  life_end(life);
}

/* -- close ---------------------------------------------------------------- */

static void close_each_way(life_t *life, enum life_way way) {
  size_t i, closer;

  for (closer = 0; closer < LIFE_CLOSERS_ANY; closer++)
    for (i = 0; i < MOMENTS; i++) {
      begin(life, way, moments[i], life_closers[closer]);
      life_expect(life, "%u%s closed", moments[i], cut(way));
      life_end(life);
    }
}

static void handle_closed_in_a_callback_delivers_no_more(life_t *life) {
  each_way(life, close_each_way);
}

static void handle_closed_at_the_end_of_a_slice_is_clean(life_t *life) {
  size_t i;

  for (i = 0; i < LIFE_CLOSERS_ANY; i++) {
    begin_slices(life, LIFE_SLICE, 1, life_closers[i]);
    life_expect(life, "2 slice%s closed",
                life->kind & LIFE_FLIGHTS ? " done ECANCELED" : "");
    life_end(life);
  }
}

static void handle_closed_when_its_snapshot_is_done_is_clean(life_t *life) {
  size_t i;

  for (i = 0; i < LIFE_CLOSERS_ANY; i++) {
    begin_slices(life, LIFE_DONE, 1, life_closers[i]);
    life_expect(life, "2 slice 2 slice 1 slice done closed");
    life_end(life);
  }
}

static void handle_closed_when_it_is_opened_is_clean(life_t *life) {
  size_t i;

  for (i = 0; i < LIFE_CLOSERS_ANY; i++) {
    assert_int_equal(life_begin(life), 0);
    life_act(life, LIFE_OPENED, 1, life_closers[i]);
    fake_pool_finish();
    life_expect(life, "open closed");
    life_end(life);
  }
}

static void handle_started_when_it_is_opened_delivers(life_t *life) {
  assert_int_equal(life_begin(life), 0);
  life_act(life, LIFE_OPENED, 1, life_start);
  fake_pool_finish();
  life_write(life, NR);
  if (life->kind & LIFE_FLIGHTS)
    assert_int_equal(life_snap(life, 0), 0);
  life_expect(life, "open %u", NR);
  life_end(life);
}

/* -- delivery that runs the loop ------------------------------------------ */

static life_fn closer_of_all;

static void close_and_free_loop(life_t *life) {
  closer_of_all(life);
  life_free_loop(life);
  assert_int_equal(life->closed, 1);
}

static void close_and_run_each_way(life_t *life, enum life_way way) {
  size_t i;

  if (way == LIFE_TURN || way == LIFE_POOL)
    return;
  for (i = 0; i < LIFE_CLOSERS; i++) {
    closer_of_all = life_closers[i];
    begin(life, way, 2, close_and_free_loop);
    life_expect_now(life, "2 closed");
    life_end(life);
  }
}

static void handle_closed_in_its_delivery_which_runs_the_loop(life_t *life) {
  each_way(life, close_and_run_each_way);
}

static void deliver_after_the_loop(life_t *life, enum life_way way) {
  if (way == LIFE_TURN || way == LIFE_POOL)
    return;
  life_open(life);
  life_start(life);
  life_write(life, NR);
  life_uv_close_all(life->loop);
  life_free_loop(life);
  life_act(life, LIFE_RECORD, 2, life_close);
  life_deliver(life, way);
  life_expect_now(life, "2 closed");
  life_end(life);
}

static void handle_closed_in_its_delivery_after_the_loop(life_t *life) {
  each_way(life, deliver_after_the_loop);
}

static void deliver_other(life_t *life) {
  life_deliver(life->other,
               life->other->kind & LIFE_FLIGHTS ? LIFE_SNAPSHOT : LIFE_FLUSH);
}

static void close_both_and_free_loop(life_t *life) {
  life_close(life->other);
  close_and_free_loop(life);
  life->other->loop = NULL;
  assert_int_equal(life->other->closed, 1);
}

/* A callback of the one delivers the other, and a callback of that closes
 * both. */
static void deliver_inside(life_t *life, enum life_way way, unsigned int kind) {
  life_t *other = life_add(life, kind);

  closer_of_all = life_close;
  life_open(other);
  life_start(other);
  life_write(other, 3);
  life_act(other, LIFE_RECORD, 1, close_both_and_free_loop);
  begin(life, way, 1, deliver_other);
  life_expect_now(other, "1 closed");
  life_expect_now(life, "1 closed");
  life_end(life);
}

static void nest_each_way(life_t *life, enum life_way way) {
  if (way == LIFE_TURN || way == LIFE_POOL)
    return;
  deliver_inside(life, way, LIFE_EVENT);
  deliver_inside(life, way, LIFE_FLIGHT);
  deliver_inside(life, way, LIFE_ORDER);
}

static void handles_closed_in_a_delivery_inside_a_delivery(life_t *life) {
  each_way(life, nest_each_way);
}

static void close_other_and_run(life_t *life) {
  life_close(life->other);
  while (life->other->closed == 0)
    life_turns(life, 1);
}

/* In a turn of the loop, and in a snapshot with a callback, a handle may not
 * run the loop, but others that it flushes may. */
static void close_by_flush_each_way(life_t *life, enum life_way way) {
  life_t *other = life_add(life, LIFE_EVENT);

  life_open(other);
  life_start(other);
  life_write(other, 3);
  assert_int_equal(uvperf_disable(other->handle, 0, NULL), 0);
  life_stop(other);
  life_act(other, LIFE_RECORD, 1, close_other_and_run);
  begin(life, way, 2, deliver_other);
  life_expect(life, "2%s closed", cut(way));
  life_expect_now(other, "3");
  life_end(life);
}

static void handle_closed_by_a_flush_in_its_callback_is_clean(life_t *life) {
  each_way(life, close_by_flush_each_way);
}

static void close_at_tick(uvperf_set_t *set, int status,
                          const uvperf_reading_t *reading,
                          const uvperf_reading_t *delta) {
  life_close(set->handle.data);
}

static void read_and_free_loop(life_t *life) {
  assert_int_equal(uvperf_set_read_start(uvperf_handle_set(life->handle), 1,
                                         close_at_tick, NULL),
                   0);
  uv_run(life->loop, UV_RUN_DEFAULT);
  life_free_loop(life);
  assert_int_equal(life->closed, 1);
}

static void tick_each_way(life_t *life, enum life_way way) {
  if (way == LIFE_TURN || way == LIFE_POOL)
    return;
  begin(life, way, 2, read_and_free_loop);
  life_expect_now(life, "2 closed");
  life_end(life);
}

/* A tick comes only if time passes. */
static void set_closed_by_a_tick_inside_its_delivery(life_t *life) {
  fake_clock_set(0);
  each_way(life, tick_each_way);
}

/* -- other callbacks ------------------------------------------------------ */

static void expect_einval(life_t *life) {
  assert_int_equal(life_try_start(life), UV_EINVAL);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_LOOP);
}

static const life_fn at_end[] = {life_stop, expect_einval, life_close,
                                 life_brute};

/* Nothing is delivered any more: those that are active hear of it once, and
 * nothing spins. Later ones have another hub. */
static void handle_whose_hub_is_closed_by_others_ends(life_t *life) {
  static const uv_handle_type types[] = {UV_CHECK, UV_IDLE};
  life_t *other = life_add(life, LIFE_EVENT);
  const int hears = (life->kind & LIFE_PLAIN) != 0;
  size_t i;

  for (i = 0; i < 2 * sizeof(at_end) / sizeof(at_end[0]); i++) {
    life_open(life);
    life_start(life);
    life_open(other);
    life_start(other);
    life_turns(life, 5);
    life_uv_close_type(life->loop, types[i % 2]);
    life_act(life, LIFE_STATUS, 1, at_end[i / 2]);
    life_write(other, 1);
    life_expect(other, "ECANCELED");
    life_expect(life, "%s%s", hears ? "ECANCELED" : "",
                hears && i / 2 > 1 ? " closed" : "");
    if (life->handle != NULL)
      assert_int_equal(uvperf_is_closing(life->handle), 0);
    assert_int_equal(uv_loop_alive(life->loop), 0);
    life_close(other);
    life_expect(other, "closed");
    other->is_closing = other->closed = 0;
    life_open(other);
    life_start(other);
    life_write(other, 2);
    life_expect(other, "2");
    life_end(life);
  }
}

static void close_hub(life_t *life) {
  const uvperf_record_t *record;
  uint64_t deadline = live_now() + UINT64_C(20000000000);

  life_uv_close_type(life->loop, UV_IDLE);
  while (uvperf_is_active(life->handle) && live_now() < deadline)
    life_turns(life, 1);
  assert_int_equal(uvperf_next(life->handle, &record), UV_EBUSY);
  assert_int_equal(uvperf_flush(life->handle), UV_EBUSY);
}

static void handle_whose_hub_is_closed_in_its_flush_ends(life_t *life) {
  begin(life, LIFE_FLUSH, 2, close_hub);
  life_expect_now(life, "2 ECANCELED");
  life_end(life);
}

static void expect_eof(life_t *life) {
  life->data = life;
  assert_int_equal(life_try_start(life), UV_EOF);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_NO_TASK);
}

static void handle_whose_target_ends_acts_in_its_last_callback(life_t *life) {
  static const life_fn acts[] = {life_stop, expect_eof, life_close, life_walk,
                                 life_brute};
  live_child_t child;
  size_t i;

  for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
    life_open_child(life, &child, NR);
    life_start(life);
    life_act(life, LIFE_STATUS, 1, acts[i]);
    live_child_go(&child);
    live_child_wait(&child);
    life_expect(life, i < 2 ? "5 EOF" : "5 EOF closed");
    if (i < 2) {
      assert_int_equal(uvperf_is_active(life->handle), 0);
      assert_int_equal(uv_loop_alive(life->loop), 0);
    }
    life_end(life);
  }
}

/* The ring of the first CPU makes no sense up to its head, or in its older
 * records. */
static void spoil(life_t *life) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 0};
  fake_event_t *ring = life->events[1];

  if (life->kind & LIFE_FLIGHTS)
    fake_ring_prepend(ring, &header, sizeof(header));
  else
    fake_ring_append(ring, &header, sizeof(header));
  fake_event_wake(ring);
}

/* Or it ends, because its head splits a record. */
static void split(life_t *life) {
  life->events[1]->page->data_head += 4;
  fake_event_wake(life->events[1]);
}

/* The ring of the second CPU goes on. */
static void act_when_damaged(life_t *life, life_fn damage) {
  static const life_fn acts[] = {NULL,       life_stop, restart,
                                 life_close, life_walk, life_brute};
  const int is_flight = (life->kind & LIFE_FLIGHTS) != 0;
  size_t i;

  for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
    life_open(life);
    life_start(life);
    damage(life);
    life_act(life, LIFE_STATUS, 1, acts[i]);
    if (is_flight)
      assert_int_equal(life_snap(life, 0), 0);
    life_expect(life, i < 3 ? "EPROTO" : "EPROTO closed");
    if (i < 3) {
      if (acts[i] == life_stop)
        life_start(life);
      life->written = 1;
      life_write(life, 1);
      if (is_flight)
        assert_int_equal(life_snap(life, 0), 0);
      life_expect(life, "1");
    }
    life_end(life);
  }
}

static void handle_with_a_damaged_ring_acts_when_it_hears_of_it(life_t *life) {
  act_when_damaged(life, spoil);
  if (life->kind & (LIFE_SET | LIFE_ORDER | LIFE_READER))
    act_when_damaged(life, split);
}

/* -- close callbacks ------------------------------------------------------ */

static void expect_getters(life_t *life) {
  uvperf_stats_t stats;

  uvperf_stats(life->handle, &stats);
  assert_int_equal(uvperf_stop(life->handle), 0);
}

static void ask_both(life_t *life) {
  expect_getters(life);
  expect_getters(life->other);
}

static void close_other_there(life_t *life) {
  life_act(life->other, LIFE_CLOSED, 1, ask_both);
  life_close(life->other);
  assert_int_equal(life->other->closed, 1);
  expect_getters(life);
}

/* Both call back at once, the one inside the other. */
static void handle_closed_in_a_close_callback_calls_back_in_it(life_t *life) {
  life_t *other = life_add(life, LIFE_EVENT);

  life_open(life);
  life_open(other);
  life_uv_close_all(life->loop);
  life_turns(life, 3);
  life_act(life, LIFE_CLOSED, 1, close_other_there);
  life_close(life);
  life_expect_now(life, "closed");
  life_expect_now(other, "closed");
  life_end(life);
}

int main(void) {
  const life_test_t tests[] = {
      LIFE_TEST(handle_stopped_in_a_callback_keeps_the_rest, LIFE_ANY),
      LIFE_TEST(handle_restarted_in_a_callback_goes_on, LIFE_ANY),
      LIFE_TEST(handle_started_in_its_delivery_goes_on, LIFE_ANY),
      LIFE_TEST(handle_stopped_at_the_end_of_a_slice_keeps_the_rest, LIFE_ANY),
      LIFE_TEST(handle_closed_in_a_callback_delivers_no_more, LIFE_ANY),
      LIFE_TEST(handle_closed_at_the_end_of_a_slice_is_clean, LIFE_ANY),
      LIFE_TEST(handle_closed_when_its_snapshot_is_done_is_clean, LIFE_FLIGHTS),
      LIFE_TEST(handle_closed_when_it_is_opened_is_clean, LIFE_ANY),
      LIFE_TEST(handle_started_when_it_is_opened_delivers, LIFE_ANY),
      LIFE_TEST(handle_closed_in_its_delivery_which_runs_the_loop, LIFE_ANY),
      LIFE_TEST(handle_closed_in_its_delivery_after_the_loop, LIFE_ANY),
      LIFE_TEST(handles_closed_in_a_delivery_inside_a_delivery, LIFE_ANY),
      LIFE_TEST(handle_closed_by_a_flush_in_its_callback_is_clean, LIFE_ANY),
      LIFE_TEST(set_closed_by_a_tick_inside_its_delivery, LIFE_SETS),
      LIFE_TEST(handle_whose_hub_is_closed_by_others_ends, LIFE_ANY),
      LIFE_TEST(handle_whose_hub_is_closed_in_its_flush_ends, LIFE_PLAIN),
      LIFE_TEST(handle_whose_target_ends_acts_in_its_last_callback,
                LIFE_MORTAL | LIFE_LIVE),
      LIFE_TEST(handle_with_a_damaged_ring_acts_when_it_hears_of_it,
                LIFE_ANY | LIFE_SCRIPTED),
      LIFE_TEST(handle_closed_in_a_close_callback_calls_back_in_it, LIFE_ANY),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
