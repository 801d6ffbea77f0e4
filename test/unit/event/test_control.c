/* SPDX-License-Identifier: MIT */
/* Scripted: the ioctl of each control of an event, and what the event does if
 * the kernel refuses it. modify is in test_control_modify.c. */
#include "live_control.h"
#include "scripted_event.h"

#include <errno.h>
#include <limits.h>
#include <sys/ioctl.h>

/* The last ioctl. */
static struct {
  unsigned long request;
  uint64_t argument; /* the number, or what the pointer of PERIOD points to */
  char filter[64];
} arrived;

static int remember(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  (void)fake;
  memset(&arrived, 0, sizeof(arrived));
  arrived.request = request;
  arrived.argument = argument;
  if (request == PERF_EVENT_IOC_PERIOD)
    memcpy(&arrived.argument, (const void *)argument, sizeof(uint64_t));
  else if (request == PERF_EVENT_IOC_SET_FILTER)
    snprintf(arrived.filter, sizeof(arrived.filter), "%s",
             (const char *)argument);
  return 0;
}

static fake_event_t *open_event(uv_loop_t *loop, live_collector_t *collector) {
  fake_event_t *fake = scripted_event_open(loop, collector);

  fake->on_ioctl = remember;
  fake_log_clear();
  return fake;
}

/* -- delivery ------------------------------------------------------------- */

static void expect(unsigned long request, uint64_t argument) {
  assert_int_equal(arrived.request, request);
  assert_int_equal(arrived.argument, argument);
}

