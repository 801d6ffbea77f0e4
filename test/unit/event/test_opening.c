/* SPDX-License-Identifier: MIT */
/* Scripted: an event that is opened on libuv's pool makes the same calls as
 * init, on the pool; it may be closed before and after them, and each may
 * fail. */
#include "scripted_event.h"

#include "fake_pool.h"
#include "hanging_open.h"

typedef struct opened_s {
  uvperf_event_t event;
  struct perf_event_attr attr;
  int opened; /* calls of its callback */
  int status;
  uvperf_error_t error;
  int closed;
} opened_t;

static void on_open(uvperf_handle_t *base, int status,
                    const uvperf_error_t *error) {
  opened_t *opened = base->data;

  assert_int_equal(opened->closed, 0);
  assert_int_equal(status == 0, error == NULL);
  opened->opened += 1;
  opened->status = status;
  if (error != NULL)
    opened->error = *error;
}

static void on_close(uvperf_handle_t *handle) {
  ((opened_t *)handle->data)->closed += 1;
}

static fake_event_t *plan(opened_t *opened) {
  fake_event_t *fake;

  fake_kernel_reset();
  fake = fake_event_add(7);
  memset(opened, 0, sizeof(*opened));
  scripted_event_attr(&opened->attr);
  opened->event.handle.data = opened;
  fake_pool_hold();
  return fake;
}

static int begin(uv_loop_t *loop, opened_t *opened,
                 const uvperf_event_options_t *options) {
  uvperf_event_options_t own = UVPERF_EVENT_OPTIONS_INIT;

  if (options != NULL)
    own = *options;
  own.open_cb = on_open;
  return uvperf_event_init(loop, &opened->event, &opened->attr, &own,
                           &opened->error);
}

