/* SPDX-License-Identifier: MIT */
/* The shells complete options, events, files, and the words of the measured
 * command. */
#include "tool_run.h"

#include <stdlib.h>
#include <unistd.h>

#define COMPLETION TOOLS_SOURCE "/completion"
#define SCRIPTS    UVPERF_TEST_DIR "/support/tools"
#define TOOL(name) TOOLS_DIRECTORY "/uvperf-" name

static void need_file(const char *test, const char *path, const char *need) {
  if (access(path, R_OK) != 0)
    support_skip(test, need);
}

static void need_bash(const char *test) {
  need_file(test, "/bin/bash", "bash");
  need_file(test, "/usr/share/bash-completion/bash_completion",
            "bash-completion");
}

static void need_zsh(const char *test) {
  need_file(test, "/bin/zsh", "zsh");
}

/* Completes the lines with this shell program. Both arrays end with NULL. */
static void complete(tool_run_t *run, const char *const *program,
                     const char *const *lines) {
  const char *const *parts[] = {program, lines};
  size_t i, j, nr = 0;

  memset(run, 0, sizeof(*run));
  for (i = 0; i < 2; i++)
    for (j = 0; parts[i][j] != NULL; j++) {
      assert_true(nr < TOOL_RUN_ARGS - 1);
      run->args[nr++] = parts[i][j];
    }
  tool_run_exits(run, 0);
  assert_string_equal(run->err, "");
}

static void complete_by_bash(tool_run_t *run, const char *const *lines) {
  static const char *const program[] = {
      "/usr/bin/timeout",
      "60",
      "/bin/bash",
      "-c",
      ". /usr/share/bash-completion/bash_completion; . \"$@\"",
      "bash",
      SCRIPTS "/completion.bash",
      COMPLETION "/uvperf.bash",
      NULL};

  complete(run, program, lines);
}

static void complete_by_zsh(tool_run_t *run, const char *const *lines) {
  static const char *const program[] = {
      "/usr/bin/timeout",        "60",       "/bin/zsh", "-f",
      SCRIPTS "/completion.zsh", COMPLETION, NULL};

  complete(run, program, lines);
}

/* -- bash ------------------------------------------------------------------ */

static void bash_completes_options_of_help(void **state) {
  static const char *const lines[] = {
      TOOL("stat") " --per-c", TOOL("record") " --max-s",
      TOOL("trace") " --summary-", TOOL("watch") " --thr", NULL};
  static tool_run_t run;

  need_bash(__func__);
  complete_by_bash(&run, lines);
  tool_run_expect_text(run.out, "--per-core");
  tool_run_expect_text(run.out, "--per-cpu");
  tool_run_expect_text(run.out, "record --max-s: --max-s");
  tool_run_expect_text(run.out, "--max-stack");
  tool_run_expect_text(run.out, "--max-size");
  tool_run_expect_text(run.out, "trace --summary-: --summary-mode\n");
  tool_run_expect_text(run.out, "watch --thr: --threads\n");
}

/* --help also mentions options of perf that the tools do not have. */
static void bash_completes_no_missing_option(void **state) {
  static const char *const lines[] = {TOOL("record") " --switch-output-",
                                      TOOL("record") " --kco", NULL};
  static tool_run_t run;

  need_bash(__func__);
  complete_by_bash(&run, lines);
  assert_string_equal(run.out, "record --switch-output-: \nrecord --kco: \n");
}

static void bash_completes_events_after_others(void **state) {
  static const char *const lines[] = {
      TOOL("stat") " -e page-fau", TOOL("stat") " -e cs,context-sw",
      TOOL("record") " -e {cs,cpu-cl", TOOL("list") " sw page-fau", NULL};
  static tool_run_t run;

  need_bash(__func__);
  complete_by_bash(&run, lines);
  assert_string_equal(run.out, "stat -e page-fau: page-faults\n"
                               "stat -e cs,context-sw: cs,context-switches\n"
                               "record -e {cs,cpu-cl: {cs,cpu-clock\n"
                               "list sw page-fau: page-faults\n");
}

/* A colon ends a word in bash, so the text before the colon is not completed
 * again. */
static void bash_completes_tracepoints_after_the_colon(void **state) {
  static const char *const lines[] = {TOOL("stat") " -e sched:sched_process_ex",
                                      NULL};
  static tool_run_t run;

  need_bash(__func__);
  support_need_tracefs(__func__, "sched:sched_process_exec");
  complete_by_bash(&run, lines);
  assert_string_equal(run.out,
                      "stat -e sched:sched_process_ex: sched_process_exec "
                      "sched_process_exit\n");
}

static void completes_system_calls_of_trace(void **state) {
  static const char *const lines[] = {TOOL("trace") " -e read,getpriori",
                                      TOOL("stat") " -e getpriori",
                                      TOOL("trace") " --summary-mode t", NULL};
  static tool_run_t run;

  need_bash(__func__);
  need_zsh(__func__);
  support_need_tracefs(__func__, "syscalls:sys_enter_getpriority");
  complete_by_bash(&run, lines);
  assert_string_equal(run.out, "trace -e read,getpriori: read,getpriority\n"
                               "stat -e getpriori: \n"
                               "trace --summary-mode t: thread total\n");
  complete_by_zsh(&run, lines);
  assert_string_equal(run.out, "trace -e read,getpriority\n"
                               "stat -e getpriori\n"
                               "trace --summary-mode t\n");
}

