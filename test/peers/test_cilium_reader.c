/* SPDX-License-Identifier: MIT */
/* Live: the checks of cilium/ebpf's tests of its perf.Reader. Waiting is in
 * test_cilium_reader_wait.c. Here a loop waits instead of a Read. The whole
 * list is in ORIGINS. */
#include "cilium_reader.h"

#include <errno.h>
#include <unistd.h>

static uvperf_ring_info_t ring_here(const cilium_reader_t *cilium) {
  const uvperf_bpf_reader_t *reader = &cilium->live.reader;
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(&reader->handle); i++) {
    assert_int_equal(uvperf_ring(&reader->handle, i, &ring), 0);
    if (ring.cpu == cilium->cpu)
      return ring;
  }
  fail_msg("CPU %d has no ring", cilium->cpu);
  return ring;
}

/* -- Reader --------------------------------------------------------------- */

static void note_remaining(cilium_reader_t *cilium) {
  uint64_t *remaining = cilium->hook_data;

  remaining[cilium->samples - 1] = cilium->remaining;
}

/* cilium TestPerfReader checks two samples, the bytes that remain after each,
 * and the size of the ring. Then nothing comes until a timer does. */
static void reader_delivers_two_samples_and_then_waits(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_every_second();
  uint64_t remaining[2];
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium.on_sample = note_remaining;
  cilium.hook_data = remaining;
  cilium_reader_start(&cilium, NULL);
  assert_int_equal(ring_here(&cilium).bytes, support_page_bytes());
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 0), 0);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 1), 0);
  assert_int_equal(ring_here(&cilium).waiting, 2 * 24);
  cilium_reader_wait_for(&cilium, 2);
  cilium_reader_expect(&cilium, 5, 1);
  assert_int_equal(remaining[0], 24);
  assert_int_equal(remaining[1], 0);
  assert_int_equal(ring_here(&cilium).waiting, 0);
  cilium_reader_silence(&cilium, 4);
  cilium_reader_close(&cilium);
}

/* cilium ExampleReader. */
static void reader_delivers_what_the_program_wrote(void **state) {
  static const uint8_t payload[] = {1, 2, 3, 4, 5};
  uvperf_bpf_reader_options_t options = cilium_reader_each_one();
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  assert_int_equal(
      live_bpf_output(&cilium.live.output, payload, sizeof(payload)), 0);
  cilium_reader_wait_for(&cilium, 1);
  assert_int_equal(cilium.size, 12);
  assert_memory_equal(cilium.data, payload, sizeof(payload));
  cilium_reader_close(&cilium);
}

/* -- loss ----------------------------------------------------------------- */

/* cilium TestPerfReaderLostSample: samples of 192 bytes fill a page except for
 * 64 or 128 bytes. One more does not fit, and the next one that fits brings the
 * record of that loss. */
static void reader_reports_the_sample_that_did_not_fit(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_page();
  size_t nr = support_page_bytes() / 192;
  uvperf_stats_t stats;
  cilium_reader_t cilium;
  size_t i;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  for (i = 0; i < nr; i++)
    assert_int_equal(cilium_reader_put_out(&cilium, 180, (uint8_t)i), 0);
  assert_int_equal(cilium_reader_put_out(&cilium, 180, 99), -ENOSPC);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 100), 0);
  cilium_reader_wait_for(&cilium, nr + 1);
  cilium_reader_expect(&cilium, 5, 100);
  assert_int_equal(cilium.losses, 1);
  assert_int_equal(cilium.live.lost, 1);
  uvperf_stats(&cilium.live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, 1);
  assert_int_equal(stats.records, nr + 2);
  cilium_reader_close(&cilium);
}

/* -- Close ---------------------------------------------------------------- */

static void cancel(uv_timer_t *timer) {
  cilium_reader_t *cilium = timer->data;

  assert_int_equal(cilium_reader_put_out(cilium, 5, 1), 0);
  uvperf_close(&cilium->live.reader.handle, NULL);
  uv_close((uv_handle_t *)timer, NULL);
}

/* cilium TestPerfReaderClose: closing the reader ends a wait of the loop at
 * once, and nothing is delivered afterwards. bpf.h says that a second close and
 * any later call are errors: they assert. */
