/* SPDX-License-Identifier: MIT */
/* Live: uprobes on tasks, which the tasks that these make must not inherit. */
#include "live_set.h"

#include <sys/wait.h>
#include <unistd.h>

/* A shell that runs another program on request. */
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
  uvperf_close(&event.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  uvperf_event_list_free(events);
}

/* Names with a uprobe among them, of which no event may be inherited. */
static uvperf_event_list_t *parse_with_uprobe(const char *before,
                                              const char *after) {
  uvperf_event_list_t *called = live_called_list();
  uvperf_event_list_t *list;
  uvperf_error_t error;
  char names[700];

  snprintf(names, sizeof(names), "%s%s%s", before,
           uvperf_event_list_get(called, 0)->label, after);
  uvperf_event_list_free(called);
  if (uvperf_event_list_parse(&list, names, &error) != 0)
    fail_msg("%s", error.reason);
  return list;
}

static int is_alone(const uvperf_set_t *set, size_t attr) {
  const uvperf_change_t *changes;
  size_t nr;

  changes = uvperf_changes(&set->handle, attr, &nr);
  if (nr == 0)
    return 0;
  assert_int_equal(nr, 1);
  assert_int_equal(changes[0].fallback, UVPERF_FALLBACK_INHERIT);
  assert_int_equal(changes[0].field, UVPERF_ATTR_INHERIT);
  return 1;
}

/* The whole group of the probe is alone, and that is reported; others are
 * inherited. The task can fork. */
static void set_of_a_process_leaves_children_out_of_its_uprobes(void **state) {
  static const struct {
    const char *before;
    const char *after;
    int alone[3];
  } cases[] = {
      {"", "", {1, 0, 0}},
      {"{task-clock:u,", "},page-faults:u", {1, 1, 0}},
  };
  static const uint32_t flags[] = {0, UVPERF_SET_RECORDS};
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_set_t live;
  shell_t shell;
  size_t nr, i, j;

  support_need_uprobes(__func__);
  target.type = UVPERF_TARGET_PROCESS;
  options.targets = &target;
  options.nr_targets = 1;
  for (i = 0; i < 4; i++) {
    start_shell(&shell);
    target.pid = shell.pid;
    options.flags = flags[i % 2];
    options.events = parse_with_uprobe(cases[i / 2].before, cases[i / 2].after);
    live_set_begin(*state, &live, &options);
    uvperf_set_failures(&live.set, &nr);
    assert_int_equal(nr, 0);
    for (j = 0; j < uvperf_set_nr_attrs(&live.set); j++)
      assert_int_equal(is_alone(&live.set, j), cases[i / 2].alone[j]);
    assert_int_equal(finish_shell(&shell), 0);
    live_set_close(&live);
    uvperf_event_list_free((uvperf_event_list_t *)options.events);
  }
}

/* It is also reported if the set is already open, without inheritance. */
static void uprobe_of_a_later_process_is_reported_too(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_set_t live;
  shell_t shell;

  support_need_uprobes(__func__);
  options.targets = &target;
  options.nr_targets = 1;
  options.events = live_called_list();
  live_set_begin(*state, &live, &options);
  assert_int_equal(is_alone(&live.set, 0), 0);
  start_shell(&shell);
  target.type = UVPERF_TARGET_PROCESS;
  target.pid = shell.pid;
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, NULL, NULL), 0);
  assert_int_equal(is_alone(&live.set, 0), 1);
  assert_int_equal(finish_shell(&shell), 0);
  live_called(1);
  live_called(2);
  assert_int_equal(live_set_read(&live, 0).value, 2);
  live_set_close(&live);
  uvperf_event_list_free((uvperf_event_list_t *)options.events);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(task_with_an_inherited_uprobe_cannot_fork),
      support_loop_test(set_of_a_process_leaves_children_out_of_its_uprobes),
      support_loop_test(uprobe_of_a_later_process_is_reported_too),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
