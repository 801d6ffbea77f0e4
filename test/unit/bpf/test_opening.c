/* SPDX-License-Identifier: MIT */
/* Scripted: a reader that is opened on libuv's pool makes the same calls as
 * init, on the pool; it may be closed at each step, and each call may fail. */
#include "scripted_reader.h"

#include "fake_clock.h"
#include "fake_pool.h"
#include "hanging_open.h"

#define MS UINT64_C(1000000)

static struct {
  int opened;
  int status;
  uvperf_error_t error;
  int closed;
} seen;

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  (void)handle;
  assert_int_equal(seen.closed, 0);
  assert_int_equal(status == 0, error == NULL);
  seen.opened += 1;
  seen.status = status;
  if (error != NULL)
    seen.error = *error;
}

static void on_close(uvperf_handle_t *handle) {
  (void)handle;
  seen.closed += 1;
}

static void on_sample(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *sample) {
  (void)handle;
  (void)status;
  (void)sample;
}

static void plan(scripted_reader_t *scripted) {
  memset(&seen, 0, sizeof(seen));
  scripted_reader_plan(scripted, 8);
  fake_pool_hold();
  fake_log_clear();
}

static int begin(uv_loop_t *loop, scripted_reader_t *scripted) {
  return scripted_reader_try_on_pool(loop, scripted, on_open, &seen.error);
}

static void close_reader(uv_loop_t *loop, scripted_reader_t *scripted) {
  uvperf_close(&scripted->live.reader.handle, on_close);
  do
    fake_pool_finish();
  while (uv_run(loop, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(seen.closed, 1);
  scripted_reader_end(scripted);
}

static void assert_refused(uvperf_bpf_reader_t *reader, int code) {
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  uvperf_error_t error;

  assert_int_equal(uvperf_start(&reader->handle, NULL, on_sample, &error),
                   code);
  assert_int_equal(error.code, code);
  assert_int_equal(uvperf_stop(&reader->handle), code);
  assert_int_equal(uvperf_flush(&reader->handle), code);
  assert_int_equal(uvperf_snapshot(&reader->handle, 0, NULL, NULL), code);
  assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), code);
  assert_int_equal(uvperf_bpf_reader_publish(reader, NULL), code);
  assert_int_equal(uvperf_bpf_reader_cpu_status(reader, 0), code);
  assert_int_equal(uvperf_nr_rings(&reader->handle), 0);
  assert_true(uvperf_ring(&reader->handle, 0, &ring) < 0);
  uvperf_stats(&reader->handle, &stats);
  assert_int_equal(stats.records, 0);
  assert_null(uvperf_handle_attr(&reader->handle, 0));
}

static void reader_opened_on_the_pool_reads_as_init_has_it(void **state) {
  scripted_reader_t scripted;
  char log[1024];

  plan(&scripted);
  scripted_reader_open(*state, &scripted);
  snprintf(log, sizeof(log), "%s", fake_log());
  close_reader(*state, &scripted);

  plan(&scripted);
  assert_int_equal(begin(*state, &scripted), 0);
  assert_null(strstr(fake_log(), "open, "));
  assert_refused(&scripted.live.reader, UV_EBUSY);
  assert_int_equal(uvperf_is_active(&scripted.live.reader.handle), 1);
  fake_pool_finish();
  assert_int_equal(seen.opened, 1);
  assert_int_equal(seen.status, 0);
  assert_string_equal(fake_log(), log);
  assert_int_equal(uvperf_nr_rings(&scripted.live.reader.handle), 2);
  assert_int_equal(
      uvperf_start(&scripted.live.reader.handle, NULL, on_sample, NULL), 0);
  assert_string_equal(scripted_reader_entries(&scripted), "0 1");
  close_reader(*state, &scripted);
}

static int take_time(struct perf_event_attr *attr) {
  static uint64_t now;

  (void)attr;
  now += 2 * MS;
  fake_clock_set(now);
  return 0;
}

