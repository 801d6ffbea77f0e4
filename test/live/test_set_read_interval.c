/* SPDX-License-Identifier: MIT */
/* Readings of a set on the loop, with exact work between two ticks: by a
 * scripted clock, and a timer that the test fires. Readings by the real clock
 * are in test_set_read_interval_clock.c; test_set_random.c resets, disables and
 * removes between them. */
#include "live_set.h"

#include "fake_clock.h"
#include "fake_kernel.h"
#include "live_thread.h"

#define MS UINT64_C(1000000)

/* Some uptime. */
#define START (12345678 * MS)

/* Interval of the scripted tests. */
#define INTERVAL_MS 100

/* A set of getpgid by the calling thread, enabled and started. */
static void begin(const char *test, uv_loop_t *loop, live_set_t *live) {
  live_plan_t plan;

  live_plan_begin(&plan);
  plan.options.flags = UVPERF_SET_FIXED_CPUS; /* one timer */
  live_plan_syscall(&plan, support_need_tracepoint(test, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(loop, live, &plan.options);
  fake_clock_set(START);
  assert_int_equal(
      uvperf_set_read_start(&live->set, INTERVAL_MS, live_set_on_read, NULL),
      0);
}

/* Fires the timer ms milliseconds after the start, and runs the check phase. */
static void fire_at(uv_loop_t *loop, uint64_t ms) {
  fake_clock_set(START + ms * MS);
  fake_clock_fire(fake_clock_timer(loop));
  uv_run(loop, UV_RUN_NOWAIT);
}

static void expect(const live_set_t *live, uint64_t callbacks, uint64_t total,
                   uint64_t delta) {
  assert_int_equal(live->callbacks, callbacks);
  assert_int_equal(live->status, 0);
  assert_int_equal(live->total.value, total);
  assert_int_equal(live->delta.value, delta);
}

/* -- the interval of a delta ---------------------------------------------- */

static void set_read_deltas_are_the_work_of_each_interval(void **state) {
  live_set_t live;
  uint64_t total = 4;
  uint64_t i;

  live_syscall(3); /* not yet open */
  begin(__func__, *state, &live);
  live_syscall(4);
  for (i = 1; i <= 100; i++) {
    fire_at(*state, i * INTERVAL_MS);
    expect(&live, i, total, i == 1 ? 4 : i - 1);
    assert_int_equal(live.delta.state, UVPERF_COUNT_COUNTING);
    live_syscall(i);
    total += i;
  }
  live_set_close(&live);
}

/* One that is early by the loop's old time, and one that is late for three. */
static void set_read_by_a_late_loop_is_one_delta_of_all(void **state) {
  live_set_t live;

  begin(__func__, *state, &live);
  live_syscall(1);
  fire_at(*state, INTERVAL_MS - 1);
  assert_int_equal(live.callbacks, 0);
  live_syscall(2);
  fire_at(*state, 3 * INTERVAL_MS + 50);
  expect(&live, 1, 3, 3);
  live_syscall(4);
  fire_at(*state, 4 * INTERVAL_MS - 1);
  assert_int_equal(live.callbacks, 1);
  fire_at(*state, 4 * INTERVAL_MS);
  expect(&live, 2, 7, 4);
  live_set_close(&live);
}

/* -- targets that come and go --------------------------------------------- */

static void syscalls(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

/* Threads, of which the second does twice as much each time. */
typedef struct threads_s {
  live_thread_t threads[2];
  uint64_t work[2];
} threads_t;

static void threads_start(threads_t *threads) {
  size_t i;

  for (i = 0; i < 2; i++) {
    threads->work[i] = 10 * (i + 1);
    live_thread_start(&threads->threads[i], syscalls, &threads->work[i]);
  }
}

static void threads_do(threads_t *threads) {
  live_thread_do(&threads->threads[0]);
  live_thread_do(&threads->threads[1]);
}

/* A set of both threads, enabled and started. */
static void begin_threads(const char *test, uv_loop_t *loop, live_set_t *live,
                          threads_t *threads) {
  live_plan_t plan;
  size_t i;

  live_plan_begin(&plan);
  plan.options.flags = UVPERF_SET_FIXED_CPUS; /* one timer */
  live_plan_syscall(&plan, support_need_tracepoint(test, LIVE_SYSCALL));
  threads_start(threads);
  for (i = 0; i < 2; i++)
    live_plan_target(&plan, UVPERF_TARGET_THREAD)->pid =
        (int32_t)threads->threads[i].tid;
  live_set_begin(loop, live, &plan.options);
  fake_clock_set(START);
  assert_int_equal(
      uvperf_set_read_start(&live->set, INTERVAL_MS, live_set_on_read, NULL),
      0);
}

/* Copies the reading: the set owns it. */
static void on_read_kept(uvperf_set_t *set, int status,
                         const uvperf_reading_t *reading,
                         const uvperf_reading_t *delta) {
  live_set_t *live = set->handle.data;

  live_set_on_read(set, status, reading, delta);
  assert_int_equal(uvperf_reading_copy(live->reading, reading), 0);
}

static uint64_t value_of(const uvperf_reading_t *reading) {
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_total(reading, 0, &count), 0);
  return count.value;
}

/* What it counted since the last reading is in no delta. The second one has
 * ended before its removal. */
static void set_target_removed_between_ticks_returns_the_rest(void **state) {
  uvperf_reading_t *last, *rest;
  threads_t threads;
  live_set_t live;
  uint32_t i;

  assert_int_equal(uvperf_reading_new(&last), 0);
  assert_int_equal(uvperf_reading_new(&rest), 0);
  begin_threads(__func__, *state, &live, &threads);
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  assert_int_equal(
      uvperf_set_read_start(&live.set, INTERVAL_MS, on_read_kept, NULL), 0);
  threads_do(&threads);
  fire_at(*state, INTERVAL_MS);
  expect(&live, 1, 30, 30);
  threads_do(&threads);
  live_thread_end(&threads.threads[1]);
  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_set_remove(&live.set, i, last, NULL), 0);
    assert_int_equal(uvperf_reading_info(last)->nr_places, 1);
    assert_int_equal(uvperf_reading_place(last, 0)->target, i);
    assert_int_equal(value_of(last), i == 0 ? 20 : 40);
    assert_int_equal(uvperf_reading_delta(rest, live.reading, last), 0);
    assert_int_equal(value_of(rest), i == 0 ? 10 : 20);
  }
  fire_at(*state, 2 * INTERVAL_MS);
  expect(&live, 2, 0, 0);
  live_thread_end(&threads.threads[0]);
  uvperf_reading_free(last);
  uvperf_reading_free(rest);
  live_set_close(&live);
}

