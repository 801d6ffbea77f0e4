/* SPDX-License-Identifier: MIT */
/* Runs the profiler with --off-cpu on a program that prints how long it
 * waited. */
#include "tool_run.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <signal.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/proc.h"
#include "profile/symbols/unwind.h"

#define DIRECTORY "/var/tmp"

/* Returns the total time off the CPU, in seconds, or -1 if the table has no
 * such line. */
static double all_seconds(const tool_run_t *run) {
  const char *line = strstr(run->out, " s off the CPU in ");
  double seconds = -1;

  if (line == NULL)
    return -1;
  while (line > run->out && line[-1] != '\n')
    line--;
  sscanf(line, "%lf s off", &seconds);
  return seconds;
}

/* Returns how long the tool measured, in seconds with one decimal. */
static double run_seconds(const tool_run_t *run) {
  const char *line = strstr(run->out, " records in ");
  double seconds;

  assert_non_null(line);
  assert_int_equal(sscanf(line, " records in %lf s", &seconds), 1);
  return seconds;
}

/* Returns the seconds of a name in the table. Rows with the same name are added
 * up. */
static double row_seconds(const tool_run_t *run, const char *name) {
  const char *line = strstr(run->out, " self ");
  double self, percent = 0;
  char shown[256];

  while (line != NULL && (line = strchr(line, '\n')) != NULL) {
    line++;
    if (sscanf(line, "%lf%% %*f%% %*u %*20c %255s", &self, shown) == 2 &&
        strcmp(shown, name) == 0)
      percent += self;
  }
  return percent / 100 * all_seconds(run);
}

static void expect_near(const tool_run_t *run, const char *name, double seconds,
                        double expected) {
  if (seconds < expected * 0.95 || seconds > expected * 1.05)
    fail_msg("%s: %.6f s, not %.6f s\n%s\n%s", name, seconds, expected,
             run->out, run->err);
}

/* Returns the length of a wait, as the target printed it. */
static double wait_seconds(const char *printed, const char *name) {
  const char *line = strstr(printed, name);
  unsigned long long ns;

  assert_non_null(line);
  assert_int_equal(sscanf(line + strlen(name), " %llu", &ns), 1);
  assert_true(ns > 1000000);
  return (double)ns / 1e9;
}

static void expect_wait(const tool_run_t *run, const char *printed,
                        const char *name) {
  expect_near(run, name, row_seconds(run, name), wait_seconds(printed, name));
}

/* Returns the time of the stacks with these texts, in this order, in
 * seconds. */
static double folded_seconds(FILE *file, const char *outer, const char *part) {
  unsigned long sum = 0;
  char line[16384];
  const char *at;

  rewind(file);
  while (fgets(line, sizeof(line), file) != NULL) {
    at = strstr(line, outer);
    if (at != NULL && strstr(at, part) != NULL)
      sum += strtoul(strrchr(line, ' '), NULL, 10);
  }
  return (double)sum / 1e6;
}

static FILE *open_folded(char *path) {
  int fd = mkstemp(path);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

  assert_non_null(file);
  return file;
}

/* Whether the kernel finds the callers of code with frame pointers. On 32-bit
 * Arm it does not know the frames of Thumb code. */
static int finds_callers(void) {
  return unwind_machine(NULL) != EM_NONE;
}

static void waits_of_known_length_are_within_5_percent(void **state) {
  static const char *const waits[] = {"wait_pipe", "wait_futex", "wait_sleep"};
  char path[] = "/tmp/uvperf-folded-XXXXXX", part[32];
  tool_run_t run = {.args = {PROFILE_PATH, "--off-cpu", "--by", "thread",
                             "--folded", path, "--", WAITS_PATH, "pipe",
                             "futex", "sleep"}};
  FILE *file;
  size_t i;

  support_need_kernel_side(__func__);
  file = open_folded(path);
  tool_run_exits(&run, 0);
  for (i = 0; i < 3; i++) {
    expect_wait(&run, run.out, waits[i]);
    snprintf(part, sizeof(part), ";%s;", waits[i]);
    if (finds_callers())
      expect_near(&run, part, folded_seconds(file, "", part),
                  wait_seconds(run.out, waits[i]));
  }
  fclose(file);
  unlink(path);
  tool_run_expect_text(run.out, " 0 lost\n");
}

