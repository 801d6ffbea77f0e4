/* SPDX-License-Identifier: MIT */
/* Live: the memory of a BPF reader, counted with the user's allocation
 * functions: it takes none while it delivers records, and keeps none. */
#include "live_bpf_reader.h"
#include "check_memory.h"

/* In slices, by a flush, across a pause, and after another start; large ones
 * wrap at the end of the ring. */
static void deliver(uv_loop_t *loop, live_bpf_reader_t *live) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  uvperf_bpf_reader_t *reader = &live->reader;
  int i;

  stream.slice_records = 7;
  live_bpf_reader_send_all(live, 0, 100);
  assert_true(live_run_until(loop, &live->samples, 100));
  assert_int_equal(uvperf_stop(&reader->handle), 0);
  live_bpf_reader_start(live, &stream);
  live_bpf_reader_send_all(live, live_last_cpu(), 100);
  assert_true(live_run_until(loop, &live->samples, 200));
  assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), 0);
  assert_int_equal(uvperf_bpf_reader_publish(reader, NULL), 0);
  for (i = 0; i < 100; i++) {
    assert_int_equal(live_bpf_reader_send(live, 0, 5000), 0);
    assert_int_equal(uvperf_flush(&reader->handle), 0);
  }
  assert_int_equal(live->samples, 300);
  assert_int_equal(live->strange, 0);
}

static void reader_takes_no_memory_to_deliver(void **state) {
  live_bpf_reader_t live;
  uint64_t before;

  live_bpf_reader_make(__func__, &live, 0);
  check_memory_begin();
  live_bpf_reader_open(*state, &live, NULL);
  live_bpf_reader_start(&live, NULL);
  live_run_ms(*state, 5);
  before = check_memory_taken();
  assert_true(before > 0);
  deliver(*state, &live);
  assert_int_equal(check_memory_taken(), before);
  live_bpf_reader_close(&live);
  assert_int_equal(check_memory_held(), 0);
  live_bpf_reader_unmake(&live);
}

/* A snapshot does, for the while, and as much as its rings. */
static void snapshots_free_what_they_take(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  uint64_t held;
  int i;

  options.flags = UVPERF_BPF_READER_OVERWRITE;
  live_bpf_reader_make(__func__, &live, 0);
  check_memory_begin();
  live_bpf_reader_open(*state, &live, &options);
  live_bpf_reader_start(&live, NULL);
  held = check_memory_held();
  for (i = 0; i < 10; i++) {
    live_bpf_reader_send_all(&live, 0, 10);
    assert_int_equal(uvperf_snapshot(&live.reader.handle,
                                     UVPERF_SNAPSHOT_OLDEST_FIRST, NULL, NULL),
                     0);
    assert_int_equal(check_memory_held(), held);
  }
  assert_int_equal(live.samples, 100);
  live_bpf_reader_close(&live);
  assert_int_equal(check_memory_held(), 0);
  live_bpf_reader_unmake(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(reader_takes_no_memory_to_deliver,
                                       support_loop_setup,
                                       check_memory_teardown),
      support_loop_test_setup_teardown(snapshots_free_what_they_take,
                                       support_loop_setup,
                                       check_memory_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
