/* SPDX-License-Identifier: MIT */
/* Scripted: a set that is opened on libuv's pool makes the same calls as init,
 * on the pool; it may be closed at each step, and each call may fail. */
#include "opened_set.h"

#include "fake_clock.h"
#include "fake_pool.h"
#include "hanging_open.h"
#include "uvperf/measure.h"

/* -- the same calls -------------------------------------------------------- */

static void set_open_makes_the_calls_of_init_on_the_pool(void **state) {
  char asked[512], log[1024];
  opened_set_t opened;

  opened_set_plan(&opened, UVPERF_SET_ENABLED);
  assert_int_equal(
      uvperf_set_init(*state, &opened.set, &opened.make.options, NULL), 0);
  snprintf(log, sizeof(log), "%s", fake_log());
  opened.opened = 1;
  opened_set_close(*state, &opened);

  opened_set_plan(&opened, UVPERF_SET_ENABLED);
  assert_int_equal(opened_set_begin(*state, &opened), 0);
  snprintf(asked, sizeof(asked), "%s", fake_log());
  assert_string_equal(asked, "");
  live_run_ms(*state, 3);
  assert_int_equal(opened.opened, 0);
  fake_pool_finish();
  assert_int_equal(opened.opened, 1);
  assert_int_equal(opened.status, 0);
  assert_string_equal(fake_log(), log);
  assert_int_equal(uvperf_set_nr_open(&opened.set), 4);
  assert_true(opened.events[0]->enabled);
  opened_set_close(*state, &opened);
}

/* -- while it is being opened ---------------------------------------------- */

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  (void)handle;
  (void)status;
  (void)record;
}

static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  (void)set;
  (void)status;
  (void)reading;
  (void)delta;
}

static void assert_refused(opened_set_t *opened, int code) {
  uvperf_set_t *set = &opened->set;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_ring_info_t ring;
  uvperf_reading_t *reading;
  uvperf_stats_t stats;
  uvperf_error_t error;
  size_t nr = 7;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf_start(&set->handle, NULL, on_record, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(uvperf_stop(&set->handle), code);
  assert_int_equal(uvperf_flush(&set->handle), code);
  assert_int_equal(uvperf_snapshot(&set->handle, 0, NULL, NULL), code);
  assert_int_equal(uvperf_enable(&set->handle, UVPERF_ALL, NULL), code);
  assert_int_equal(uvperf_disable(&set->handle, UVPERF_ALL, NULL), code);
  assert_int_equal(uvperf_reset(&set->handle, UVPERF_ALL, NULL), code);
  assert_int_equal(uvperf_set_read(set, reading, NULL), code);
  assert_int_equal(uvperf_set_read_start(set, 1, on_read, NULL), code);
  assert_int_equal(uvperf_set_read_stop(set), code);
  assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, NULL), code);
  assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), code);
  assert_int_equal(uvperf_apply_filter(&set->handle, 0, "a == 1", NULL), code);
  assert_int_equal(uvperf_change_period(&set->handle, 0, 1, NULL), code);
  assert_int_equal(uvperf_attach_bpf(&set->handle, 0, 0, 0, NULL), code);
  uvperf_reading_free(reading);

  assert_null(uvperf_set_failures(set, &nr));
  assert_int_equal(nr, 0);
  assert_int_equal(uvperf_set_nr_attrs(set), 0);
  assert_null(uvperf_set_item(set, 0));
  assert_null(uvperf_changes(&set->handle, 0, &nr));
  assert_int_equal(uvperf_set_nr_open(set), 0);
  assert_int_equal(uvperf_set_fd(set, 0, 0), -1);
  assert_null(uvperf_set_source(set, 100));
  assert_int_equal(uvperf_nr_rings(&set->handle), 0);
  uvperf_stats(&set->handle, &stats);
  assert_int_equal(stats.records, 0);
  assert_true(uvperf_ring(&set->handle, 0, &ring) < 0);
}

static void set_being_opened_is_busy_and_active(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  assert_int_equal(opened_set_begin(*state, &opened), 0);
  assert_refused(&opened, UV_EBUSY);
  assert_int_equal(uvperf_is_active(&opened.set.handle), 1);
  assert_int_equal(uvperf_is_closing(&opened.set.handle), 0);
  uvperf_unref(&opened.set.handle);
  assert_int_equal(uvperf_has_ref(&opened.set.handle), 0);
  uvperf_ref(&opened.set.handle);
  fake_pool_finish();
  assert_int_equal(opened.status, 0);
  assert_int_equal(uvperf_is_active(&opened.set.handle), 0);
  assert_int_equal(uvperf_start(&opened.set.handle, NULL, on_record, NULL), 0);
  opened_set_close(*state, &opened);
}

/* -- closing at each step -------------------------------------------------- */

static int take_time_too(fake_event_t *fake, unsigned long request,
                         uintptr_t argument) {
  (void)fake;
  (void)request;
  (void)argument;
  opened_set_pass_time();
  return 0;
}

