/* SPDX-License-Identifier: MIT */
/* The groups and cgroups that this kernel refuses, and the reported cause,
 * through handles, which know the leader. */
#include "check_explain.h"
#include "live.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/sys.h"

static void opened(uv_loop_t *loop, uvperf_event_t *event,
                   const struct perf_event_attr *attr,
                   const uvperf_event_options_t *options) {
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  if (uvperf_event_init(loop, event, attr, options, &error) != 0)
    fail_msg("%s", error.reason);
}

/* The handle is the test's own memory: it must be closed before that ends. */
static void done(uv_loop_t *loop, uvperf_event_t *event) {
  uvperf_close(&event->handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
}

static void refused(uv_loop_t *loop, const struct perf_event_attr *attr,
                    const uvperf_event_options_t *options, int code, int cause,
                    const char *piece) {
  uvperf_event_t event;
  uvperf_error_t error;

  assert_int_equal(uvperf_event_init(loop, &event, attr, options, &error),
                   code);
  explain_check(&error, code, cause, piece);
}

/* A leader of the calling thread, and options to join it. */
static uvperf_event_options_t lead(uv_loop_t *loop, uvperf_event_t *leader) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  explain_user_dummy(&attr);
  opened(loop, leader, &attr, NULL);
  options.leader = leader;
  return options;
}

static void live_member_that_differs_in_its_attr_is_refused(void **state) {
  uvperf_event_options_t options;
  struct perf_event_attr attr;
  uvperf_event_t leader;

  support_need_own_events(__func__);
  options = lead(*state, &leader);
  explain_user_dummy(&attr);
  attr.inherit = 1;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "inherit");
  explain_user_dummy(&attr);
  attr.pinned = 1;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "pinned");
  explain_user_dummy(&attr);
  attr.exclusive = 1;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "pinned");
  explain_user_dummy(&attr);
  attr.use_clockid = 1;
  attr.clockid = CLOCK_BOOTTIME;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "clockid");
  done(*state, &leader);
}

static void live_member_of_another_target_is_refused(void **state) {
  uvperf_event_options_t options;
  struct perf_event_attr attr;
  uvperf_event_t leader;
  live_child_t child;

  support_need_own_events(__func__);
  live_child_fork(&child, 0);
  options = lead(*state, &leader);
  explain_user_dummy(&attr);
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "leader");
  options.flags &= ~UVPERF_EVENT_CPU;
  options.pid = child.pid;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "leader");
  live_child_go(&child);
  live_child_wait(&child);
  done(*state, &leader);
}

/* pid 0 and one's own id are the same thread. */
static void live_member_by_its_own_id_is_of_the_same_thread(void **state) {
  uvperf_event_options_t options;
  uvperf_event_t leader, member;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  options = lead(*state, &leader);
  explain_user_dummy(&attr);
  options.pid = (int)live_tid();
  opened(*state, &member, &attr, &options);
  done(*state, &member);
  attr.pinned = 1;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "pinned");
  done(*state, &leader);
}

static void live_member_of_a_member_is_refused(void **state) {
  uvperf_event_options_t options;
  uvperf_event_t leader, member;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  options = lead(*state, &leader);
  explain_user_dummy(&attr);
  opened(*state, &member, &attr, &options);
  options.leader = &member;
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "member");
  done(*state, &member);
  done(*state, &leader);
}

static void live_leader_that_is_no_fd_is_argument(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  assert_int_equal(explain_try(&error, &attr, 0, -1, 999), -EBADF);
  explain_check(&error, -EBADF, UVPERF_CAUSE_ARGUMENT, "");
}

/* In a child, because of hundreds of fds. perf_event_validate_size's limit is
 * 16 KiB, at 24 bytes each. */
static void too_large_a_group(uvperf_error_t *error) {
  struct rlimit files = {2048, 2048};
  struct perf_event_attr attr;
  int leader = -1;
  int fd;

  setrlimit(RLIMIT_NOFILE, &files);
  do {
    explain_user_dummy(&attr);
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | UVPERF_FORMAT_LOST;
    fd = explain_try(error, &attr, 0, -1, leader);
    if (leader < 0)
      leader = fd;
  } while (fd >= 0);
}