/* The target has no frame pointers, and libc has none on most systems. */
static void run_bare(tool_run_t *run, const char *call_graph,
                     const char *path) {
  const char *args[] = {PROFILE_PATH, "--off-cpu", "--call-graph",  call_graph,
                        "--folded",   path,        BARE_WAITS_PATH, "libc"};

  memset(run, 0, sizeof(*run));
  memcpy(run->args, args, sizeof(args));
  tool_run_exits(run, 0);
}

static void callers_of_libc_have_its_waits_with_copied_stacks(void **state) {
  static const char *const waits[] = {"libc_read", "libc_lock", "libc_sleep"};
  char path[] = "/tmp/uvperf-folded-XXXXXX", part[32];
  static tool_run_t run;
  FILE *file;
  size_t i;

  if (unwind_machine(NULL) == EM_NONE)
    support_skip(__func__, "x86-64 or aarch64");
  support_need_kernel_side(__func__);
  file = open_folded(path);
  run_bare(&run, "dwarf", path);
  for (i = 0; i < 3; i++) {
    snprintf(part, sizeof(part), ";%s;", waits[i]);
    expect_near(&run, part, folded_seconds(file, ";main;", part),
                wait_seconds(run.out, waits[i]));
  }
  assert_null(strstr(run.err, "--call-graph dwarf"));
  /* By frame pointers callers are missing. */
  run_bare(&run, "fp", path);
  for (i = 0; i < 3; i++) {
    snprintf(part, sizeof(part), ";%s;", waits[i]);
    assert_true(folded_seconds(file, ";main;", part) <
                wait_seconds(run.out, waits[i]) / 2);
  }
  /* Only there it is seen that they are: see test_unwinding.c. */
  if (unwind_machine(NULL) == EM_X86_64)
    tool_run_expect_text(run.err, "--call-graph dwarf");
  fclose(file);
  unlink(path);
}

/* Only a disk takes long enough, and a file system in memory may refuse
 * O_DIRECT. */
static void need_disk(const char *test) {
  struct statfs system;

  /* f_type is signed on some architectures. */
  if (statfs(DIRECTORY, &system) != 0 ||
      (uint32_t)system.f_type == TMPFS_MAGIC ||
      (uint32_t)system.f_type == RAMFS_MAGIC)
    support_skip(test, "a disk at " DIRECTORY);
}

static void waits_for_a_disk_are_within_5_percent(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "--off-cpu", "--by", "thread", "--",
                             WAITS_PATH, "disk=" DIRECTORY "/uvperf-waits"}};

  support_need_kernel_side(__func__);
  need_disk(__func__);
  tool_run_exits(&run, 0);
  expect_wait(&run, run.out, "wait_disk");
}

/* Two threads run on one CPU. */
static void time_without_a_cpu_is_ready_to_run(void **state) {
  tool_run_t run = {
      .args = {PROFILE_PATH, "--off-cpu", "--", WAITS_PATH, "ready"}};
  double expected, seconds;

  support_need_kernel_side(__func__);
  tool_run_exits(&run, 0);
  /* The row has the waits of both threads. The other one waits for about as
   * long. */
  expected = wait_seconds(run.out, "wait_ready");
  seconds = row_seconds(&run, "[ready");
  if (seconds < expected * 0.95)
    fail_msg("%.6f s, not %.6f s\n%s", seconds, expected, run.out);
}

static void work_between(tool_run_t *run) {
  tool_run_t target = {.args = {WAITS_PATH, "sleep"}};

  tool_run(&target);
  assert_int_equal(target.status, 0);
  memcpy(run->data, target.out, 4096);
}

