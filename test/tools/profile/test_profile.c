/* SPDX-License-Identifier: MIT */
/* Runs the profiler as a user would, on programs whose hottest place is
 * known. */
#include "live.h"
#include "profile_run.h"
#include "tool_rows.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start_target(const char *mode, char *place, size_t size) {
  int out[2];
  pid_t pid;

  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    execl(TARGET_PATH, "profile_target", mode, (char *)NULL);
    _exit(125);
  }
  close(out[1]);
  place[0] = '\0';
  assert_true(tool_run_append(out[0], place, size));
  close(out[0]);
  return pid;
}

/* Starts it as the target of a run: its pid is the last argument. */
static pid_t start_target_of(tool_run_t *run, const char *mode) {
  static char text[16];
  pid_t pid = start_target(mode, run->out, sizeof(run->out));
  size_t i = 0;

  snprintf(text, sizeof(text), "%d", pid);
  while (run->args[i] != NULL)
    i++;
  run->args[i] = text;
  return pid;
}

static void end_target(pid_t pid) {
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The profiler looks up names while the program runs, before the compiler has
 * written any names. */
static void function_that_a_compiler_names_late_is_named(void **state) {
  tool_run_t run = {
      .args = {PROFILE_PATH, "-F", "997", "-d", "3", "--", TARGET_PATH, "jit"}};
  profile_row_t row = {0};
  char path[64];
  int pid = 0;

  support_need_own_events(__func__);
  tool_run(&run);
  assert_int_equal(sscanf(run.out, "%*x %*x %d", &pid), 1);
  snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
  assert_int_equal(unlink(path), 0);
  tool_run_expect_status(&run, 0);
  assert_true(profile_run_row(&run, 0, &row));
  assert_string_equal(row.object, "[anon]");
  assert_string_equal(row.name, "compiled");
}

/* The mappings of a running process are known only from /proc. */
static void running_process_is_profiled_by_pid(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-F", "997", "-d", "0.5", "-p"}};
  pid_t pid;

  support_need_own_events(__func__);
  pid = start_target_of(&run, "spin");
  tool_run(&run);
  end_target(pid);
  tool_run_expect_status(&run, 0);
  profile_run_expect_spin(&run);
}

/* A process that sleeps, with a child that spins. It has a process group. */
static pid_t start_parent(char *place, size_t size) {
  int out[2];
  pid_t pid;

  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    setpgid(0, 0);
    start_target("spin", place, size);
    if (write(out[1], place, strlen(place) + 1) > 0)
      for (;;)
        pause();
    _exit(125);
  }
  setpgid(pid, pid);
  close(out[1]);
  place[0] = '\0';
  assert_true(tool_run_append(out[0], place, size));
  close(out[0]);
  return pid;
}

/* nginx, postgres and gunicorn fork before anybody profiles them. */
static void expect_child(const char *all) {
  tool_run_t run = {
      .args = {PROFILE_PATH, "-F", "997", "-d", "0.5", "-p", NULL, all}};
  pid_t pid = start_parent(run.out, sizeof(run.out));
  char pid_text[16];

  snprintf(pid_text, sizeof(pid_text), "%d", pid);
  run.args[6] = pid_text;
  tool_run(&run);
  kill(-pid, SIGKILL);
  end_target(pid);
  tool_run_expect_status(&run, 0);
  profile_run_expect_spin(&run);
}

static void child_that_runs_already_is_profiled(void **state) {
  support_need_own_events(__func__);
  expect_child(NULL);
}

static void child_that_runs_already_is_sampled_by_cpu(void **state) {
  support_need_cpu_wide(__func__);
  expect_child("-a");
}

static void tasks_of_a_cgroup_are_profiled(void **state) {
  tool_run_t run = {
      .args = {PROFILE_PATH, "-F", "997", "-d", "0.5", "-G", NULL}};
  live_cgroup_t cgroup;
  pid_t pid;

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &cgroup);
  pid = start_target("spin", run.out, sizeof(run.out));
  live_cgroup_add(&cgroup, pid);
  run.args[6] = cgroup.path;
  tool_run(&run);
  end_target(pid);
  live_cgroup_remove(&cgroup);
  tool_run_expect_status(&run, 0);
  profile_run_expect_spin(&run);
}

