/* SPDX-License-Identifier: MIT */
/* What this kernel denies to a process without privileges, or with a filter,
 * and the reported cause. */
#include "check_explain.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/system.h"
#include "host/tracefs.h"

static void kernel_side(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_drop_privileges();
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  explain_try(error, &attr, 0, -1, -1);
}

static int64_t sched_switch(void) {
  uint64_t id;

  return uvperf_tracefs_id("sched", "sched_switch", &id) == 0 ? (int64_t)id
                                                              : -1;
}

static void open_data(uvperf_error_t *error, uint64_t id) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, id);
  attr.exclude_kernel = 1;
  attr.sample_type = PERF_SAMPLE_RAW;
  uvperf_attr_set_period(&attr, 1);
  explain_try(error, &attr, 0, -1, -1);
}

/* perf_copy_attr adds the sides that the event does not exclude. */
static void kernel_branches(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_drop_privileges();
  explain_user_clock(&attr);
  attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
  explain_try(error, &attr, 0, -1, -1);
}

static void live_branches_of_the_hypervisor_ask_for_1(void **state) {
  explain_need_paranoid(__func__, 2, 2);
  explain_expect(kernel_branches, -EACCES, UVPERF_CAUSE_PERMISSION,
                 "PERF_SAMPLE_BRANCH_USER");
}

/* Waits until its parent ends or kills it. */
__attribute__((noreturn)) static int sleeper(void *arg) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, *(int *)arg);
  raise(SIGSTOP);
  for (;;)
    pause();
}

/* A child of the same user that sets whether it may be traced. */
static void open_on_sleeper(uvperf_error_t *error, int dumpable, int sigtrap) {
  struct perf_event_attr attr;
  int status;
  pid_t child;

  explain_drop_privileges();
  child = support_fork(sleeper, &dumpable);
  waitpid(child, &status, WUNTRACED);
  explain_user_clock(&attr);
  if (sigtrap) {
    uvperf_attr_set(&attr, UVPERF_ATTR_REMOVE_ON_EXEC, 1);
    uvperf_attr_set(&attr, UVPERF_ATTR_SIGTRAP, 1);
  }
  explain_try(error, &attr, child, -1, -1);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
}

static void secret_task(uvperf_error_t *error) {
  open_on_sleeper(error, 0, 0);
}

static void open_task(uvperf_error_t *error) {
  open_on_sleeper(error, 1, 0);
}

static void secret_task_sigtrap(uvperf_error_t *error) {
  open_on_sleeper(error, 0, 1);
}

static void live_task_that_is_not_dumpable_may_not_be_traced(void **state) {
  explain_need_paranoid(__func__, -1, 2);
  assert_int_equal(explain_in_child(open_task).code, 0);
  explain_expect(secret_task, -EACCES, UVPERF_CAUSE_PERMISSION, "dumpable");
}

static void live_sigtrap_on_another_wants_ptrace(void **state) {
  explain_need_paranoid(__func__, -1, 2);
  if (uvperf__system_is_before(5, 13) == 1)
    support_skip(__func__, "Linux 5.13");
  explain_expect(secret_task_sigtrap, -EACCES, UVPERF_CAUSE_PERMISSION,
                 "attr.sigtrap");
}

/* It has every capability there, and none that counts outside. */
static void in_user_namespace(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_drop_privileges();
  if (unshare(CLONE_NEWUSER) != 0) {
    error->code = errno; /* not negative: nothing was tried */
    return;
  }
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  explain_try(error, &attr, 0, -1, -1);
}

static void live_capability_of_a_user_namespace_does_not_count(void **state) {
  uvperf_error_t error;

  explain_need_paranoid(__func__, 2, 2);
  error = explain_in_child(in_user_namespace);
  /* create_user_ns() returns EPERM to a process that is chrooted. */
  if (error.code == EPERM)
    support_skip(__func__, "user namespaces, which a chroot does not have");
  if (error.code > 0)
    support_skip(__func__, "user namespaces for everybody");
  explain_check(&error, -EACCES, UVPERF_CAUSE_PERMISSION, "CAP_PERFMON");
}

/* -- seccomp -------------------------------------------------------------- */

static void filtered_eperm(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_filter(EPERM);
  explain_user_clock(&attr);
  explain_try(error, &attr, 0, -1, -1);
}

static void filtered_enosys(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_filter(ENOSYS);
  explain_user_clock(&attr);
  explain_try(error, &attr, 0, -1, -1);
}

static void filtered_eacces(uvperf_error_t *error) {
  struct perf_event_attr attr;

  explain_filter(EACCES);
  explain_user_clock(&attr);
  explain_try(error, &attr, 0, -1, -1);
}

/* As in a container that may use perf events, on a kernel that forbids them. */
static void filter_that_allows(uvperf_error_t *error) {
  explain_drop_privileges();
  explain_filter(0);
  kernel_side(error);
}

static void filter_that_allows_data(uvperf_error_t *error) {
  uint64_t id = (uint64_t)sched_switch();

  explain_drop_privileges();
  explain_filter(0);
  open_data(error, id);
}

static void live_seccomp_filter_that_allows_is_not_blamed(void **state) {
  explain_need_paranoid(__func__, 2, 2);
  explain_expect(filter_that_allows, -EACCES, UVPERF_CAUSE_PERMISSION,
                 "exclude_kernel");
  if (sched_switch() < 0)
    support_skip(__func__, "a tracefs that can be read");
  explain_expect(filter_that_allows_data, -EPERM, UVPERF_CAUSE_PERMISSION,
                 "-1");
}

static void live_seccomp_filter_is_no_perf(void **state) {
  explain_expect(filtered_eperm, -EPERM, UVPERF_CAUSE_NO_PERF, "seccomp");
  explain_expect(filtered_eacces, -EACCES, UVPERF_CAUSE_NO_PERF, "seccomp");
  explain_expect(filtered_enosys, -ENOSYS, UVPERF_CAUSE_NO_PERF, "seccomp");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(live_branches_of_the_hypervisor_ask_for_1),
      cmocka_unit_test(live_task_that_is_not_dumpable_may_not_be_traced),
      cmocka_unit_test(live_sigtrap_on_another_wants_ptrace),
      cmocka_unit_test(live_capability_of_a_user_namespace_does_not_count),
      cmocka_unit_test(live_seccomp_filter_that_allows_is_not_blamed),
      cmocka_unit_test(live_seccomp_filter_is_no_perf),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
