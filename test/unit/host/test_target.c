/* SPDX-License-Identifier: MIT */
/* Targets: what is wrong with them on any machine, and which places they stand
 * for, below a scripted root. */
#include "check_explain.h"
#include "fake_kernel.h"
#include "support.h"
#include "make_host.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/target.h"
#include "host/task.h"

#define ONLINE  "/sys/devices/system/cpu/online"
#define PRESENT "/sys/devices/system/cpu/present"
/* The fields of a stat file, from the state to the start. */
#define FIELDS "S 1 2 3 0 -1 4194560 5 6 7 8 9 10 11 12 20 0 1 0"

/* -- wrong on any machine ------------------------------------------------- */

static uvperf_error_t error;

static void target_is_right_or_names_the_wrong_field(void **state) {
  /* A target, and the code and text of its fault. */
  static const struct {
    uint32_t type;
    int pid;
    const char *cpus;
    const char *cgroup;
    uint32_t flags;
    uint32_t reserved;
    int code;
    const char *piece;
  } targets[] = {
      {UVPERF_TARGET_SELF, 0, NULL, NULL, 0, 0, 0, ""},
      {UVPERF_TARGET_SELF, 0, "0-3,8", NULL, UVPERF_TARGET_NO_INHERIT, 0, 0,
       ""},
      {UVPERF_TARGET_CPUS, 0, NULL, NULL, 0, 0, 0, ""},
      {UVPERF_TARGET_CPUS, 0, "65535", NULL, 0, 0, 0, ""},
      {UVPERF_TARGET_THREAD, 1, NULL, NULL, 0, 0, 0, ""},
      {UVPERF_TARGET_PROCESS, 1, "1", NULL, 0, 0, 0, ""},
      {UVPERF_TARGET_COMMAND, INT32_MAX, NULL, NULL, UVPERF_TARGET_NO_INHERIT,
       0, 0, ""},
      {UVPERF_TARGET_THREAD, 0, NULL, NULL, UVPERF_TARGET_PIDFD, 0, 0, ""},
      {UVPERF_TARGET_CGROUP, 0, NULL, "/", 0, 0, 0, ""},
      {UVPERF_TARGET_CGROUP, 0, "0", "a", 0, 0, 0, ""},
      {6, 0, NULL, NULL, 0, 0, -EINVAL, "target.type 6"},
      {UINT32_MAX, 0, NULL, NULL, 0, 0, -EINVAL, "target.type 4294967295"},
      {UVPERF_TARGET_SELF, 0, NULL, NULL, 4, 0, -EINVAL, "target.flags 0x4"},
      {UVPERF_TARGET_SELF, 3, NULL, NULL, UVPERF_TARGET_PIDFD, 0, -EINVAL,
       "target.pid 3 cannot be the pidfd of UVPERF_TARGET_SELF"},
      {UVPERF_TARGET_PROCESS, -1, NULL, NULL, UVPERF_TARGET_PIDFD, 0, -EINVAL,
       "target.pid -1 cannot be the pidfd of UVPERF_TARGET_PROCESS"},
      {UVPERF_TARGET_SELF, 0, NULL, NULL, 0, 1, -E2BIG, "target.reserved"},
      {UVPERF_TARGET_SELF, 1, NULL, NULL, 0, 0, -EINVAL,
       "target.pid is 1, but UVPERF_TARGET_SELF"},
      {UVPERF_TARGET_CPUS, -1, NULL, NULL, 0, 0, -EINVAL,
       "target.pid is -1, but UVPERF_TARGET_CPUS"},
      {UVPERF_TARGET_CGROUP, 12, NULL, "/", 0, 0, -EINVAL,
       "target.pid is 12, but UVPERF_TARGET_CGROUP"},
      {UVPERF_TARGET_THREAD, 0, NULL, NULL, 0, 0, -EINVAL,
       "target.pid 0 is not the id of a task, which UVPERF_TARGET_THREAD"},
      {UVPERF_TARGET_PROCESS, -1, NULL, NULL, 0, 0, -EINVAL,
       "target.pid -1 is not the id of a task, which UVPERF_TARGET_PROCESS"},
      {UVPERF_TARGET_COMMAND, INT32_MIN, NULL, NULL, 0, 0, -EINVAL,
       "target.pid -2147483648 is not the id of a task, which "
       "UVPERF_TARGET_COMMAND"},
      {UVPERF_TARGET_CPUS, 0, "3-1", NULL, 0, 0, -EINVAL,
       "target.cpus is not a list"},
      {UVPERF_TARGET_SELF, 0, "0,", NULL, 0, 0, -EINVAL,
       "target.cpus is not a list"},
      {UVPERF_TARGET_CGROUP, 0, "65536", "/", 0, 0, -EINVAL, "at most 65535"},
      {UVPERF_TARGET_CPUS, 0, "", NULL, 0, 0, -EINVAL, "target.cpus is empty"},
      {UVPERF_TARGET_THREAD, 1, " \n", NULL, 0, 0, -EINVAL,
       "target.cpus is empty"},
      {UVPERF_TARGET_CGROUP, 0, NULL, NULL, 0, 0, -EINVAL,
       "target.cgroup is NULL"},
      {UVPERF_TARGET_CGROUP, 0, NULL, "", 0, 0, -EINVAL,
       "target.cgroup is empty"},
      {UVPERF_TARGET_CPUS, 0, NULL, "/", 0, 0, -EINVAL,
       "target.cgroup is set, but UVPERF_TARGET_CPUS"},
      {UVPERF_TARGET_PROCESS, 1, NULL, "", 0, 0, -EINVAL,
       "target.cgroup is set, but UVPERF_TARGET_PROCESS"},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(targets); i++) {
    uvperf_target_t target = {sizeof(target),      targets[i].type,
                              targets[i].pid,      targets[i].cpus,
                              targets[i].cgroup,   targets[i].flags,
                              targets[i].reserved, NULL};

    memset(&error, 0, sizeof(error));
    assert_int_equal(uvperf__target_check(&target, &error), targets[i].code);
    assert_int_equal(error.code, targets[i].code);
    assert_int_equal(error.cause, targets[i].code == 0 ? UVPERF_CAUSE_NONE
                                                       : UVPERF_CAUSE_ARGUMENT);
    if (strstr(error.reason, targets[i].piece) == NULL)
      fail_msg("'%s' is not in '%s'", targets[i].piece, error.reason);
    assert_int_equal(uvperf__target_check(&target, NULL), targets[i].code);
  }
}

