/* SPDX-License-Identifier: MIT */
/* Live: a BPF reader is closed, by the user at every moment and by other code,
 * and nothing of it is left. */
#include "live_bpf_reader.h"

#include <errno.h>

#include "fake_kernel.h"

typedef struct before_s {
  size_t fds;
  size_t rings;
  size_t bytes; /* their total size */
} before_t;

static void look(before_t *before) {
  before->fds = support_count_fds();
  before->rings = support_count_rings(&before->bytes);
}

static void assert_as(const before_t *before) {
  before_t now;

  look(&now);
  assert_int_equal(now.fds, before->fds);
  assert_int_equal(now.rings, before->rings);
  assert_int_equal(now.bytes, before->bytes);
  fake_assert_clean();
}

/* Makes a map and a program, and counts what else exists. */
static void make(const char *test, live_bpf_reader_t *live, before_t *before) {
  live_bpf_reader_make(test, live, 0);
  look(before);
}

static void begin(uv_loop_t *loop, live_bpf_reader_t *live) {
  live->on_sample = NULL;
  live->samples = live->slice_ends = 0;
  live_bpf_reader_open(loop, live, NULL);
  live_bpf_reader_start(live, NULL);
}

/* -- at every moment ------------------------------------------------------ */

static void close_at_third(live_bpf_reader_t *live, int status,
                           const uvperf_record_t *sample) {
  (void)status;
  (void)sample;
  if (live->samples == 3)
    uvperf_close(&live->reader.handle, live_bpf_reader_on_close);
}

static void reader_closed_in_its_callback_delivers_no_more(void **state) {
  live_bpf_reader_t live;
  before_t before;
  int by_flush;

  make(__func__, &live, &before);
  for (by_flush = 0; by_flush < 2; by_flush++) {
    begin(*state, &live);
    live.on_sample = close_at_third;
    live_bpf_reader_send_all(&live, 0, 5);
    live_bpf_reader_send_all(&live, live_last_cpu(), 5);
    if (by_flush)
      assert_int_equal(uvperf_flush(&live.reader.handle), 0);
    live_bpf_reader_wait_closed(&live);
    assert_int_equal(live.samples, 3);
    assert_as(&before);
  }
  live_bpf_reader_unmake(&live);
}

static void close_at_slice_end(live_bpf_reader_t *live, int status,
                               const uvperf_record_t *sample) {
  (void)status;
  if (sample->type == UVPERF_RECORD_NONE)
    uvperf_close(&live->reader.handle, live_bpf_reader_on_close);
}

static void reader_closed_at_the_end_of_a_slice_is_clean(void **state) {
  uvperf_stream_options_t stream = live_bpf_reader_plain;
  live_bpf_reader_t live;
  before_t before;

  make(__func__, &live, &before);
  stream.flags = UVPERF_START_SLICE_END;
  live_bpf_reader_open(*state, &live, NULL);
  live.on_sample = close_at_slice_end;
  live_bpf_reader_start(&live, &stream);
  live_bpf_reader_send_all(&live, 0, 3);
  live_bpf_reader_wait_closed(&live);
  assert_int_equal(live.samples, 3);
  assert_int_equal(live.slice_ends, 1);
  assert_as(&before);
  live_bpf_reader_unmake(&live);
}

/* Opened, started, run for a few turns, stopped, or not. */
static void reader_closed_after_any_number_of_turns_is_clean(void **state) {
  live_bpf_reader_t live;
  before_t before;
  int turns, i;

  make(__func__, &live, &before);
  for (turns = 0; turns < 12; turns++) {
    live_bpf_reader_open(*state, &live, NULL);
    if (turns > 3) {
      live_bpf_reader_start(&live, NULL);
      live_bpf_reader_send_all(&live, 0, 3);
    }
    for (i = 0; i < turns / 2; i++)
      uv_run(*state, UV_RUN_NOWAIT);
    if (turns % 4 > 1)
      assert_int_equal(uvperf_stop(&live.reader.handle), 0);
    uvperf_close(&live.reader.handle, live_bpf_reader_on_close);
    assert_int_equal(uvperf_is_active(&live.reader.handle), 0);
    assert_int_equal(uvperf_is_closing(&live.reader.handle), 1);
    assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
    live.records = 0;
    live_bpf_reader_wait_closed(&live);
    assert_int_equal(live.records, 0);
    assert_int_equal(uvperf_is_closing(&live.reader.handle), 1);
    assert_as(&before);
  }
  live_bpf_reader_unmake(&live);
}

static void free_it(uvperf_handle_t *handle) {
  uvperf_bpf_reader_t *reader = uvperf_handle_bpf_reader(handle);

  *(int *)handle->data += 1;
  free(reader);
}

