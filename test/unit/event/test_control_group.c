/* SPDX-License-Identifier: MIT */
/* Scripted: the order in which a leader and its siblings are enabled and
 * disabled, and what happens if one of them fails. */
#include "live_control.h"
#include "scripted_event.h"

#include <errno.h>
#include <sys/ioctl.h>

/* The requests in order: "sibling ENABLE, leader ENABLE". */
static char asked[512];

static int note(fake_event_t *fake, unsigned long request, uintptr_t argument) {
  size_t used = strlen(asked);
  const char *what = request == PERF_EVENT_IOC_ENABLE    ? "ENABLE"
                     : request == PERF_EVENT_IOC_DISABLE ? "DISABLE"
                     : request == PERF_EVENT_IOC_REFRESH ? "REFRESH"
                                                         : "other";

  (void)argument;
  snprintf(asked + used, sizeof(asked) - used, "%s%s %s", used ? ", " : "",
           (const char *)fake->data, what);
  return 0;
}

typedef struct pair_s {
  live_collector_t leader;
  live_collector_t sibling;
  fake_event_t *fake_leader;
  fake_event_t *fake_sibling;
} pair_t;

static fake_event_t *open_in(uv_loop_t *loop, live_collector_t *collector,
                             uvperf_event_t *leader, int on_exec) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;

  fake->on_ioctl = note;
  fake->data = leader == NULL ? "leader" : "sibling";
  uvperf_attr_software(&attr, leader == NULL ? PERF_COUNT_SW_TASK_CLOCK
                                             : PERF_COUNT_SW_PAGE_FAULTS);
  attr.enable_on_exec = on_exec != 0;
  options.leader = leader;
  live_init(loop, collector, &attr, &options);
  return fake;
}

static void open_pair(uv_loop_t *loop, pair_t *pair, int leader_on_exec,
                      int sibling_on_exec) {
  pair->fake_leader = open_in(loop, &pair->leader, NULL, leader_on_exec);
  pair->fake_sibling =
      open_in(loop, &pair->sibling, &pair->leader.event, sibling_on_exec);
  asked[0] = '\0';
}

static void close_pair(pair_t *pair) {
  live_close(&pair->sibling);
  live_close(&pair->leader);
  fake_assert_clean();
}

static void expect_asked(const char *text) {
  assert_string_equal(asked, text);
  asked[0] = '\0';
}

static int start(uvperf_event_t *event, uint32_t flags, uvperf_error_t *error) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  options.flags = flags;
  return uvperf_start(&event->handle, &options, NULL, error);
}

static void event_enable_of_a_leader_asks_the_leader_last(void **state) {
  pair_t pair;
  uvperf_event_t *leader = &pair.leader.event;

  open_pair(*state, &pair, 0, 0);
  assert_int_equal(start(leader, 0, NULL), 0);
  expect_asked("sibling ENABLE, leader ENABLE");
  assert_int_equal(uvperf_stop(&leader->handle), 0);
  expect_asked("");
  assert_int_equal(uvperf_enable(&leader->handle, 0, NULL), 0);
  expect_asked("sibling ENABLE, leader ENABLE");
  assert_int_equal(uvperf_enable(&pair.sibling.event.handle, UVPERF_ALL, NULL),
                   0);
  expect_asked("sibling ENABLE, leader ENABLE");
  assert_int_equal(uvperf_event_refresh(leader, 1, NULL), 0);
  expect_asked("sibling ENABLE, leader REFRESH");
  assert_int_equal(uvperf_enable(&pair.sibling.event.handle, 0, NULL), 0);
  expect_asked("sibling ENABLE");
  close_pair(&pair);
}

static void event_start_without_enable_enables_no_sibling(void **state) {
  pair_t pair;

  open_pair(*state, &pair, 0, 0);
  assert_int_equal(start(&pair.leader.event, UVPERF_START_NO_ENABLE, NULL), 0);
  assert_int_equal(uvperf_stop(&pair.leader.event.handle), 0);
  expect_asked("");
  close_pair(&pair);
}

/* execve(2) enables those that have enable_on_exec. */
static void event_start_enables_events_that_no_exec_enables(void **state) {
  pair_t pair;

  open_pair(*state, &pair, 1, 0);
  assert_int_equal(start(&pair.leader.event, 0, NULL), 0);
  expect_asked("sibling ENABLE");
  close_pair(&pair);
  open_pair(*state, &pair, 1, 1);
  assert_int_equal(start(&pair.leader.event, 0, NULL), 0);
  expect_asked("");
  /* Asked for by name they do not wait for it. */
  assert_int_equal(uvperf_enable(&pair.leader.event.handle, 0, NULL), 0);
  expect_asked("sibling ENABLE, leader ENABLE");
  close_pair(&pair);
}

static void event_enable_whose_sibling_fails_says_so(void **state) {
  uvperf_error_t error;
  pair_t pair;

  open_pair(*state, &pair, 0, 0);
  fake_fail(FAKE_IOCTL, 1, -EACCES);
  live_control_expect_refused(
      uvperf_enable(&pair.leader.event.handle, 0, &error), &error, UV_EACCES,
      UVPERF_CAUSE_PERMISSION, "page-faults");
  fake_fail(FAKE_IOCTL, 1, -EACCES);
  live_control_expect_refused(start(&pair.leader.event, 0, &error), &error,
                              UV_EACCES, UVPERF_CAUSE_PERMISSION,
                              "page-faults");
  fake_fail(FAKE_IOCTL, 1, -EACCES);
  live_control_expect_refused(
      uvperf_event_refresh(&pair.leader.event, 1, &error), &error, UV_EACCES,
      UVPERF_CAUSE_PERMISSION, "page-faults");
  assert_int_equal(uvperf_stop(&pair.leader.event.handle), 0);
  /* The leader was not enabled, and there is nothing to disable. */
  expect_asked("");
  close_pair(&pair);
}

static void event_close_of_a_leader_disables_siblings_first(void **state) {
  pair_t pair;

  open_pair(*state, &pair, 0, 0);
  uvperf_close(&pair.leader.event.handle, NULL);
  expect_asked("sibling DISABLE, leader DISABLE");
  /* Alone from here on. */
  assert_int_equal(uvperf_enable(&pair.sibling.event.handle, UVPERF_ALL, NULL),
                   0);
  expect_asked("sibling ENABLE");
  uvperf_close(&pair.sibling.event.handle, NULL);
  expect_asked("sibling DISABLE");
  uv_run(*state, UV_RUN_DEFAULT);
}

static void event_enable_of_a_leader_leaves_closing_siblings(void **state) {
  pair_t pair;

  open_pair(*state, &pair, 0, 0);
  uvperf_close(&pair.sibling.event.handle, NULL);
  expect_asked("sibling DISABLE");
  assert_int_equal(uvperf_enable(&pair.leader.event.handle, 0, NULL), 0);
  expect_asked("leader ENABLE");
  uvperf_close(&pair.leader.event.handle, NULL);
  expect_asked("leader DISABLE");
  uv_run(*state, UV_RUN_DEFAULT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_enable_of_a_leader_asks_the_leader_last),
      fake_kernel_test(event_start_without_enable_enables_no_sibling),
      fake_kernel_test(event_start_enables_events_that_no_exec_enables),
      fake_kernel_test(event_enable_whose_sibling_fails_says_so),
      fake_kernel_test(event_close_of_a_leader_disables_siblings_first),
      fake_kernel_test(event_enable_of_a_leader_leaves_closing_siblings),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