/* -- the places ----------------------------------------------------------- */

static uvperf_target_t target_of(uint32_t type, int pid, const char *cpus) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = type;
  target.pid = pid;
  target.cpus = cpus;
  return target;
}

static uvperf__target_spots_t spots;

/* Prints the places as "pid:cpu:start …", with what has to be set. */
static void show(char text[512]) {
  size_t i, used = 0;

  text[0] = '\0';
  for (i = 0; i < spots.nr_spots; i++)
    used += (size_t)snprintf(text + used, 512 - used, "%s%d:%d:%llu",
                             i == 0 ? "" : " ", spots.spots[i].pid,
                             spots.spots[i].cpu,
                             (unsigned long long)spots.spots[i].start);
  snprintf(text + used, 512 - used, "%s%s", spots.inherit ? " inherit" : "",
           spots.on_exec ? " on_exec" : "");
}

static int expand_one(const uvperf_target_t *target, int has_rings,
                      uvperf_error_t *it) {
  uvperf__target_context_t look = {has_rings, 0, 0, 0, 0, "target.cpus"};

  return uvperf__target_expand(&look, target, &spots, it);
}

static void expect(const uvperf_target_t *target, const char *expected) {
  size_t fds = support_count_fds();
  char text[512];

  error = (uvperf_error_t){0};
  if (expand_one(target, 0, &error) != 0)
    fail_msg("%s: %s", expected, error.reason);
  assert_int_equal(spots.cgroup_fd, -1);
  assert_int_equal(error.code, 0);
  show(text);
  assert_string_equal(text, expected);
  uvperf__target_free(&spots);
  uvperf__target_free(&spots);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

static void refused(const uvperf_target_t *target, int code, int cause,
                    const char *piece) {
  size_t fds = support_count_fds();

  error = (uvperf_error_t){0};
  assert_int_equal(expand_one(target, 0, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  if (strstr(error.reason, piece) == NULL)
    fail_msg("'%s' is not in '%s'", piece, error.reason);
  assert_null(spots.spots);
  assert_int_equal(spots.nr_spots, 0);
  assert_int_equal(spots.cgroup_fd, -1);
  uvperf__target_free(&spots);
  assert_int_equal(expand_one(target, 0, NULL), code);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

static void expect_for_rings(const uvperf_target_t *target,
                             const char *expected) {
  char text[512];

  error = (uvperf_error_t){0};
  if (expand_one(target, 1, &error) != 0)
    fail_msg("%s: %s", expected, error.reason);
  show(text);
  assert_string_equal(text, expected);
  uvperf__target_free(&spots);
  fake_assert_clean();
}

/* A ring is for one CPU; a task's events can also be opened on an offline
 * one. */
static void task_for_rings_is_on_each_cpu_that_is_present(void **state) {
  uvperf_target_t thread = target_of(UVPERF_TARGET_THREAD, 7, NULL);
  uvperf_target_t listed = target_of(UVPERF_TARGET_THREAD, 7, "2");
  uvperf_target_t cpus = target_of(UVPERF_TARGET_CPUS, 0, NULL);

  make_host_write(ONLINE, "0\n");
  make_host_write(PRESENT, "0-2\n");
  expect_for_rings(&thread, "7:0:0 7:1:0 7:2:0");
  expect_for_rings(&listed, "7:2:0");
  expect_for_rings(&cpus, "-1:0:0");
}

static void task_for_rings_is_on_the_online_cpus_by_default(void **state) {
  uvperf_target_t thread = target_of(UVPERF_TARGET_THREAD, 7, NULL);

  make_host_write(ONLINE, "0,3\n");
  expect_for_rings(&thread, "7:0:0 7:3:0");
  make_host_write(PRESENT, "all\n");
  expect_for_rings(&thread, "7:0:0 7:3:0");
  make_host_write(ONLINE, "all\n");
  assert_int_equal(expand_one(&thread, 1, &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_CPU);
}

static void cpus_are_those_online_or_those_listed(void **state) {
  uvperf_target_t online = target_of(UVPERF_TARGET_CPUS, 0, NULL);
  uvperf_target_t listed = target_of(UVPERF_TARGET_CPUS, 0, "9,4-5,4");

  make_host_write(ONLINE, "0,2-3\n");
  expect(&online, "-1:0:0 -1:2:0 -1:3:0");
  /* Whether they are online is seen when they are opened. */
  expect(&listed, "-1:4:0 -1:5:0 -1:9:0");
}

static void cpus_missing_from_sysfs_are_an_error(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_CPUS, 0, NULL);

  refused(&target, -ENOENT, UVPERF_CAUSE_NO_CPU, "mount sysfs on /sys");
  make_host_write(ONLINE, "\n");
  refused(&target, -ENODATA, UVPERF_CAUSE_NO_CPU, "errno 61");
  make_host_write(ONLINE, "all\n");
  refused(&target, -EINVAL, UVPERF_CAUSE_NO_CPU, "errno 22");
}

static void cpus_without_sysfs_are_those_of_proc_stat(void **state) {
  uvperf_target_t cpus = target_of(UVPERF_TARGET_CPUS, 0, NULL);
  uvperf_target_t thread = target_of(UVPERF_TARGET_THREAD, 7, NULL);

  make_host_write("/proc/stat", "cpu  4 4\ncpu0 2 2\ncpu2 2 2\nctxt 1\n");
  expect(&cpus, "-1:0:0 -1:2:0");
  expect_for_rings(&thread, "7:0:0 7:2:0");
}

static void write_task(int process, int id, int threads) {
  char path[64], text[256];

  snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, id);
  snprintf(text, sizeof(text), "%d (a) " FIELDS " %d 0\n", id, 1000 + id);
  make_host_write(path, text);
  snprintf(path, sizeof(path), "/proc/%d/status", id);
  snprintf(text, sizeof(text), "Tgid:\t%d\nThreads:\t%d\n", process, threads);
  make_host_write(path, text);
}

static void remove_task(int id) {
  char path[128];

  snprintf(path, sizeof(path), "%s/proc/%d/task/%d/stat", make_host_root(), id,
           id);
  assert_int_equal(unlink(path), 0);
}

static void own_proc(void) {
  make_host_write("/proc/self/status", "NSpid:\t12\n");
}

static void self_is_the_calling_thread(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_SELF, 0, NULL);
  char expected[64];

  own_proc();
  write_task(77, 77, 1);
  fake_fail(FAKE_GETTID, 1, 77);
  expect(&target, "77:-1:1077");
  target.cpus = "0,2";
  fake_fail(FAKE_GETTID, 1, 77);
  expect(&target, "77:0:1077 77:2:1077");
  /* Its start is not in /proc. */
  snprintf(expected, sizeof(expected), "%d:-1:0", (int)getpid());
  target.cpus = NULL;
  expect(&target, expected);
}

static void thread_is_as_named(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_THREAD, 78, NULL);

  /* Without /proc, and if it is not known whose /proc it is. */
  write_task(78, 78, 1);
  expect(&target, "78:-1:0");
  own_proc();
  expect(&target, "78:-1:1078");
  target.cpus = "3,1";
  expect(&target, "78:1:1078 78:3:1078");
  target.pid = 79; /* the kernel will know */
  fake_fail_from(FAKE_HAS_TASK, 1, -ESRCH);
  expect(&target, "79:1:18446744073709551615 79:3:18446744073709551615");
  /* In another PID namespace it is the start of another task. */
  make_host_write("/proc/self/status", "NSpid:\t12\t1\n");
  target = target_of(UVPERF_TARGET_THREAD, 78, NULL);
  expect(&target, "78:-1:0");
}

static uint64_t start_seen(uvperf__target_context_t *look) {
  uvperf_target_t target = target_of(UVPERF_TARGET_THREAD, 78, NULL);
  uint64_t start;

  assert_int_equal(uvperf__target_expand(look, &target, &spots, NULL), 0);
  start = spots.spots[0].start;
  uvperf__target_free(&spots);
  return start;
}

static void proc_is_asked_whose_it_is_until_it_is_the_own(void **state) {
  uvperf__target_context_t look = {0, 0, 0, 0, 0, "target.cpus"};
  uvperf__target_context_t another = look;

  write_task(78, 78, 1);
  make_host_write("/proc/self/status", "NSpid:\t12\t1\n");
  assert_int_equal(start_seen(&look), 0);
  own_proc();
  assert_int_equal(start_seen(&look), 1078);
  make_host_write("/proc/self/status", "NSpid:\t12\t1\n");
  assert_int_equal(start_seen(&look), 1078);
  assert_int_equal(start_seen(&another), 0);
}

static void start_time_is_not_read_if_not_needed(void **state) {
  uvperf__target_context_t look = {0, 1, 0, 0, 0, "target.cpus"};

  own_proc();
  write_task(78, 78, 1);
  assert_int_equal(start_seen(&look), 0);
  assert_int_equal(look.is_proc_own, 0);
}

static void command_is_enabled_by_exec(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_COMMAND, 78, NULL);

  own_proc();
  write_task(78, 78, 1);
  expect(&target, "78:-1:1078 inherit on_exec");
  target.flags = UVPERF_TARGET_NO_INHERIT;
  target.cpus = "1";
  expect(&target, "78:1:1078 on_exec");
}