/* Several processes, and a thread by its id. */
static void several_targets_are_profiled(void **state) {
  static tool_run_t run = {.args = {PROFILE_PATH, "-F", "997", "-d", "0.5",
                                    "-p", NULL, "--by", "thread"}};
  static tool_run_t thread = {
      .args = {PROFILE_PATH, "-F", "997", "-d", "0.5", "-t", NULL}};
  char ids[40];
  pid_t pids[2];

  support_need_own_events(__func__);
  pids[0] = start_target("spin", run.out, sizeof(run.out));
  pids[1] = start_target("spin", thread.out, sizeof(thread.out));
  snprintf(ids, sizeof(ids), "%d,%d", pids[0], pids[1]);
  run.args[6] = ids;
  tool_run(&run);
  snprintf(ids, sizeof(ids), "%d", pids[1]);
  thread.args[6] = ids;
  tool_run(&thread);
  tool_run_expect_text(run.out, ids);
  end_target(pids[1]);
  snprintf(ids, sizeof(ids), "%d", pids[0]);
  end_target(pids[0]);
  tool_run_expect_text(run.out, ids);
  tool_run_expect_status(&thread, 0);
  profile_run_expect_spin(&thread);
}

/* At 10 kHz the profiler is busy itself. */
static void profiler_itself_is_left_out(void **state) {
  static tool_run_t runs[] = {
      {.args = {PROFILE_PATH, "-a", "-F", "10000", "-d", "0.5", "--by",
                "process", "--rows", "10000"}},
      {.args = {PROFILE_PATH, "-a", "-F", "10000", "-d", "0.5", "--by",
                "process", "--rows", "10000", "--self"}},
  };
  char row[64];
  size_t i;

  support_need_cpu_wide(__func__);
  for (i = 0; i < 2; i++) {
    tool_run_exits(&runs[i], 0);
    snprintf(row, sizeof(row), "  %-7d uvperf-profile\n", runs[i].pid);
    assert_int_equal(strstr(runs[i].out, row) != NULL, i == 1);
  }
}

/* Without -d the end of the process is the end of the profile. */
static void profile_of_a_process_ends_with_it(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-p"}};
  char pid_text[16];
  pid_t pid;

  support_need_own_events(__func__);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    execlp("sleep", "sleep", "1", (char *)NULL);
    _exit(125);
  }
  snprintf(pid_text, sizeof(pid_text), "%d", pid);
  run.args[2] = pid_text;
  tool_run(&run);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, " samples, ");
}

/* Other processes may be busier, so the loop need not be in the table. */
static void whole_machine_shows_a_busy_loop(void **state) {
  char path[] = "/tmp/uvperf-folded-XXXXXX", line[16384];
  tool_run_t run = {
      .args = {PROFILE_PATH, "-a", "-F", "997", "-d", "1", "--folded", path}};
  profile_row_t row = {.object = "profile_target"};
  int found = 0;
  FILE *file;
  pid_t pid;

  support_need_cpu_wide(__func__);
  file = fdopen(mkstemp(path), "r");
  assert_non_null(file);
  pid = start_target("spin", run.out, sizeof(run.out));
  tool_run(&run);
  end_target(pid);
  tool_run_expect_status(&run, 0);
  while (fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, "profile_target;", 15) == 0 &&
        sscanf(strrchr(line, ';'), ";%255s", row.name) == 1)
      found |= profile_run_is_spin(&run, &row);
  }
  fclose(file);
  unlink(path);
  assert_true(found);
}

/* Returns 1 if kallsyms shows addresses and has a function of that name. */
static int is_kernel_function(const char *name, const char *test) {
  char line[512], symbol[256];
  unsigned long address, any = 0;
  int found = 0;
  FILE *file = fopen("/proc/kallsyms", "re");

  if (file == NULL)
    support_skip(test, "/proc/kallsyms");
  while (fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%lx %*c %255s", &address, symbol) != 2)
      continue;
    any |= address;
    found |= strcmp(symbol, name) == 0;
  }
  fclose(file);
  if (any == 0)
    support_skip(test, "addresses in /proc/kallsyms");
  return found;
}

