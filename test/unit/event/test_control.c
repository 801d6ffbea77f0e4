/* SPDX-License-Identifier: MIT */
/* Scripted: the ioctl of each control of an event, and what the event does if
 * the kernel refuses it. modify is in test_control_modify.c. */
#include "live_control.h"
#include "scripted_event.h"
#include "scripted_handles.h"

#include <limits.h>

static const scripted_row_t rows[] = {
    {"event_control_without_argument_passes_its_flag",
     "attr comm; init\n"
     "enable h0 -> ENABLE e0\n"
     "disable h0 -> DISABLE e0\n"
     "reset h0 -> RESET e0\n"
     "enable h0 all -> ENABLE e0\n"
     "disable h0 all -> DISABLE all e0\n"
     "reset h0 all -> RESET all e0\n"
     "pause h0 -> PAUSE_OUTPUT e0\n"
     "pause h0 -> PAUSE_OUTPUT e0\n"
     "resume h0 -> RESUME_OUTPUT e0\n"},
    {"event_control_with_argument_passes_it",
     "attr comm; init\n"
     "refresh h0 1 -> REFRESH e0 1\n"
     "refresh h0 0x7fffffff -> REFRESH e0 2147483647\n"
     "period h0 0xfffffffffffffffe -> PERIOD e0 18446744073709551614\n"
     "filter h0 'fd == 3' -> SET_FILTER e0 fd == 3\n"
     "fail link 1 EINVAL\n"
     "program h0 933 -> bpf link e0 EINVAL, SET_BPF e0\n"},
    {"event_set_period_is_in_the_attr_if_it_succeeded",
     "attr comm; init; period h0 77; fields h0 sample_period -> 77\n"
     "fail ioctl_ptr 1 EINVAL; period h0 0 -> PERIOD e0 0 EINVAL, EINVAL "
     "argument\n"
     "fields h0 sample_period -> 77\n"},
    /* The kernel has made a period of it when it was opened. */
    {"event_set_frequency_of_a_clock_passes_nanoseconds",
     "attr task_clock freq=1 sample_period=100; init\n"
     "period h0 1000 -> PERIOD e0 1000000\n"
     "fields h0 sample_period freq -> 1000 1\n"
     "period h0 0 -> EINVAL argument\n"
     "file /proc/sys/kernel/perf_event_max_sample_rate 100000\n"
     "period h0 0x7fffffffffffffff -> EINVAL sample_rate\n"
     "needed -> 9223372036854775807\n"},
    {"event_set_frequency_of_another_software_event_passes_it",
     "attr page_faults freq=1 sample_period=100; init\n"
     "period h0 1000 -> PERIOD e0 1000\n"},
    {"event_control_in_forked_child_is_eperm",
     "attr comm; init; fork\n"
     "enable h0 -> EPERM argument\n"
     "says 'belongs to the parent'\n"
     "disable h0 -> EPERM argument\n"
     "reset h0 -> EPERM argument\n"
     "enable h0 all -> EPERM argument\n"
     "disable h0 all -> EPERM argument\n"
     "reset h0 all -> EPERM argument\n"
     "refresh h0 3 -> EPERM argument\n"
     "period h0 3 -> EPERM argument\n"
     "filter h0 'fd = 3' -> EPERM argument\n"
     "program h0 3 -> EPERM argument\n"
     "query h0 2 -> EPERM argument, 2:\n"
     "modify h0 -> EPERM argument\n"
     "pause h0 -> EPERM argument\n"
     "resume h0 -> EPERM argument\n"
     "no_error enable h0 -> EPERM\n"
     "unfork\n"},
    {"event_control_that_fails_is_explained",
     "attr comm; init; ioctls all EPERM; fail link 1+ EINVAL\n"
     "enable h0 -> ENABLE e0 EPERM, EPERM permission\n"
     "disable h0 -> DISABLE e0 EPERM, EPERM permission\n"
     "reset h0 -> RESET e0 EPERM, EPERM permission\n"
     "enable h0 all -> ENABLE e0 EPERM, EPERM permission\n"
     "disable h0 all -> DISABLE all e0 EPERM, EPERM permission\n"
     "reset h0 all -> RESET all e0 EPERM, EPERM permission\n"
     "refresh h0 3 -> REFRESH e0 3 EPERM, EPERM permission\n"
     "period h0 3 -> PERIOD e0 3 EPERM, EPERM permission\n"
     "filter h0 'fd = 3' -> SET_FILTER e0 fd = 3 EPERM, EPERM permission\n"
     "program h0 3 -> bpf link e0 EINVAL, SET_BPF e0 EPERM, EPERM permission\n"
     "query h0 2 -> QUERY_BPF e0 room for 2 EPERM, EPERM permission, 2:\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0 EPERM, EPERM permission\n"
     "pause h0 -> PAUSE_OUTPUT e0 EPERM, EPERM permission\n"
     "resume h0 -> RESUME_OUTPUT e0 EPERM, EPERM permission\n"
     "no_error resume h0 -> RESUME_OUTPUT e0 EPERM, EPERM\n"
     "no_error query h0 2 -> QUERY_BPF e0 room for 2 EPERM, EPERM, 2:\n"
     "ioctls all 0\n"},
    {"event_control_that_fails_by_any_code_is_explained",
     "attr comm; init\n"
     "ioctls all EACCES; reset h0 -> RESET e0 EACCES, EACCES permission\n"
     "ioctls all ENODEV; reset h0 -> RESET e0 ENODEV, ENODEV no_event\n"
     "ioctls all ENOTTY; reset h0 -> RESET e0 ENOTTY, ENOTTY old_kernel\n"
     "ioctls all EXDEV; reset h0 -> RESET e0 EXDEV, EXDEV unknown\n"
     "ioctls all 0\n"},
    /* The kernel returns EPERM for some filters that are not valid. A seccomp
     * filter forbids each ioctl. */
    {"eperm_of_a_tracepoints_filter_is_the_filters_fault",
     "attr tracepoint; init; ioctls all EPERM\n"
     "filter h0 'fd = 3' -> SET_FILTER e0 fd = 3 EPERM, EINVAL argument\n"
     "fail ioctl_ptr 1+ EPERM\n"
     "filter h0 'fd = 3' -> SET_FILTER e0 fd = 3 EPERM, ID e0 EPERM, EPERM "
     "permission\n"
     "ioctls all 0\n"},
    {"event_control_names_its_argument_in_the_reason",
     "attr comm; init; fail link 1+ EINVAL; ioctls all EEXIST\n"
     "filter h0 'fd = 3' -> SET_FILTER e0 fd = 3 EEXIST, EEXIST exists\n"
     "ioctls all ENOENT\n"
     "filter h0 'fd = 3' -> SET_FILTER e0 fd = 3 ENOENT, ENOENT argument\n"
     "says '\"fd'\n"
     "ioctls all EBADF\n"
     "program h0 3 -> bpf link e0 EINVAL, SET_BPF e0 EBADF, EBADF argument\n"
     "says 3\n"
     "ioctls all EINVAL\n"
     "period h0 3 -> PERIOD e0 3 EINVAL, EINVAL argument\n"
     "says attr.sample_period\n"
     "pause h0 -> PAUSE_OUTPUT e0 EINVAL, EINVAL argument\n"
     "ioctls all EOPNOTSUPP\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0 EOPNOTSUPP, EOPNOTSUPP not_supported\n"
     "ioctls all 0\n"},
    {"event_query_bpf_returns_ids_and_their_number",
     "attr comm; init; share 2\n"
     "query h0 4 -> QUERY_BPF e0 room for 4, 2: 100 101\n"
     "share 0; query h0 4 -> QUERY_BPF e0 room for 4, 0:\n"},
    {"event_query_bpf_without_room_is_enospc",
     "attr comm; init; share 3\n"
     "query h0 1 -> QUERY_BPF e0 room for 1 ENOSPC, ENOSPC bpf_programs, "
     "3: 100\n"
     "needed -> 3\n"
     /* If the kernel returns 0. */
     "query h0 0 -> QUERY_BPF e0 room for 0, ENOSPC bpf_programs, 3:\n"},
    {"event_query_bpf_with_much_room_asks_for_64",
     "attr comm; init; share 2\n"
     "query h0 99 -> QUERY_BPF e0 room for 64, 2: 100 101\n"},
};

