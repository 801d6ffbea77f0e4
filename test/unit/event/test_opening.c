/* SPDX-License-Identifier: MIT */
/* Scripted: an event that is opened on libuv's pool, and other events: its
 * leader, one whose leader or output it is to be. What all handles have in
 * common then is in live/test_life_opening.c. */
#include "scripted_event.h"

#include "fake_pool.h"

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

/* -- failures -------------------------------------------------------------- */

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

/* A test with a loop. */
#define opening_test(f)                                                        \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      opening_test(event_open_asks_for_the_same_as_init),
      opening_test(event_that_is_not_open_is_neither_leader_nor_output),
      opening_test(leader_closed_while_its_sibling_is_opened_is_no_matter),
      opening_test(event_open_that_cannot_be_right_fails_at_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
