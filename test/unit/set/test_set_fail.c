/* SPDX-License-Identifier: MIT */
/* Scripted: failures when a set starts or gets a target, and the order of
 * calls. */
#include "scripted_set.h"

#include <errno.h>
#include <poll.h>

#include "set/internal.h"
#include "util/alloc.h"

/* -- failures ------------------------------------------------------------- */

/* On CPU 0 only. */
static void begin_on_cpu_0(uv_loop_t *loop, scripted_set_t *scripted,
                           size_t mode) {
  scripted_set_plan(scripted, mode);
  scripted->make.targets[0].cpus = "0";
  live_stream_open(loop, &scripted->stream, &scripted->make.options);
  live_stream_start(&scripted->stream, NULL);
}

/* On CPU 1, which is new to the set: all or nothing. */
static void set_target_on_a_new_ring_out_of_memory_is_not_added(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  uvperf_set_t *set;
  uint32_t index;
  unsigned nth;
  size_t mode;
  scripted_set_t scripted;
  int rc;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1";
  set = &scripted.stream.live.set;
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    rc = UV_ENOMEM;
    for (nth = 1; rc != 0; nth++) {
      begin_on_cpu_0(*state, &scripted, mode);
      index = 4711;
      fake_fail(FAKE_CALLOC, nth, 0);
      rc = uvperf_set_add(set, &target, NULL, &index, &error);
      assert_int_equal(rc, fake_failures() > 0 ? UV_ENOMEM : 0);
      assert_int_equal(uvperf_set_nr_open(set), rc == 0 ? 2 : 1);
      assert_int_equal(index, rc == 0 ? 1 : 4711);
      if (rc != 0)
        assert_int_equal(error.code, UV_ENOMEM);
      else
        uvperf__free(uvperf__calloc(1, 1));
      live_run_ms(*state, 1);
      scripted_set_close(&scripted);
    }
    assert_in_range(nth, 5, 60);
  }
}

/* A ring that was added, without memory for its watch: it is not read before
 * there is memory, whatever is in it. Returns how often that happened. */
static unsigned try_unwatched(uv_loop_t *loop, size_t mode, unsigned nth) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;
  unsigned is_unwatched;
  int rc;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1";
  begin_on_cpu_0(loop, &scripted, mode);
  fake_event_add(104);
  fake_fail(FAKE_CALLOC, nth, 0);
  rc = uvperf_set_add(set, &target, NULL, NULL, NULL);
  if (rc == 0)
    uvperf__free(uvperf__calloc(1, 1));
  is_unwatched = rc != 0 && scripted.events[3]->page != NULL;
  if (is_unwatched) {
    scripted_set_spoil(&scripted, 1);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(scripted.stream.faults, 0);
    assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, NULL), 0);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(scripted.stream.faults, 1);
    assert_int_equal(uvperf_is_active(&set->handle), 1);
  }
  scripted_set_close(&scripted);
  return is_unwatched;
}

static void set_ring_that_is_not_watched_is_not_read(void **state) {
  unsigned nr, nth;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    nr = 0;
    for (nth = 1; nth < 60; nth++)
      nr += try_unwatched(*state, mode, nth);
    assert_true(nr > 0);
  }
}

/* A ring that is polled, and for whose merge there was no memory, ends: it is
 * not read when there is. How often that was so. */
static unsigned try_ended(uv_loop_t *loop, unsigned nth) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;
  const set_t *impl;
  unsigned is_unmerged;
  int rc;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1";
  begin_on_cpu_0(loop, &scripted, 1);
  impl = set->handle.impl;
  fake_event_add(104);
  fake_fail(FAKE_CALLOC, nth, 0);
  rc = uvperf_set_add(set, &target, NULL, NULL, NULL);
  if (rc == 0)
    uvperf__free(uvperf__calloc(1, 1));
  is_unmerged = rc != 0 && uvperf__watch_nr_rings(impl->base.watch) >
                               impl->merge->nr_tracks;
  if (is_unmerged) {
    fake_fail(FAKE_OPEN, 1, -EMFILE); /* and there is no spare */
    scripted.events[3]->revents = POLLHUP;
    fake_event_wake(scripted.events[3]);
    assert_true(live_run_until(loop, &scripted.stream.faults, 1));
    fake_event_quiet(scripted.events[3]);
    scripted_set_sample(&scripted, 1, 102, 1);
    assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, NULL), 0);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(scripted.stream.records, 0);
  }
  scripted_set_close(&scripted);
  return is_unmerged;
}

static void set_ring_that_ended_before_it_is_merged_is_not_read(void **state) {
  unsigned nr = 0, nth;

  for (nth = 1; nth < 60; nth++)
    nr += try_ended(*state, nth);
  assert_true(nr > 0);
}

/* -- the order of calls --------------------------------------------------- */

/* Lost records are counted, and nothing counts after close was called. A ring
 * is unmapped, and its owner closed, when it is no longer polled. */
static void set_stream_close_disables_then_closes_then_unmaps(void **state) {
  scripted_set_t scripted;

  scripted_set_begin(*state, &scripted, 0);
  live_run_ms(*state, 5);
  fake_log_clear();
  uvperf_close(&scripted.stream.live.set.handle, live_set_on_close);
  assert_string_equal(fake_log(), "read, read, ioctl DISABLE, ioctl DISABLE");
  fake_log_clear();
  live_set_wait_closed(&scripted.stream.live);
  assert_string_equal(fake_log(), "close, close, munmap, close, munmap, close");
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_target_on_a_new_ring_out_of_memory_is_not_added),
      scripted_set_test(set_ring_that_is_not_watched_is_not_read),
      scripted_set_test(set_ring_that_ended_before_it_is_merged_is_not_read),
      scripted_set_test(set_stream_close_disables_then_closes_then_unmaps),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