static void live_group_of_hundreds_is_too_large_to_read(void **state) {
  uvperf_error_t error;

  support_need_own_events(__func__);
  error = explain_in_child(too_large_a_group);
  if (error.code != -E2BIG)
    support_skip(__func__, "PERF_FORMAT_LOST and 2048 fds");
  explain_check(&error, -E2BIG, UVPERF_CAUSE_ARGUMENT, "attr.read_format");
}

static void refused_cgroup(int cgroup, int code, int cause, const char *piece) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  explain_user_dummy(&attr);
  assert_int_equal(explain_try_cgroup(&error, &attr, cgroup, 0, -1), code);
  explain_check(&error, code, cause, piece);
}

static void live_cgroup_that_is_none_or_gone_is_told_apart(void **state) {
  live_cgroup_t cgroup;
  int fd;

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &cgroup);
  fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  refused_cgroup(fd, -EBADF, UVPERF_CAUSE_ARGUMENT, "");
  close(fd);
  refused_cgroup(fd, -EBADF, UVPERF_CAUSE_ARGUMENT, "");
  assert_int_equal(rmdir(cgroup.path), 0);
  refused_cgroup(cgroup.fd, -ENOENT, UVPERF_CAUSE_NO_TASK, "");
  assert_int_equal(close(cgroup.fd), 0);
}

static void live_group_of_two_cgroups_is_refused(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  live_cgroup_t cgroup;
  uvperf_event_t leader;
  char inner[600];

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &cgroup);
  snprintf(inner, sizeof(inner), "%s/inner", cgroup.path);
  assert_int_equal(mkdir(inner, 0700), 0);
  explain_user_dummy(&attr);
  options.cpu = 0;
  options.cgroup = cgroup.fd;
  options.flags = UVPERF_EVENT_CPU | UVPERF_EVENT_CGROUP;
  opened(*state, &leader, &attr, &options);
  options.leader = &leader;
  options.cgroup = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "leader");
  done(*state, &leader);
  assert_int_equal(close(options.cgroup), 0);
  assert_int_equal(rmdir(inner), 0);
  live_cgroup_remove(&cgroup);
}

static int end_when_released(void *arg) {
  char byte;

  return read(*(int *)arg, &byte, 1) == 1 ? 0 : 1;
}

/* Linux 6.15 and later check the leader first, which is ENODEV; others check
 * the thread, which is ESRCH. A zombie is as gone as a task that was waited
 * for. */
static void live_member_of_a_thread_that_has_ended_is_no_task(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t leader, member;
  uvperf_error_t error;
  siginfo_t info;
  int go[2];
  int i;

  support_need_own_events(__func__);
  explain_user_dummy(&attr);
  assert_int_equal(pipe(go), 0);
  options.pid = support_fork(end_when_released, &go[0]);
  opened(*state, &leader, &attr, &options);
  assert_int_equal(write(go[1], "e", 1), 1);
  assert_int_equal(waitid(P_PID, (id_t)options.pid, &info, WEXITED | WNOWAIT),
                   0);
  options.leader = &leader;
  for (i = 0; i < 2; i++) {
    assert_true(uvperf_event_init(*state, &member, &attr, &options, &error) !=
                0);
    assert_int_equal(error.cause, UVPERF_CAUSE_NO_TASK);
    if (i == 0)
      assert_int_equal(support_wait(options.pid), 0);
  }
  done(*state, &leader);
  close(go[0]);
  close(go[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(live_member_that_differs_in_its_attr_is_refused),
      support_loop_test(live_member_of_another_target_is_refused),
      support_loop_test(live_member_by_its_own_id_is_of_the_same_thread),
      support_loop_test(live_member_of_a_member_is_refused),
      support_loop_test(live_member_of_a_thread_that_has_ended_is_no_task),
      support_loop_test(live_leader_that_is_no_fd_is_argument),
      support_loop_test(live_group_of_hundreds_is_too_large_to_read),
      support_loop_test(live_cgroup_that_is_none_or_gone_is_told_apart),
      support_loop_test(live_group_of_two_cgroups_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
