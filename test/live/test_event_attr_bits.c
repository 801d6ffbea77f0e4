/* SPDX-License-Identifier: MIT */
/* Live: bits of the attr that no other file tests: sigtrap, remove_on_exec,
 * inherit_thread, use_clockid, aux_action and precise_ip. They are set by
 * uvperf_attr_set, because older headers lack some. Kernels that lack them make
 * the tests skip. enable_on_exec is in test_event_read_target.c. */
#include "live_control.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>

static void set(const char *test, struct perf_event_attr *attr,
                enum uvperf_attr_field field, uint64_t value) {
  if (uvperf_attr_set(attr, field, value) != 0)
    support_skip(test, "headers of Linux 5.13");
}

/* Skips if the kernel does not know one of its bits. */
static void need(const char *test, uv_loop_t *loop,
                 const struct perf_event_attr *attr) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  uvperf_error_t error;
  int rc;

  options.flags = UVPERF_EVENT_NO_RING;
  rc = uvperf_event_init(loop, &collector.event, attr, &options, &error);
  if (rc != 0 && error.cause == UVPERF_CAUSE_OLD_KERNEL)
    support_skip(test, error.reason);
  if (rc != 0)
    fail_msg("%s", error.reason);
  collector.event.handle.data = &collector;
  collector.closed = 0;
  live_close(&collector);
}

/* -- sigtrap -------------------------------------------------------------- */

/* TRAP_PERF, which older headers lack. */
#define SI_CODE_PERF 6

#define SIG_DATA_ONE   UINT64_C(0x1122334455667788)
#define SIG_DATA_OTHER UINT64_C(0x99aabbccddeeff00)

static volatile sig_atomic_t traps;
static volatile sig_atomic_t trap_code;
static uint64_t trap_data;

/* si_perf_data follows si_addr; the C library's headers may lack it. */
static void on_trap(int signal_number, siginfo_t *info, void *context) {
  unsigned long data;

  memcpy(&data, (const char *)&info->si_addr + sizeof(void *), sizeof(data));
  traps += 1;
  trap_code = info->si_code;
  trap_data = data;
}

static void trap_attr(const char *test, struct perf_event_attr *attr) {
  live_write_attr(attr, PERF_SAMPLE_IP);
  set(test, attr, UVPERF_ATTR_SIGTRAP, 1);
  set(test, attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  set(test, attr, UVPERF_ATTR_SIG_DATA, SIG_DATA_ONE);
}

static int is_trapped(int nr, uint64_t data) {
  return traps == nr && trap_code == SI_CODE_PERF &&
         trap_data == (unsigned long)data;
}

static int trap_oneself(void *arg) {
  struct perf_event_attr *attr = arg;
  struct sigaction action;
  uvperf_event_t event;
  uv_loop_t loop;

  memset(&action, 0, sizeof(action));
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGTRAP, &action, NULL) != 0 || uv_loop_init(&loop) != 0 ||
      uvperf_event_init(&loop, &event, attr, NULL, NULL) != 0)
    return 1;
  live_write(1);
  if (traps != 0 || uvperf_enable(&event.handle, 0, NULL) != 0)
    return 2;
  live_write(1);
  if (!is_trapped(1, SIG_DATA_ONE))
    return 3;
  live_write(1);
  if (!is_trapped(2, SIG_DATA_ONE))
    return 4;
  uvperf_attr_set(attr, UVPERF_ATTR_SIG_DATA, SIG_DATA_OTHER);
  if (uvperf_event_modify(&event, attr, NULL) != 0)
    return 5;
  live_write(1);
  if (!is_trapped(3, SIG_DATA_OTHER))
    return 6;
  /* A refused attr does not leave its sig_data behind. */
  uvperf_attr_set(attr, UVPERF_ATTR_SIG_DATA, 1);
  attr->bp_type = HW_BREAKPOINT_EMPTY;
  if (uvperf_event_modify(&event, attr, NULL) != UV_EINVAL)
    return 7;
  live_write(1);
  if (!is_trapped(4, SIG_DATA_OTHER))
    return 8;
  uvperf_close(&event.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) == 0 ? 0 : 9;
}

/* In a child, which the signal would kill if it came elsewhere. Arm's CPUs
 * report an access before they make it, and the kernel steps over it only if
 * the event has no signal (arch/arm64/kernel/hw_breakpoint.c): the handler
 * would return to the same access for ever. */