static void process_is_its_threads_on_each_cpu(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_PROCESS, 78, NULL);

  own_proc();
  write_task(78, 78, 3);
  write_task(78, 9, 3);
  write_task(78, 100, 3);
  expect(&target, "9:-1:1009 78:-1:1078 100:-1:1100 inherit");
  target.flags = UVPERF_TARGET_NO_INHERIT;
  target.cpus = "4,0";
  expect(&target,
         "9:0:1009 9:4:1009 78:0:1078 78:4:1078 100:0:1100 100:4:1100");
}

static void process_that_cannot_be_listed_reports_why(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_PROCESS, 78, NULL);

  refused(&target, -ESRCH, UVPERF_CAUSE_NO_TASK,
          "/proc is not mounted, or shows another PID namespace");
  own_proc();
  fake_fail_from(FAKE_HAS_TASK, 1, -ESRCH);
  refused(&target, -ESRCH, UVPERF_CAUSE_NO_TASK,
          "process 78 does not exist in this PID namespace, or has ended");
  fake_kernel_reset();
  fake_fail_from(FAKE_HAS_TASK, 1, -EPERM);
  refused(&target, -EACCES, UVPERF_CAUSE_PERMISSION,
          "process 78 is hidden, as /proc is mounted with hidepid=");
  fake_kernel_reset();
  write_task(78, 78, 1);
  write_task(78, 100, 1);
  target.pid = 100;
  refused(&target, -ESRCH, UVPERF_CAUSE_NO_TASK,
          "100 is not a process but a thread of process 78");
  target.pid = 78;
  make_host_write("/proc/78/task/100/stat", "garbage");
  refused(&target, -EINVAL, UVPERF_CAUSE_UNKNOWN, "errno 22");
}

