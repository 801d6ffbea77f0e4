/* SPDX-License-Identifier: MIT */
/* Scripted: the argument of modify's ioctl. A running event continues and a
 * stopped one stays stopped, whichever event of its group started or stopped
 * it. */
#include "scripted_event.h"

#include <errno.h>
#include <sys/ioctl.h>

#include <linux/hw_breakpoint.h>

/* The last argument of MODIFY_ATTRIBUTES; 256 bytes of it. */
static union {
  struct perf_event_attr attr;
  uint8_t bytes[256];
} given;
/* What the next one returns. */
static int next_code;

static int remember(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  const struct perf_event_attr *attr = (const struct perf_event_attr *)argument;
  int code = next_code;

  (void)fake;
  if (request != PERF_EVENT_IOC_MODIFY_ATTRIBUTES)
    return 0;
  memset(&given, 0, sizeof(given));
  memcpy(&given, attr, attr->size);
  next_code = 0;
  return code;
}

static void breakpoint_attr(struct perf_event_attr *attr) {
  live_write_attr(attr, PERF_SAMPLE_IP);
}

static void open_in(uv_loop_t *loop, live_collector_t *collector,
                    uvperf_event_t *leader) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;

  fake->on_ioctl = remember;
  breakpoint_attr(&attr);
  options.leader = leader;
  options.flags = UVPERF_EVENT_NO_RING;
  live_init(loop, collector, &attr, &options);
}

/* Opens a breakpoint without a ring. */
static void open_breakpoint(uv_loop_t *loop, live_collector_t *collector) {
  next_code = 0;
  open_in(loop, collector, NULL);
}

/* Whether a modify starts it again. */
static int runs(live_collector_t *collector) {
  fake_log_clear();
  assert_int_equal(uvperf_event_modify(
                       &collector->event,
                       uvperf_handle_attr(&collector->event.handle, 0), NULL),
                   0);
  if (strcmp(fake_log(), "ioctl MODIFY_ATTRIBUTES, ioctl ENABLE") == 0)
    return 1;
  assert_string_equal(fake_log(), "ioctl MODIFY_ATTRIBUTES");
  return 0;
}

/* -- results -------------------------------------------------------------- */

static void event_modify_prepares_the_attr_as_init_does(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  open_breakpoint(*state, &collector);
  attr = *uvperf_handle_attr(&collector.event.handle, 0);
  attr.disabled = 0;
  attr.read_format = PERF_FORMAT_GROUP;
  attr.bp_addr = 0x1000;
  assert_int_equal(uvperf_event_modify(&collector.event, &attr, NULL), 0);
  assert_int_equal(given.attr.disabled, 1);
  assert_int_equal(given.attr.read_format, PERF_FORMAT_GROUP | PERF_FORMAT_ID);
  assert_int_equal(given.attr.bp_addr, 0x1000);
  assert_int_equal(attr.disabled, 0); /* the caller's */
  live_close(&collector);
}

static void event_modify_changes_the_attr_if_it_succeeded(void **state) {
  live_collector_t collector;
  const struct perf_event_attr *own;
  struct perf_event_attr attr;
  uint64_t old;

  open_breakpoint(*state, &collector);
  own = uvperf_handle_attr(&collector.event.handle, 0);
  old = own->bp_addr;
  attr = *own;
  attr.bp_addr = old + 8;
  attr.bp_len = 4;
  next_code = -EINVAL;
  assert_int_equal(uvperf_event_modify(&collector.event, &attr, NULL),
                   UV_EINVAL);
  assert_int_equal(own->bp_addr, old);
  assert_int_equal(uvperf_event_modify(&collector.event, &attr, NULL), 0);
  assert_ptr_equal(uvperf_handle_attr(&collector.event.handle, 0), own);
  assert_int_equal(own->bp_addr, old + 8);
  assert_int_equal(own->bp_len, 4);
  assert_int_equal(own->size, sizeof(attr));
  live_close(&collector);
}

/* The kernel compares attr.size too. */
static void event_modify_of_another_size_returns_the_events_size(void **state) {
  union {
    struct perf_event_attr attr;
    uint8_t bytes[200];
  } other;
  live_collector_t collector;

  open_breakpoint(*state, &collector);
  memset(&other, 0, sizeof(other));
  breakpoint_attr(&other.attr);
  other.attr.size = 200;
  other.attr.bp_addr = 0x2000;
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL), 0);
  assert_int_equal(given.attr.size, sizeof(struct perf_event_attr));
  assert_int_equal(given.attr.bp_addr, 0x2000);
  /* If there is a field after it, the kernel decides. */
  other.bytes[199] = 1;
  next_code = -E2BIG;
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL),
                   UV_E2BIG);
  assert_int_equal(given.attr.size, 200);
  /* A shorter one is 0 after its end. */
  other.attr.size = 72;
  other.attr.clockid = 5;
  other.attr.bp_addr = 0x3000;
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL), 0);
  assert_int_equal(given.attr.size, sizeof(struct perf_event_attr));
  assert_int_equal(given.attr.bp_addr, 0x3000);
  /* The event's clock. */
  assert_int_equal(given.attr.clockid, CLOCK_MONOTONIC);
  other.attr.size = 8;
  fake_log_clear();
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL),
                   UV_EINVAL);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