static void brute_close(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void close_at_each_step(uv_loop_t *loop, int by_walk) {
  scripted_reader_t scripted;
  unsigned steps, i;

  for (steps = 0;; steps++) {
    plan(&scripted);
    take_time(NULL);
    fake_on_open(take_time);
    assert_int_equal(begin(loop, &scripted), 0);
    for (i = 0; i < steps && fake_pool_waits(); i++)
      fake_pool_run();
    if (seen.opened)
      break;
    if (by_walk) {
      uv_walk(loop, brute_close, NULL);
      live_run_ms(loop, 1);
    }
    close_reader(loop, &scripted);
    assert_int_equal(seen.opened, 1);
    assert_int_equal(seen.status, UV_ECANCELED);
  }
  assert_in_range(steps, 2, 6);
  close_reader(loop, &scripted);
  fake_clock_set(0);
}

static void reader_closed_at_each_step_of_open_leaves_nothing(void **state) {
  close_at_each_step(*state, 0);
  close_at_each_step(*state, 1);
}

/* Returns whether that many calls were made. */
static int hang(uv_loop_t *loop, unsigned nth, int closes) {
  scripted_reader_t scripted;
  hanging_open_t hanging = {.loop = loop,
                            .opened = &seen.opened,
                            .hangs_at = nth,
                            .close_cb = on_close,
                            .closed = &seen.closed};

  plan(&scripted);
  if (closes)
    hanging.handle = &scripted.live.reader.handle;
  scripted.options.open = hanging_open;
  scripted.options.open_arg = &hanging;
  scripted.options.open_timeout_ms = 1;
  assert_int_equal(begin(loop, &scripted), 0);
  fake_pool_finish();
  assert_int_equal(seen.opened, 1);
  if (hanging.calls < nth) {
    assert_int_equal(seen.status, 0);
    close_reader(loop, &scripted);
    return 0;
  }
  assert_int_equal(seen.status, closes ? UV_ECANCELED : UV_ETIMEDOUT);
  assert_int_equal(seen.error.code, seen.status);
  assert_int_equal(seen.error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(hanging.calls, nth);
  if (closes) {
    assert_int_equal(seen.closed, 1);
    scripted_reader_end(&scripted);
    return 1;
  }
  assert_refused(&scripted.live.reader, UV_EBADF);
  close_reader(loop, &scripted);
  return 1;
}

/* An event and a ring for each of two CPUs. */
static void reader_whose_call_hangs_times_out(void **state) {
  unsigned nth = 1;

  while (hang(*state, nth, 0))
    nth += 1;
  assert_int_equal(nth, 5);
}

static void
reader_closed_while_a_call_hangs_does_not_wait_for_it(void **state) {
  unsigned nth = 1;

  while (hang(*state, nth, 1))
    nth += 1;
  assert_int_equal(nth, 5);
}

static void fail_each(uv_loop_t *loop, enum fake_call call, int code) {
  scripted_reader_t scripted;
  uvperf_error_t expected;
  unsigned nth = 0;
  unsigned failures;
  int rc;

  do {
    nth += 1;
    plan(&scripted);
    fake_fail(call, nth, code);
    rc = scripted_reader_try(loop, &scripted, &expected);
    if (rc == 0)
      close_reader(loop, &scripted);
    else
      scripted_reader_end(&scripted);

    plan(&scripted);
    fake_fail(call, nth, code);
    seen.status = begin(loop, &scripted);
    if (seen.status == 0) {
      fake_pool_finish();
      failures = fake_failures();
      assert_int_equal(seen.opened, 1);
      if (seen.status != 0)
        assert_refused(&scripted.live.reader, UV_EBADF);
      close_reader(loop, &scripted);
    } else {
      failures = fake_failures();
      while (uv_run(loop, UV_RUN_NOWAIT) != 0)
        continue;
      scripted_reader_end(&scripted);
    }
    if (call == FAKE_CALLOC)
      continue;
    assert_int_equal(seen.status, rc);
    if (rc != 0)
      assert_string_equal(seen.error.reason, expected.reason);
  } while (failures != 0);
  assert_true(nth > 1);
}

static void reader_open_fails_as_init_does(void **state) {
  fail_each(*state, FAKE_OPEN, -EACCES);
  fail_each(*state, FAKE_OPEN, -EMFILE);
  fail_each(*state, FAKE_OPEN, -ENODEV);
  fail_each(*state, FAKE_MMAP, -EPERM);
  fail_each(*state, FAKE_IOCTL, -EINVAL);
  fail_each(*state, FAKE_BPF_INFO, -EPERM);
}

static void reader_open_without_memory_leaves_nothing(void **state) {
  fail_each(*state, FAKE_CALLOC, 0);
}

static void reader_open_that_the_pool_refuses_leaves_nothing(void **state) {
  scripted_reader_t scripted;

  plan(&scripted);
  fake_pool_reset();
  assert_true(begin(*state, &scripted) < 0);
  while (uv_run(*state, UV_RUN_NOWAIT) != 0)
    continue;
  assert_int_equal(seen.opened, 0);
  scripted_reader_end(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_reader_test(reader_opened_on_the_pool_reads_as_init_has_it),
      scripted_reader_test(reader_closed_at_each_step_of_open_leaves_nothing),
      scripted_reader_test(reader_whose_call_hangs_times_out),
      scripted_reader_test(
          reader_closed_while_a_call_hangs_does_not_wait_for_it),
      scripted_reader_test(reader_open_fails_as_init_does),
      scripted_reader_test(reader_open_without_memory_leaves_nothing),
      scripted_reader_test(reader_open_that_the_pool_refuses_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