static void syscall_loop_names_a_kernel_function(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-F", "997", "-d", "1", "--",
                             TARGET_PATH, "read"}};
  profile_row_t row = {0};

  support_need_kernel_side(__func__);
  tool_run_exits(&run, 0);
  assert_true(profile_run_row(&run, 0, &row));
  assert_string_equal(row.object, "[kernel]");
  assert_true(is_kernel_function(row.name, __func__));
}

static void folded_stacks_sum_to_the_samples(void **state) {
  char path[] = "/tmp/uvperf-folded-XXXXXX", line[8192];
  tool_run_t run = {.args = {PROFILE_PATH, "--folded", path, "-F", "997", "-d",
                             "0.5", "--", TARGET_PATH, "spin"}};
  unsigned long sum = 0;
  const char *count;
  FILE *file;
  int fd;

  support_need_own_events(__func__);
  fd = mkstemp(path);
  assert_true(fd >= 0);
  tool_run(&run);
  file = fdopen(fd, "r");
  assert_non_null(file);
  while (fgets(line, sizeof(line), file) != NULL) {
    count = strrchr(line, ' ');
    assert_non_null(count);
    assert_non_null(strchr(line, ';'));
    sum += strtoul(count, NULL, 10);
  }
  fclose(file);
  unlink(path);
  tool_run_expect_status(&run, 0);
  assert_true(sum > 0);
  assert_int_equal(sum, profile_run_samples(&run));
}

/* When the terminal is closed, the command ends too. */
static void interrupt_and_hangup_print_the_table(void **state) {
  static const int numbers[] = {SIGINT, SIGHUP};
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < 2; i++) {
    tool_run_t run = {.args = {PROFILE_PATH, "--", TARGET_PATH, "spin"},
                      .err_is_terminal = 1,
                      .interrupt_at = " samples ",
                      .interrupt_with = numbers[i]};

    tool_run_exits(&run, 0);
    profile_run_expect_spin(&run);
  }
}

/* The test is root's. The profiler is a child of the test, and is its own. */
static void process_of_another_user_is_reported(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-q", "-d", "0.2", "-p", NULL},
                    .as_nobody = 1};
  char pid_text[16];

  support_need_own_events(__func__);
  support_need_root(__func__);
  snprintf(pid_text, sizeof(pid_text), "%d", getpid());
  run.args[5] = pid_text;
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.err, pid_text);
}

/* An event of a thread begins with a whole period of cpu-clock. */
static void threads_that_end_within_a_period_are_sampled_by_cpu(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-F", "20", "-d", "1", "-p"}};
  const char *line;
  pid_t pid;

  support_need_cpu_wide(__func__);
  pid = start_target_of(&run, "threads");
  run.out[0] = '\0';
  tool_run_exits(&run, 0);
  assert_null(strstr(run.out, " -F\n"));
  run.args[2] = "100"; /* a busy machine has few samples */
  run.args[7] = "-a";
  run.args[8] = "--folded";
  run.args[9] = "/dev/stdout";
  run.out[0] = run.err[0] = '\0';
  tool_run(&run);
  end_target(pid);
  tool_run_expect_status(&run, 0);
  assert_true(profile_run_samples(&run) > 0);
  /* No stack is of another process, such as this test. */
  for (line = strtok(run.out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (strchr(line, ';') != NULL)
      assert_memory_equal(line, "profile_target;", 15);
  }
}

static void kill_target(tool_run_t *run) {
  kill(*(pid_t *)run->data, SIGKILL);
}

/* The CPUs do not end, so the tool must watch the process. */
static void profile_by_cpu_of_a_process_ends_with_it(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "-a", "-p"},
                    .interrupt_at = "Ctrl-C",
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = kill_target};
  pid_t pid;

  support_need_cpu_wide(__func__);
  pid = start_target_of(&run, "threads");
  run.data = &pid;
  run.out[0] = '\0';
  tool_run(&run);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  tool_run_expect_status(&run, 0);
}

/* As in a chroot. /proc/stat lists the CPUs then. */
static void tasks_and_cpus_are_profiled_without_sysfs(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "exec unshare -m sh -c 'mount -t tmpfs none /sys && "
               "\"$0\" -q -a -d 0.1 >&2 && exec \"$0\" -d 1 -- \"$1\" spin' "
               "\"$0\" \"$1\"",
               PROFILE_PATH, TARGET_PATH}};

  support_need_admin(__func__);
  support_need_cpu_wide(__func__);
  tool_run_exits(&run, 0);
  profile_run_expect_spin(&run);
}