static void event_modify_without_memory_calls_nothing(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  unsigned nth;

  open_breakpoint(*state, &collector);
  breakpoint_attr(&attr);
  attr.size = 72;
  for (nth = 1; nth <= 2; nth++) {
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    fake_log_clear();
    assert_int_equal(uvperf_event_modify(&collector.event, &attr, &error),
                     UV_ENOMEM);
    assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    assert_string_equal(fake_log(), "");
  }
  live_close(&collector);
}

/* -- running or stopped --------------------------------------------------- */

static void event_modify_that_fails_starts_a_running_one_again(void **state) {
  live_collector_t collector;
  uvperf_error_t error;

  open_breakpoint(*state, &collector);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  next_code = -ENOSPC;
  fake_log_clear();
  assert_int_equal(uvperf_event_modify(
                       &collector.event,
                       uvperf_handle_attr(&collector.event.handle, 0), &error),
                   UV_ENOSPC);
  assert_int_equal(error.cause, UVPERF_CAUSE_BREAKPOINT_SLOTS);
  assert_string_equal(fake_log(),
                      "ioctl MODIFY_ATTRIBUTES failed, ioctl ENABLE");
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  next_code = -ENOSPC;
  fake_log_clear();
  assert_int_equal(
      uvperf_event_modify(&collector.event,
                          uvperf_handle_attr(&collector.event.handle, 0), NULL),
      UV_ENOSPC);
  assert_string_equal(fake_log(), "ioctl MODIFY_ATTRIBUTES failed");
  live_close(&collector);
}

/* perf_event_modify_attr takes sig_data even if it refuses the rest. */
static void event_modify_that_fails_puts_sig_data_back(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t sig_data;

  open_breakpoint(*state, &collector);
  attr = *uvperf_handle_attr(&collector.event.handle, 0);
  if (uvperf_attr_set(&attr, UVPERF_ATTR_SIG_DATA, 5) != 0)
    support_skip(__func__, "headers with sig_data");
  next_code = -EINVAL;
  fake_log_clear();
  assert_int_equal(uvperf_event_modify(&collector.event, &attr, NULL),
                   UV_EINVAL);
  assert_string_equal(fake_log(), "ioctl MODIFY_ATTRIBUTES failed, ioctl "
                                  "MODIFY_ATTRIBUTES");
  assert_int_equal(
      uvperf_attr_get(&given.attr, UVPERF_ATTR_SIG_DATA, &sig_data), 0);
  assert_int_equal(sig_data, 0);
  live_close(&collector);
}

static void event_modify_that_cannot_start_again_says_so(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  open_breakpoint(*state, &collector);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  attr = *uvperf_handle_attr(&collector.event.handle, 0);
  attr.bp_addr = 0x1000;
  fake_fail(FAKE_IOCTL, 1, -ENODEV);
  assert_int_equal(uvperf_event_modify(&collector.event, &attr, &error),
                   UV_ENODEV);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(uvperf_handle_attr(&collector.event.handle, 0)->bp_addr,
                   0x1000);
  assert_int_equal(runs(&collector), 0);
  live_close(&collector);
}

/* No other event was disabled by it, and nothing is known better then. */
static void event_modify_of_no_breakpoint_starts_nothing(void **state) {
  live_collector_t collector;
  fake_event_t *fake = scripted_event_open(*state, &collector);

  fake->on_ioctl = remember;
  next_code = -EOPNOTSUPP;
  fake_log_clear();
  assert_int_equal(
      uvperf_event_modify(&collector.event,
                          uvperf_handle_attr(&collector.event.handle, 0), NULL),
      UV_ENOTSUP);
  assert_string_equal(fake_log(), "ioctl MODIFY_ATTRIBUTES failed");
  live_close(&collector);
}

