/* SPDX-License-Identifier: MIT */
/* Live: readings of a set on a loop by the real clock. test_set_read_interval.c
 * tests each moment by a scripted clock. */
#include "live_set.h"

#define MS UINT64_C(1000000)

/* Works in every turn of the loop, and knows how much. */
typedef struct worker_s {
  uv_idle_t idle;
  uint64_t start_ns; /* before readings were started */
  uint64_t interval_ns;
  uint64_t done;
  uint64_t seen; /* by the callbacks */
  uint64_t wrong;
  uint64_t blocks; /* how often the loop is to be blocked */
} worker_t;

static void work(uv_idle_t *idle) {
  worker_t *worker = idle->data;
  uint64_t start = uv_hrtime();

  do {
    live_syscall(1);
    worker->done += 1;
  } while (worker->blocks > 0 &&
           uv_hrtime() - start < worker->interval_ns * 7 / 2);
  if (worker->blocks > 0)
    worker->blocks -= 1;
}

/* The delta is exactly what was done since the last callback, and the nth
 * callback is not before n intervals have passed. */
static void check(live_set_t *live) {
  worker_t *worker = live->hook_data;
  uint64_t since = uv_hrtime() - worker->start_ns;

  worker->wrong += live->status != 0 ||
                   live->delta.value != worker->done - worker->seen ||
                   live->total.value != worker->done ||
                   since < live->callbacks * worker->interval_ns;
  worker->seen = worker->done;
}

static void run_for_callbacks(const char *test, uv_loop_t *loop, uint64_t ms,
                              uint64_t blocks, uint64_t callbacks) {
  worker_t worker = {.interval_ns = ms * MS, .blocks = blocks};
  live_plan_t plan;
  live_set_t live;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(test, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(loop, &live, &plan.options);
  live.hook = check;
  live.hook_data = &worker;
  uv_idle_init(loop, &worker.idle);
  worker.idle.data = &worker;
  uv_idle_start(&worker.idle, work);
  worker.start_ns = uv_hrtime();
  assert_int_equal(uvperf_set_read_start(&live.set, ms, live_set_on_read, NULL),
                   0);
  assert_true(live_run_until(loop, &live.callbacks, callbacks));
  assert_int_equal(worker.wrong, 0);
  assert_int_equal(live.sum, worker.seen);
  uv_close((uv_handle_t *)&worker.idle, NULL);
  live_set_close(&live);
}

static void
live_set_read_by_a_blocked_loop_loses_and_doubles_nothing(void **state) {
  run_for_callbacks(__func__, *state, 2, 20, 40);
}

/* The interval of a delta is that between its readings. */
static void add_interval(live_set_t *live) {
  *(uint64_t *)live->hook_data += live->interval_ns;
}

static void live_set_read_intervals_add_up(void **state) {
  uint64_t before, after;
  uint64_t sum = 0;
  live_plan_t plan;
  live_set_t live;

  support_need_own_events(__func__);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  plan.attrs[0].exclude_kernel = 1;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(*state, &live, &plan.options);
  live.hook = add_interval;
  live.hook_data = &sum;
  before = live_now();
  assert_int_equal(uvperf_set_read_start(&live.set, 2, live_set_on_read, NULL),
                   0);
  assert_true(live_run_until(*state, &live.callbacks, 10));
  after = live_now();
  /* From the reading of the start on. */
  assert_in_range(sum, 20 * MS, after - before);
  live_set_close(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(
          live_set_read_by_a_blocked_loop_loses_and_doubles_nothing),
      support_loop_test(live_set_read_intervals_add_up),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
