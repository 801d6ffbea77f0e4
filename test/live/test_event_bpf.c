/* SPDX-License-Identifier: MIT */
/* Live: BPF programs on events. A program on a tracepoint affects every process
 * that measures it, so these check an argument that only this test uses. */
#include "fake_kernel.h"
#include "live_bpf.h"
#include "live_control.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* No process has it for an id. */
static pid_t own_argument(void) {
  return 0x5000000 + getpid();
}

static void call_getpgid(pid_t pid, uint64_t nr) {
  while (nr-- > 0)
    syscall(SYS_getpgid, pid);
}

static int own_program(const char *test, int32_t verdict) {
  return live_bpf_by_argument(test, 0, own_argument(), verdict);
}

static void open_syscall(uv_loop_t *loop, live_collector_t *collector,
                         uint64_t id) {
  struct perf_event_attr attr;

  live_syscall_attr(&attr, id, PERF_SAMPLE_IP);
  live_control_begin(loop, collector, &attr);
}

/* -- SET_BPF -------------------------------------------------------------- */

static void event_program_on_a_tracepoint_drops_by_0(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  int program = own_program(__func__, 0);
  live_collector_t collector, other;

  open_syscall(*state, &collector, id);
  open_syscall(*state, &other, id);
  assert_int_equal(
      uvperf_attach_bpf(&collector.event.handle, 0, program, 0, NULL), 0);
  close(program); /* the event holds it */
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&other.event.handle, 0, NULL), 0);
  call_getpgid(own_argument(), 5);
  live_syscall(3);
  live_control_expect_records(&collector, 3);
  assert_int_equal(live_control_count(&collector), 3);
  /* It also affects the event without a program, until it is gone. */
  live_control_expect_records(&other, 3);
  live_close(&collector);
  call_getpgid(own_argument(), 4);
  live_control_expect_records(&other, 7);
  live_close(&other);
}

/* On a tracepoint that no other test takes: it runs for each process. */
static void event_program_sees_the_cookie_of_its_own_link(void **state) {
  uint64_t id =
      support_need_tracepoint(__func__, "syscalls:sys_enter_setpriority");
  live_bpf_counter_t counter;
  live_collector_t collector;
  struct perf_event_attr attr;
  const uint64_t cookies[] = {UINT64_C(0xfedcba9876543210), 0, 7};
  size_t i;

  for (i = 0; i < 3; i++) {
    live_bpf_cookie_open(__func__, &counter, BPF_PROG_TYPE_TRACEPOINT);
    live_syscall_attr(&attr, id, PERF_SAMPLE_IP);
    live_init(*state, &collector, &attr, NULL);
    assert_int_equal(uvperf_attach_bpf(&collector.event.handle, 0, counter.fd,
                                       cookies[i], NULL),
                     0);
    syscall(SYS_setpriority, -1, 0, 0);
    assert_int_equal(live_bpf_cookie(&counter), cookies[i]);
    live_close(&collector);
    live_bpf_counter_close(&counter);
  }
}

static void open_counted(const char *test, uv_loop_t *loop,
                         live_collector_t *collector,
                         live_bpf_counter_t *counter) {
  uint64_t id = support_need_tracepoint(test, LIVE_SYSCALL);

  live_bpf_counter_open(test, counter, BPF_PROG_TYPE_TRACEPOINT,
                        own_argument());
  open_syscall(loop, collector, id);
  call_getpgid(own_argument(), 2);
}

/* It runs even if no event is enabled, and its hits are counted by no event. */
static void event_program_on_a_tracepoint_runs_once_attached(void **state) {
  live_bpf_counter_t counter;
  live_collector_t collector;

  open_counted(__func__, *state, &collector, &counter);
  fake_fail(FAKE_BPF_LINK, 1, -EINVAL); /* as before Linux 5.15 */
  assert_int_equal(
      uvperf_attach_bpf(&collector.event.handle, 0, counter.fd, 0, NULL), 0);
  assert_int_equal(live_bpf_links(counter.fd), 0);
  call_getpgid(own_argument(), 3);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 3);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  call_getpgid(own_argument(), 4);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 7);
  live_control_expect_records(&collector, 4);
  live_close(&collector);
  call_getpgid(own_argument(), 5);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 7);
  live_bpf_counter_close(&counter);
}