/* Kernel threads and idle tasks are left out. */
static void whole_machine_has_the_waits_of_a_program(void **state) {
  char printed[4096], path[] = "/tmp/uvperf-folded-XXXXXX";
  tool_run_t run = {.args = {PROFILE_PATH, "--off-cpu", "--folded", path, "-a"},
                    .err_is_terminal = 1,
                    .interrupt_at = " samples ",
                    .work = work_between,
                    .data = printed};
  FILE *file;

  if (!finds_callers())
    support_skip(__func__, "x86-64 or aarch64");
  support_need_cpu_wide(__func__);
  file = open_folded(path);
  tool_run_exits(&run, 0);
  expect_near(&run, "wait_sleep", folded_seconds(file, "", ";wait_sleep;"),
              wait_seconds(printed, "wait_sleep"));
  assert_true(folded_seconds(file, "", "swapper;") < 1e-9);
  assert_true(folded_seconds(file, "", "rcu_preempt;") < 1e-9);
  fclose(file);
  unlink(path);
}

static pid_t start_waiting(void) {
  common_proc_stat_t stat;
  char text[64] = "";
  int out[2];
  pid_t pid;

  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    execl(WAITS_PATH, "waits_target", "ever", (char *)NULL);
    _exit(125);
  }
  close(out[1]);
  assert_true(tool_run_append(out[0], text, sizeof(text)));
  close(out[0]);
  do
    assert_int_equal(common_proc_stat(pid, pid, &stat), 0);
  while (stat.state != 'S');
  return pid;
}

static void thread_that_waits_all_the_time_is_counted(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "--off-cpu", "-d", "1", "-p"}};
  char pid_text[16];
  pid_t pid;

  support_need_kernel_side(__func__);
  pid = start_waiting();
  snprintf(pid_text, sizeof(pid_text), "%d", pid);
  run.args[5] = pid_text;
  tool_run(&run);
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "[since before the start]");
  tool_run_expect_text(run.out, " syscall\n");
  assert_null(strstr(run.err, "--call-graph dwarf"));
  assert_true(fabs(all_seconds(&run) - run_seconds(&run)) < 0.051);
}

static void note_time(tool_run_t *run) {
  *(uint64_t *)run->data = uv_hrtime();
}

/* The wait begins before the command's output is read here, and ends when the
 * tool has measured for a time that began after this test. */
static void wait_that_does_not_end_is_counted_to_the_end(void **state) {
  uint64_t begin = uv_hrtime(), waits = 0;
  tool_run_t run = {
      .args = {PROFILE_PATH, "--off-cpu", "-d", "1", "--", WAITS_PATH, "ever"},
      .interrupt_at = "waits\n",
      .interrupt_with = TOOL_RUN_NO_SIGNAL,
      .work = note_time,
      .data = &waits};
  double most, least;

  support_need_kernel_side(__func__);
  tool_run_exits(&run, 0);
  assert_null(strstr(run.out, "[since before the start]"));
  most = run_seconds(&run) + 0.051;
  least = run_seconds(&run) - 0.051 - (double)(waits - begin) / 1e9;
  if (all_seconds(&run) < least || all_seconds(&run) > most)
    fail_msg("not between %.3f and %.3f s\n%s", least, most, run.out);
}

static void without_the_kernels_side_the_remedy_is_named(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "--off-cpu", "--", "true"}};

  support_need_own_events(__func__);
  if (tool_run_paranoid() < 2)
    support_skip(__func__, "kernel.perf_event_paranoid at 2");
  run.as_nobody = 1;
  tool_run(&run);
  tool_run_expect_status(&run, 1);
  tool_run_expect_text(run.err, "--off-cpu measures in the kernel");
  tool_run_expect_text(run.err, "perf_event_paranoid <= 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_of_known_length_are_within_5_percent),
      cmocka_unit_test(callers_of_libc_have_its_waits_with_copied_stacks),
      cmocka_unit_test(waits_for_a_disk_are_within_5_percent),
      cmocka_unit_test(time_without_a_cpu_is_ready_to_run),
      cmocka_unit_test(whole_machine_has_the_waits_of_a_program),
      cmocka_unit_test(thread_that_waits_all_the_time_is_counted),
      cmocka_unit_test(wait_that_does_not_end_is_counted_to_the_end),
      cmocka_unit_test(without_the_kernels_side_the_remedy_is_named),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
