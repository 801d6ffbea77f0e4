/* SPDX-License-Identifier: MIT */
/* How bpf-output ends, and how it handles bad input and missing privileges. */
#include "exec_lines.h"
#include "tool_run.h"
#include "tool_usage.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void bpf_output_exits_with_the_status_of_the_command(void **state) {
  tool_run_t run = {.args = {BPF_OUTPUT_PATH, "--", "sh", "-c", "exit 3"}};

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 3);
  tool_run_expect_text(run.out, " sh  ");
  tool_run_expect_text(run.err, "; 0 lost\n");
}

static void signal_that_ended_the_command_is_in_the_status(void **state) {
  tool_run_t run = {.args = {BPF_OUTPUT_PATH, "sh", "-c", "kill -USR1 $$"}};

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 128 + SIGUSR1);
}

/* Meanwhile, the sample may print the execs of other programs. */
static void missing_command_is_reported_with_status_127(void **state) {
  (void)state;
  exec_lines_need(__func__);
  tool_usage_missing_command(BPF_OUTPUT_PATH);
}

static void missing_process_is_reported(void **state) {
  (void)state;
  tool_usage_missing_process(BPF_OUTPUT_PATH);
}

static void bad_options_exit_2_with_a_message(void **state) {
  static const tool_usage_t cases[] = {
      {{"-d", "0"}, "-d wants"},
      {{"-m", "4k"}, "-m wants"},
      {{"-m"}, "'-m' wants a value"},
      {{"-n", ""}, "-n wants"},
      {{"-p", "self"}, "-p wants"},
      {{"-p", "0"}, "-p wants"},
      {{"--wakeup", "0"}, "--wakeup wants"},
      {{"--wakeup", "-1"}, "--wakeup wants"},
      {{"--wakeup", "4294967296"}, "--wakeup wants"},
      {{"--wakeup", "1x"}, "--wakeup wants"},
      {{"--"}, "command is missing"},
      {{"--json=1"}, "'--json' takes no value"},
      {{"--json", "-Q"}, "unknown option '-Q'"},
      {{"-w", "1"}, "unknown option '-w'"},
      {{"--exec"}, "unknown option '--exec'"},
  };

  (void)state;
  tool_usage_refused(BPF_OUTPUT_PATH, cases, sizeof(cases) / sizeof(cases[0]));
}

static void help_goes_to_stdout(void **state) {
  (void)state;
  tool_usage_help(BPF_OUTPUT_PATH, "Usage: uvperf-bpf-output");
}

static void unprivileged_user_learns_what_is_needed(void **state) {
  tool_run_t run = {.args = {BPF_OUTPUT_PATH, "--", "true"}};

  (void)state;
  run.as_nobody = 1;
  tool_run_ends(&run, 1, "CAP_BPF");
  tool_run_expect_text(run.err, "CAP_PERFMON");
  assert_null(strstr(run.err, "libbpf"));
  assert_string_equal(run.out, "");
}

/* Called in the child that becomes the sample. Separates its mounts from
 * ours. */
static void take_mounts(void) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
    _exit(124);
}

/* Makes the directory appear empty. */
static void hide(const char *path) {
  if (mount("none", path, "tmpfs", 0, NULL) != 0 && errno != ENOENT)
    _exit(124);
}

static void hide_btf(void) {
  take_mounts();
  hide("/sys/kernel/btf");
}

static void hide_tracefs(void) {
  take_mounts();
  hide("/sys/kernel/tracing");
  hide("/sys/kernel/debug");
}

/* Runs the sample without a part of /sys, and checks its message. */
static void expect_message(const char *test, void (*prepare)(void), int status,
                           const char *message) {
  tool_run_t run = {.args = {BPF_OUTPUT_PATH, "true"}, .prepare = prepare};

  exec_lines_need(test);
  tool_run(&run);
  if (run.status == 124)
    support_skip(test, "mount(2), of a tmpfs");
  tool_run_expect_status(&run, status);
  tool_run_expect_text(run.err, message);
  assert_null(strstr(run.err, "libbpf"));
  assert_string_equal(run.out, "");
}

static void kernel_without_btf_is_reported(void **state) {
  (void)state;
  expect_message(__func__, hide_btf, 1, "BTF");
}

static void missing_tracefs_is_reported(void **state) {
  (void)state;
  expect_message(__func__, hide_tracefs, 1, "mount -t tracefs");
}

