/* SPDX-License-Identifier: MIT */
/* Live: the memory of a set with records, counted with the user's allocation
 * functions: it takes none while it delivers records, and keeps none. */
#include "live_stream.h"
#include "check_memory.h"

/* In slices, by a flush, and after another start. */
static void deliver(uv_loop_t *loop, live_stream_t *stream) {
  uvperf_stream_options_t options = live_stream_plain;
  uint64_t next = 0;

  options.slice_records = 7;
  live_stream_comm(&next, 100);
  assert_true(live_run_until(loop, &stream->comms, 100));
  assert_int_equal(uvperf_stop(&stream->live.set.handle), 0);
  live_stream_start(stream, &options);
  live_stream_comm(&next, 100);
  assert_true(live_run_until(loop, &stream->comms, 200));
  live_stream_comm(&next, 100);
  assert_int_equal(uvperf_flush(&stream->live.set.handle), 0);
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
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    check_memory_begin();
    live_stream_plan_mode(&plan, mode);
    live_stream_begin(*state, &stream, &plan);
    before = check_memory_taken();
    assert_true(before > 0);
    deliver(*state, &stream);
    assert_int_equal(check_memory_taken(), before);
    live_stream_close(&stream);
    assert_int_equal(check_memory_held(), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(set_stream_takes_no_memory_to_deliver,
                                       support_loop_setup,
                                       check_memory_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