static void event_with_sigtrap_raises_it_with_sig_data(void **state) {
  struct perf_event_attr attr;

#if defined(__aarch64__) || defined(__arm__)
  support_skip(__func__, "a CPU that reports a breakpoint after the access");
#endif
  support_need_breakpoints(__func__);
  trap_attr(__func__, &attr);
  need(__func__, *state, &attr);
  assert_int_equal(support_wait(support_fork(trap_oneself, &attr)), 0);
}

/* -- remove_on_exec ------------------------------------------------------- */

/* A child that executes cat(1) on request, and lives until `go` is closed. */
static pid_t fork_cat(int *go) {
  int fds[2];
  char byte;
  pid_t pid;

  assert_int_equal(pipe(fds), 0);
  fflush(NULL);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    close(fds[1]);
    if (read(fds[0], &byte, 1) == 1 && dup2(fds[0], 0) == 0)
      execl("/bin/cat", "cat", (char *)NULL);
    _exit(1);
  }
  close(fds[0]);
  *go = fds[1];
  return pid;
}

static void on_comm(live_collector_t *collector,
                    const uvperf_record_t *record) {
  uint64_t *execs = collector->hook_data;

  if (record->type == PERF_RECORD_COMM && strcmp(record->comm.comm, "cat") == 0)
    *execs += 1;
}

static void watch_cat(uv_loop_t *loop, live_collector_t *collector,
                      const struct perf_event_attr *attr, uint64_t *execs) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  int go;

  options.pid = fork_cat(&go);
  live_init(loop, collector, attr, &options);
  collector->hook = on_comm;
  collector->hook_data = execs;
  live_start(collector, NULL);
  assert_int_equal(write(go, "", 1), 1);
  assert_int_equal(
      live_run_until(loop, attr->enable_on_exec ? execs : &collector->ends, 1),
      1);
  /* It has not ended. */
  assert_int_equal(waitpid(options.pid, NULL, WNOHANG), 0);
  close(go);
  assert_int_equal(support_wait(options.pid), 0);
}

static void event_with_remove_on_exec_ends_with_the_exec(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t execs = 0;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  set(__func__, &attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  need(__func__, *state, &attr);
  watch_cat(*state, &collector, &attr, &execs);
  assert_int_equal(collector.end_status, UV_EOF);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  live_close(&collector);
}

/* The same without the bit: the exec is seen, and the end is the task's. */
static void event_without_remove_on_exec_outlives_the_exec(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t execs = 0;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  attr.enable_on_exec = 1;
  watch_cat(*state, &collector, &attr, &execs);
  assert_int_equal(collector.after_end, 0);
  assert_int_equal(live_run_until(*state, &collector.ends, 1), 1);
  assert_int_equal(execs, 1);
  live_close(&collector);
}

/* -- inherit_thread ------------------------------------------------------- */

static void three_calls(void *arg) {
  live_syscall(3);
}

static int five_calls(void *arg) {
  live_syscall(5);
  return 0;
}

static void event_with_inherit_thread_counts_no_process(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uv_thread_t thread;
  int threads_only;

  options.flags = UVPERF_EVENT_NO_RING;
  for (threads_only = 0; threads_only <= 1; threads_only++) {
    uvperf_attr_tracepoint(&attr, id);
    attr.exclude_kernel = 1;
    attr.inherit = 1;
    set(__func__, &attr, UVPERF_ATTR_INHERIT_THREAD, (uint64_t)threads_only);
    need(__func__, *state, &attr);
    live_init(*state, &collector, &attr, &options);
    assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
    live_syscall(2);
    assert_int_equal(uv_thread_create(&thread, three_calls, NULL), 0);
    assert_int_equal(uv_thread_join(&thread), 0);
    assert_int_equal(support_wait(support_fork(five_calls, NULL)), 0);
    assert_int_equal(live_control_count(&collector), threads_only ? 5 : 10);
    live_close(&collector);
  }
}

/* -- use_clockid ---------------------------------------------------------- */

typedef struct times_s {
  uint64_t nr;
  uint64_t first;
  uint64_t last;
} times_t;

static void on_time(live_collector_t *collector,
                    const uvperf_record_t *record) {
  times_t *times = collector->hook_data;

  if (!live_is_in_touch(record->ip)) /* a busy machine makes others */
    return;
  if (times->nr++ == 0)
    times->first = record->time;
  times->last = record->time;
}

/* As live_end, but other page faults are no failure. */
static void end_touches(uv_loop_t *loop, live_collector_t *collector,
                        const uint64_t *nr) {
  assert_int_equal(uvperf_disable(&collector->event.handle, 0, NULL), 0);
  live_run_until(loop, nr, LIVE_PAGES);
  live_run_ms(loop, 1);
  assert_int_equal(*nr, LIVE_PAGES);
  live_close(collector);
}

static uint64_t look_at(clockid_t clock) {
  struct timespec now;

  if (clock == CLOCK_MONOTONIC)
    return uv_hrtime();
  assert_int_equal(clock_gettime(clock, &now), 0);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Those that cannot be read in an NMI are for software events alone. */
static void event_with_a_clock_stamps_its_time(void **state) {
  static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                                     CLOCK_BOOTTIME, CLOCK_REALTIME, CLOCK_TAI};
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t before, after;
  times_t times;
  char *region;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
    region = live_region();
    live_touch_attr(&attr, PERF_SAMPLE_TIME | PERF_SAMPLE_IP);
    set(__func__, &attr, UVPERF_ATTR_USE_CLOCKID, 1);
    set(__func__, &attr, UVPERF_ATTR_CLOCKID, (uint64_t)clocks[i]);
    times.nr = 0;
    before = look_at(clocks[i]);
    live_begin(*state, &collector, &attr, NULL, on_time, &times);
    live_touch(region);
    end_touches(*state, &collector, &times.nr);
    after = look_at(clocks[i]);
    assert_true(times.first >= before);
    assert_true(times.last >= times.first);
    assert_true(times.last <= after);
    live_region_free(region);
  }
}