static void event_modify_knows_who_started_and_stopped(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;

  open_breakpoint(*state, &collector);
  assert_int_equal(runs(&collector), 0);
  assert_int_equal(uvperf_start(&event->handle, NULL, NULL, NULL), 0);
  assert_int_equal(runs(&collector), 1);
  assert_int_equal(uvperf_stop(&event->handle), 0);
  assert_int_equal(runs(&collector), 1);
  assert_int_equal(uvperf_enable(&event->handle, 0, NULL), 0);
  assert_int_equal(runs(&collector), 1);
  assert_int_equal(uvperf_disable(&event->handle, 0, NULL), 0);
  assert_int_equal(runs(&collector), 0);
  assert_int_equal(uvperf_disable(&event->handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(runs(&collector), 0);
  options.flags = UVPERF_START_NO_ENABLE;
  assert_int_equal(uvperf_start(&event->handle, &options, NULL, NULL), 0);
  assert_int_equal(runs(&collector), 0);
  assert_int_equal(uvperf_enable(&event->handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_stop(&event->handle), 0);
  assert_int_equal(runs(&collector), 1);
  /* A failure changes nothing. */
  fake_fail(FAKE_IOCTL, 1, -EACCES);
  assert_int_equal(uvperf_disable(&event->handle, 0, NULL), UV_EACCES);
  assert_int_equal(runs(&collector), 1);
  live_close(&collector);
}

/* It may have to be given its period again, which live/test_event_control.c
 * shows. */
static void event_modify_after_refresh_enables_and_sets_a_period(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;

  open_breakpoint(*state, &collector);
  fake_log_clear();
  assert_int_equal(uvperf_event_refresh(event, 3, NULL), 0);
  assert_string_equal(fake_log(), "ioctl REFRESH");
  fake_log_clear();
  assert_int_equal(
      uvperf_event_modify(event, uvperf_handle_attr(&event->handle, 0), NULL),
      0);
  assert_string_equal(fake_log(),
                      "ioctl MODIFY_ATTRIBUTES, ioctl ENABLE, ioctl PERIOD");
  fake_log_clear();
  assert_int_equal(uvperf_event_refresh(event, 3, NULL), 0);
  assert_string_equal(fake_log(), "ioctl REFRESH, ioctl PERIOD");
  /* For any kind of event. */
  assert_int_equal(uvperf_change_period(&event->handle, 0, 2, NULL), 0);
  fake_log_clear();
  assert_int_equal(uvperf_event_refresh(event, 3, NULL), 0);
  assert_string_equal(fake_log(), "ioctl REFRESH, ioctl PERIOD");
  live_close(&collector);
}

/* -- groups --------------------------------------------------------------- */

static void event_modify_knows_what_the_group_did(void **state) {
  live_collector_t leader, one, other, alone;

  open_breakpoint(*state, &leader);
  open_in(*state, &one, &leader.event);
  open_in(*state, &other, &leader.event);
  open_breakpoint(*state, &alone);
  assert_int_equal(uvperf_enable(&other.event.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(runs(&leader), 1);
  assert_int_equal(runs(&one), 1);
  assert_int_equal(runs(&other), 1);
  assert_int_equal(runs(&alone), 0);
  assert_int_equal(uvperf_disable(&one.event.handle, 0, NULL), 0);
  assert_int_equal(runs(&leader), 1);
  assert_int_equal(runs(&one), 0);
  assert_int_equal(uvperf_disable(&leader.event.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(runs(&leader), 0);
  assert_int_equal(runs(&other), 0);
  live_close(&one);
  assert_int_equal(uvperf_enable(&leader.event.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(runs(&other), 1);
  live_close(&other);
  live_close(&leader);
  live_close(&alone);
}

/* Closing the leader disables its siblings, and perf_group_detach makes each
 * its own leader. */
static void event_modify_without_the_leader_is_on_its_own(void **state) {
  live_collector_t leader, one, other;

  open_breakpoint(*state, &leader);
  open_in(*state, &one, &leader.event);
  open_in(*state, &other, &leader.event);
  assert_int_equal(uvperf_enable(&leader.event.handle, UVPERF_ALL, NULL), 0);
  live_close(&leader);
  assert_int_equal(runs(&one), 0);
  assert_int_equal(uvperf_enable(&other.event.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(runs(&one), 0);
  assert_int_equal(uvperf_disable(&one.event.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(runs(&one), 0);
  assert_int_equal(runs(&other), 1);
  live_close(&other);
  live_close(&one);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_modify_prepares_the_attr_as_init_does),
      fake_kernel_test(event_modify_changes_the_attr_if_it_succeeded),
      fake_kernel_test(event_modify_of_another_size_returns_the_events_size),
      fake_kernel_test(event_modify_without_memory_calls_nothing),
      fake_kernel_test(event_modify_that_fails_starts_a_running_one_again),
      fake_kernel_test(event_modify_that_fails_puts_sig_data_back),
      fake_kernel_test(event_modify_that_cannot_start_again_says_so),
      fake_kernel_test(event_modify_of_no_breakpoint_starts_nothing),
      fake_kernel_test(event_modify_knows_who_started_and_stopped),
      fake_kernel_test(event_modify_after_refresh_enables_and_sets_a_period),
      fake_kernel_test(event_modify_knows_what_the_group_did),
      fake_kernel_test(event_modify_without_the_leader_is_on_its_own),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