/* -- ids that are used again ---------------------------------------------- */

/* The start that is found now, of the target's task. */
static uint64_t start_now(uvperf_target_t *target) {
  uvperf__target_context_t look = {0, 0, 0, 78, 0, "target.cpus"};
  uint64_t start;

  assert_int_equal(uvperf__target_begin(&look, target, 1, &start, NULL), 0);
  return start;
}

static void target_to_be_listed_later_is_identified_now(void **state) {
  static const uint32_t types[] = {UVPERF_TARGET_SELF, UVPERF_TARGET_THREAD,
                                   UVPERF_TARGET_PROCESS,
                                   UVPERF_TARGET_COMMAND};
  uvperf__target_context_t look = {0, 0, 0, 78, 0, "target.cpus"};
  uvperf_target_t target;
  size_t i;

  own_proc();
  fake_fail_from(FAKE_HAS_TASK, 1, -ESRCH);
  for (i = 0; i < COUNT_OF(types); i++) {
    write_task(78, 78, 1);
    target = target_of(types[i], i == 0 ? 0 : 78, NULL);
    assert_int_equal(uvperf__target_begin(&look, &target, 0, &look.start, NULL),
                     0);
    assert_true(look.start == 0); /* if it is listed now */
    assert_true(start_now(&target) == 1078);
    target.pid = i == 0 ? 0 : 79;
    look.start = i == 0 ? UVPERF__TASK_ENDED : start_now(&target);
    assert_true(look.start == UVPERF__TASK_ENDED);
    /* Now another task has the id. */
    write_task(79, 79, 1);
    assert_int_equal(uvperf__target_expand(&look, &target, &spots, &error),
                     -ESRCH);
    assert_int_equal(error.cause, UVPERF_CAUSE_NO_TASK);
    look.start = 999;
    if (types[i] == UVPERF_TARGET_PROCESS) {
      assert_int_equal(uvperf__target_expand(&look, &target, &spots, NULL),
                       -ESRCH);
    } else {
      assert_int_equal(uvperf__target_expand(&look, &target, &spots, NULL), 0);
      assert_true(spots.spots[0].start == 999);
      uvperf__target_free(&spots);
    }
    remove_task(79);
  }
  target = target_of(UVPERF_TARGET_CPUS, 0, NULL);
  assert_true(start_now(&target) == 0);
}

