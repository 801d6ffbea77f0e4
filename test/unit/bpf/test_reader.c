/* SPDX-License-Identifier: MIT */
/* Scripted: calls of a BPF reader that fail, and the order of its calls. */
#include "scripted_reader.h"

#include <errno.h>
#include <poll.h>

#include "make_cpus.h"
#include "fake_pool.h"
#include "util/alloc.h"

/* -- the order of calls --------------------------------------------------- */

/* No program finds an event that is off. */
static void first_start_enables_then_puts_and_stop_leaves_it(void **state) {
  scripted_reader_t scripted;
  uvperf_bpf_reader_t *reader = &scripted.live.reader;

  scripted_reader_plan(&scripted, 8);
  scripted_reader_open(*state, &scripted);
  fake_log_clear();
  live_bpf_reader_start(&scripted.live, NULL);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE, "
                                  "bpf update 0, bpf update 1");
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  fake_log_clear();
  assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), 0);
  assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), 0);
  assert_string_equal(fake_log(), "bpf delete 0, bpf delete 1");
  fake_log_clear();
  assert_int_equal(uvperf_stop(&reader->handle), 0);
  assert_int_equal(uvperf_stop(&reader->handle), 0);
  live_bpf_reader_start(&scripted.live, NULL);
  assert_string_equal(fake_log(), "");
  assert_int_equal(uvperf_bpf_reader_publish(reader, NULL), 0);
  fake_log_clear();
  assert_int_equal(uvperf_stop(&reader->handle), 0);
  assert_string_equal(fake_log(), "");
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  scripted_reader_close(&scripted);
}

/* If the file is the reader's own, the kernel removes its entries when the map
 * is closed: other readers may have put theirs there since. Rings are unmapped,
 * and their owners closed, when they are no longer polled, and after the socket
 * of uevents. */
static void close_leaves_the_map_disables_then_unmaps(void **state) {
  scripted_reader_t scripted;

  scripted_reader_begin(*state, &scripted);
  live_run_ms(*state, 5);
  fake_map_put_foreign(scripted.map, 1);
  fake_log_clear();
  uvperf_close(&scripted.live.reader.handle, live_bpf_reader_on_close);
  assert_string_equal(fake_log(), "close, ioctl DISABLE, ioctl DISABLE");
  assert_int_equal(fake_map_at(scripted.map, 0), FAKE_MAP_EMPTY);
  assert_int_equal(fake_map_at(scripted.map, 1), FAKE_MAP_FOREIGN);
  fake_log_clear();
  live_bpf_reader_wait_closed(&scripted.live);
  assert_string_equal(fake_log(), "close, ioctl DISABLE, ioctl DISABLE, close, "
                                  "close, munmap, close, munmap, close");
  scripted_reader_end(&scripted);
}

/* One by one, if the file is also the caller's. */
static void close_of_a_callers_file_takes_entries_out(void **state) {
  scripted_reader_t scripted;

  scripted_reader_plan(&scripted, 8);
  fake_fail_from(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  fake_log_clear();
  uvperf_close(&scripted.live.reader.handle, live_bpf_reader_on_close);
  assert_string_equal(fake_log(), "bpf delete 0, bpf delete 1, close, "
                                  "ioctl DISABLE, ioctl DISABLE");
  live_bpf_reader_wait_closed(&scripted.live);
  scripted_reader_end(&scripted);
}

/* -- failures ------------------------------------------------------------- */

/* Nothing is in the map, nothing counts, and the loop is not held. */
static void expect_stopped(scripted_reader_t *scripted) {
  uvperf_bpf_reader_t *reader = &scripted->live.reader;

  assert_string_equal(scripted_reader_entries(scripted), "");
  assert_int_equal(scripted->events[0]->enabled, 0);
  assert_int_equal(scripted->events[2]->enabled, 0);
  assert_int_equal(uvperf_is_active(&reader->handle), 0);
  assert_int_equal(uv_loop_alive(reader->handle.loop), 0);
}

static void resume_that_fails_is_undone(void **state) {
  scripted_reader_t scripted;
  uvperf_bpf_reader_t *reader = &scripted.live.reader;
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 2; nth++) {
    scripted_reader_plan(&scripted, 8);
    scripted_reader_open(*state, &scripted);
    fake_fail(FAKE_BPF_UPDATE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_publish(reader, &error), UV_EPERM);
    assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
    expect_stopped(&scripted);
    /* Started and paused, the events stay on. */
    live_bpf_reader_start(&scripted.live, NULL);
    assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), 0);
    fake_fail(FAKE_BPF_UPDATE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_publish(reader, NULL), UV_EPERM);
    assert_string_equal(scripted_reader_entries(&scripted), "");
    assert_int_equal(scripted.events[2]->enabled, 1);
    assert_int_equal(uvperf_stop(&reader->handle), 0);
    live_bpf_reader_start(&scripted.live, NULL);
    assert_string_equal(scripted_reader_entries(&scripted),
                        ""); /* still paused */
    assert_int_equal(uvperf_bpf_reader_publish(reader, NULL), 0);
    assert_string_equal(scripted_reader_entries(&scripted), "0 1");
    scripted_reader_close(&scripted);
  }
}

static void pause_that_fails_leaves_all_in_the_map(void **state) {
  scripted_reader_t scripted;
  uvperf_bpf_reader_t *reader = &scripted.live.reader;
  uvperf_error_t error;
  unsigned nth;

  for (nth = 1; nth <= 2; nth++) {
    scripted_reader_begin(*state, &scripted);
    fake_fail(FAKE_BPF_DELETE, nth, -EPERM);
    assert_int_equal(uvperf_bpf_reader_unpublish(reader, &error), UV_EPERM);
    assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
    assert_string_equal(scripted_reader_entries(&scripted), "0 1");
    assert_int_equal(uvperf_stop(&reader->handle), 0);
    live_bpf_reader_start(&scripted.live, NULL); /* it is not paused */
    assert_string_equal(scripted_reader_entries(&scripted), "0 1");
    scripted_reader_close(&scripted);
  }
}

/* -- many CPUs ------------------------------------------------------------- */

#define MANY 70

static void reader_of_many_cpus_is_closed_by_the_pool(void **state) {
  scripted_reader_t scripted;
  size_t i;

  scripted_reader_plan(&scripted, MANY);
  scripted.options.cpus = "0-69";
  for (i = SCRIPTED_READER_EVENTS; i < 2 * MANY; i++)
    fake_event_add(100 + i);
  scripted_reader_open(*state, &scripted);
  fake_pool_hold();
  uvperf_close(&scripted.live.reader.handle, live_bpf_reader_on_close);
  while (uv_run(*state, UV_RUN_NOWAIT) != 0)
    continue;
  assert_int_equal(scripted.live.closed, 0);
  fake_pool_finish();
  assert_int_equal(scripted.live.closed, 1);
  scripted_reader_end(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_reader_test(first_start_enables_then_puts_and_stop_leaves_it),
      scripted_reader_test(close_leaves_the_map_disables_then_unmaps),
      scripted_reader_test(reader_of_many_cpus_is_closed_by_the_pool),
      scripted_reader_test(close_of_a_callers_file_takes_entries_out),
      scripted_reader_test(resume_that_fails_is_undone),
      scripted_reader_test(pause_that_fails_leaves_all_in_the_map),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