static void event_program_with_a_link_runs_until_close_returns(void **state) {
  live_bpf_counter_t counter;
  live_collector_t collector;

  open_counted(__func__, *state, &collector, &counter);
  assert_int_equal(
      uvperf_attach_bpf(&collector.event.handle, 0, counter.fd, 0, NULL), 0);
  if (live_bpf_links(counter.fd) == 0) {
    live_close(&collector);
    support_skip(__func__, "BPF links of perf events");
  }
  call_getpgid(own_argument(), 3);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 3);
  uvperf_close(&collector.event.handle, NULL);
  assert_int_equal(live_bpf_links(counter.fd), 0);
  call_getpgid(own_argument(), 4);
  assert_int_equal(live_bpf_counter_runs(&counter, -1), 3);
  uv_run(*state, UV_RUN_DEFAULT);
  live_bpf_counter_close(&counter);
}

static void event_program_on_samples_drops_by_0_passes_by_1(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  char *region;
  int program;
  int verdict;

  support_need_own_events(__func__);
  for (verdict = 0; verdict <= 1; verdict++) {
    program = live_bpf_constant(__func__, BPF_PROG_TYPE_PERF_EVENT, verdict);
    region = live_region();
    live_touch_attr(&attr, PERF_SAMPLE_IP);
    live_control_begin(*state, &collector, &attr);
    assert_int_equal(
        uvperf_attach_bpf(&collector.event.handle, 0, program, 0, NULL), 0);
    live_control_expect_refused(
        uvperf_attach_bpf(&collector.event.handle, 0, program, 0, &error),
        &error, UV_EEXIST, UVPERF_CAUSE_EXISTS, "");
    assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
    assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
    live_touch(region);
    assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
    live_control_expect_records(&collector, verdict ? LIVE_PAGES : 0);
    /* Counted in any case, unlike on a tracepoint. */
    assert_int_equal(live_control_count(&collector), LIVE_PAGES);
    live_close(&collector);
    live_region_free(region);
    close(program);
  }
}

/* Here a timer makes the samples, in an interrupt. */
static void event_program_on_a_clock_drops_by_0(void **state) {
  int drop = live_bpf_constant(__func__, BPF_PROG_TYPE_PERF_EVENT, 0);
  live_collector_t with, without;
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1000000);
  uvperf_attr_set_wakeup_bytes(&attr, 1);
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  live_control_begin(*state, &with, &attr);
  live_control_begin(*state, &without, &attr);
  assert_int_equal(uvperf_attach_bpf(&with.event.handle, 0, drop, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&with.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&without.event.handle, 0, NULL), 0);
  while (without.records < 20)
    uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(with.records, 0);
  live_close(&with);
  live_close(&without);
  close(drop);
}

static void event_set_bpf_of_what_does_not_fit_is_refused(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  int sampler = live_bpf_constant(__func__, BPF_PROG_TYPE_PERF_EVENT, 1);
  int beyond = live_bpf_by_argument(__func__, 5, 0, 1);
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  struct perf_event_attr attr;
  uvperf_error_t error;

  open_syscall(*state, &collector, id);
  live_control_expect_refused(
      uvperf_attach_bpf(&event->handle, 0, sampler, 0, &error), &error,
      UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "BPF_PROG_TYPE_TRACEPOINT");
  live_control_expect_refused(
      uvperf_attach_bpf(&event->handle, 0, sampler, 7, &error), &error,
      UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "BPF_PROG_TYPE_TRACEPOINT");
  live_control_expect_refused(
      uvperf_attach_bpf(&event->handle, 0, null, 0, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "");
  live_control_expect_refused(
      uvperf_attach_bpf(&event->handle, 0, -1, 0, &error), &error, UV_EBADF,
      UVPERF_CAUSE_ARGUMENT, "-1");
  live_control_expect_refused(
      uvperf_attach_bpf(&event->handle, 0, beyond, 0, &error), &error,
      UV_EACCES, UVPERF_CAUSE_ARGUMENT, "");
  live_close(&collector);
  live_touch_attr(&attr, PERF_SAMPLE_IP);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_attach_bpf(&event->handle, 0, beyond, 0, &error), &error,
      UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "BPF_PROG_TYPE_PERF_EVENT");
  live_close(&collector);
  close(sampler);
  close(beyond);
  close(null);
}

static void event_set_bpf_twice_is_eexist(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  int program = own_program(__func__, 1);
  int another = own_program(__func__, 1);
  live_collector_t collector, other;
  uvperf_error_t error;

  open_syscall(*state, &collector, id);
  open_syscall(*state, &other, id);
  assert_int_equal(
      uvperf_attach_bpf(&collector.event.handle, 0, program, 0, NULL), 0);
  live_control_expect_refused(
      uvperf_attach_bpf(&collector.event.handle, 0, another, 0, &error), &error,
      UV_EEXIST, UVPERF_CAUSE_EXISTS, "");
  /* bpf_prog_array_copy: not the same one twice on one tracepoint, either. */
  live_control_expect_refused(
      uvperf_attach_bpf(&other.event.handle, 0, program, 0, &error), &error,
      UV_EEXIST, UVPERF_CAUSE_EXISTS, "");
  assert_int_equal(uvperf_attach_bpf(&other.event.handle, 0, another, 0, NULL),
                   0);
  live_close(&other);
  live_close(&collector);
  close(program);
  close(another);
}