static void
set_thread_that_ends_between_ticks_is_counted_to_the_end(void **state) {
  threads_t threads;
  live_set_t live;

  begin_threads(__func__, *state, &live, &threads);
  threads_do(&threads);
  fire_at(*state, INTERVAL_MS);
  expect(&live, 1, 30, 30);
  threads_do(&threads);
  live_thread_end(&threads.threads[1]);
  fire_at(*state, 2 * INTERVAL_MS);
  expect(&live, 2, 60, 30);
  assert_int_equal(live.delta.state, UVPERF_COUNT_COUNTING);
  live_thread_do(&threads.threads[0]);
  fire_at(*state, 3 * INTERVAL_MS);
  expect(&live, 3, 70, 10);
  live_thread_end(&threads.threads[0]);
  fire_at(*state, 4 * INTERVAL_MS);
  /* The end itself makes no such call. */
  expect(&live, 4, 70, 0);
  fire_at(*state, 5 * INTERVAL_MS);
  /* A task is asked for once it has not run between two readings. */
  expect(&live, 5, 70, 0);
  assert_int_equal(live.total.state, UVPERF_COUNT_GONE);
  assert_int_equal(live.delta.state, UVPERF_COUNT_GONE);
  assert_int_equal(uvperf_is_active(&live.set.handle), 1);
  live_set_close(&live);
}

/* -- start and stop ------------------------------------------------------- */

/* Each of the functions that read returns this error. */
static void expect_refused(int rc, int code, const uvperf_error_t *error,
                           const char *reason) {
  assert_int_equal(rc, code);
  assert_int_equal(error->code, code);
  assert_int_equal(error->cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error->reason, reason));
}