static void plan_in_steps(opened_set_t *opened) {
  size_t i;

  opened_set_plan(opened, UVPERF_SET_ENABLED);
  opened_set_pass_time();
  fake_on_open(opened_set_take_time);
  for (i = 0; i < 6; i++)
    opened->events[i]->on_ioctl = take_time_too;
}

static void walk_close(uv_handle_t *handle, void *arg) {
  (void)arg;
  uvperf_walk_close(handle);
}

static void brute_close(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void close_by_user(uv_loop_t *loop, opened_set_t *opened) {
  (void)loop;
  (void)opened;
}

static void close_by_walk(uv_loop_t *loop, opened_set_t *opened) {
  (void)opened;
  uv_walk(loop, walk_close, NULL);
}

static void close_by_brute_walk(uv_loop_t *loop, opened_set_t *opened) {
  (void)opened;
  uv_walk(loop, brute_close, NULL);
  live_run_ms(loop, 1);
}

static void close_at_each_step(uv_loop_t *loop,
                               void (*before)(uv_loop_t *loop,
                                              opened_set_t *opened)) {
  unsigned steps, i;
  opened_set_t opened;

  for (steps = 0;; steps++) {
    plan_in_steps(&opened);
    assert_int_equal(opened_set_begin(loop, &opened), 0);
    for (i = 0; i < steps && fake_pool_waits(); i++)
      fake_pool_run();
    if (opened.opened)
      break;
    before(loop, &opened);
    opened_set_close(loop, &opened);
    assert_int_equal(opened.status, UV_ECANCELED);
    assert_int_equal(opened.error.code, UV_ECANCELED);
  }
  assert_int_equal(opened.status, 0);
  assert_in_range(steps, 4, 30);
  opened_set_close(loop, &opened);
  fake_clock_set(0);
}

static void set_closed_at_each_step_of_open_leaves_nothing(void **state) {
  close_at_each_step(*state, close_by_user);
}

static void set_walked_at_each_step_of_open_leaves_nothing(void **state) {
  close_at_each_step(*state, close_by_walk);
}

static void set_closed_by_uv_close_while_opened_leaves_nothing(void **state) {
  close_at_each_step(*state, close_by_brute_walk);
}

static void close_in_callback(uvperf_handle_t *base, int status,
                              const uvperf_error_t *error) {
  opened_set_on_open(base, status, error);
  uvperf_close(base, opened_set_on_close);
}

static void set_closed_in_its_open_callback_is_clean(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  opened.make.options.open_cb = close_in_callback;
  assert_int_equal(
      uvperf_set_init(*state, &opened.set, &opened.make.options, NULL), 0);
  do
    fake_pool_finish();
  while (uv_run(*state, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(opened.status, 0);
  assert_int_equal(opened.closed, 1);
  fake_assert_clean();
}

/* -- a call that hangs ----------------------------------------------------- */

/* Returns whether that many calls were made. */
static int hang(uv_loop_t *loop, unsigned nth, int closes) {
  hanging_open_t hanging = {.loop = loop, .hangs_at = nth};
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  hanging.opened = &opened.opened;
  hanging.closed = &opened.closed;
  hanging.close_cb = opened_set_on_close;
  if (closes)
    hanging.handle = &opened.set.handle;
  opened.make.options.open = hanging_open;
  opened.make.options.open_arg = &hanging;
  opened.make.options.open_timeout_ms = 1;
  assert_int_equal(opened_set_begin(loop, &opened), 0);
  fake_pool_finish();
  assert_int_equal(opened.opened, 1);
  if (hanging.calls < nth) {
    assert_int_equal(opened.status, 0);
    opened_set_close(loop, &opened);
    return 0;
  }
  assert_int_equal(opened.status, closes ? UV_ECANCELED : UV_ETIMEDOUT);
  assert_int_equal(opened.error.code, opened.status);
  assert_int_equal(opened.error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(hanging.calls, nth);
  if (!closes) {
    assert_refused(&opened, UV_EBADF);
    opened_set_close(loop, &opened);
  }
  assert_int_equal(opened.closed, 1);
  fake_assert_clean();
  return 1;
}

/* Two events and a ring on each of two CPUs. */
static void set_whose_call_hangs_times_out(void **state) {
  unsigned nth = 1;

  while (hang(*state, nth, 0))
    nth += 1;
  assert_int_equal(nth, 7);
}

static void set_closed_while_a_call_hangs_does_not_wait_for_it(void **state) {
  unsigned nth = 1;

  while (hang(*state, nth, 1))
    nth += 1;
  assert_int_equal(nth, 7);
}

/* -- failures -------------------------------------------------------------- */

static int init_and_close(uv_loop_t *loop, opened_set_t *opened) {
  int rc = uvperf_set_init(loop, &opened->set, &opened->make.options,
                           &opened->error);

  if (rc == 0) {
    opened->opened = 1;
    opened_set_close(loop, opened);
  }
  return rc;
}

static void set_of_nothing_says_what_to_set(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  opened.make.attrs[1].sample_period = 0;
  assert_int_equal(
      uvperf_set_init(*state, &opened.set, &opened.make.options, NULL), 0);
  opened.opened = 1;
  assert_int_equal(
      uvperf_start(&opened.set.handle, NULL, on_record, &opened.error),
      UV_EINVAL);
  assert_non_null(strstr(opened.error.reason, "all events of the set only "
                                              "count, so the callback would"));
  opened_set_close(*state, &opened);
  opened_set_plan(&opened, 0);
  opened.make.options.nr_targets = 0;
  assert_int_equal(init_and_close(*state, &opened), UV_EINVAL);
  assert_non_null(strstr(opened.error.reason,
                         "options.targets is set, but options.nr_targets is "
                         "0; set it to the number of targets"));
  opened.make.options.targets = NULL;
  assert_int_equal(init_and_close(*state, &opened), UV_EINVAL);
  assert_non_null(strstr(opened.error.reason,
                         "options.targets is NULL, so nothing would be "
                         "measured; set it and options.nr_targets, or "));
  fake_assert_clean();
}

/* open returns the same as init, at once or later. */
static void fail_each(uv_loop_t *loop, enum fake_call call, int code,
                      uint32_t flags) {
  uvperf_error_t expected;
  unsigned nth = 0;
  opened_set_t opened;
  unsigned failures;
  int rc;

  do {
    nth += 1;
    opened_set_plan(&opened, flags);
    fake_fail(call, nth, code);
    rc = init_and_close(loop, &opened);
    expected = opened.error;

    opened_set_plan(&opened, flags);
    fake_fail(call, nth, code);
    opened.status = opened_set_begin(loop, &opened);
    if (opened.status == 0) {
      fake_pool_finish();
      assert_int_equal(opened.opened, 1);
      failures = fake_failures();
      if (opened.status != 0)
        assert_refused(&opened, UV_EBADF);
      opened_set_close(loop, &opened);
    } else {
      failures = fake_failures();
      uv_run(loop, UV_RUN_NOWAIT);
      fake_assert_clean();
    }
    if (call == FAKE_CALLOC)
      continue;
    assert_int_equal(opened.status, rc);
    if (rc != 0)
      assert_string_equal(opened.error.reason, expected.reason);
  } while (failures != 0);
  assert_true(nth > 1);
}

static void set_open_fails_as_init_does(void **state) {
  fail_each(*state, FAKE_OPEN, -EACCES, UVPERF_SET_STRICT);
  fail_each(*state, FAKE_OPEN, -EMFILE, 0);
  fail_each(*state, FAKE_OPEN, -ENODEV, 0);
  fail_each(*state, FAKE_IOCTL, -EINVAL, UVPERF_SET_ENABLED);
  fail_each(*state, FAKE_IOCTL_PTR, -EFAULT, UVPERF_SET_STRICT);
  fail_each(*state, FAKE_MMAP, -ENOMEM, 0);
  fail_each(*state, FAKE_MMAP, -EPERM, 0);
}

static void set_open_without_memory_leaves_nothing(void **state) {
  fail_each(*state, FAKE_CALLOC, 0, 0);
}

static void set_open_that_cannot_be_right_fails_at_once(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  opened.make.options.flags = 1u << 31;
  assert_int_equal(opened_set_begin(*state, &opened), UV_EINVAL);
  opened.make.options.flags = 0;
  opened.make.targets[0].pid = 7;
  assert_int_equal(opened_set_begin(*state, &opened), UV_EINVAL);
  assert_int_equal(opened.error.target_index, 0);
  assert_false(fake_pool_waits());
  fake_assert_clean();
}

static void set_open_that_the_pool_refuses_leaves_nothing(void **state) {
  opened_set_t opened;

  opened_set_plan(&opened, 0);
  fake_pool_reset();
  assert_true(opened_set_begin(*state, &opened) < 0);
  while (uv_run(*state, UV_RUN_NOWAIT) != 0)
    continue;
  assert_int_equal(opened.opened, 0);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_open_makes_the_calls_of_init_on_the_pool),
      scripted_set_test(set_being_opened_is_busy_and_active),
      scripted_set_test(set_closed_at_each_step_of_open_leaves_nothing),
      scripted_set_test(set_walked_at_each_step_of_open_leaves_nothing),
      scripted_set_test(set_closed_by_uv_close_while_opened_leaves_nothing),
      scripted_set_test(set_closed_in_its_open_callback_is_clean),
      scripted_set_test(set_whose_call_hangs_times_out),
      scripted_set_test(set_closed_while_a_call_hangs_does_not_wait_for_it),
      scripted_set_test(set_of_nothing_says_what_to_set),
      scripted_set_test(set_open_fails_as_init_does),
      scripted_set_test(set_open_without_memory_leaves_nothing),
      scripted_set_test(set_open_that_cannot_be_right_fails_at_once),
      scripted_set_test(set_open_that_the_pool_refuses_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