static void pidfd_becomes_the_id_of_its_task(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_PROCESS, 5, NULL);

  own_proc();
  write_task(78, 78, 1);
  make_host_write("/proc/thread-self/fdinfo/5", "pos:\t0\nPid:\t78\n");
  target.flags = UVPERF_TARGET_PIDFD | UVPERF_TARGET_NO_INHERIT;
  assert_true(start_now(&target) == 1078);
  assert_int_equal(target.pid, 78);
  assert_int_equal(target.flags, UVPERF_TARGET_NO_INHERIT);
  /* A failure of this target, not of the call. */
  make_host_write("/proc/thread-self/fdinfo/5", "pos:\t0\nPid:\t-1\n");
  target.pid = 5;
  target.flags = UVPERF_TARGET_PIDFD;
  assert_true(start_now(&target) == UVPERF__TASK_ENDED);
}

typedef struct forbidden_s {
  long call;
  int code;
} forbidden_t;

/* Returns the number of the check that failed, or 0. */
static int expand_forbidden(void *arg) {
  const forbidden_t *forbidden = arg;
  uvperf_target_t target = target_of(UVPERF_TARGET_PROCESS, 78, NULL);
  uvperf__task_t task;

  error = (uvperf_error_t){0};
  explain_filter_call(forbidden->call, forbidden->code);
  if (expand_one(&target, 0, &error) != -EPERM)
    return 1;
  if (error.code != -EPERM || error.cause != UVPERF_CAUSE_PERMISSION)
    return 2;
  if (strstr(error.reason, "a seccomp filter") == NULL)
    return 3;
  if (forbidden->call != SYS_openat)
    return 0;
  if (uvperf__task_of_pidfd(0, &task, &error) != -EPERM ||
      error.cause != UVPERF_CAUSE_PERMISSION)
    return 4;
  return strstr(error.reason, "a seccomp filter") != NULL ? 0 : 5;
}