static void reader_closed_while_waiting_ends_the_wait(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_each_one();
  size_t fds = support_count_fds();
  uv_timer_t timer;
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  cilium_reader_run_pending(&cilium);
  uv_timer_init(*state, &timer);
  timer.data = &cilium;
  uv_timer_start(&timer, cancel, 10, 0);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_int_equal(cilium.callbacks, 0);
  assert_int_equal(uvperf_is_closing(&cilium.live.reader.handle), 1);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 2), -ENOENT);
  cilium_reader_close_rest(&cilium);
  assert_int_equal(support_count_fds(), fds);
}

/* -- Pause ---------------------------------------------------------------- */

/* cilium TestPause: pause and resume work any number of times. While the reader
 * is paused, the program gets an error and nothing wakes the loop. */
static void reader_paused_refuses_and_goes_on_when_resumed(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_each_one();
  uvperf_error_t error;
  cilium_reader_t cilium;
  int i;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_bpf_reader_publish(&cilium.live.reader, &error), 0);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 0), 0);
  cilium_reader_wait_for(&cilium, 1);
  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_bpf_reader_unpublish(&cilium.live.reader, &error),
                     0);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 1), -ENOENT);
  cilium_reader_silence(&cilium, 20);
  for (i = 0; i < 2; i++)
    assert_int_equal(uvperf_bpf_reader_publish(&cilium.live.reader, &error), 0);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 2), 0);
  cilium_reader_wait_for(&cilium, 2);
  cilium_reader_expect(&cilium, 5, 2);
  assert_int_equal(cilium.live.lost, 0);
  cilium_reader_close(&cilium);
}

/* Records from before the pause still come. */
static void reader_paused_delivers_what_is_in_its_rings(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_each_one();
  cilium_reader_t cilium;

  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium_reader_start(&cilium, NULL);
  cilium_reader_run_pending(&cilium);
  assert_int_equal(cilium_reader_put_out(&cilium, 5, 0), 0);
  assert_int_equal(uvperf_bpf_reader_unpublish(&cilium.live.reader, NULL), 0);
  cilium_reader_wait_for(&cilium, 1);
  cilium_reader_close(&cilium);
}

/* -- overwritable --------------------------------------------------------- */

static void expect_newest_first(cilium_reader_t *cilium) {
  int *next = cilium->hook_data;

  *next = cilium->data[1] == *next && cilium->size == 260 ? *next - 1 : -1000;
}

/* cilium TestPerfReaderOverwritable: the program sends one sample more than
 * fits. The newest come first, and the oldest is gone. cilium cannot read such
 * a ring unless it is paused. Here a flush is an error. */
static void reader_overwritable_delivers_the_newest_first(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_page();
  uint8_t nr = (uint8_t)(support_page_bytes() / 272);
  int next = nr;
  cilium_reader_t cilium;
  int i;

  options.flags = UVPERF_BPF_READER_OVERWRITE;
  cilium_reader_open(*state, &cilium, __func__, &options);
  cilium.on_sample = expect_newest_first;
  cilium.hook_data = &next;
  cilium_reader_start(&cilium, NULL);
  assert_int_equal(uvperf_flush(&cilium.live.reader.handle), UV_EINVAL);
  for (i = 0; i <= nr; i++)
    assert_int_equal(cilium_reader_put_out(&cilium, UINT8_MAX, (uint8_t)i), 0);
  live_run_ms(*state, 5);
  assert_int_equal(cilium.callbacks, 0);
  assert_int_equal(uvperf_snapshot(&cilium.live.reader.handle, 0, NULL, NULL),
                   0);
  assert_int_equal(next, 0);
  assert_int_equal(cilium.samples, nr);
  assert_int_equal(uvperf_bpf_reader_unpublish(&cilium.live.reader, NULL), 0);
  assert_int_equal(uvperf_snapshot(&cilium.live.reader.handle,
                                   UVPERF_SNAPSHOT_OLDEST_FIRST, NULL, NULL),
                   0);
  assert_int_equal(cilium.samples, nr);
  cilium_reader_close(&cilium);
}