static void bash_completes_arguments_of_options(void **state) {
  static const char *const lines[] = {TOOL("record") " -o /etc/hostn",
                                      TOOL("record") " --control f",
                                      TOOL("stat") " -e cs cat /etc/hostn",
                                      TOOL("watch") " -- ls /etc/hostn", NULL};
  static tool_run_t run;

  need_bash(__func__);
  need_file(__func__, "/etc/hostname", "/etc/hostname");
  complete_by_bash(&run, lines);
  assert_string_equal(run.out, "record -o /etc/hostn: /etc/hostname\n"
                               "record --control f: fifo: fd:\n"
                               "stat -e cs cat /etc/hostn: /etc/hostname\n"
                               "watch -- ls /etc/hostn: /etc/hostname\n");
}

static void bash_completes_after_long_names_of_perf(void **state) {
  static const char *const lines[] = {
      TOOL("stat") " --event cs,cpu-cl", TOOL("stat") " --pid 1 --interval-c",
      TOOL("record") " --output /etc/hostn", NULL};
  static tool_run_t run;

  need_bash(__func__);
  need_file(__func__, "/etc/hostname", "/etc/hostname");
  complete_by_bash(&run, lines);
  assert_string_equal(run.out, "stat --event cs,cpu-cl: cs,cpu-clock\n"
                               "stat --pid 1 --interval-c: --interval-count\n"
                               "record --output /etc/hostn: /etc/hostname\n");
}

static void bash_completes_words_but_no_placeholders(void **state) {
  static const char *const lines[] = {TOOL("profile") " --call-graph ", NULL};
  static tool_run_t run;

  need_bash(__func__);
  complete_by_bash(&run, lines);
  assert_string_equal(run.out, "profile --call-graph : fp dwarf none\n");
}

/* -- zsh ------------------------------------------------------------------- */

static void zsh_completes_as_bash_does(void **state) {
  static const char *const lines[] = {
      TOOL("stat") " --interval-c",         TOOL("record") " -e {cs,cpu-cl",
      TOOL("record") " -o /etc/hostn",      TOOL("record") " --kco",
      TOOL("stat") " -e cs cat /etc/hostn", TOOL("watch") " -- ls /etc/hostn",
      TOOL("list") " sw page-fau",          NULL};
  static tool_run_t run;

  need_zsh(__func__);
  need_file(__func__, "/etc/hostname", "/etc/hostname");
  complete_by_zsh(&run, lines);
  assert_string_equal(run.out, "stat --interval-count \n"
                               "record -e {cs,cpu-clock\n"
                               "record -o /etc/hostname \n"
                               "record --kco\n"
                               "stat -e cs cat /etc/hostname \n"
                               "watch -- ls /etc/hostname \n"
                               "list sw page-faults\n");
}

static void zsh_completes_after_long_names_of_perf(void **state) {
  static const char *const lines[] = {
      TOOL("stat") " --event cs,cpu-cl", TOOL("stat") " --pid 1 --interval-c",
      TOOL("record") " --output /etc/hostn", NULL};
  static tool_run_t run;

  need_zsh(__func__);
  need_file(__func__, "/etc/hostname", "/etc/hostname");
  complete_by_zsh(&run, lines);
  assert_string_equal(run.out, "stat --event cs,cpu-clock\n"
                               "stat --pid 1 --interval-count \n"
                               "record --output /etc/hostname \n");
}

static void zsh_completes_tracepoints_after_the_colon(void **state) {
  static const char *const lines[] = {
      TOOL("stat") " -e cs,sched:sched_process_exe", NULL};
  static tool_run_t run;

  need_zsh(__func__);
  support_need_tracefs(__func__, "sched:sched_process_exec");
  complete_by_zsh(&run, lines);
  assert_string_equal(run.out, "stat -e cs,sched:sched_process_exec\n");
}

/* -- both ------------------------------------------------------------------ */

static void tools_below_home_complete(void **state) {
  static const char *const lines[] = {"~/uvperf-stat --interval-c", NULL};
  static tool_run_t run;

  need_bash(__func__);
  assert_int_equal(setenv("HOME", TOOLS_DIRECTORY, 1), 0);
  complete_by_bash(&run, lines);
  assert_string_equal(run.out, "stat --interval-c: --interval-count\n");
  need_zsh(__func__);
  complete_by_zsh(&run, lines);
  assert_string_equal(run.out, "stat --interval-count \n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bash_completes_options_of_help),
      cmocka_unit_test(bash_completes_no_missing_option),
      cmocka_unit_test(bash_completes_events_after_others),
      cmocka_unit_test(bash_completes_tracepoints_after_the_colon),
      cmocka_unit_test(completes_system_calls_of_trace),
      cmocka_unit_test(bash_completes_arguments_of_options),
      cmocka_unit_test(bash_completes_after_long_names_of_perf),
      cmocka_unit_test(bash_completes_words_but_no_placeholders),
      cmocka_unit_test(zsh_completes_as_bash_does),
      cmocka_unit_test(zsh_completes_after_long_names_of_perf),
      cmocka_unit_test(zsh_completes_tracepoints_after_the_colon),
      cmocka_unit_test(tools_below_home_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
