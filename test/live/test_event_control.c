/* SPDX-License-Identifier: MIT */
/* Live: filters, pauses, groups and the fd. Limits of overflows and periods are
 * in test_event_period.c, BPF programs in test_event_bpf.c, modify in
 * test_event_modify.c. */
#include "live_control.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- SET_FILTER ----------------------------------------------------------- */

static void call_getpgid(pid_t pid, uint64_t nr) {
  while (nr-- > 0)
    syscall(SYS_getpgid, pid);
}

static void event_set_filter_passes_what_matches(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  live_control_begin(*state, &collector, &attr);
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, "pid ==", &error), &error,
      UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "__syscall_nr");
  /* A field without a name, which the kernel calls EPERM. */
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, "== 1", &error), &error,
      UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "__syscall_nr");
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, "nofield == 1", &error),
      &error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "__syscall_nr");
  /* The refused filter is not set. */
  assert_int_equal(uvperf_apply_filter(&collector.event.handle, 0,
                                       "pid == 77 || pid > 1000000", NULL),
                   0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  call_getpgid(77, 3);
  call_getpgid(78, 5);
  call_getpgid(1000000, 6);
  call_getpgid(1000001, 4);
  live_control_expect_records(&collector, 7);
  /* perf_tp_event_match: the others are not counted either. */
  assert_int_equal(live_control_count(&collector), 7);
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, "pid == 1", &error),
      &error, UV_EEXIST, UVPERF_CAUSE_EXISTS, "");
  live_close(&collector);
}

static void event_set_filter_that_cannot_be_is_einval(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  size_t page = support_page_bytes();
  char *longest = malloc(page + 1);
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, "pid == 1", &error),
      &error, UV_EINVAL, UVPERF_CAUSE_NOT_SUPPORTED, "");
  live_close(&collector);

  /* "pid == 77" with spaces up to a page is a valid filter, and a longer one is
   * not. */
  assert_non_null(longest);
  memset(longest, ' ', page);
  memcpy(longest, "pid == 77", 9);
  longest[page] = '\0';
  live_syscall_attr(&attr, id, PERF_SAMPLE_IP);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, longest, &error), &error,
      UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  longest[page - 1] = '\0';
  assert_int_equal(
      uvperf_apply_filter(&collector.event.handle, 0, longest, NULL), 0);
  live_close(&collector);
  free(longest);
}

static void event_set_filter_that_is_not_closed_is_reported(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, "(pid == 1", &error),
      &error, UV_ENOENT, UVPERF_CAUSE_ARGUMENT, "");
  live_control_expect_refused(
      uvperf_apply_filter(&collector.event.handle, 0, "comm ~ \"x", &error),
      &error, UV_ESRCH, UVPERF_CAUSE_ARGUMENT, "");
  live_close(&collector);
}

/* -- PAUSE_OUTPUT --------------------------------------------------------- */

static void on_lost(live_collector_t *collector,
                    const uvperf_record_t *record) {
  uint64_t *lost = collector->hook_data;

  if (record->type == PERF_RECORD_LOST)
    *lost += record->lost.lost;
}

static void event_pause_drops_and_resume_reports_how_many(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  struct perf_event_attr attr;
  uvperf_stats_t stats;
  uint64_t lost = 0;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  live_begin(*state, &collector, &attr, NULL, on_lost, &lost);
  live_syscall(2);
  live_control_expect_records(&collector, 2);
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  live_syscall(5);
  live_control_expect_records(&collector, 2);
  assert_int_equal(uvperf_event_pause(event, 0, NULL), 0);
  assert_int_equal(uvperf_event_pause(event, 0, NULL), 0);
  live_run_ms(*state, 1);
  assert_int_equal(lost, 0); /* not before the next record */
  live_syscall(1);
  live_control_expect_records(&collector, 4);
  assert_int_equal(lost, 5);
  live_syscall(1);
  live_control_expect_records(&collector, 5);
  assert_int_equal(lost, 5);
  uvperf_stats(&event->handle, &stats);
  assert_int_equal(stats.lost_records, 5);
  assert_int_equal(live_control_count(&collector), 9);
  live_close(&collector);
}

static void event_paused_hits_are_lost_in_the_count(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t count;
  uvperf_error_t error;
  int rc;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  attr.read_format = UVPERF_FORMAT_LOST;
  rc = uvperf_event_init(*state, &collector.event, &attr, NULL, &error);
  if (rc == UV_EINVAL)
    support_skip(__func__, "PERF_FORMAT_LOST (Linux 6.0)");
  assert_int_equal(rc, 0);
  collector.event.handle.data = &collector;
  collector.closed = 0;
  /* Before the first start it is the same. */
  assert_int_equal(uvperf_event_pause(&collector.event, 1, NULL), 0);
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, live_on_record, NULL), 0);
  live_syscall(6);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_int_equal(count.value, 6);
  assert_int_equal(count.lost, 6);
  live_close(&collector);
}