static void reader_is_freed_in_its_close_callback(void **state) {
  uvperf_bpf_reader_t *reader;
  live_bpf_reader_t live;
  before_t before;
  int closed = 0;

  make(__func__, &live, &before);
  reader = malloc(sizeof(*reader));
  assert_non_null(reader);
  assert_int_equal(
      uvperf_bpf_reader_init(*state, reader, live.array, NULL, NULL), 0);
  reader->handle.data = &closed;
  uvperf_close(&reader->handle, free_it);
  assert_int_equal(closed, 0);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(closed, 1);
  assert_as(&before);
  live_bpf_reader_unmake(&live);
}

static void reader_100_cycles_leave_all_as_it_was(void **state) {
  live_bpf_reader_t live;
  before_t before;
  uint64_t i;

  make(__func__, &live, &before);
  for (i = 0; i < 100; i++) {
    begin(*state, &live);
    live_bpf_reader_send_all(&live, 0, 2);
    assert_true(live_run_until(*state, &live.samples, i % 3));
    live_bpf_reader_close(&live);
  }
  assert_as(&before);
  live_bpf_reader_unmake(&live);
}

/* -- teardown by others --------------------------------------------------- */

static void walk_close(uv_handle_t *handle, void *arg) {
  *(size_t *)arg += (size_t)uvperf_walk_close(handle);
}

/* A watch's one, the hub's three, one for each ring, and the hotplug's: a
 * timer, and its socket if there is one. */
static void walk_close_finds_each_inner_handle_of_a_reader(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  before_t before;
  size_t nr_rings, ours;
  int is_fixed;

  make(__func__, &live, &before);
  for (is_fixed = 0; is_fixed < 2; is_fixed++) {
    options.flags = is_fixed ? UVPERF_BPF_READER_FIXED_CPUS : 0;
    live_bpf_reader_open(*state, &live, &options);
    ours = 0;
    live_bpf_reader_start(&live, NULL);
    nr_rings = uvperf_nr_rings(&live.reader.handle);
    uv_walk(*state, walk_close, &ours);
    assert_in_range(ours, 4 + nr_rings + (is_fixed ? 0 : 1),
                    4 + nr_rings + (is_fixed ? 0 : 2));
    assert_int_equal(uvperf_is_closing(&live.reader.handle), 1);
    assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
    if (is_fixed) /* the pending close ends with the last handle */
      uv_run(*state, UV_RUN_DEFAULT);
    uvperf_close(&live.reader.handle, live_bpf_reader_on_close);
    live_bpf_reader_wait_closed(&live);
    assert_as(&before);
  }
  live_bpf_reader_unmake(&live);
}

/* It has its watch from init on. */
static void walk_close_finds_a_reader_that_was_never_started(void **state) {
  live_bpf_reader_t live;
  before_t before;
  size_t ours = 0;

  make(__func__, &live, &before);
  live_bpf_reader_open(*state, &live, NULL);
  uv_walk(*state, walk_close, &ours);
  assert_int_equal(ours, 4);
  uvperf_close(&live.reader.handle, live_bpf_reader_on_close);
  live_bpf_reader_wait_closed(&live);
  assert_as(&before);
  live_bpf_reader_unmake(&live);
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void reader_uv_closed_by_others_is_survived(void **state) {
  live_bpf_reader_t live;
  uvperf_error_t error;
  before_t before;
  int turns, i;

  make(__func__, &live, &before);
  for (turns = 0; turns < 4; turns++) {
    begin(*state, &live);
    live_bpf_reader_send_all(&live, 0, 3);
    uv_walk(*state, uv_close_all, NULL);
    for (i = 0; i < turns; i++)
      uv_run(*state, UV_RUN_NOWAIT);
    assert_int_equal(uvperf_stop(&live.reader.handle), 0);
    assert_int_equal(uvperf_start(&live.reader.handle, NULL,
                                  live_bpf_reader_on_sample, &error),
                     UV_EINVAL);
    assert_int_equal(error.cause, UVPERF_CAUSE_LOOP);
    assert_int_equal(uvperf_flush(&live.reader.handle), 0);
    assert_int_equal(uvperf_is_closing(&live.reader.handle), 0);
    live_bpf_reader_close(&live);
    assert_as(&before);
  }
  live_bpf_reader_unmake(&live);
}

#define LIVE(test) support_loop_test(test)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(reader_closed_in_its_callback_delivers_no_more),
      LIVE(reader_closed_at_the_end_of_a_slice_is_clean),
      LIVE(reader_closed_after_any_number_of_turns_is_clean),
      LIVE(reader_is_freed_in_its_close_callback),
      LIVE(reader_100_cycles_leave_all_as_it_was),
      LIVE(walk_close_finds_each_inner_handle_of_a_reader),
      LIVE(walk_close_finds_a_reader_that_was_never_started),
      LIVE(reader_uv_closed_by_others_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