static void event_control_with_bad_argument_calls_nothing(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  uvperf_error_t error;
  uint32_t ids[1];
  size_t nr = 1;

  scripted_event_open(*state, &collector);
  fake_log_clear();
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

/* An event has attr 0. Only the first three are for all attrs too. */
static void event_control_of_an_attr_that_it_lacks_calls_nothing(void **state) {
  static const size_t attrs[] = {1, UVPERF_ALL};
  live_collector_t collector;
  uvperf_handle_t *handle = &collector.event.handle;
  uint32_t ids[1];
  size_t i, nr = 1;

  scripted_event_open(*state, &collector);
  fake_log_clear();
  assert_int_equal(uvperf_enable(handle, 1, NULL), UV_EINVAL);
  assert_int_equal(uvperf_disable(handle, 1, NULL), UV_EINVAL);
  assert_int_equal(uvperf_reset(handle, 1, NULL), UV_EINVAL);
  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_change_period(handle, attrs[i], 7, NULL),
                     UV_EINVAL);
    assert_int_equal(uvperf_apply_filter(handle, attrs[i], "fd == 3", NULL),
                     UV_EINVAL);
    assert_int_equal(uvperf_attach_bpf(handle, attrs[i], 3, 0, NULL),
                     UV_EINVAL);
    assert_int_equal(uvperf_query_bpf(handle, attrs[i], ids, &nr, NULL),
                     UV_EINVAL);
  }
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

static void event_fd_is_the_one_that_was_opened(void **state) {
  live_collector_t collector;
  fake_event_t *fake = scripted_event_open(*state, &collector);

  assert_int_equal(uvperf_event_fd(&collector.event), fake->fd);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_control_with_bad_argument_calls_nothing),
      fake_kernel_test(event_control_of_an_attr_that_it_lacks_calls_nothing),
      fake_kernel_test(event_fd_is_the_one_that_was_opened),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