/* proc_pid_permission returns EPERM too, but not for our own task. */
static void proc_that_a_filter_forbids_is_not_called_hidden(void **state) {
  static const long calls[] = {SYS_getdents64, SYS_openat};
  static const int codes[] = {EPERM, EACCES};
  forbidden_t forbidden = {0, 0};
  size_t i;

  own_proc();
  write_task(78, 78, 1);
  for (i = 0; i < 4; i++) {
    forbidden.call = calls[i / 2];
    forbidden.code = codes[i % 2];
    assert_int_equal(support_wait(support_fork(expand_forbidden, &forbidden)),
                     0);
  }
}

static void path_that_is_no_cgroup_is_reported(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_CGROUP, 0, NULL);

  target.cgroup = "/a";
  make_host_write(ONLINE, "0-1\n");
  make_host_write("/proc/self/mounts", "c /cg cgroup2 rw 0 0\n");
  refused(&target, -ENOENT, UVPERF_CAUSE_NO_TASK, "/cg/a");
}

/* -- shortages ------------------------------------------------------------ */

static void targets_without_memory_are_enomem(void **state) {
  const uvperf_target_t targets[] = {
      target_of(UVPERF_TARGET_SELF, 0, NULL),
      target_of(UVPERF_TARGET_SELF, 0, "0,1"),
      target_of(UVPERF_TARGET_CPUS, 0, NULL),
      target_of(UVPERF_TARGET_PROCESS, 78, NULL),
      target_of(UVPERF_TARGET_PROCESS, 78, "0-7"),
      target_of(UVPERF_TARGET_COMMAND, 78, NULL),
  };
  size_t fds = support_count_fds(), i;
  unsigned nth;
  int rc;

  own_proc();
  make_host_write(ONLINE, "0-1\n");
  for (i = 0; i < 100; i++)
    write_task(78, 78 + (int)i, 100);
  for (i = 0; i < COUNT_OF(targets); i++) {
    for (nth = 1;; nth++) {
      fake_kernel_reset();
      fake_fail(FAKE_CALLOC, nth, -ENOMEM);
      rc = expand_one(&targets[i], 0, &error);
      if (fake_failures() == 0)
        break;
      assert_int_equal(rc, -ENOMEM);
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
      assert_int_equal(fake_live_allocations(), 0);
      assert_int_equal(support_count_fds(), fds);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 2);
    uvperf__target_free(&spots);
    fake_assert_clean();
  }
}