static void close_event(uv_loop_t *loop, opened_t *opened) {
  uvperf_close(&opened->event.handle, on_close);
  do
    fake_pool_finish();
  while (uv_run(loop, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(opened->closed, 1);
}

/* -- it works -------------------------------------------------------------- */

static void event_open_makes_the_calls_of_init_on_the_pool(void **state) {
  opened_t opened;
  fake_event_t *fake = plan(&opened);
  uint64_t id;

  assert_int_equal(begin(*state, &opened, NULL), 0);
  assert_string_equal(fake_log(), "");
  fake_pool_finish();
  assert_string_equal(fake_log(), "open, mmap, ioctl ID");
  assert_int_equal(opened.opened, 1);
  assert_int_equal(opened.status, 0);
  assert_int_equal(fake->pid, (pid_t)live_tid());
  assert_int_equal(fake->attr.disabled, 1);
  assert_int_equal(uvperf_event_id(&opened.event, &id), 0);
  assert_int_equal(id, 7);
  assert_int_equal(uvperf_event_fd(&opened.event), fake->fd);
  close_event(*state, &opened);
  fake_assert_clean();
}

static void event_open_asks_for_the_same_as_init(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t leader;
  fake_event_t *fake;
  opened_t opened;

  fake = plan(&opened);
  live_init(*state, &leader, &opened.attr, NULL);
  fake = fake_event_add(8);
  options.leader = &leader.event;
  options.pid = 1; /* it must exist */
  options.cpu = 1;
  options.flags |= UVPERF_EVENT_CPU;
  assert_int_equal(begin(*state, &opened, &options), 0);
  fake_pool_finish();
  assert_int_equal(opened.status, 0);
  assert_int_equal(fake->pid, 1);
  assert_int_equal(fake->cpu, 1);
  assert_true(fake->group_fd >= 0); /* a duplicate of the leader's */
  fake_log_clear();
  assert_int_equal(uvperf_enable(&leader.event.handle, 0, NULL), 0);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE");
  close_event(*state, &opened);
  live_close(&leader);
}

/* -- while it is being opened ---------------------------------------------- */

static void assert_refused(opened_t *opened, int code) {
  uvperf_event_t *event = &opened->event;
  const uvperf_record_t *record;
  uvperf_event_t *events[] = {event};
  uvperf_count_t count;
  uvperf_stats_t stats;
  uvperf_error_t error;
  uint64_t id;
  size_t nr = 7;

  assert_int_equal(uvperf_start(&event->handle, NULL, live_on_record, &error),
                   code);
  assert_int_equal(error.code, code);
  assert_int_equal(uvperf_stop(&event->handle), code);
  assert_int_equal(uvperf_flush(&event->handle), code);
  assert_int_equal(uvperf_snapshot(&event->handle, 0, NULL, NULL), code);
  assert_int_equal(uvperf_next(&event->handle, &record), code);
  assert_int_equal(uvperf_enable(&event->handle, 0, NULL), code);
  assert_int_equal(uvperf_disable(&event->handle, 0, NULL), code);
  assert_int_equal(uvperf_reset(&event->handle, 0, NULL), code);
  assert_int_equal(uvperf_event_read(event, &count, NULL), code);
  assert_int_equal(uvperf_event_read_group(events, 1, &count, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_id(event, &id), code);
  assert_int_equal(uvperf_event_set_output(event, NULL, NULL), code);
  assert_int_equal(uvperf_event_fd(event), -1);
  assert_null(uvperf_changes(&event->handle, 0, &nr));
  assert_int_equal(nr, 0);
  assert_int_equal(support_ring_bytes(&event->handle), 0);
  uvperf_stats(&event->handle, &stats);
  assert_int_equal(stats.records, 0);
}

static void event_being_opened_is_busy_and_active(void **state) {
  opened_t opened;

  plan(&opened);
  assert_int_equal(begin(*state, &opened, NULL), 0);
  assert_refused(&opened, UV_EBUSY);
  assert_int_equal(uvperf_is_active(&opened.event.handle), 1);
  fake_pool_finish();
  assert_int_equal(uvperf_is_active(&opened.event.handle), 0);
  assert_int_equal(
      uvperf_start(&opened.event.handle, NULL, live_on_record, NULL), 0);
  close_event(*state, &opened);
  fake_assert_clean();
}

static void assert_no_partner(uvperf_event_t *writer, opened_t *opened,
                              int code) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  opened_t sibling = *opened;

  options.leader = &opened->event;
  assert_int_equal(begin(writer->handle.loop, &sibling, &options), code);
  assert_int_equal(uvperf_event_set_output(writer, &opened->event, NULL), code);
}

static void event_that_is_not_open_is_neither_leader_nor_output(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t writer;
  opened_t opened;

  plan(&opened);
  options.flags = UVPERF_EVENT_NO_RING | UVPERF_EVENT_IDENTIFY;
  assert_int_equal(
      uvperf_event_init(*state, &writer, &opened.attr, &options, NULL), 0);
  fake_event_add(8);
  fake_fail(FAKE_OPEN, 1, -EACCES);
  assert_int_equal(begin(*state, &opened, NULL), 0);
  assert_no_partner(&writer, &opened, UV_EBUSY);
  fake_pool_finish();
  assert_no_partner(&writer, &opened, UV_EBADF);
  uvperf_close(&writer.handle, NULL);
  close_event(*state, &opened);
  fake_assert_clean();
}

/* -- closing --------------------------------------------------------------- */

static void brute_close(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void close_before(uv_loop_t *loop, int by_walk) {
  opened_t opened;

  plan(&opened);
  assert_int_equal(begin(loop, &opened, NULL), 0);
  if (by_walk) {
    uv_walk(loop, brute_close, NULL);
    live_run_ms(loop, 1);
  }
  close_event(loop, &opened);
  assert_int_equal(opened.opened, 1);
  assert_int_equal(opened.status, UV_ECANCELED);
  assert_int_equal(opened.error.code, UV_ECANCELED);
  assert_string_equal(fake_log(), "");
  fake_assert_clean();
}

static void event_closed_before_it_is_opened_is_canceled(void **state) {
  close_before(*state, 0);
  close_before(*state, 1);
}

static uvperf_event_t *to_close;

static int close_meanwhile(struct perf_event_attr *attr) {
  (void)attr;
  uvperf_close(&to_close->handle, on_close);
  return 0;
}

/* While the pool's thread opens it. */
static void event_closed_while_it_is_opened_is_canceled(void **state) {
  opened_t opened;

  plan(&opened);
  fake_on_open(close_meanwhile);
  to_close = &opened.event;
  assert_int_equal(begin(*state, &opened, NULL), 0);
  do
    fake_pool_finish();
  while (uv_run(*state, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(opened.status, UV_ECANCELED);
  assert_int_equal(opened.opened, 1);
  assert_int_equal(opened.closed, 1);
  fake_assert_clean();
}

static void
leader_closed_while_its_sibling_is_opened_is_no_matter(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t leader;
  opened_t opened;

  plan(&opened);
  live_init(*state, &leader, &opened.attr, NULL);
  fake_event_add(8);
  options.leader = &leader.event;
  assert_int_equal(begin(*state, &opened, &options), 0);
  live_close(&leader);
  fake_pool_finish();
  assert_int_equal(opened.status, 0);
  close_event(*state, &opened);
}

/* -- a call that hangs ----------------------------------------------------- */

/* With the fallbacks the function would be called again. */
static void hang(uv_loop_t *loop, int code, int closes) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  hanging_open_t hanging = {.loop = loop, .hangs_at = 1, .code = code};
  opened_t opened;

  plan(&opened);
  hanging.opened = &opened.opened;
  hanging.closed = &opened.closed;
  hanging.close_cb = on_close;
  if (closes)
    hanging.handle = &opened.event.handle;
  options.open = hanging_open;
  options.open_arg = &hanging;
  options.open_timeout_ms = 1;
  options.fallbacks = UVPERF_FALLBACK_ALL;
  assert_int_equal(begin(loop, &opened, &options), 0);
  fake_pool_finish();
  assert_int_equal(opened.opened, 1);
  assert_int_equal(opened.status, closes ? UV_ECANCELED : UV_ETIMEDOUT);
  assert_int_equal(opened.error.code, opened.status);
  assert_int_equal(opened.error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(hanging.calls, 1);
  if (!closes) {
    assert_refused(&opened, UV_EBADF);
    close_event(loop, &opened);
  }
  assert_int_equal(opened.closed, 1);
  fake_assert_clean();
}

static void event_whose_call_hangs_times_out(void **state) {
  hang(*state, 0, 0);
  hang(*state, -EACCES, 0);
}

static void event_closed_while_a_call_hangs_does_not_wait_for_it(void **state) {
  hang(*state, 0, 1);
  hang(*state, -EACCES, 1);
}

/* -- failures -------------------------------------------------------------- */

static void fail_each(uv_loop_t *loop, enum fake_call call, int code) {
  uvperf_error_t expected;
  unsigned nth = 0;
  unsigned failures;
  opened_t opened;
  int rc;

  do {
    nth += 1;
    plan(&opened);
    fake_fail(call, nth, code);
    rc = uvperf_event_init(loop, &opened.event, &opened.attr, NULL, &expected);
    if (rc == 0)
      close_event(loop, &opened);
    while (uv_run(loop, UV_RUN_NOWAIT) != 0)
      continue;

    plan(&opened);
    fake_fail(call, nth, code);
    opened.status = begin(loop, &opened, NULL);
    if (opened.status == 0) {
      fake_pool_finish();
      failures = fake_failures();
      if (opened.status != 0)
        assert_refused(&opened, UV_EBADF);
      close_event(loop, &opened);
      assert_int_equal(opened.opened, 1);
    } else {
      failures = fake_failures();
      while (uv_run(loop, UV_RUN_NOWAIT) != 0)
        continue;
    }
    fake_assert_clean();
    if (call == FAKE_CALLOC)
      continue;
    assert_int_equal(opened.status, rc);
    if (rc != 0)
      assert_string_equal(opened.error.reason, expected.reason);
  } while (failures != 0);
  assert_true(nth > 1);
}

static void event_open_fails_as_init_does(void **state) {
  fail_each(*state, FAKE_OPEN, -EACCES);
  fail_each(*state, FAKE_OPEN, -EMFILE);
  fail_each(*state, FAKE_MMAP, -EPERM);
  fail_each(*state, FAKE_IOCTL_PTR, -EFAULT);
}

static void event_open_without_memory_leaves_nothing(void **state) {
  fail_each(*state, FAKE_CALLOC, 0);
}

static void event_open_that_cannot_be_right_fails_at_once(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  opened_t opened;

  plan(&opened);
  options.flags = 1u << 31;
  assert_int_equal(begin(*state, &opened, &options), UV_EINVAL);
  options.flags = UVPERF_EVENT_CPU | UVPERF_EVENT_CGROUP;
  options.cgroup = 1023;
  assert_int_equal(begin(*state, &opened, &options), UV_EBADF);
  assert_int_equal(opened.error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_false(fake_pool_waits());
  fake_assert_clean();
}

static void event_open_that_the_pool_refuses_leaves_nothing(void **state) {
  opened_t opened;

  plan(&opened);
  fake_pool_reset();
  assert_true(begin(*state, &opened, NULL) < 0);
  assert_int_equal(opened.error.cause, UVPERF_CAUSE_MEMORY);
  while (uv_run(*state, UV_RUN_NOWAIT) != 0)
    continue;
  assert_int_equal(opened.opened, 0);
  fake_assert_clean();
}

/* A test with a loop. */
#define opening_test(f)                                                        \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      opening_test(event_open_makes_the_calls_of_init_on_the_pool),
      opening_test(event_open_asks_for_the_same_as_init),
      opening_test(event_being_opened_is_busy_and_active),
      opening_test(event_that_is_not_open_is_neither_leader_nor_output),
      opening_test(event_closed_before_it_is_opened_is_canceled),
      opening_test(event_closed_while_it_is_opened_is_canceled),
      opening_test(leader_closed_while_its_sibling_is_opened_is_no_matter),
      opening_test(event_whose_call_hangs_times_out),
      opening_test(event_closed_while_a_call_hangs_does_not_wait_for_it),
      opening_test(event_open_fails_as_init_does),
      opening_test(event_open_without_memory_leaves_nothing),
      opening_test(event_open_that_cannot_be_right_fails_at_once),
      opening_test(event_open_that_the_pool_refuses_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
