/* SPDX-License-Identifier: MIT */
/* Scripted: calls of a BPF reader that fail, and the order of its calls. */
#include "scripted_reader.h"

#include <errno.h>
#include <poll.h>

#include "cpu_tree.h"
#include "fake_pool.h"
#include "util/alloc.h"

static void close_in_fault(live_bpf_reader_t *live, int status,
                           const uvperf_record_t *sample) {
  (void)status;
  if (sample->type == UVPERF_RECORD_NONE)
    uvperf_close(&live->reader.handle, live_bpf_reader_on_close);
}

static void reader_closed_when_a_ring_is_unsound_is_clean(void **state) {
  scripted_reader_t scripted;
  int is_last;
  int ends;

  for (ends = 0; ends < 4; ends++) {
    is_last = ends / 2;
    scripted_reader_begin(*state, &scripted);
    if (is_last) {
      scripted_reader_split(scripted.events[3]);
      live_run_ms(*state, 5);
      scripted.live.faults = 0;
    }
    scripted.live.on_sample = close_in_fault;
    if (ends % 2 != 0)
      scripted_reader_split(scripted.events[1]);
    else
      scripted_reader_spoil(scripted.events[1]);
    scripted_reader_wake(&scripted, scripted.events[1]);
    assert_int_equal(scripted.live.faults, 1);
    assert_int_equal(scripted.live.closed, 1);
    scripted_reader_end(&scripted);
  }
}

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

static void reader_closed_in_a_forked_child_only_closes_fds(void **state) {
  scripted_reader_t scripted;

  scripted_reader_begin(*state, &scripted);
  scripted_reader_sample(&scripted, scripted.events[1]);
  fake_process(4711);
  fake_log_clear();
  live_run_ms(*state, 5);
  assert_int_equal(scripted.live.records, 0);
  assert_int_equal(uvperf_is_active(&scripted.live.reader.handle), 0);
  live_bpf_reader_close(&scripted.live);
  assert_string_equal(fake_log(), "close, close, close, close, close, close");
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  fake_process(0);
  fake_kernel_reset();
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

static void start_that_fails_is_undone(void **state) {
  static const struct {
    enum fake_call call;
    int code;
  } fails[] = {{FAKE_IOCTL, -EACCES}, {FAKE_BPF_UPDATE, -EPERM}};
  scripted_reader_t scripted;
  uvperf_error_t error;
  unsigned nth;
  size_t i;

  for (i = 0; i < 2; i++)
    for (nth = 1; nth <= 2; nth++) {
      scripted_reader_plan(&scripted, 8);
      scripted_reader_open(*state, &scripted);
      fake_fail(fails[i].call, nth, fails[i].code);
      assert_int_equal(uvperf_start(&scripted.live.reader.handle, NULL,
                                    live_bpf_reader_on_sample, &error),
                       fails[i].code);
      assert_int_equal(error.code, fails[i].code);
      assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
      expect_stopped(&scripted);
      assert_int_equal(uvperf_flush(&scripted.live.reader.handle), UV_EINVAL);
      live_bpf_reader_start(&scripted.live, NULL);
      assert_string_equal(scripted_reader_entries(&scripted), "0 1");
      scripted_reader_sample(&scripted, scripted.events[3]);
      scripted_reader_wake(&scripted, scripted.events[3]);
      assert_int_equal(scripted.live.samples, 1);
      scripted_reader_close(&scripted);
    }
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

static void start_out_of_memory_can_be_called_again(void **state) {
  unsigned nth, failures;
  scripted_reader_t scripted;
  uvperf_error_t error;
  int rc = UV_ENOMEM;

  for (nth = 1; rc != 0; nth++) {
    scripted_reader_plan(&scripted, 8);
    scripted_reader_open(*state, &scripted);
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf_start(&scripted.live.reader.handle, NULL,
                      live_bpf_reader_on_sample, &error);
    failures = fake_failures();
    assert_int_equal(rc, failures > 0 ? UV_ENOMEM : 0);
    if (rc != 0) {
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
      expect_stopped(&scripted);
      live_bpf_reader_start(&scripted.live, NULL);
    } else {
      uvperf__free(uvperf__calloc(1, 1));
    }
    scripted_reader_sample(&scripted, scripted.events[3]);
    assert_true(live_run_until(*state, &scripted.live.samples, 1));
    scripted_reader_close(&scripted);
  }
  assert_in_range(nth, 3, 30);
}

/* Each call of init failing in turn: the loop knows of nothing, and nothing is
 * left. */
static void init_that_fails_leaves_nothing(void **state) {
  static const struct {
    enum fake_call call;
    int code;
    int given;
  } fails[] = {
      {FAKE_CALLOC, 0, UV_ENOMEM},     {FAKE_OPEN, -EACCES, UV_EACCES},
      {FAKE_OPEN, -EMFILE, UV_EMFILE}, {FAKE_IOCTL, -EINVAL, UV_EINVAL},
      {FAKE_MMAP, -ENOMEM, UV_ENOMEM}, {FAKE_BPF_INFO, -EPERM, UV_EPERM}};
  scripted_reader_t scripted;
  uvperf_error_t error;
  unsigned nth, failures;
  size_t i;
  int rc;

  for (i = 0; i < sizeof(fails) / sizeof(fails[0]); i++) {
    rc = -1;
    for (nth = 1; rc != 0; nth++) {
      scripted_reader_plan(&scripted, 8);
      fake_fail(fails[i].call, nth, fails[i].code);
      memset(&error, 0, sizeof(error));
      rc = scripted_reader_try(*state, &scripted, &error);
      failures = fake_failures();
      if (rc != 0) {
        assert_int_equal(rc, fails[i].given);
        assert_int_equal(error.code, rc);
        assert_true(error.reason[0] != '\0');
        assert_int_equal(uv_loop_alive(*state), 0);
        scripted_reader_end(&scripted);
        continue;
      }
      /* It can continue without that (which CPUs are online). */
      if (failures > 0)
        live_bpf_reader_start(&scripted.live, NULL);
      scripted_reader_close(&scripted);
      rc = failures > 0 ? -1 : 0;
    }
    assert_in_range(nth, 3, 100);
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
      scripted_reader_test(reader_closed_when_a_ring_is_unsound_is_clean),
      scripted_reader_test(first_start_enables_then_puts_and_stop_leaves_it),
      scripted_reader_test(close_leaves_the_map_disables_then_unmaps),
      scripted_reader_test(reader_of_many_cpus_is_closed_by_the_pool),
      scripted_reader_test(close_of_a_callers_file_takes_entries_out),
      scripted_reader_test(reader_closed_in_a_forked_child_only_closes_fds),
      scripted_reader_test(start_that_fails_is_undone),
      scripted_reader_test(resume_that_fails_is_undone),
      scripted_reader_test(pause_that_fails_leaves_all_in_the_map),
      scripted_reader_test(start_out_of_memory_can_be_called_again),
      scripted_reader_test(init_that_fails_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