/* Whether lack of fds is reported, for each file that is read. */
static int is_honest(const uvperf_target_t *target, rlim_t limit) {
  error = (uvperf_error_t){0};

  return expand_one(target, 0, &error) == -EMFILE &&
         error.cause == UVPERF_CAUSE_FILES && error.limit == limit &&
         error.needed == limit + 1 &&
         strstr(error.reason, " fds of RLIMIT_NOFILE ") != NULL;
}

static int expand_without_fds(void *arg) {
  const uvperf_target_t targets[] = {
      target_of(UVPERF_TARGET_SELF, 0, NULL),
      target_of(UVPERF_TARGET_CPUS, 0, NULL),
      target_of(UVPERF_TARGET_THREAD, 78, NULL),
      target_of(UVPERF_TARGET_PROCESS, 78, NULL),
      target_of(UVPERF_TARGET_COMMAND, 78, NULL),
  };
  const uint64_t limit = support_limit_fds(0);
  size_t i;

  if (limit == 0)
    return 1;
  for (i = 0; i < COUNT_OF(targets); i++)
    if (!is_honest(&targets[i], limit))
      return 2 + (int)i;
  return 0;
}

static void targets_without_fds_are_emfile(void **state) {
  own_proc();
  make_host_write(ONLINE, "0-1\n");
  write_task(78, 78, 1);
  assert_int_equal(support_wait(support_fork(expand_without_fds, *state)), 0);
}

static int tree_setup(void **state) {
  fake_kernel_reset();
  return make_host_setup(state);
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, tree_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(target_is_right_or_names_the_wrong_field),
      WITH_TREE(task_for_rings_is_on_each_cpu_that_is_present),
      WITH_TREE(task_for_rings_is_on_the_online_cpus_by_default),
      WITH_TREE(cpus_are_those_online_or_those_listed),
      WITH_TREE(cpus_missing_from_sysfs_are_an_error),
      WITH_TREE(cpus_without_sysfs_are_those_of_proc_stat),
      WITH_TREE(self_is_the_calling_thread),
      WITH_TREE(thread_is_as_named),
      WITH_TREE(proc_is_asked_whose_it_is_until_it_is_the_own),
      WITH_TREE(start_time_is_not_read_if_not_needed),
      WITH_TREE(command_is_enabled_by_exec),
      WITH_TREE(process_is_its_threads_on_each_cpu),
      WITH_TREE(proc_that_a_filter_forbids_is_not_called_hidden),
      WITH_TREE(process_that_cannot_be_listed_reports_why),
      WITH_TREE(target_to_be_listed_later_is_identified_now),
      WITH_TREE(pidfd_becomes_the_id_of_its_task),
      WITH_TREE(path_that_is_no_cgroup_is_reported),
      WITH_TREE(targets_without_memory_are_enomem),
      WITH_TREE(targets_without_fds_are_emfile),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
