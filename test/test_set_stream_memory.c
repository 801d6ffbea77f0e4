/* SPDX-License-Identifier: MIT */
/* Live: what memory a set with records takes, by the functions that the user
 * has given: none while records are delivered, and none that it keeps. */
#include "live_stream.h"

#include "uvperf/allocator.h"

static uint64_t taken;
static uint64_t freed;

static void *count_malloc(size_t size) {
  taken++;
  return malloc(size);
}

static void *count_realloc(void *old, size_t size) {
  taken++;
  return realloc(old, size);
}

static void *count_calloc(size_t nr, size_t size) {
  taken++;
  return calloc(nr, size);
}

static void count_free(void *memory) {
  freed++;
  free(memory);
}

static int put_back(void **state) {
  uvperf_replace_allocator(malloc, realloc, calloc, free);
  return support_loop_teardown(state);
}

/* In slices, by a flush, and after another start. */
static void deliver(uv_loop_t *loop, live_stream_t *stream) {
  uvperf_stream_options_t options = live_stream_plain;
  uint64_t next = 0;

  options.slice_records = 7;
  live_stream_comm(&next, 100);
  assert_true(live_run_until(loop, &stream->comms, 100));
  assert_int_equal(uvperf_set_stop(&stream->live.set), 0);
  live_stream_start(stream, &options);
  live_stream_comm(&next, 100);
  assert_true(live_run_until(loop, &stream->comms, 200));
  live_stream_comm(&next, 100);
  assert_int_equal(uvperf_set_flush(&stream->live.set), 0);
  assert_int_equal(stream->comms, 300);
  assert_int_equal(stream->out_of_order, 0);
}

static void set_stream_takes_no_memory_to_deliver(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  uint64_t before;
  size_t mode;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  uvperf_replace_allocator(count_malloc, count_realloc, count_calloc,
                           count_free);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    taken = freed = 0;
    live_stream_plan_mode(&plan, mode);
    live_stream_begin(*state, &stream, &plan);
    before = taken;
    assert_true(before > 0);
    deliver(*state, &stream);
    assert_true(taken == before);
    live_stream_close(&stream);
    assert_true(taken == freed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(set_stream_takes_no_memory_to_deliver,
                                       support_loop_setup, put_back),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
