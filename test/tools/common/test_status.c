/* SPDX-License-Identifier: MIT */
/* How all tools end when their output cannot be written, when its reader has
 * gone, and when privileges are missing. The rule is in
 * samples/tools/README.md. */
#include "tool_run.h"

#include <fcntl.h>
#include <unistd.h>

#include "uvperf/version.h"

#define WORK "sh", "-c", "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done"

/* The stream to which the tool writes its result. */
enum {
  NOTHING = 0,
  OUT = 1,
  ERR = 2
};

static const struct {
  const char *tool;
  int writes;
  int is_recording; /* useless if it is cut off */
  const char *args[8];
} runs[] = {
    {"doctor", OUT, 0, {NULL}},
    {"doctor", OUT, 0, {"--json"}},
    {"list", OUT, 0, {NULL}},
    {"list", OUT, 0, {"--json"}},
    {"list", OUT, 0, {"--help"}},
    {"profile", OUT, 0, {"--", WORK}},
    {"profile", OUT, 0, {"--top", "-d", "1.2", "--", "sleep", "9"}},
    {"record", NOTHING, 0, {"-o", "/dev/null", "-e", "task-clock", WORK}},
    {"record", OUT, 1, {"-o", "-", "-e", "task-clock", WORK}},
    {"stat", ERR, 0, {"-e", "task-clock", "/bin/true"}},
    {"trace", OUT, 0, {"-e", "page-faults:u", "--", "/bin/true"}},
    {"watch", OUT, 0, {"--", "/bin/true"}},
};

#define NR_RUNS (COUNT_OF(runs))

/* Returns 0 if CMake did not build the tool. */
static int tool_path(const char *tool, char *path, size_t size) {
  snprintf(path, size, "%s/uvperf-%s", TOOLS_DIRECTORY, tool);
  return access(path, X_OK) == 0;
}

static tool_run_t run;

/* Runs the tool. Returns 0 if it was not built. */
static int run_tool(size_t nr, void (*prepare)(void)) {
  static char path[4096];

  if (!tool_path(runs[nr].tool, path, sizeof(path)))
    return 0;
  memset(&run, 0, sizeof(run));
  run.args[0] = path;
  memcpy(run.args + 1, runs[nr].args, sizeof(runs[nr].args));
  run.prepare = prepare;
  print_message("%s %s\n", runs[nr].tool,
                runs[nr].args[0] != NULL ? runs[nr].args[0] : "");
  run.file = fopen("/dev/null", "we");
  assert_non_null(run.file);
  tool_run(&run);
  fclose(run.file);
  return 1;
}

static void expect_lost(const char *tool, const char *reason) {
  char name[64];

  tool_run_expect_status(&run, 1);
  snprintf(name, sizeof(name), "uvperf-%s: ", tool);
  tool_run_expect_text(run.err, name);
  tool_run_expect_text(run.err, reason);
}

static void need_all(const char *test) {
  support_need_root(test);
  support_need_kernel_side(test);
}

static int run_with(size_t nr, const char *option) {
  static char path[4096];

  if (!tool_path(runs[nr].tool, path, sizeof(path)))
    return 0;
  memset(&run, 0, sizeof(run));
  run.args[0] = path;
  run.args[1] = option;
  tool_run_exits(&run, 0);
  assert_string_equal(run.err, "");
  return 1;
}

static void version_is_that_of_the_library(void **state) {
  char line[128];
  size_t i;

  for (i = 0; i < NR_RUNS; i++) {
    if (!run_with(i, "--version"))
      continue;
    snprintf(line, sizeof(line), "uvperf-%s %s\n", runs[i].tool,
             uvperf_version_string());
    assert_string_equal(run.out, line);
  }
}

static void help_fits_into_a_terminal(void **state) {
  const char *line;
  char usage[64];
  size_t i;

  for (i = 0; i < NR_RUNS; i++) {
    if (!run_with(i, i % 2 == 0 ? "--help" : "-h"))
      continue;
    snprintf(usage, sizeof(usage), "Usage: uvperf-%s ", runs[i].tool);
    assert_int_equal(strncmp(run.out, usage, strlen(usage)), 0);
    for (line = run.out; *line != '\0'; line += strcspn(line, "\n") + 1)
      assert_true(strcspn(line, "\n") < 80);
  }
}

static void close_out(void) {
  close(STDOUT_FILENO);
}

static void output_to_a_closed_stdout_is_reported_with_status_1(void **state) {
  size_t i;

  need_all(__func__);
  for (i = 0; i < NR_RUNS; i++) {
    if (!run_tool(i, close_out))
      continue;
    if ((runs[i].writes & OUT) == 0)
      tool_run_expect_status(&run, 0);
    else if (runs[i].is_recording)
      expect_lost(runs[i].tool, strerror(EBADF));
    else
      expect_lost(runs[i].tool, "stdout");
  }
}

static void fill_out(void) {
  int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

  dup2(fd, STDOUT_FILENO);
}

static void output_to_a_full_disk_is_reported_with_status_1(void **state) {
  size_t i;

  need_all(__func__);
  for (i = 0; i < NR_RUNS; i++) {
    if (!run_tool(i, fill_out))
      continue;
    if ((runs[i].writes & OUT) == 0)
      tool_run_expect_status(&run, 0);
    else
      expect_lost(runs[i].tool, runs[i].is_recording ? "-: " : "stdout");
  }
}

