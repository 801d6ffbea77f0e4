/* SPDX-License-Identifier: MIT */
#include "json_check.h"
#include "live.h"
#include "tool_run.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char directory[] = "/tmp/uvperf-agent-XXXXXX", path[64];

static int make_directory(void **state) {
  if (mkdtemp(directory) == NULL)
    return -1;
  snprintf(path, sizeof(path), "%s/agent", directory);
  return 0;
}

static int remove_directory(void **state) {
  return rmdir(directory);
}

/* A sample ends with its test, also if that fails. */
static void end_with_the_test(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int spin(void *arg) {
  volatile int go = arg == NULL;

  while (go)
    continue;
  return 0;
}

static void make_below(const live_cgroup_t *parent, const char *name,
                       live_cgroup_t *cgroup) {
  int size =
      snprintf(cgroup->path, sizeof(cgroup->path), "%s/%s", parent->path, name);

  assert_in_range(size, 1, sizeof(cgroup->path) - 1);
  assert_int_equal(mkdir(cgroup->path, 0755), 0);
}

static int join(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

  assert_true(fd >= 0);
  strcpy(address.sun_path, path);
  assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                   0);
  return fd;
}

typedef struct seen_s {
  int nr_counts, nr_tops; /* lines */
  double busy_ns;         /* in all lines */
  int has_spin;
} seen_t;

static double value_of(const char *line, const char *name) {
  const char *at = strstr(line, name);

  at = at != NULL ? strstr(at, "\"value\":") : NULL;
  return at != NULL ? strtod(at + strlen("\"value\":"), NULL) : 0;
}

static void look_at(const char *line, seen_t *seen) {
  if (!json_is_tree(line))
    fail_msg("%s", line);
  if (strstr(line, "\"cgroups\":[") != NULL) {
    seen->nr_counts++;
    seen->busy_ns += value_of(line, "{\"name\":\"busy\"");
  } else {
    assert_non_null(strstr(line, "\"top\":["));
    seen->nr_tops++;
    seen->has_spin |=
        strstr(line, "{\"name\":\"spin [samples_agent]\"") != NULL;
  }
}

/* There are two cgroups, one of which comes and goes. There are two clients,
 * but only one of them reads. */
static void watch(tool_run_t *run) {
  live_cgroup_t *parent = run->data, busy;
  int fd = join(), slow = join();
  char text[65536], *line;
  FILE *lines = fdopen(fd, "r");
  seen_t seen = {0};
  pid_t child;

  make_below(parent, "busy", &busy);
  child = support_fork(spin, NULL);
  live_cgroup_add(&busy, child);
  while (seen.busy_ns < 1e8 || !seen.has_spin || seen.nr_counts < 4) {
    line = fgets(text, sizeof(text), lines);
    assert_non_null(line);
    look_at(line, &seen);
  }
  kill(child, SIGKILL);
  support_wait(child);
  assert_int_equal(rmdir(busy.path), 0);
  do
    assert_non_null(fgets(text, sizeof(text), lines));
  while (strstr(text, "\"cgroups\":[]") == NULL);
  fclose(lines);
  close(slow);
}

static void agent_sends_counts_and_top_functions(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, path, NULL, "1"},
                           .interrupt_at = ": ready",
                           .prepare = end_with_the_test,
                           .work = watch};
  live_cgroup_t parent;

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &parent);
  run.args[2] = parent.path;
  run.data = &parent;
  tool_run(&run);
  live_cgroup_remove(&parent);
  tool_run_expect_status(&run, 0);
  assert_int_equal(access(path, F_OK), -1);
}

static void agent_says_which_event_is_missing(void **state) {
  static tool_run_t run = {
      .args = {SAMPLE_PATH, path, NULL, "60", "task-clock,software/config=99/"},
      .interrupt_at = "0x63",
      .prepare = end_with_the_test,
      .interrupt_with = SIGTERM};
  live_cgroup_t parent, other;

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &parent);
  make_below(&parent, "other", &other);
  run.args[2] = parent.path;
  tool_run(&run);
  assert_int_equal(rmdir(other.path), 0);
  live_cgroup_remove(&parent);
  tool_run_expect_status(&run, 0);
}

static void agent_in_a_directory_that_is_not_there_says_so(void **state) {
  static tool_run_t run = {.args = {SAMPLE_PATH, path, "/nowhere"}};

  support_need_cpu_wide(__func__);
  tool_run_ends(&run, 1, "/nowhere: ");
  assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agent_sends_counts_and_top_functions),
      cmocka_unit_test(agent_says_which_event_is_missing),
      cmocka_unit_test(agent_in_a_directory_that_is_not_there_says_so),
  };

  return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
