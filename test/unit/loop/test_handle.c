/* SPDX-License-Identifier: MIT */
/* The base of all handles, with a kind that the test makes: what no call of a
 * user can show. The rest is in live/test_life_*.c, with each kind. */
#include "support.h"

#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_pool.h"
#include "loop/handle.h"

#include "uvperf/bpf.h"
#include "uvperf/event.h"
#include "uvperf/set.h"

typedef struct made_s {
  uvperf__handle_t base;
  uvperf__cpu_ring_t own;
  struct perf_event_mmap_page page;
  int *asks, *gifts, *releases;
} made_t;

typedef struct fixture_s {
  uvperf_handle_t handle;
  made_t *impl;
  int asks, gifts, releases, closes;
} fixture_t;

static int is_active(const void *owner) {
  return 0;
}

static int stop(void *owner) {
  return 0;
}

static void quit(void *owner) {
}

static void give_up(void *owner, uvperf__leftovers_t *leftovers) {
  *((made_t *)owner)->gifts += 1;
}

static void release(void *owner) {
  made_t *impl = owner;

  *impl->releases += 1;
  uvperf__watch_free(impl->base.watch);
  free(impl);
}

static int count_lost(void *owner) {
  made_t *impl = owner;

  *impl->asks += 1;
  return 1;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
}

static const uvperf__handle_kind_t kind = {
    .type = UVPERF_HANDLE_SET,
    .noun = "test",
    .is_active = is_active,
    .stop = stop,
    .flush = stop,
    .count_lost = count_lost,
    .quit = quit,
    .give_up = give_up,
    .release = release,
};

static const uvperf__watch_ops_t watch_ops = {.close =
                                                  uvperf__handle_begin_close};

static void begin(fixture_t *fixture, uv_loop_t *loop) {
  made_t *impl = calloc(1, sizeof *impl);

  memset(fixture, 0, sizeof *fixture);
  fixture->impl = impl;
  impl->asks = &fixture->asks;
  impl->gifts = &fixture->gifts;
  impl->releases = &fixture->releases;
  uvperf__ring_set_page(&impl->own.ring, &impl->page);
  impl->base.ring = &impl->own;
  uvperf__handle_init(&impl->base, loop, &kind);
  assert_int_equal(uvperf__watch_new(&impl->base.watch, &impl->base.teardown,
                                     &watch_ops, impl),
                   0);
  memset(&fixture->handle, 0xa5, sizeof(fixture->handle));
  fixture->handle.data = fixture;
  uvperf__handle_publish(&impl->base, &fixture->handle);
}

static void on_close(uvperf_handle_t *handle) {
  fixture_t *fixture = handle->data;

  assert_null(handle->impl);
  assert_int_equal(handle->type, UVPERF_HANDLE_SET);
  fixture->closes++;
}

static void handle_is_of_one_type(void **state) {
  uvperf_handle_t handles[3];
  memset(handles, 0, sizeof handles);
  for (int i = 0; i < 3; i++) {
    handles[i].type = UVPERF_HANDLE_EVENT + i;
    assert_int_equal(uvperf_handle_event(&handles[i]) != NULL, i == 0);
    assert_int_equal(uvperf_handle_set(&handles[i]) != NULL, i == 1);
    assert_int_equal(uvperf_handle_bpf_reader(&handles[i]) != NULL, i == 2);
  }
  assert_true(uvperf_handle_size(UVPERF_HANDLE_EVENT) ==
              sizeof(uvperf_event_t));
  assert_true(uvperf_handle_size(UVPERF_HANDLE_SET) == sizeof(uvperf_set_t));
  assert_true(uvperf_handle_size(UVPERF_HANDLE_BPF_READER) ==
              sizeof(uvperf_bpf_reader_t));
  assert_true(uvperf_handle_size(0) == (size_t)-1);
  assert_true(uvperf_handle_size(4) == (size_t)-1);
}

/* At most once in 100 ms, as each time may interrupt all CPUs. */
static void
lost_records_are_counted_once_until_stop_flush_or_close(void **state) {
  fixture_t fixture;
  uvperf_ring_info_t info;
  uvperf_stats_t sum;
  int i;

  begin(&fixture, *state);
  fixture.impl->base.record_cb = on_record;
  for (i = 0; i < 3; i++) {
    uvperf_stats(&fixture.handle, &sum);
    assert_int_equal(sum.lost_is_read, 1);
    assert_int_equal(uvperf_ring(&fixture.handle, 0, &info), 0);
    assert_int_equal(info.stats.lost_is_read, 1);
    assert_int_equal(fixture.asks, i + 1);
    assert_int_equal(i == 0 ? uvperf_stop(&fixture.handle)
                            : uvperf_flush(&fixture.handle),
                     0);
  }
  uvperf_stats(&fixture.handle, &sum);
  assert_int_equal(fixture.asks, 4);
  uvperf_close(&fixture.handle, on_close);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(fixture.asks, 5);
}

/* A call that has a hold, such as a flush, may still use fds and rings. */
static void handle_that_is_held_keeps_all_until_it_is_let_go(void **state) {
  uvperf__teardown_t *teardown;
  fixture_t fixture;
  begin(&fixture, *state);
  teardown = &fixture.impl->base.teardown;
  uvperf__teardown_hold(teardown);
  uvperf_close(&fixture.handle, on_close);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(fixture.closes, 1);
  assert_int_equal(fixture.gifts, 0);
  assert_int_equal(fixture.releases, 0);
  uvperf__teardown_let_go(teardown);
  assert_int_equal(fixture.gifts, 0);
  assert_int_equal(fixture.releases, 1);
}