static void event_control_without_argument_passes_its_flag(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;

  open_event(*state, &collector);
  assert_int_equal(uvperf_enable(&event->handle, 0, NULL), 0);
  expect(PERF_EVENT_IOC_ENABLE, 0);
  assert_int_equal(uvperf_disable(&event->handle, 0, NULL), 0);
  expect(PERF_EVENT_IOC_DISABLE, 0);
  assert_int_equal(uvperf_reset(&event->handle, 0, NULL), 0);
  expect(PERF_EVENT_IOC_RESET, 0);
  assert_int_equal(uvperf_enable(&event->handle, UVPERF_ALL, NULL), 0);
  expect(PERF_EVENT_IOC_ENABLE, 0);
  assert_int_equal(uvperf_disable(&event->handle, UVPERF_ALL, NULL), 0);
  expect(PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
  assert_int_equal(uvperf_reset(&event->handle, UVPERF_ALL, NULL), 0);
  expect(PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  expect(PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  expect(PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
  assert_int_equal(uvperf_event_pause(event, 0, NULL), 0);
  expect(PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
  assert_string_equal(fake_log(),
                      "ioctl ENABLE, ioctl DISABLE, ioctl RESET, ioctl ENABLE, "
                      "ioctl DISABLE, ioctl RESET, ioctl PAUSE_OUTPUT, ioctl "
                      "PAUSE_OUTPUT, ioctl PAUSE_OUTPUT");
  live_close(&collector);
}

static void event_control_with_argument_passes_it(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;

  open_event(*state, &collector);
  assert_int_equal(uvperf_event_refresh(event, 1, NULL), 0);
  expect(PERF_EVENT_IOC_REFRESH, 1);
  assert_int_equal(uvperf_event_refresh(event, INT_MAX, NULL), 0);
  expect(PERF_EVENT_IOC_REFRESH, INT_MAX);
  assert_int_equal(
      uvperf_change_period(&event->handle, 0, UINT64_MAX - 1, NULL), 0);
  expect(PERF_EVENT_IOC_PERIOD, UINT64_MAX - 1);
  assert_int_equal(uvperf_apply_filter(&event->handle, 0, "fd == 3", NULL), 0);
  assert_int_equal(arrived.request, PERF_EVENT_IOC_SET_FILTER);
  assert_string_equal(arrived.filter, "fd == 3");
  fake_fail(FAKE_BPF_LINK, 1, -EINVAL);
  assert_int_equal(uvperf_attach_bpf(&event->handle, 0, 33, 0, NULL), 0);
  expect(PERF_EVENT_IOC_SET_BPF, 33);
  live_close(&collector);
}

static void event_set_period_is_in_the_attr_if_it_succeeded(void **state) {
  live_collector_t collector;
  const struct perf_event_attr *attr;

  open_event(*state, &collector);
  attr = uvperf_handle_attr(&collector.event.handle, 0);
  assert_int_equal(uvperf_change_period(&collector.event.handle, 0, 77, NULL),
                   0);
  assert_int_equal(attr->sample_period, 77);
  fake_fail(FAKE_IOCTL_PTR, 1, -EINVAL);
  assert_int_equal(uvperf_change_period(&collector.event.handle, 0, 0, NULL),
                   UV_EINVAL);
  assert_int_equal(attr->sample_period, 77);
  assert_ptr_equal(uvperf_handle_attr(&collector.event.handle, 0), attr);
  live_close(&collector);
}

/* The kernel has made a period of it when it was opened. */
static void event_set_frequency_of_a_clock_passes_nanoseconds(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;
  uvperf_error_t error;

  fake->on_ioctl = remember;
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  uvperf_attr_set_frequency(&attr, 100);
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(uvperf_change_period(&event->handle, 0, 1000, NULL), 0);
  expect(PERF_EVENT_IOC_PERIOD, 1000000);
  assert_int_equal(uvperf_handle_attr(&event->handle, 0)->sample_freq, 1000);
  assert_int_equal(uvperf_handle_attr(&event->handle, 0)->freq, 1);
  fake_log_clear();
  assert_int_equal(uvperf_change_period(&event->handle, 0, 0, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_change_period(&event->handle, 0, INT64_MAX, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_SAMPLE_RATE);
  assert_int_equal(error.needed, INT64_MAX);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
  /* Other software events do. */
  fake = fake_event_add(8);
  fake->on_ioctl = remember;
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_frequency(&attr, 100);
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(uvperf_change_period(&event->handle, 0, 1000, NULL), 0);
  expect(PERF_EVENT_IOC_PERIOD, 1000);
  live_close(&collector);
}

static void event_fd_is_the_one_that_was_opened(void **state) {
  live_collector_t collector;
  fake_event_t *fake = open_event(*state, &collector);

  assert_int_equal(uvperf_event_fd(&collector.event), fake->fd);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

/* -- bad arguments, a forked child ---------------------------------------- */

static void event_control_with_bad_argument_calls_nothing(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  uvperf_error_t error;
  uint32_t ids[1];
  size_t nr = 1;

  open_event(*state, &collector);
  live_control_expect_refused(uvperf_event_refresh(event, 0, &error), &error,
                              UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "it must be 1 to 2147483647");
  live_control_expect_refused(
      uvperf_event_refresh(event, (uint32_t)INT_MAX + 1, &error), &error,
      UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "overflows is 2147483648");
  live_control_expect_refused(
      uvperf_apply_filter(&event->handle, 0, NULL, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "filter must not be NULL");
  live_control_expect_refused(
      uvperf_query_bpf(&event->handle, 0, NULL, &nr, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "NULL");
  live_control_expect_refused(
      uvperf_query_bpf(&event->handle, 0, ids, NULL, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "NULL");
  live_control_expect_refused(uvperf_event_modify(event, NULL, &error), &error,
                              UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "attr must not be NULL");
  assert_int_equal(uvperf_event_id(event, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_read(event, NULL, NULL), UV_EINVAL);
  assert_int_equal(uvperf_next(&event->handle, NULL), UV_EINVAL);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

typedef int (*control_fn)(uvperf_event_t *event, uvperf_error_t *error);

static int enable(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_enable(&event->handle, 0, error);
}

static int disable(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_disable(&event->handle, 0, error);
}

static int reset(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_reset(&event->handle, 0, error);
}

static int enable_group(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_enable(&event->handle, UVPERF_ALL, error);
}

static int reset_group(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_reset(&event->handle, UVPERF_ALL, error);
}

static int disable_group(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_disable(&event->handle, UVPERF_ALL, error);
}

static int pause_ring(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_event_pause(event, 1, error);
}

static int resume_ring(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_event_pause(event, 0, error);
}

static int refresh(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_event_refresh(event, 3, error);
}

static int set_period(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_change_period(&event->handle, 0, 3, error);
}

static int set_filter(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_apply_filter(&event->handle, 0, "fd = 3", error);
}

static int set_bpf(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_attach_bpf(&event->handle, 0, 3, 0, error);
}

static int query_bpf(uvperf_event_t *event, uvperf_error_t *error) {
  uint32_t ids[2];
  size_t nr = 2;
  int rc = uvperf_query_bpf(&event->handle, 0, ids, &nr, error);

  assert_int_equal(nr, 2);
  return rc;
}

static int modify(uvperf_event_t *event, uvperf_error_t *error) {
  return uvperf_event_modify(event, uvperf_handle_attr(&event->handle, 0),
                             error);
}

static const control_fn controls[] = {
    enable,        disable, reset,      enable_group, reset_group,
    disable_group, refresh, set_period, set_filter,   set_bpf,
    query_bpf,     modify,  pause_ring, resume_ring,
};

#define CONTROLS (sizeof(controls) / sizeof(controls[0]))

static void event_control_in_forked_child_is_eperm(void **state) {
  live_collector_t collector;
  uvperf_error_t error;
  size_t i;

  open_event(*state, &collector);
  fake_process(4711);
  for (i = 0; i < CONTROLS; i++) {
    memset(&error, 0, sizeof(error));
    live_control_expect_refused(controls[i](&collector.event, &error), &error,
                                UV_EPERM, UVPERF_CAUSE_ARGUMENT,
                                "belongs to the parent");
    assert_int_equal(controls[i](&collector.event, NULL), UV_EPERM);
  }
  assert_string_equal(fake_log(), "");
  live_close(&collector);
  fake_kernel_reset(); /* the mappings are the parent's */
}

/* -- failures ------------------------------------------------------------- */

/* Makes each request fail by a code. */
static int failing_code;

static int fail_all(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  (void)fake;
  (void)request;
  (void)argument;
  return failing_code;
}

static void event_control_that_fails_is_explained(void **state) {
  static const struct {
    int code;
    int cause;
  } any[] = {
      {-EPERM, UVPERF_CAUSE_PERMISSION}, {-EACCES, UVPERF_CAUSE_PERMISSION},
      {-ENODEV, UVPERF_CAUSE_NO_EVENT},  {-ENOTTY, UVPERF_CAUSE_OLD_KERNEL},
      {-EXDEV, UVPERF_CAUSE_UNKNOWN},
  };
  live_collector_t collector;
  uvperf_error_t error;
  fake_event_t *fake = open_event(*state, &collector);
  size_t i, j;

  fake->on_ioctl = fail_all;
  fake_fail_from(FAKE_BPF_LINK, 1, -EINVAL); /* before Linux 5.15 */
  for (i = 0; i < CONTROLS; i++)
    for (j = 0; j < sizeof(any) / sizeof(any[0]); j++) {
      failing_code = any[j].code;
      memset(&error, 0, sizeof(error));
      assert_int_equal(controls[i](&collector.event, &error), any[j].code);
      assert_int_equal(error.code, any[j].code);
      assert_int_equal(error.cause, any[j].cause);
      assert_int_equal(controls[i](&collector.event, NULL), any[j].code);
    }
  live_close(&collector);
}

/* The kernel returns EPERM for some filters that are not valid. */
static void eperm_of_a_tracepoints_filter_is_the_filters_fault(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  fake_event_t *fake = fake_event_add(7);

  uvperf_attr_tracepoint(&attr, 1);
  live_init(*state, &collector, &attr, NULL);
  fake->on_ioctl = fail_all;
  failing_code = -EPERM;
  live_control_expect_refused(set_filter(&collector.event, &error), &error,
                              UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  /* A seccomp filter forbids each ioctl. */
  fake_fail_from(FAKE_IOCTL_PTR, 1, -EPERM);
  live_control_expect_refused(set_filter(&collector.event, &error), &error,
                              UV_EPERM, UVPERF_CAUSE_PERMISSION, "");
  live_close(&collector);
}

static void event_control_names_its_argument_in_the_reason(void **state) {
  static const struct {
    control_fn control;
    int code;
    int cause;
    const char *piece;
  } all[] = {
      {set_filter, -EEXIST, UVPERF_CAUSE_EXISTS, ""},
      {set_filter, -ENOENT, UVPERF_CAUSE_ARGUMENT, "\"fd"},
      {set_bpf, -EBADF, UVPERF_CAUSE_ARGUMENT, "3"},
      {set_period, -EINVAL, UVPERF_CAUSE_ARGUMENT, "attr.sample_period"},
      {pause_ring, -EINVAL, UVPERF_CAUSE_ARGUMENT, ""},
      {modify, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED, ""},
  };
  live_collector_t collector;
  uvperf_error_t error;
  fake_event_t *fake = open_event(*state, &collector);
  size_t i;

  fake->on_ioctl = fail_all;
  fake_fail_from(FAKE_BPF_LINK, 1, -EINVAL);
  for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    failing_code = all[i].code;
    live_control_expect_refused(all[i].control(&collector.event, &error),
                                &error, all[i].code, all[i].cause,
                                all[i].piece);
  }
  live_close(&collector);
}

/* -- QUERY_BPF ------------------------------------------------------------ */

/* The number of attached programs, with ids from 100 on; the fake does as
 * bpf_prog_array_copy_info in kernel/bpf/core.c. */
static uint32_t attached;
static uint32_t asked_room;

static int query(fake_event_t *fake, unsigned long request,
                 uintptr_t argument) {
  uint32_t *words = (uint32_t *)argument;
  uint32_t i;

  (void)fake;
  if (request != PERF_EVENT_IOC_QUERY_BPF)
    return 0;
  asked_room = words[0];
  if (asked_room > 64)
    return -E2BIG;
  words[1] = attached;
  for (i = 0; i < attached && i < asked_room; i++)
    words[2 + i] = 100 + i;
  return asked_room != 0 && attached > asked_room ? -ENOSPC : 0;
}

static void event_query_bpf_returns_ids_and_their_number(void **state) {
  live_collector_t collector;
  fake_event_t *fake = open_event(*state, &collector);
  uint32_t ids[4] = {1, 2, 3, 4};
  size_t nr = 4;

  fake->on_ioctl = query;
  attached = 2;
  assert_int_equal(uvperf_query_bpf(&collector.event.handle, 0, ids, &nr, NULL),
                   0);
  assert_int_equal(nr, 2);
  assert_int_equal(asked_room, 4);
  assert_int_equal(ids[0], 100);
  assert_int_equal(ids[1], 101);
  assert_int_equal(ids[2], 3); /* left alone */
  attached = 0;
  nr = 4;
  assert_int_equal(uvperf_query_bpf(&collector.event.handle, 0, ids, &nr, NULL),
                   0);
  assert_int_equal(nr, 0);
  assert_int_equal(ids[0], 100);
  live_close(&collector);
}

static void event_query_bpf_without_room_is_enospc(void **state) {
  live_collector_t collector;
  fake_event_t *fake = open_event(*state, &collector);
  uint32_t ids[2] = {1, 2};
  uvperf_error_t error;
  size_t nr = 1;

  fake->on_ioctl = query;
  attached = 3;
  assert_int_equal(
      uvperf_query_bpf(&collector.event.handle, 0, ids, &nr, &error),
      UV_ENOSPC);
  assert_int_equal(nr, 3);
  assert_int_equal(ids[0], 100);
  assert_int_equal(ids[1], 2);
  assert_int_equal(error.cause, UVPERF_CAUSE_BPF_PROGRAMS);
  assert_int_equal(error.needed, 3);
  /* If the kernel returns 0. */
  nr = 0;
  assert_int_equal(
      uvperf_query_bpf(&collector.event.handle, 0, NULL, &nr, &error),
      UV_ENOSPC);
  assert_int_equal(nr, 3);
  assert_int_equal(asked_room, 0);
  live_close(&collector);
}

static void event_query_bpf_with_much_room_asks_for_64(void **state) {
  live_collector_t collector;
  fake_event_t *fake = open_event(*state, &collector);
  uint32_t ids[100];
  size_t nr = 100;

  fake->on_ioctl = query;
  attached = 64;
  assert_int_equal(uvperf_query_bpf(&collector.event.handle, 0, ids, &nr, NULL),
                   0);
  assert_int_equal(asked_room, 64);
  assert_int_equal(nr, 64);
  assert_int_equal(ids[63], 163);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_control_without_argument_passes_its_flag),
      fake_kernel_test(event_control_with_argument_passes_it),
      fake_kernel_test(event_set_period_is_in_the_attr_if_it_succeeded),
      fake_kernel_test(event_set_frequency_of_a_clock_passes_nanoseconds),
      fake_kernel_test(event_fd_is_the_one_that_was_opened),
      fake_kernel_test(event_control_with_bad_argument_calls_nothing),
      fake_kernel_test(event_control_in_forked_child_is_eperm),
      fake_kernel_test(event_control_that_fails_is_explained),
      fake_kernel_test(eperm_of_a_tracepoints_filter_is_the_filters_fault),
      fake_kernel_test(event_control_names_its_argument_in_the_reason),
      fake_kernel_test(event_query_bpf_returns_ids_and_their_number),
      fake_kernel_test(event_query_bpf_without_room_is_enospc),
      fake_kernel_test(event_query_bpf_with_much_room_asks_for_64),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