/* No process may read tracefs then, not even root without its capabilities. */
static void deny_tracefs(void) {
  hide_tracefs();
  if (chmod("/sys/kernel/tracing", 0) != 0 ||
      prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0) != 0 ||
      prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0) != 0)
    _exit(124);
}

static void unreadable_tracefs_is_a_missing_privilege(void **state) {
  (void)state;
  expect_message(__func__, deny_tracefs, 1, strerror(EACCES));
  expect_message(__func__, deny_tracefs, 1, "mount -o remount,gid=");
}

static void expect_end_by(int signal) {
  tool_run_t run = {.args = {BPF_OUTPUT_PATH, "--json", "--", "sleep", "60"}};

  run.interrupt_at = "Ctrl-C";
  run.interrupt_with = signal;
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "\"type\":\"end\"");
  tool_run_expect_text(run.err, " execs; 0 lost\n");
}

static void sigint_ends_with_the_last_line(void **state) {
  (void)state;
  exec_lines_need(__func__);
  expect_end_by(SIGINT);
}

static void sigterm_ends_with_the_last_line(void **state) {
  (void)state;
  exec_lines_need(__func__);
  expect_end_by(SIGTERM);
}

static void duration_ends_with_the_last_line(void **state) {
  tool_run_t run = {
      .args = {BPF_OUTPUT_PATH, "--duration", "0.2", "--", "sleep", "60"}};

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, " sleep ");
  tool_run_expect_text(run.err, " execs; 0 lost\n");
}

static void reader_that_closes_the_pipe_ends_it(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "\"$0\" -- sh -c 'while :; do "
                             "/bin/true; done' | head -n 2",
                             BPF_OUTPUT_PATH}};

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "FILENAME\n");
  tool_run_expect_text(run.err, " lost\n");
}

/* The sample prints nothing, because no process has this name. */
static void reader_that_closes_before_any_output_ends_it(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "\"$0\" --json -n uvperf/none | :", BPF_OUTPUT_PATH}};

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "bpf-output: 0 execs; 0 lost\n");
}

static void file_gets_the_lines_and_command_keeps_stdout(void **state) {
  tool_run_t run = {.args = {BPF_OUTPUT_PATH, "--", "/bin/echo", "hello"}};
  char text[65536] = "";

  (void)state;
  exec_lines_need(__func__);
  tool_usage_good_file(&run, text, sizeof(text));
  tool_run_expect_text(text, " /bin/echo\n");
}

static void unwritable_file_is_reported(void **state) {
  const tool_run_t run = {.args = {BPF_OUTPUT_PATH, "true"}};

  (void)state;
  exec_lines_need(__func__);
  tool_usage_bad_file(&run, "bpf-output");
}

/* Called in the child that becomes the sample, because the process that runs
 * this test may have left fds open. */
static void close_others(void) {
  int fd;

  for (fd = 3; fd < 1024; fd++)
    close(fd);
}

/* ls opens fd 3 itself, for the directory. */
static void command_inherits_no_fds(void **state) {
  tool_run_t run = {.args = {BPF_OUTPUT_PATH, "-o", "/dev/null", "--", "ls",
                             "-x", "/proc/self/fd"},
                    .prepare = close_others};

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_string_equal(run.out, "0  1  2  3\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bpf_output_exits_with_the_status_of_the_command),
      cmocka_unit_test(signal_that_ended_the_command_is_in_the_status),
      cmocka_unit_test(missing_command_is_reported_with_status_127),
      cmocka_unit_test(missing_process_is_reported),
      cmocka_unit_test(bad_options_exit_2_with_a_message),
      cmocka_unit_test(help_goes_to_stdout),
      cmocka_unit_test(unprivileged_user_learns_what_is_needed),
      cmocka_unit_test(kernel_without_btf_is_reported),
      cmocka_unit_test(missing_tracefs_is_reported),
      cmocka_unit_test(unreadable_tracefs_is_a_missing_privilege),
      cmocka_unit_test(sigint_ends_with_the_last_line),
      cmocka_unit_test(sigterm_ends_with_the_last_line),
      cmocka_unit_test(duration_ends_with_the_last_line),
      cmocka_unit_test(reader_that_closes_the_pipe_ends_it),
      cmocka_unit_test(reader_that_closes_before_any_output_ends_it),
      cmocka_unit_test(file_gets_the_lines_and_command_keeps_stdout),
      cmocka_unit_test(unwritable_file_is_reported),
      cmocka_unit_test(command_inherits_no_fds),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
