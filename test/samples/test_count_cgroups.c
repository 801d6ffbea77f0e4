/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tree_s {
  live_cgroup_t parent;
  live_cgroup_t idle, busy; /* below it */
} tree_t;

static void begin(const char *test, tree_t *tree) {
  live_cgroup_make(test, &tree->parent);
  assert_int_equal(chmod(tree->parent.path, 0755), 0);
  snprintf(tree->idle.path, sizeof(tree->idle.path), "%s/idle",
           tree->parent.path);
  snprintf(tree->busy.path, sizeof(tree->busy.path), "%s/busy",
           tree->parent.path);
  assert_int_equal(mkdir(tree->idle.path, 0755), 0);
}

static int spin(void *arg) {
  volatile int go = arg == NULL;

  while (go)
    continue;
  return 0;
}

/* A cgroup is added after the first reading. The second reading finds it, and
 * the third has its counts. One more reading may have it after it is gone. */
static void make_busy(tool_run_t *run) {
  tree_t *tree = run->data;
  pid_t child;

  assert_int_equal(mkdir(tree->busy.path, 0755), 0);
  child = support_fork(spin, NULL);
  assert_true(child > 0);
  live_cgroup_add(&tree->busy, child);
  usleep(2600000);
  kill(child, SIGKILL);
  support_wait(child);
  assert_int_equal(rmdir(tree->busy.path), 0);
  usleep(2200000);
}

static void
count_cgroups_prints_what_each_did_while_it_was_there(void **state) {
  tool_run_t run = {
      .args = {SAMPLE_PATH}, .interrupt_at = "idle: 0 cs", .work = make_busy};
  const char *line, *last = NULL, *before = NULL;
  double sum = 0, ns;
  tree_t tree;

  support_need_cpu_wide(__func__);
  begin(__func__, &tree);
  run.args[1] = tree.parent.path;
  run.data = &tree;
  tool_run(&run);
  rmdir(tree.idle.path);
  live_cgroup_remove(&tree.parent);
  tool_run_expect_status(&run, 0);
  for (line = run.out; (line = strstr(line, "busy: ")) != NULL; line++)
    if (sscanf(line, "busy: %lf ns cpu-clock", &ns) == 1)
      sum += ns / 1e6;
  for (line = run.out; (line = strstr(line, "idle: 0 ns")) != NULL; line++) {
    before = last;
    last = line;
  }
  line = before != NULL ? strstr(before, "busy: ") : NULL;
  if (sum <= 0 || (line != NULL && line < last))
    fail_msg("%s%s", run.out, run.err);
}

static void count_cgroups_as_nobody_says_why_not(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}, .as_nobody = 1};
  tree_t tree;

  if (tool_run_paranoid() < 1)
    support_skip(__func__, "perf_event_paranoid of at least 1");
  begin(__func__, &tree);
  run.args[1] = tree.parent.path;
  tool_run(&run);
  rmdir(tree.idle.path);
  live_cgroup_remove(&tree.parent);
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, "idle: ");
  tool_run_expect_text(run.err, "perf_event_paranoid");
}

static void wait_for_two_scans(tool_run_t *run) {
  usleep(2200000);
}

/* The sample scans each second, but prints the message once. */
static void count_cgroups_of_a_plain_directory_says_why_not_once(void **state) {
  char path[] = "/tmp/uvperf-cgroups-XXXXXX", below[64];
  tool_run_t run = {.args = {SAMPLE_PATH, path},
                    .interrupt_at = "plain: ",
                    .work = wait_for_two_scans};
  const char *line;

  support_need_cpu_wide(__func__);
  assert_non_null(mkdtemp(path));
  snprintf(below, sizeof(below), "%s/plain", path);
  assert_int_equal(mkdir(below, 0755), 0);
  tool_run(&run);
  rmdir(below);
  rmdir(path);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "cgroup");
  line = strstr(run.err, "plain: ");
  assert_null(strstr(line + 1, "\nplain: "));
}

static void count_cgroups_of_other_events_says_what_is_missing(void **state) {
  tool_run_t run = {
      .args = {SAMPLE_PATH, NULL, "page-faults,software/config=99/"},
      .interrupt_at = "idle: <not counted: not available"};
  tree_t tree;

  support_need_cpu_wide(__func__);
  begin(__func__, &tree);
  run.args[1] = tree.parent.path;
  tool_run(&run);
  rmdir(tree.idle.path);
  live_cgroup_remove(&tree.parent);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "idle: 0 page-faults");
}

static void count_cgroups_of_no_directory_says_so(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "/nowhere"}};

  tool_run_ends(&run, 1, "/nowhere: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(count_cgroups_prints_what_each_did_while_it_was_there),
      cmocka_unit_test(count_cgroups_as_nobody_says_why_not),
      cmocka_unit_test(count_cgroups_of_a_plain_directory_says_why_not_once),
      cmocka_unit_test(count_cgroups_of_other_events_says_what_is_missing),
      cmocka_unit_test(count_cgroups_of_no_directory_says_so),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