/* -- work on libuv's pool -------------------------------------------------- */

typedef struct work_s {
  uvperf__handle_job_t base;
  int steps; /* that are left, each in a request of its own */
  uvperf__calls_t calls;
  int ended;
  int code; /* then */
  int freed;
} work_t;

static int step(uvperf__job_t *job) {
  fake_clock_set(uv_hrtime() + 50 * UINT64_C(1000000));
  return --((work_t *)job)->steps != 0;
}

static int done(uvperf__handle_job_t *job, int rc, uvperf_error_t *error) {
  work_t *work = (work_t *)job;
  assert_int_equal(work->freed, 0);
  work->ended += 1;
  work->code = rc;
  if (rc != 0)
    assert_int_equal(error->code, rc);
  return rc;
}

static void free_work(uvperf__handle_job_t *job) {
  work_t *work = (work_t *)job;
  assert_int_equal(work->ended, 1);
  work->freed += 1;
}

static void begin_work(fixture_t *fixture, work_t *work, int steps, int opens) {
  memset(work, 0, sizeof *work);
  work->base.job.step = step;
  work->base.job.kind = UVPERF__JOB_CLOSE; /* unless it opens */
  work->base.done = done;
  work->base.free = free_work;
  work->steps = steps;
  assert_int_equal(uvperf__handle_job_begin(&fixture->impl->base, &work->base,
                                            opens ? &work->calls : NULL, NULL),
                   0);
}

/* The job that began later ends first. A job that opens nothing does not make
 * the handle active. */
static void close_cancels_and_awaits_the_jobs_that_are_left(void **state) {
  work_t closes, opens;
  fixture_t fixture;
  fake_pool_hold();
  fake_clock_set(uv_hrtime());
  begin(&fixture, *state);
  begin_work(&fixture, &closes, 2, 0);
  assert_false(uvperf_is_active(&fixture.handle));
  begin_work(&fixture, &opens, 1, 1);
  assert_true(uvperf_is_active(&fixture.handle));
  fake_pool_run();
  fake_pool_run();
  assert_int_equal(opens.freed, 1);
  assert_int_equal(opens.code, 0);
  assert_false(uvperf_is_active(&fixture.handle));
  uvperf_close(&fixture.handle, on_close);
  assert_true(closes.base.is_cancelled);
  assert_false(opens.base.is_cancelled);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(fixture.closes, 0);
  fake_pool_run();
  assert_int_equal(closes.freed, 1);
  assert_int_equal(closes.code, UV_ECANCELED);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(fixture.closes, 1);
  assert_int_equal(fixture.releases, 1);
  fake_clock_set(0);
}

/* The hub stays for the other handle. */
static void handle_with_two_openings_leaves_the_hub_once(void **state) {
  fixture_t fixture, other;
  work_t works[2];
  fake_pool_hold();
  begin(&fixture, *state);
  begin(&other, *state);
  begin_work(&fixture, &works[0], 1, 1);
  begin_work(&fixture, &works[1], 1, 1);
  uvperf_close(&fixture.handle, on_close);
  fake_pool_finish();
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(fixture.closes, 1);
  uvperf_close(&other.handle, on_close);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(other.closes, 1);
}

static int open_nothing(const struct perf_event_attr *attr, int32_t pid,
                        int32_t cpu, int group_fd, unsigned long flags,
                        void *arg) {
  return -EACCES;
}

/* Only a job that opens something by a function of the program has a limit. */
static void calls_have_5_seconds_unless_the_program_says_more(void **state) {
  static const struct {
    uvperf_open_fn open;
    uint32_t timeout_ms;
    int opens;
    uint32_t limit_ms;
  } cases[] = {{open_nothing, 0, 1, 5000},
               {open_nothing, 7000, 1, 7000},
               {open_nothing, 0, 0, 0},
               {NULL, 7000, 1, 0}};
  fixture_t fixture;
  work_t work;
  size_t i;
  for (i = 0; i < 4; i++) {
    fake_kernel_reset();
    fake_pool_hold();
    begin(&fixture, *state);
    uvperf__handle_limit_calls(&fixture.impl->base, cases[i].open,
                               cases[i].timeout_ms);
    begin_work(&fixture, &work, 1, cases[i].opens);
    assert_int_equal(work.base.job.limit_ms, cases[i].limit_ms);
    fake_pool_run();
    uvperf_close(&fixture.handle, on_close);
    uv_run(*state, UV_RUN_DEFAULT);
    assert_int_equal(fixture.releases, 1);
  }
  fake_clock_set(0);
}

#define SCRIPTED(f)                                                            \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handle_is_of_one_type),
      support_loop_test(
          lost_records_are_counted_once_until_stop_flush_or_close),
      support_loop_test(handle_that_is_held_keeps_all_until_it_is_let_go),
      SCRIPTED(calls_have_5_seconds_unless_the_program_says_more),
      SCRIPTED(close_cancels_and_awaits_the_jobs_that_are_left),
      SCRIPTED(handle_with_two_openings_leaves_the_hub_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