static void need_paranoid(const char *test) {
  support_need_own_events(test);
  if (tool_run_paranoid() != 2)
    support_skip(test, "kernel.perf_event_paranoid at 2");
}

static void need_namespaces(const char *test) {
  support_need_root(test);
  support_need_cpu_wide(test);
}

static void expect_samples(const tool_run_t *run) {
  assert_true(profile_run_samples(run) > 0);
}

static void expect_jit(const tool_run_t *run) {
  profile_row_t row = {0};

  assert_true(profile_run_row(run, 0, &row));
  assert_string_equal(row.object, "[anon]");
  assert_string_equal(row.name, "[JIT]");
}

static void expect_no_kernel(const tool_run_t *run) {
  profile_row_t row;
  size_t i;

  assert_true(profile_run_row(run, 0, &row));
  for (i = 0; profile_run_row(run, i, &row); i++)
    assert_string_not_equal(row.object, "[kernel]");
}

static const tool_row_t rows[] = {
    {"busy_loop_is_named_as_hottest_place", support_need_own_events,
     "-F 997 -d 1 -- " TARGET_PATH " spin", .out = " 0 lost\n",
     .check = profile_run_expect_spin},
    /* The loop runs in a child of the command. */
    {"busy_loop_in_a_grandchild_is_named", support_need_own_events,
     "-F 997 -d 1 sh -c \"trap 'kill $!' TERM; '" TARGET_PATH "' spin & wait\"",
     .check = profile_run_expect_spin},
    /* The profile ends before the compiler writes its names. */
    {"function_of_a_compiler_without_a_name_says_what_names_it",
     support_need_own_events, "-F 997 -d 0.7 -- " TARGET_PATH " jit",
     .err = "[anon]:|!in [anon],|jcmd PID Compiler.perfmap",
     .check = expect_jit},
    {"unprivileged_user_profiles_own_command", need_paranoid,
     "-F 997 -d 1 -- sh -c 'while :; do :; done'", .err = "CAP_PERFMON",
     .as_nobody = 1, .check = expect_no_kernel},
    /* The shell has no frame pointers, and mostly no symbols. */
    {"table_of_processes_reports_no_missing_names", support_need_own_events,
     "--by comm -F 997 -d 0.5 -- sh -c 'while :; do :; done'",
     .err = "!function names|!--call-graph", .check = expect_samples},
    /* These tasks all have the same id, so the name and mappings of one task
     * must not be used for another. */
    {"live_tasks_outside_of_the_pid_namespace_are_one", need_namespaces,
     "/bin/sh -c 'while :; do /bin/true; done & unshare -pf --mount-proc "
     "\"$0\" -a -F 997 -d 1 --by process; kill $!' " PROFILE_PATH,
     .out = " [outside]\n|! true\n|! swapper\n"},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tasks_and_cpus_are_profiled_without_sysfs),
      cmocka_unit_test(function_that_a_compiler_names_late_is_named),
      cmocka_unit_test(running_process_is_profiled_by_pid),
      cmocka_unit_test(child_that_runs_already_is_profiled),
      cmocka_unit_test(child_that_runs_already_is_sampled_by_cpu),
      cmocka_unit_test(tasks_of_a_cgroup_are_profiled),
      cmocka_unit_test(several_targets_are_profiled),
      cmocka_unit_test(profiler_itself_is_left_out),
      cmocka_unit_test(profile_of_a_process_ends_with_it),
      cmocka_unit_test(whole_machine_shows_a_busy_loop),
      cmocka_unit_test(syscall_loop_names_a_kernel_function),
      cmocka_unit_test(folded_stacks_sum_to_the_samples),
      cmocka_unit_test(interrupt_and_hangup_print_the_table),
      cmocka_unit_test(process_of_another_user_is_reported),
      cmocka_unit_test(threads_that_end_within_a_period_are_sampled_by_cpu),
      cmocka_unit_test(profile_by_cpu_of_a_process_ends_with_it),
  };

  return tool_rows_main(PROFILE_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