static void event_pause_before_start_lasts_until_resume(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(uvperf_event_pause(&collector.event, 1, NULL), 0);
  live_start(&collector, NULL);
  live_syscall(3);
  live_control_expect_records(&collector, 0);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  live_start(&collector, NULL);
  live_syscall(3);
  live_control_expect_records(&collector, 0);
  assert_int_equal(uvperf_event_pause(&collector.event, 0, NULL), 0);
  live_syscall(3);
  live_control_expect_records(&collector, 4); /* LOST is one */
  live_close(&collector);
}

static void event_pause_without_ring_is_einval(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_own_events(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(uvperf_event_pause(&collector.event, 1, &error),
                              &error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  live_control_expect_refused(uvperf_event_pause(&collector.event, 0, &error),
                              &error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "");
  live_close(&collector);
}

/* -- groups --------------------------------------------------------------- */

static void event_group_controls_reach_all_from_any_member(void **state) {
  uint64_t enter = support_need_tracepoint(__func__, LIVE_SYSCALL);
  uint64_t leave =
      support_need_tracepoint(__func__, "syscalls:sys_exit_getpgid");
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t leader, one, other;
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, enter);
  attr.exclude_kernel = 1;
  live_init(*state, &leader, &attr, NULL);
  options.leader = &leader.event;
  live_init(*state, &one, &attr, &options);
  attr.config = leave;
  live_init(*state, &other, &attr, &options);

  assert_int_equal(uvperf_enable(&other.event.handle, UVPERF_ALL, NULL), 0);
  live_syscall(5);
  assert_int_equal(uvperf_disable(&one.event.handle, UVPERF_ALL, NULL), 0);
  live_syscall(3);
  assert_int_equal(live_control_count(&leader), 5);
  assert_int_equal(live_control_count(&one), 5);
  assert_int_equal(live_control_count(&other), 5);
  assert_int_equal(uvperf_reset(&leader.event.handle, 0, NULL), 0);
  assert_int_equal(live_control_count(&leader), 0);
  assert_int_equal(live_control_count(&one), 5);
  assert_int_equal(live_control_count(&other), 5);
  assert_int_equal(uvperf_enable(&leader.event.handle, UVPERF_ALL, NULL), 0);
  live_syscall(2);
  assert_int_equal(uvperf_disable(&leader.event.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(live_control_count(&leader), 2);
  assert_int_equal(live_control_count(&other), 7);
  assert_int_equal(uvperf_reset(&one.event.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(live_control_count(&leader), 0);
  assert_int_equal(live_control_count(&one), 0);
  assert_int_equal(live_control_count(&other), 0);
  live_close(&other);
  live_close(&one);
  live_close(&leader);
}

/* -- fd ------------------------------------------------------------------- */

static void event_fd_can_be_dupped_and_closes_with_the_handle(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_collector_t collector;
  struct perf_event_attr attr;
  struct stat status;
  uint64_t value;
  int fd, copy;

  uvperf_attr_tracepoint(&attr, id);
  attr.exclude_kernel = 1;
  live_init(*state, &collector, &attr, NULL);
  fd = uvperf_event_fd(&collector.event);
  assert_int_equal(fstat(fd, &status), 0);
  assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  assert_true(copy >= 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_syscall(4);
  assert_int_equal(read(copy, &value, sizeof(value)), sizeof(value));
  assert_int_equal(value, 4);
  live_close(&collector);
  assert_int_equal(fcntl(fd, F_GETFD), -1);
  assert_int_equal(errno, EBADF);
  /* Closing the handle has disabled the event, which the dup keeps. */
  live_syscall(4);
  assert_int_equal(read(copy, &value, sizeof(value)), sizeof(value));
  assert_int_equal(value, 4);
  close(copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_set_filter_passes_what_matches),
      support_loop_test(event_set_filter_that_cannot_be_is_einval),
      support_loop_test(event_set_filter_that_is_not_closed_is_reported),
      support_loop_test(event_pause_drops_and_resume_reports_how_many),
      support_loop_test(event_paused_hits_are_lost_in_the_count),
      support_loop_test(event_pause_before_start_lasts_until_resume),
      support_loop_test(event_pause_without_ring_is_einval),
      support_loop_test(event_group_controls_reach_all_from_any_member),
      support_loop_test(event_fd_can_be_dupped_and_closes_with_the_handle),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
