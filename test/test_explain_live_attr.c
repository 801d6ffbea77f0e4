/* SPDX-License-Identifier: MIT */
/* The attrs that the library calls faulty are those that this kernel refuses,
 * and so are the rings. */
#include "explain_check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "explain.h"
#include "sys.h"
#include "system.h"

#define NOBODY 65534

static void user_dummy(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  attr->exclude_kernel = 1;
}

static void refused(struct perf_event_attr *attr, int pid, int cpu,
                    const char *piece) {
  uvperf_error_t error;

  assert_int_equal(explain_try(&error, attr, pid, cpu, -1), -EINVAL);
  explain_check(&error, -EINVAL, UVPERF_CAUSE_ARGUMENT, piece);
}

/* The same attr without the fault: what was refused was the fault. */
static void accepted(struct perf_event_attr *attr) {
  int fd = uvperf__sys_open(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

  assert_true(fd >= 0);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

static void live_every_task_without_cpu_is_refused(void **state) {
  struct perf_event_attr attr;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  refused(&attr, -1, -1, "needs a cpu");
  accepted(&attr);
}

static void live_sigtrap_without_remove_on_exec_is_refused(void **state) {
  struct perf_event_attr attr;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  uvperf_attr_set(&attr, UVPERF_ATTR_SIGTRAP, 1);
  refused(&attr, 0, -1, "sigtrap needs remove_on_exec");
  uvperf_attr_set(&attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
  accepted(&attr);
  attr.enable_on_exec = 1;
  refused(&attr, 0, -1, "exclude each other");
}

static void live_inherit_thread_without_inherit_is_refused(void **state) {
  struct perf_event_attr attr;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  uvperf_attr_set(&attr, UVPERF_ATTR_INHERIT_THREAD, 1);
  refused(&attr, 0, -1, "inherit_thread needs inherit");
  attr.inherit = 1;
  accepted(&attr);
}

static void live_clockid_not_of_perf_is_refused(void **state) {
  const clockid_t good[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
                            CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI};
  struct perf_event_attr attr;
  size_t i;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  attr.use_clockid = 1;
  attr.clockid = CLOCK_PROCESS_CPUTIME_ID;
  refused(&attr, 0, -1, "use_clockid takes");
  attr.clockid = -1;
  refused(&attr, 0, -1, "use_clockid takes");
  for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
    attr.clockid = good[i];
    accepted(&attr);
  }
}

static void live_two_weights_are_refused(void **state) {
  struct perf_event_attr attr;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  attr.sample_type = PERF_SAMPLE_WEIGHT | UVPERF_SAMPLE_WEIGHT_STRUCT;
  refused(&attr, 0, -1, "WEIGHT_STRUCT exclude each other");
  attr.sample_type = UVPERF_SAMPLE_WEIGHT_STRUCT;
  accepted(&attr);
}

static void live_odd_user_stack_is_refused(void **state) {
  struct perf_event_attr attr;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  attr.sample_type = PERF_SAMPLE_STACK_USER;
  attr.sample_stack_user = 12;
  refused(&attr, 0, -1, "multiple of 8");
  attr.sample_stack_user = 65536;
  refused(&attr, 0, -1, "multiple of 8");
  attr.sample_stack_user = 65528;
  accepted(&attr);
}

static void live_negative_period_is_refused(void **state) {
  struct perf_event_attr attr;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  uvperf_attr_set_period(&attr, UINT64_C(1) << 63);
  refused(&attr, 0, -1, "below 2^63");
  uvperf_attr_set_period(&attr, (UINT64_C(1) << 63) - 1);
  accepted(&attr);
}

static void live_read_with_inherit_is_refused(void **state) {
  struct perf_event_attr attr;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  attr.inherit = 1;
  attr.sample_type = PERF_SAMPLE_READ;
  refused(&attr, 0, -1, "PERF_SAMPLE_READ with inherit");
  attr.inherit = 0;
  accepted(&attr);
}

static void live_inherited_ring_without_cpu_is_refused(void **state) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  struct perf_event_attr attr;
  uvperf_error_t error;
  void *address;
  int fd, rc;

  (void)state;
  support_need_own_events(__func__);
  user_dummy(&attr);
  attr.inherit = 1;
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  rc = uvperf__sys_mmap(&address, 2 * page, PROT_READ | PROT_WRITE, fd, 0);
  assert_int_equal(uvperf__sys_close(fd), 0);
  assert_int_equal(rc, -EINVAL);
  uvperf__explain_map(&error, rc, "", &attr, -1, page);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "inherit with a ring needs a cpu"));
}

/* In a child, as its uid and its limit cannot come back. */
static int map_too_much(uvperf_error_t *error, size_t bytes) {
  struct rlimit none = {0, 0};
  struct perf_event_attr attr;
  void *address;
  int fd, rc;

  if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 ||
      (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)))
    return 1;
  user_dummy(&attr);
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    return 1;
  rc = uvperf__sys_mmap(&address, bytes + (size_t)sysconf(_SC_PAGESIZE),
                        PROT_READ | PROT_WRITE, fd, 0);
  uvperf__explain_map(error, rc, "", &attr, -1, bytes);
  return 0;
}

static void need_locked_limit(const char *test) {
  int64_t level = 0;

  if (uvperf__system_paranoid("", &level) == 0 && level >= 0 && level <= 2 &&
      (geteuid() == 0 || !uvperf__system_has_perfmon("")))
    return;
  printf("skipped: %s: needs perf_event_paranoid 0 to 2 and a process that "
         "has, or can drop to, no privileges\n",
         test);
  skip();
}

static void live_ring_above_mlock_kb_is_locked_memory(void **state) {
  uvperf_error_t error;
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  int status, ends[2];
  int64_t kb = 0;
  pid_t child;

  (void)state;
  need_locked_limit(__func__);
  assert_int_equal(uvperf__system_mlock_kb("", &kb), 0);
  kb *= uvperf__system_online_cpus("");
  while (bytes <= (size_t)kb * 1024)
    bytes *= 2;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  child = fork();
  assert_true(child >= 0);
  if (child == 0)
    _exit(map_too_much(&error, bytes) != 0 ||
          write(ends[1], &error, sizeof(error)) != sizeof(error));
  close(ends[1]);
  assert_int_equal(read(ends[0], &error, sizeof(error)), sizeof(error));
  close(ends[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(error.code, -EPERM);
  assert_int_equal(error.cause, UVPERF_CAUSE_LOCKED_MEMORY);
  assert_int_equal(error.limit, kb * 1024);
  assert_int_equal(error.needed, bytes + (size_t)sysconf(_SC_PAGESIZE));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_every_task_without_cpu_is_refused),
      cmocka_unit_test(live_sigtrap_without_remove_on_exec_is_refused),
      cmocka_unit_test(live_inherit_thread_without_inherit_is_refused),
      cmocka_unit_test(live_clockid_not_of_perf_is_refused),
      cmocka_unit_test(live_two_weights_are_refused),
      cmocka_unit_test(live_odd_user_stack_is_refused),
      cmocka_unit_test(live_negative_period_is_refused),
      cmocka_unit_test(live_read_with_inherit_is_refused),
      cmocka_unit_test(live_inherited_ring_without_cpu_is_refused),
      cmocka_unit_test(live_ring_above_mlock_kb_is_locked_memory),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