/* -- aux_action, precise_ip ----------------------------------------------- */

/* No PMU here writes AUX data. */
static void event_with_aux_action_of_no_such_pmu_is_refused(void **state) {
  static const struct {
    uint64_t action;
    int code;
  } actions[] = {
      {1, UV_ENOTSUP}, /* start_paused */
      {2, UV_EINVAL},  /* pause */
      {4, UV_EINVAL},  /* resume */
  };
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i;
  int rc;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
    live_touch_attr(&attr, PERF_SAMPLE_IP);
    set(__func__, &attr, UVPERF_ATTR_AUX_ACTION, actions[i].action);
    rc = uvperf_event_init(*state, &collector.event, &attr, NULL, &error);
    if (rc == UV_EINVAL && error.cause == UVPERF_CAUSE_OLD_KERNEL)
      support_skip(__func__, "Linux 6.13");
    live_control_expect_refused(rc, &error, actions[i].code,
                                UVPERF_CAUSE_NOT_SUPPORTED, "AUX");
  }
}

static void count_touch(live_collector_t *collector,
                        const uvperf_record_t *record) {
  uint64_t *touches = collector->hook_data;

  *touches += (uint64_t)live_is_in_touch(record->ip);
}

/* Software events take any; of the CPU's cycles the PMU decides. */
static void event_with_precise_ip_opens_or_says_why_not(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  char *region;
  uint64_t level, touches;
  int rc;

  support_need_own_events(__func__);
  for (level = 1; level <= 3; level++) {
    region = live_region();
    live_touch_attr(&attr, PERF_SAMPLE_IP);
    set(__func__, &attr, UVPERF_ATTR_PRECISE_IP, level);
    touches = 0;
    live_begin(*state, &collector, &attr, NULL, count_touch, &touches);
    live_touch(region);
    end_touches(*state, &collector, &touches);
    live_region_free(region);

    uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
    uvperf_attr_set_period(&attr, 1000000);
    attr.exclude_kernel = 1;
    set(__func__, &attr, UVPERF_ATTR_PRECISE_IP, level);
    rc = uvperf_event_init(*state, &collector.event, &attr, NULL, &error);
    if (rc == UV_ENOENT) {
      live_control_expect_refused(rc, &error, UV_ENOENT, UVPERF_CAUSE_NO_EVENT,
                                  "cpu-clock");
    } else if (rc == UV_ENOTSUP) {
      live_control_expect_refused(rc, &error, UV_ENOTSUP,
                                  UVPERF_CAUSE_NOT_SUPPORTED, "precise_ip");
    } else {
      assert_int_equal(rc, 0);
      collector.event.handle.data = &collector;
      collector.closed = 0;
      live_close(&collector);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_with_sigtrap_raises_it_with_sig_data),
      support_loop_test(event_with_remove_on_exec_ends_with_the_exec),
      support_loop_test(event_without_remove_on_exec_outlives_the_exec),
      support_loop_test(event_with_inherit_thread_counts_no_process),
      support_loop_test(event_with_a_clock_stamps_its_time),
      support_loop_test(event_with_aux_action_of_no_such_pmu_is_refused),
      support_loop_test(event_with_precise_ip_opens_or_says_why_not),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