static void set_read_start_refuses_invalid_options(void **state) {
  live_set_t live;
  uvperf_error_t error;
  int rc;

  begin(__func__, *state, &live);
  rc = uvperf_set_read_start(&live.set, 1, live_set_on_read, &error);
  expect_refused(rc, UV_EALREADY, &error, "uvperf_set_read_stop");
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  rc = uvperf_set_read_start(&live.set, 0, live_set_on_read, &error);
  expect_refused(rc, UV_EINVAL, &error, "interval_ms");
  rc = uvperf_set_read_start(&live.set, 1, NULL, &error);
  expect_refused(rc, UV_EINVAL, &error, "cb");
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  rc = uvperf_set_read(&live.set, NULL, &error);
  expect_refused(rc, UV_EINVAL, &error, "reading");
  live_set_close(&live);
}

static void set_read_stopped_and_started_begins_again(void **state) {
  live_set_t live;

  begin(__func__, *state, &live);
  live_syscall(3);
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  assert_int_equal(uv_loop_alive(*state), 0);
  live_syscall(4);
  fake_clock_set(START + 70 * MS);
  assert_int_equal(uvperf_set_read_start(&live.set, 50, live_set_on_read, NULL),
                   0);
  live_syscall(5);
  fire_at(*state, 119);
  assert_int_equal(live.callbacks, 0);
  fire_at(*state, 120);
  expect(&live, 1, 12, 5);
  live_set_close(&live);
}

static void set_read_keeps_the_loop_alive_while_started(void **state) {
  live_set_t live;

  begin(__func__, *state, &live);
  assert_int_equal(uvperf_is_active(&live.set.handle), 1);
  assert_int_equal(uv_loop_alive(*state), 1);
  uvperf_unref(&live.set.handle);
  assert_int_equal(uvperf_has_ref(&live.set.handle), 0);
  assert_int_equal(uv_loop_alive(*state), 0);
  uvperf_ref(&live.set.handle);
  assert_int_equal(uvperf_has_ref(&live.set.handle), 1);
  assert_int_equal(uv_loop_alive(*state), 1);
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  assert_int_equal(uvperf_is_active(&live.set.handle), 0);
  assert_int_equal(uv_loop_alive(*state), 0);
  live_set_close(&live);
}

/* -- inside the callback -------------------------------------------------- */

/* Restarts with 30 ms, twice, and works in between. */
static void restart(live_set_t *live) {
  live_syscall(2);
  assert_int_equal(uvperf_set_read_stop(&live->set), 0);
  assert_int_equal(
      uvperf_set_read_start(&live->set, 10, live_set_on_read, NULL), 0);
  live_syscall(4);
  assert_int_equal(uvperf_set_read_stop(&live->set), 0);
  assert_int_equal(
      uvperf_set_read_start(&live->set, 30, live_set_on_read, NULL), 0);
  live_syscall(8);
  live->hook = NULL;
}

static void set_read_restarted_in_callback_begins_there(void **state) {
  live_set_t live;

  begin(__func__, *state, &live);
  live_syscall(1);
  live.hook = restart;
  fire_at(*state, INTERVAL_MS);
  expect(&live, 1, 1, 1);
  fire_at(*state, INTERVAL_MS + 29);
  assert_int_equal(live.callbacks, 1);
  fire_at(*state, INTERVAL_MS + 30);
  expect(&live, 2, 15, 8);
  live_syscall(16);
  fire_at(*state, INTERVAL_MS + 60);
  expect(&live, 3, 31, 16);
  live_set_close(&live);
}

/* The callback's argument does not change until it returns, whatever it does:
 * tested from the second callback on, so that each of the set's two readings is
 * used. */
static void busy(uvperf_set_t *set, int status, const uvperf_reading_t *reading,
                 const uvperf_reading_t *delta) {
  live_set_t *live = set->handle.data;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  if (live->callbacks > 0) {
    live_syscall(4);
    assert_int_equal(uvperf_set_add(set, &target, NULL, &index, NULL), 0);
    live_syscall(1);
    assert_int_equal(uvperf_reset(&set->handle, UVPERF_ALL, NULL), 0);
    assert_int_equal(uvperf_set_remove(set, index, NULL, NULL), 0);
    assert_int_equal(uvperf_set_read_stop(set), 0);
    assert_int_equal(uvperf_set_read_start(set, INTERVAL_MS, busy, NULL), 0);
    live_syscall(8);
    assert_int_equal(live_set_read(live, 0).value, 8);
  }
  live_set_on_read(set, status, reading, delta);
}

