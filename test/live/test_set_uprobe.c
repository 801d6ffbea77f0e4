/* SPDX-License-Identifier: MIT */
/* Live: uprobes on tasks, which the tasks that these make must not inherit. */
#include "live_set.h"

#include <sys/wait.h>
#include <unistd.h>

/* A shell that has another one run, once it is told to. */
typedef struct shell_s {
  pid_t pid;
  int go;
} shell_t;

static void start_shell(shell_t *shell) {
  int pipes[2];

  assert_int_equal(pipe(pipes), 0);
  shell->go = pipes[1];
  shell->pid = fork();
  assert_int_not_equal(shell->pid, -1);
  if (shell->pid == 0) {
    dup2(pipes[0], 0);
    close(pipes[0]);
    close(pipes[1]);
    execl("/bin/sh", "sh", "-c",
          "exec 2>/dev/null; read go; /bin/sh -c : || exit 1; exit 0",
          (char *)NULL);
    _exit(127);
  }
  close(pipes[0]);
}

/* Its exit status. */
static int finish_shell(shell_t *shell) {
  int status;

  assert_int_equal(write(shell->go, "\n", 1), 1);
  close(shell->go);
  assert_int_equal(waitpid(shell->pid, &status, 0), shell->pid);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static void task_with_an_inherited_uprobe_cannot_fork(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_list_t *events;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;
  shell_t shell;

  support_need_uprobes(__func__);
  events = live_called_list();
  attr = *uvperf_event_list_get(events, 0)->attr;
  attr.inherit = 1;
  start_shell(&shell);
  options.pid = shell.pid;
  if (uvperf_event_init(*state, &event, &attr, &options, &error) != 0)
    fail_msg("%s", error.reason);
  assert_int_not_equal(finish_shell(&shell), 0);
  uvperf_event_close(&event, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  uvperf_event_list_free(events);
}

static void set_of_a_process_has_no_uprobe_that_is_inherited(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  live_set_t live;
  uvperf_set_t set;
  shell_t shell;

  support_need_uprobes(__func__);
  target.type = UVPERF_TARGET_PROCESS;
  start_shell(&shell);
  target.pid = shell.pid;
  options.events = live_called_list();
  options.targets = &target;
  options.nr_targets = 1;
  assert_int_equal(uvperf_set_init(*state, &set, &options, &error), UV_EINVAL);
  assert_non_null(strstr(error.reason, "UVPERF_TARGET_NO_INHERIT"));

  target.flags = UVPERF_TARGET_NO_INHERIT;
  live_set_begin(*state, &live, &options);
  assert_int_equal(finish_shell(&shell), 0);
  live_set_close(&live);
  uvperf_event_list_free((uvperf_event_list_t *)options.events);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(task_with_an_inherited_uprobe_cannot_fork),
      support_loop_test(set_of_a_process_has_no_uprobe_that_is_inherited),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
