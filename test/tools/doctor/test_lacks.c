/* SPDX-License-Identifier: MIT */
/* The doctor's answers if a part of the system is missing, and whether its
 * remedies would help. */
#include "doctor_run.h"
#include "check_explain.h"
#include "json_check.h"
#include "uvperf.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/capability.h>

/* Hides a directory in a mount namespace of its own. */
static void hide(const char *path) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", path, "tmpfs", 0, NULL) != 0)
    _exit(1);
}

/* Hides /proc, except for the directory of this process, which the leak
 * sanitizer needs. */
static void hide_proc(void) {
  static const char aside[] = "/mnt";
  char own[32];

  snprintf(own, sizeof(own), "/proc/%d", (int)getpid());
  hide(aside);
  if (mount(own, aside, NULL, MS_BIND, NULL) != 0 ||
      mount("none", "/proc", "tmpfs", 0, NULL) != 0 || mkdir(own, 0755) != 0 ||
      mount(aside, own, NULL, MS_BIND, NULL) != 0)
    _exit(1);
}

static void hide_sys(void) {
  hide("/sys");
}

static void what_procfs_would_tell_is_not_guessed(void **state) {
  static const char *const unknown[][2] = {
      {"targets", "cgroup"}, {"events", "uprobe"}, {"symbols", "kernel"}};
  static tool_run_t run = {.args = {DOCTOR_PATH, "--json"},
                           .prepare = hide_proc};

  support_need_root(__func__);
  if (access("/sys/bus/event_source/devices/uprobe", F_OK) != 0)
    support_skip(__func__, "the PMU uprobe");
  /* stderr is not checked: the address sanitizer complains there about the
   * missing /proc. */
  tool_run_exits(&run, 0);
  assert_true(json_is_tree(run.out));
  doctor_expect(&run, "system", "capabilities", NULL, "null");
  doctor_expect_all(&run, unknown, COUNT_OF(unknown), "unknown", "ENOENT", NULL,
                    "mount -t proc proc /proc");
}

static void what_sysfs_would_tell_is_not_guessed(void **state) {
  static const char *const unknown[][2] = {
      {"events", "uprobe"}, {"events", "kprobe"}, {"fields", "aux"}};
  static tool_run_t run;
  char online[16];

  support_need_root(__func__);
  support_need_cpu_wide(__func__);
  doctor_run(&run, DOCTOR_PATH, hide_sys, 0);
  snprintf(online, sizeof(online), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
  doctor_expect(&run, "system", "cpus_online", NULL, online);
  doctor_expect(&run, "system", "pmus", NULL, "null");
  doctor_expect(&run, "targets", "cpu", "result", "yes");
  doctor_expect_all(&run, unknown, COUNT_OF(unknown), "unknown", NULL, NULL,
                    "mount -t sysfs sysfs /sys");
}

/* The least number of fds with which the doctor can start leaves no fd for
 * these files. */
static void
files_that_no_fd_is_left_for_are_no_lack_of_the_kernel(void **state) {
  static const char *const unknown[][2] = {
      {"targets", "cgroup"}, {"events", "tracepoint"}, {"symbols", "kernel"}};
  static tool_run_t run;
  int nr;

  for (nr = 4; nr < 24 && (nr == 4 || run.status != 0); nr++)
    doctor_run_with_fds(&run, DOCTOR_PATH, nr);
  tool_run_expect_status(&run, 0);
  doctor_expect_all(&run, unknown, COUNT_OF(unknown), "unknown", "EMFILE",
                    "files", "ulimit -n");
}

/* -- capabilities that setcap(8) cannot add -------------------------------- */

static void drop_perfmon(void) {
  if (prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0) != 0 ||
      prctl(PR_CAPBSET_DROP, CAP_PERFMON, 0, 0, 0) != 0 ||
      prctl(PR_CAPBSET_DROP, CAP_SYSLOG, 0, 0, 0) != 0)
    _exit(1);
}

static void forbid_new_privileges(void) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    _exit(1);
}

static void enter_user_namespace(void) {
  if (unshare(CLONE_NEWUSER) != 0)
    _exit(1);
}

static int try_user_namespace(void *arg) {
  return unshare(CLONE_NEWUSER) != 0;
}

static void expect_no_setcap(const tool_run_t *run, const char *instead) {
  assert_null(strstr(run->out, "setcap cap_perfmon"));
  assert_null(strstr(run->out, "setcap cap_sys_admin"));
  assert_null(strstr(run->out, "setcap cap_syslog"));
  doctor_expect_part(run, "targets", "cpu", "remedy",
                     "kernel.perf_event_paranoid=0");
  doctor_expect_part(run, "targets", "cpu", "remedy", instead);
  doctor_expect_part(run, "records", "namespaces", "remedy", instead);
}

static void setcap_is_no_remedy_where_it_has_no_effect(void **state) {
  static tool_run_t run;

  explain_need_paranoid(__func__, 2, 2);
  support_need_root(__func__);
  doctor_run(&run, DOCTOR_PATH, drop_perfmon, 0);
  expect_no_setcap(&run, "CAP_PERFMON");
  doctor_run(&run, DOCTOR_PATH, forbid_new_privileges, 1);
  expect_no_setcap(&run, "CAP_PERFMON");
}

static void setcap_is_no_remedy_in_a_user_namespace(void **state) {
  static tool_run_t run;

  explain_need_paranoid(__func__, 2, 2);
  support_need_root(__func__);
  if (support_wait(support_fork(try_user_namespace, NULL)) != 0)
    support_skip(__func__, "user namespaces, which a chroot does not have");
  doctor_run(&run, DOCTOR_PATH, enter_user_namespace, 0);
  doctor_expect(&run, "system", "user_namespace", NULL, "not the initial one");
  doctor_expect(&run, "targets", "cpu", "errno", "EACCES");
  expect_no_setcap(&run, "user namespace");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_procfs_would_tell_is_not_guessed),
      cmocka_unit_test(what_sysfs_would_tell_is_not_guessed),
      cmocka_unit_test(files_that_no_fd_is_left_for_are_no_lack_of_the_kernel),
      cmocka_unit_test(setcap_is_no_remedy_where_it_has_no_effect),
      cmocka_unit_test(setcap_is_no_remedy_in_a_user_namespace),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