static void set_used_in_its_callback_leaves_the_reading_as_it_is(void **state) {
  live_set_t live;
  uint64_t i;

  begin(__func__, *state, &live);
  assert_int_equal(uvperf_set_read_stop(&live.set), 0);
  assert_int_equal(uvperf_set_read_start(&live.set, INTERVAL_MS, busy, NULL),
                   0);
  live_syscall(7);
  fire_at(*state, INTERVAL_MS);
  expect(&live, 1, 7, 7);
  live_syscall(2);
  fire_at(*state, 2 * INTERVAL_MS);
  expect(&live, 2, 9, 2);
  for (i = 3; i < 7; i++) {
    live_syscall(i);
    fire_at(*state, i * INTERVAL_MS);
    expect(&live, i, 8 + i, 8 + i);
  }
  live_set_close(&live);
}

/* -- out of memory -------------------------------------------------------- */

static void set_read_out_of_memory_leaves_it_to_the_next(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  unsigned failures;
  live_set_t live;

  begin(__func__, *state, &live);
  live_syscall(1);
  fire_at(*state, INTERVAL_MS);
  expect(&live, 1, 1, 1);
  /* One place more, so that the readings have to grow. */
  if (uvperf_set_add(&live.set, &target, NULL, NULL, NULL) != 0)
    fail_msg("no second target");
  live_syscall(2);
  failures = fake_failures();
  fake_fail(FAKE_CALLOC, 1, 0);
  fire_at(*state, 2 * INTERVAL_MS);
  assert_int_equal(fake_failures(), failures + 1);
  assert_int_equal(live.callbacks, 2);
  assert_int_equal(live.status, UV_ENOMEM);
  live_syscall(4);
  fire_at(*state, 3 * INTERVAL_MS);
  assert_int_equal(live.callbacks, 3);
  assert_int_equal(live.status, 0);
  assert_int_equal(live.failures, 1);
  /* Of the thread, in each of the two targets. */
  assert_int_equal(live.delta.value, 12);
  live_set_close(&live);
  fake_assert_clean();
}

static void set_read_start_out_of_memory_starts_nothing(void **state) {
  unsigned failures;
  live_plan_t plan;
  live_set_t live;
  unsigned i;
  int rc;

  support_need_own_events(__func__);
  live_plan_begin(&plan);
  plan.options.flags = UVPERF_SET_FIXED_CPUS; /* one timer */
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  plan.attrs[0].exclude_kernel = 1;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  for (i = 1, rc = UV_ENOMEM; rc != 0; i++) {
    live_set_begin(*state, &live, &plan.options);
    failures = fake_failures();
    fake_fail(FAKE_CALLOC, i, 0);
    rc = uvperf_set_read_start(&live.set, 1, live_set_on_read, NULL);
    assert_int_equal(rc, fake_failures() > failures ? UV_ENOMEM : 0);
    assert_int_equal(uvperf_is_active(&live.set.handle), rc == 0);
    if (rc != 0)
      assert_int_equal(
          uvperf_set_read_start(&live.set, 1, live_set_on_read, NULL), 0);
    live_set_close(&live);
  }
  /* Three readings, and what one of them holds. */
  assert_in_range(i, 5, 20);
  fake_assert_clean();
}

static int setup(void **state) {
  fake_clock_set(0);
  fake_clock_set_counters(0);
  return fake_kernel_loop_setup(state);
}

#define SET_READ(test)                                                         \
  support_loop_test_setup_teardown(test, setup, fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SET_READ(set_read_deltas_are_the_work_of_each_interval),
      SET_READ(set_read_by_a_late_loop_is_one_delta_of_all),
      SET_READ(set_target_removed_between_ticks_returns_the_rest),
      SET_READ(set_thread_that_ends_between_ticks_is_counted_to_the_end),
      SET_READ(set_read_start_refuses_invalid_options),
      SET_READ(set_read_stopped_and_started_begins_again),
      SET_READ(set_read_keeps_the_loop_alive_while_started),
      SET_READ(set_read_restarted_in_callback_begins_there),
      SET_READ(set_used_in_its_callback_leaves_the_reading_as_it_is),
      SET_READ(set_read_out_of_memory_leaves_it_to_the_next),
      SET_READ(set_read_start_out_of_memory_starts_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