/* Makes stdout a pipe that no process can read. */
static void leave_out(void) {
  int fds[2] = {-1, -1};

  if (pipe2(fds, O_CLOEXEC) != 0)
    _exit(125);
  close(fds[0]);
  dup2(fds[1], STDOUT_FILENO);
}

static void reader_that_is_gone_ends_it_quietly_with_status_0(void **state) {
  size_t i;

  need_all(__func__);
  for (i = 0; i < NR_RUNS; i++) {
    if (!run_tool(i, leave_out))
      continue;
    if (runs[i].is_recording) {
      expect_lost(runs[i].tool, strerror(EPIPE));
      continue;
    }
    tool_run_expect_status(&run, 0);
    assert_null(strstr(run.err, strerror(EPIPE)));
  }
}

/* uv_loop_close() aborts if one of its fds is below 3. */
static void close_in(void) {
  close(STDIN_FILENO);
}

static void close_err(void) {
  close(STDERR_FILENO);
}

static void close_all(void) {
  close_in();
  close_out();
  close_err();
}

static void standard_streams_that_are_closed_do_not_abort(void **state) {
  size_t i;

  need_all(__func__);
  for (i = 0; i < NR_RUNS; i++) {
    if (!run_tool(i, close_in))
      continue;
    tool_run_expect_status(&run, 0);
    run_tool(i, close_err);
    tool_run_expect_status(&run, (runs[i].writes & ERR) != 0);
    run_tool(i, close_all);
    tool_run_expect_status(&run, runs[i].writes != NOTHING);
  }
}

/* The message names the remedy, or a run that works without privileges. */
static void missing_privileges_exit_1_and_are_reported(void **state) {
  static const struct {
    const char *tool;
    const char *args[3];
    const char *remedy;
  } cases[] = {
      {"profile", {NULL}, "profile -- command"},
      {"profile", {"--top"}, "profile -- command"},
      {"record", {"-o", "/dev/null"}, "record -- command"},
      {"stat", {NULL}, "stat -- command"},
      {"stat", {"-a"}, "stat -- command"},
      {"stat", {"-e", "sched:sched_switch"}, "tracefs"},
      {"trace", {"-e", "page-faults:u"}, "trace -e 'syscalls:*' -- command"},
      {"watch", {NULL}, "watch -- command"},
  };
  static char path[4096];
  size_t i;

  need_all(__func__);
  if (tool_run_paranoid() <= 0)
    support_skip(__func__, "kernel.perf_event_paranoid above 0");
  for (i = 0; i < COUNT_OF(cases); i++) {
    if (!tool_path(cases[i].tool, path, sizeof(path)))
      continue;
    print_message("%s\n", cases[i].tool);
    memset(&run, 0, sizeof(run));
    run.args[0] = path;
    memcpy(run.args + 1, cases[i].args, sizeof(cases[i].args));
    run.as_nobody = 1;
    tool_run_ends(&run, 1, cases[i].remedy);
    assert_string_equal(run.out, "");
  }
}

static void command_that_cannot_be_run_exits_126_or_127(void **state) {
  static const struct {
    const char *command;
    int status, error;
  } commands[] = {
      {"/etc/passwd", 126, EACCES},
      {"/etc", 126, EACCES},
      {"/nonexistent", 127, ENOENT},
      {"uvperf-no-such-command", 127, ENOENT},
  };
  static const struct {
    const char *tool;
    const char *args[4];
  } cases[] = {
      {"profile", {NULL}},
      {"record", {"-o", "/dev/null", "-e", "task-clock"}},
      {"stat", {"-e", "task-clock"}},
      {"trace", {"-e", "page-faults:u"}},
      {"watch", {NULL}},
  };
  static char path[4096];
  size_t i, j, nr;

  need_all(__func__);
  for (i = 0; i < COUNT_OF(cases); i++) {
    if (!tool_path(cases[i].tool, path, sizeof(path)))
      continue;
    for (j = 0; j < COUNT_OF(commands); j++) {
      print_message("%s %s\n", cases[i].tool, commands[j].command);
      memset(&run, 0, sizeof(run));
      run.args[0] = path;
      memcpy(run.args + 1, cases[i].args, sizeof(cases[i].args));
      for (nr = 1; run.args[nr] != NULL; nr++)
        continue;
      run.args[nr] = "--";
      run.args[nr + 1] = commands[j].command;
      tool_run_ends(&run, commands[j].status, strerror(commands[j].error));
      tool_run_expect_text(run.err, commands[j].command);
      assert_string_equal(run.out, "");
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(version_is_that_of_the_library),
      cmocka_unit_test(help_fits_into_a_terminal),
      cmocka_unit_test(output_to_a_closed_stdout_is_reported_with_status_1),
      cmocka_unit_test(output_to_a_full_disk_is_reported_with_status_1),
      cmocka_unit_test(reader_that_is_gone_ends_it_quietly_with_status_0),
      cmocka_unit_test(standard_streams_that_are_closed_do_not_abort),
      cmocka_unit_test(missing_privileges_exit_1_and_are_reported),
      cmocka_unit_test(command_that_cannot_be_run_exits_126_or_127),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