/* cilium TestPerfReaderOverwritableEmpty. */
static void reader_overwritable_that_is_empty_delivers_nothing(void **state) {
  uvperf_bpf_reader_options_t options = cilium_reader_page();
  uvperf_bpf_reader_t *reader;
  cilium_reader_t cilium;

  options.flags = UVPERF_BPF_READER_OVERWRITE;
  cilium_reader_open(*state, &cilium, __func__, &options);
  reader = &cilium.live.reader;
  cilium_reader_start(&cilium, NULL);
  assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), 0);
  assert_int_equal(uvperf_snapshot(&reader->handle, 0, NULL, NULL), 0);
  live_run_ms(*state, 4);
  assert_int_equal(uvperf_bpf_reader_publish(reader, NULL), 0);
  assert_int_equal(
      uvperf_snapshot(&reader->handle, UVPERF_SNAPSHOT_ALL, NULL, NULL), 0);
  assert_int_equal(cilium.callbacks, 0);
  cilium_reader_close(&cilium);
}

/* -- the ring ------------------------------------------------------------- */

static int try_ring(uv_loop_t *loop, int array, size_t ring_bytes,
                    uint32_t wakeup_bytes, uint32_t flags, uint64_t *bytes) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_bpf_reader_t reader;
  uvperf_ring_info_t ring;
  uvperf_error_t error;
  int rc;

  options.ring_bytes = ring_bytes;
  options.wakeup_bytes = wakeup_bytes;
  options.flags = flags;
  rc = uvperf_bpf_reader_init(loop, &reader, array, &options, &error);
  if (rc != 0) {
    assert_true(error.reason[0] != '\0');
    return rc;
  }
  assert_int_equal(uvperf_ring(&reader.handle, 0, &ring), 0);
  *bytes = ring.bytes;
  uvperf_close(&reader.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return 0;
}

/* cilium TestPerfEventRing, also for rings that are overwritten. */
static void reader_rings_are_powers_of_two_of_pages(void **state) {
  static const uint32_t flags[] = {0, UVPERF_BPF_READER_OVERWRITE};
  const size_t page = support_page_bytes();
  int array = live_bpf_array_make(__func__, 0);
  uint64_t bytes;
  size_t i;

  for (i = 0; i < 2; i++) {
    assert_int_equal(try_ring(*state, array, 2 * page + 1, 0, flags[i], &bytes),
                     0);
    assert_int_equal(bytes, 4 * page);
    assert_int_equal(try_ring(*state, array, 65537, 0, flags[i], &bytes), 0);
    assert_int_equal(bytes, 131072);
    assert_int_equal(try_ring(*state, array, 1, 0, flags[i], &bytes), 0);
    assert_int_equal(bytes, page);
  }
  close(array);
}

/* A watermark is at most half of the ring, because half of it wakes anyway. */
static void reader_watermark_of_the_ring_is_refused(void **state) {
  static const uint32_t flags[] = {0, UVPERF_BPF_READER_OVERWRITE};
  const uint32_t page = (uint32_t)support_page_bytes();
  int array = live_bpf_array_make(__func__, 0);
  uint64_t bytes;
  size_t i;

  for (i = 0; i < 2; i++) {
    assert_int_equal(
        try_ring(*state, array, 2 * page, 2 * page + 1, flags[i], &bytes),
        UV_EINVAL);
    assert_int_equal(
        try_ring(*state, array, 2 * page, 2 * page, flags[i], &bytes),
        UV_EINVAL);
  }
  assert_int_equal(try_ring(*state, array, 2 * page, page, 0, &bytes), 0);
  close(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(reader_delivers_two_samples_and_then_waits),
      support_loop_test(reader_delivers_what_the_program_wrote),
      support_loop_test(reader_reports_the_sample_that_did_not_fit),
      support_loop_test(reader_closed_while_waiting_ends_the_wait),
      support_loop_test(reader_paused_refuses_and_goes_on_when_resumed),
      support_loop_test(reader_paused_delivers_what_is_in_its_rings),
      support_loop_test(reader_overwritable_delivers_the_newest_first),
      support_loop_test(reader_overwritable_that_is_empty_delivers_nothing),
      support_loop_test(reader_rings_are_powers_of_two_of_pages),
      support_loop_test(reader_watermark_of_the_ring_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