/* -- QUERY_BPF ------------------------------------------------------------ */

/* Others may have theirs there. */
static void event_query_bpf_returns_the_programs_id(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  int program = own_program(__func__, 1);
  live_collector_t collector, other;
  uvperf_error_t error;
  uint32_t ids[64];
  size_t nr = 64;
  size_t found = 0;
  size_t i;

  open_syscall(*state, &collector, id);
  open_syscall(*state, &other, id);
  assert_int_equal(
      uvperf_attach_bpf(&collector.event.handle, 0, program, 0, NULL), 0);
  assert_int_equal(uvperf_query_bpf(&other.event.handle, 0, ids, &nr, NULL), 0);
  assert_in_range(nr, 1, 64);
  for (i = 0; i < nr; i++)
    found += ids[i] == live_bpf_id(program);
  assert_int_equal(found, 1);
  nr = 0;
  live_control_expect_refused(
      uvperf_query_bpf(&collector.event.handle, 0, NULL, &nr, &error), &error,
      UV_ENOSPC, UVPERF_CAUSE_BPF_PROGRAMS, "");
  assert_in_range(nr, 1, 64);
  assert_true(error.needed >= 1);
  live_close(&collector);
  live_close(&other);
  close(program);
}

static void event_query_bpf_of_no_tracepoint_is_einval(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  uint32_t ids[1];
  size_t nr = 1;

  support_need_kernel_side(__func__);
  live_touch_attr(&attr, PERF_SAMPLE_IP);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_query_bpf(&collector.event.handle, 0, ids, &nr, &error), &error,
      UV_EINVAL, UVPERF_CAUSE_NOT_SUPPORTED, "PERF_TYPE_TRACEPOINT");
  assert_int_equal(nr, 1);
  live_close(&collector);
}

/* BPF_TRACE_MAX_PROGS. On a tracepoint that no other test takes. */
static void event_set_bpf_on_a_full_tracepoint_is_e2big(void **state) {
  static live_collector_t collectors[65];
  uint64_t id = support_need_tracepoint(
      __func__, "syscalls:sys_enter_sched_rr_get_interval");
  int program = live_bpf_constant(__func__, BPF_PROG_TYPE_TRACEPOINT, 1);
  struct perf_event_attr attr;
  uvperf_error_t error;
  uint32_t ids[8];
  size_t nr, opened;
  int rc = 0;

  uvperf_attr_tracepoint(&attr, id);
  for (opened = 0; rc == 0 && opened < 65; opened++) {
    live_init(*state, &collectors[opened], &attr, NULL);
    rc = uvperf_attach_bpf(&collectors[opened].event.handle, 0, program, 0,
                           &error);
    close(program);
    program = live_bpf_constant(__func__, BPF_PROG_TYPE_TRACEPOINT, 1);
  }
  live_control_expect_refused(rc, &error, UV_E2BIG, UVPERF_CAUSE_BPF_PROGRAMS,
                              "64");
  assert_int_equal(error.limit, 64);
  nr = 8;
  live_control_expect_refused(
      uvperf_query_bpf(&collectors[0].event.handle, 0, ids, &nr, &error),
      &error, UV_ENOSPC, UVPERF_CAUSE_BPF_PROGRAMS, "");
  assert_in_range(nr, 9, 64);
  while (opened-- > 0)
    live_close(&collectors[opened]);
  close(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_program_on_a_tracepoint_drops_by_0),
      support_loop_test(event_program_sees_the_cookie_of_its_own_link),
      support_loop_test(event_program_on_a_tracepoint_runs_once_attached),
      support_loop_test(event_program_with_a_link_runs_until_close_returns),
      support_loop_test(event_program_on_samples_drops_by_0_passes_by_1),
      support_loop_test(event_program_on_a_clock_drops_by_0),
      support_loop_test(event_set_bpf_of_what_does_not_fit_is_refused),
      support_loop_test(event_set_bpf_twice_is_eexist),
      support_loop_test(event_query_bpf_returns_the_programs_id),
      support_loop_test(event_query_bpf_of_no_tracepoint_is_einval),
      support_loop_test(event_set_bpf_on_a_full_tracepoint_is_e2big),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
