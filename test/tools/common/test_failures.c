/* SPDX-License-Identifier: MIT */
/* What tools report about the tasks that they measure. */
#include "tool_run.h"

#include <signal.h>
#include <unistd.h>

static int wait_for_signal(void *arg) {
  pause();
  return 0;
}

typedef struct parent_s {
  int ready[2];
  pid_t child;
} parent_t;

static int run_parent(void *arg) {
  parent_t *parent = arg;

  parent->child = support_fork(wait_for_signal, NULL);
  if (write(parent->ready[1], &parent->child, sizeof(parent->child)) < 0)
    return 1;
  return wait_for_signal(NULL);
}

/* Expects the child's id on stderr, or no word about it. */
static void expect_hint(const char *tool, const char *options, pid_t pid,
                        pid_t child, int is_named) {
  static tool_run_t run;
  char line[512], text[64];

  memset(&run, 0, sizeof(run));
  snprintf(line, sizeof(line), "exec %s/uvperf-%s %s -p %d true",
           TOOLS_DIRECTORY, tool, options, (int)pid);
  run.args[0] = "/bin/sh";
  run.args[1] = "-c";
  run.args[2] = line;
  tool_run_exits(&run, 0);
  snprintf(text, sizeof(text), "to add them: -p %d\n", (int)child);
  if (is_named)
    tool_run_expect_text(run.err, text);
  else
    assert_null(strstr(run.err, "to add them"));
}

static void running_children_that_are_left_out_are_named(void **state) {
  parent_t parent;
  pid_t pid, child;

  support_need_own_events(__func__);
  assert_int_equal(pipe(parent.ready), 0);
  pid = support_fork(run_parent, &parent);
  assert_int_equal(read(parent.ready[0], &child, sizeof(child)), sizeof(child));
  expect_hint("stat", "-e task-clock:u", pid, child, 1);
  expect_hint("stat", "-e task-clock:u", child, 0, 0);
  expect_hint("stat", "-i -e task-clock:u", pid, child, 0);
  expect_hint("stat", "-x, -e task-clock:u", pid, child, 0);
  expect_hint("stat", "-j -e task-clock:u", pid, child, 0);
  expect_hint("record", "-o /dev/null -e task-clock:u", pid, child, 1);
  expect_hint("record", "-i -o /dev/null -e task-clock:u", pid, child, 0);
  expect_hint("record", "-q -o /dev/null -e task-clock:u", pid, child, 0);
  expect_hint("trace", "-e page-faults:u", pid, child, 1);
  kill(child, SIGKILL);
  kill(pid, SIGKILL);
  support_wait(pid);
  close(parent.ready[0]);
  close(parent.ready[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(running_children_that_are_left_out_are_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
