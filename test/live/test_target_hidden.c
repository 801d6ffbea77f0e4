/* SPDX-License-Identifier: MIT */
/* Live, as root: tasks that /proc does not show, because it is mounted with
 * hidepid= or belongs to another PID namespace. They are never taken for gone,
 * nor confused with others. */
#include "fake_kernel.h"
#include "support.h"
#include "make_host.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/target.h"

/* The exit code of a child that could not make namespaces, or mount /proc. */
#define NO_NAMESPACE 76
#define NO_MOUNT     77

#define NOBODY 65534

/* In a child, which must not assert: its exit code says what was wrong. */
typedef struct hidden_s {
  const char
      *options; /* for mounting the /proc of the host; NULL: the real host */
  int (*look)(void);
} hidden_t;

/* -- namespaces ----------------------------------------------------------- */

/* As the first process of the namespace. */
static int mount_and_look(const hidden_t *hidden) {
  char proc[96];

  snprintf(proc, sizeof(proc), "%s/proc", make_host_root());
  if (hidden->options == NULL)
    fake_host_set(NULL);
  else if (mkdir(proc, 0755) != 0 ||
           mount("proc", proc, "proc", 0, hidden->options) != 0)
    return NO_MOUNT;
  return hidden->look();
}

static int look_in_namespaces(void *arg) {
  const hidden_t *hidden = arg;
  int status;
  pid_t pid;

  if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 ||
      mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
    return NO_NAMESPACE;
  pid = fork();
  if (pid == 0)
    _exit(mount_and_look(hidden));
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
    return 1;
  return WEXITSTATUS(status);
}

static void look_from_outside(const char *test, const char *options,
                              int (*look)(void)) {
  hidden_t hidden = {options, look};
  int rc;

  support_need_root(test);
  assert_int_equal(chmod(make_host_root(), 0755), 0);
  rc = support_wait(support_fork(look_in_namespaces, &hidden));
  if (rc == NO_NAMESPACE)
    support_skip(test, "PID and mount namespaces");
  if (rc == NO_MOUNT)
    support_skip(test, "proc(5) that can be mounted so");
  if (rc != 0)
    fail_msg("complaint %d", rc);
}

/* -- hidepid= ------------------------------------------------------------- */

/* A process of root's that ends on request. */
static pid_t fork_other(int *go) {
  int pipes[2];
  char byte;
  pid_t pid;

  if (pipe(pipes) != 0)
    return -1;
  pid = fork();
  if (pid == 0) {
    close(pipes[1]);
    _exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(pipes[0]);
  *go = pipes[1];
  return pid;
}

static int expand(uint32_t type, int pid, uvperf__target_spots_t *spots,
                  uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf__target_context_t look = {0, 0, 0, 0, 0, "target.cpus"};

  target.type = type;
  target.pid = pid;
  return uvperf__target_expand(&look, &target, spots, error);
}

static int is_hidden_process(int pid) {
  uvperf__target_spots_t spots;
  uvperf_error_t error = {0};

  return expand(UVPERF_TARGET_PROCESS, pid, &spots, &error) == -EACCES &&
         error.code == -EACCES && error.cause == UVPERF_CAUSE_PERMISSION &&
         strstr(error.reason, "hidepid=") != NULL && spots.spots == NULL;
}

/* The kernel decides on it, its start is not known. */
static int is_unknown_thread(int pid) {
  uvperf__target_spots_t spots;
  int is_so;

  if (expand(UVPERF_TARGET_THREAD, pid, &spots, NULL) != 0)
    return 0;
  is_so = spots.nr_spots == 1 && spots.spots[0].pid == pid &&
          spots.spots[0].start == 0;
  uvperf__target_free(&spots);
  return is_so;
}

static int look_at_hidden(void) {
  uvperf__tasks_t threads;
  uvperf__task_t task;
  uint64_t start;
  int status, go;
  pid_t other = fork_other(&go);

  if (other < 0 || uvperf__task_read(other, &task) != 0)
    return 1;
  start = task.start;
  if (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
      setresuid(NOBODY, NOBODY, NOBODY) != 0)
    return 2;
  if (uvperf__task_proc_is_own() != 1 ||
      uvperf__task_read(getpid(), &task) != 0)
    return 3;
  if (uvperf__task_read(other, &task) != -EACCES ||
      uvperf__task_process(other) != -EACCES ||
      uvperf__task_threads(other, &threads) != -EACCES)
    return 4;
  if (uvperf__task_is_gone(other, start) != -EACCES ||
      uvperf__task_is_gone(other, 0) != 0)
    return 5;
  if (!is_hidden_process(other) || !is_unknown_thread(other))
    return 6;
  close(go);
  if (waitpid(other, &status, 0) != other || status != 0)
    return 7;
  if (uvperf__task_is_gone(other, start) != 1 ||
      uvperf__task_is_gone(other, 0) != 1 ||
      uvperf__task_read(other, &task) != -ESRCH)
    return 8;
  return 0;
}

static void task_without_access_is_not_gone(void **state) {
  look_from_outside(__func__, "hidepid=1", look_at_hidden);
}

static void task_that_is_invisible_is_not_gone(void **state) {
  look_from_outside(__func__, "hidepid=2", look_at_hidden);
}

/* Since Linux 5.8. */
static void task_that_may_not_be_traced_is_not_gone(void **state) {
  look_from_outside(__func__, "hidepid=4", look_at_hidden);
}

/* -- another PID namespace ------------------------------------------------ */

/* The process is the first one here, and /proc shows the first one there. */
static int look_at_foreign(void) {
  uvperf__target_spots_t spots;
  uvperf_error_t error = {0};
  uvperf__task_t task;

  if (getpid() != 1 || uvperf__task_read(1, &task) != 0)
    return 1;
  if (uvperf__task_proc_is_own() != 0)
    return 2;
  if (expand(UVPERF_TARGET_PROCESS, 1, &spots, &error) != -ESRCH ||
      error.cause != UVPERF_CAUSE_NO_TASK ||
      strstr(error.reason, "/proc") == NULL)
    return 3;
  if (expand(UVPERF_TARGET_SELF, 0, &spots, &error) != 0 ||
      spots.nr_spots != 1 || spots.spots[0].pid != 1 ||
      spots.spots[0].start != 0)
    return 4;
  uvperf__target_free(&spots);
  if (!is_unknown_thread(1) || uvperf__task_is_gone(1, 0) != 0)
    return 5;
  return 0;
}

static void process_of_another_namespace_is_not_taken_for_ours(void **state) {
  look_from_outside(__func__, NULL, look_at_foreign);
}

/* The same with a /proc of its own. */
static int look_at_own(void) {
  uvperf__target_spots_t spots;

  if (uvperf__task_proc_is_own() != 1)
    return 1;
  if (expand(UVPERF_TARGET_PROCESS, 1, &spots, NULL) != 0 ||
      spots.nr_spots != 1 || spots.spots[0].pid != 1 ||
      spots.spots[0].start == 0)
    return 2;
  uvperf__target_free(&spots);
  return 0;
}

static void process_of_a_namespace_with_its_proc_is_listed(void **state) {
  look_from_outside(__func__, "", look_at_own);
}

static int tree_setup(void **state) {
  fake_kernel_reset();
  return make_host_setup(state);
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, tree_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(task_without_access_is_not_gone),
      WITH_TREE(task_that_is_invisible_is_not_gone),
      WITH_TREE(task_that_may_not_be_traced_is_not_gone),
      WITH_TREE(process_of_another_namespace_is_not_taken_for_ours),
      WITH_TREE(process_of_a_namespace_with_its_proc_is_listed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
