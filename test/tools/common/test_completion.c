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

/* -- lines ----------------------------------------------------------------- */

/* A line, the completions that bash finds, and the line that zsh makes of it
 * (NULL: it is not tried). */
typedef struct completes_s {
  const char *line, *bash, *zsh;
} completes_t;

#define AT_ONCE 6

static void complete_some(const completes_t *cases, size_t nr, int is_zsh) {
  const char *lines[AT_ONCE + 1] = {NULL};
  char expected[4096] = "";
  static tool_run_t run;
  size_t i, used = 0, nr_lines = 0;

  for (i = 0; i < nr; i++) {
    if (is_zsh && cases[i].zsh == NULL)
      continue;
    lines[nr_lines++] = cases[i].line;
    used += (size_t)snprintf(
        expected + used, sizeof(expected) - used, "%s%s%s\n",
        is_zsh ? cases[i].zsh : strstr(cases[i].line, "uvperf-") + 7,
        is_zsh ? "" : ": ", is_zsh ? "" : cases[i].bash);
  }
  if (is_zsh)
    complete_by_zsh(&run, lines);
  else
    complete_by_bash(&run, lines);
  assert_string_equal(run.out, expected);
}

static void complete_all(const char *test, const completes_t *cases,
                         size_t nr) {
  size_t i;
  int is_zsh;

  need_bash(test);
  for (is_zsh = 0; is_zsh < 2; is_zsh++) {
    if (is_zsh)
      need_zsh(test);
    for (i = 0; i < nr; i += AT_ONCE)
      complete_some(cases + i, nr - i < AT_ONCE ? nr - i : AT_ONCE, is_zsh);
  }
}

/* --help also mentions options of perf that the tools do not have. */
static void options_events_and_words_complete(void **state) {
  static const completes_t cases[] = {
      {TOOL("stat") " --per-c", "--per-cpu --per-core", NULL},
      {TOOL("record") " --max-s", "--max-stack --max-size", NULL},
      {TOOL("trace") " --summary-", "--summary-mode", NULL},
      {TOOL("watch") " --thr", "--threads", NULL},
      {TOOL("record") " --switch-output-", "", NULL},
      {TOOL("record") " --kco", "", "record --kco"},
      {TOOL("stat") " -e page-fau", "page-faults", NULL},
      {TOOL("stat") " -e cs,context-sw", "cs,context-switches", NULL},
      {TOOL("record") " -e {cs,cpu-cl", "{cs,cpu-clock",
       "record -e {cs,cpu-clock"},
      {TOOL("list") " sw page-fau", "page-faults", "list sw page-faults"},
      {TOOL("stat") " --interval-c", "--interval-count",
       "stat --interval-count "},
      {TOOL("stat") " --event cs,cpu-cl", "cs,cpu-clock",
       "stat --event cs,cpu-clock"},
      {TOOL("stat") " --pid 1 --interval-c", "--interval-count",
       "stat --pid 1 --interval-count "},
      {TOOL("record") " --control f", "fifo: fd:", NULL},
      {TOOL("profile") " --call-graph ", "fp dwarf none", NULL},
      {TOOL("trace") " --summary-mode t", "thread total",
       "trace --summary-mode t"},
  };

  complete_all(__func__, cases, COUNT_OF(cases));
}

static void files_and_words_of_the_command_complete(void **state) {
  static const completes_t cases[] = {
      {TOOL("record") " -o /etc/hostn", "/etc/hostname",
       "record -o /etc/hostname "},
      {TOOL("record") " --output /etc/hostn", "/etc/hostname",
       "record --output /etc/hostname "},
      {TOOL("stat") " -e cs cat /etc/hostn", "/etc/hostname",
       "stat -e cs cat /etc/hostname "},
      {TOOL("watch") " -- ls /etc/hostn", "/etc/hostname",
       "watch -- ls /etc/hostname "},
  };

  need_file(__func__, "/etc/hostname", "/etc/hostname");
  complete_all(__func__, cases, COUNT_OF(cases));
}

/* A colon ends a word in bash, so the text before the colon is not completed
 * again. */
static void tracepoints_and_calls_complete(void **state) {
  static const completes_t cases[] = {
      {TOOL("stat") " -e sched:sched_process_ex",
       "sched_process_exec sched_process_exit", NULL},
      {TOOL("stat") " -e cs,sched:sched_process_exe", "sched_process_exec",
       "stat -e cs,sched:sched_process_exec"},
      {TOOL("trace") " -e read,getpriori", "read,getpriority",
       "trace -e read,getpriority"},
      {TOOL("stat") " -e getpriori", "", "stat -e getpriori"},
  };

  support_need_tracefs(__func__, "sched:sched_process_exec");
  support_need_tracefs(__func__, "syscalls:sys_enter_getpriority");
  complete_all(__func__, cases, COUNT_OF(cases));
}

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
      cmocka_unit_test(options_events_and_words_complete),
      cmocka_unit_test(files_and_words_of_the_command_complete),
      cmocka_unit_test(tracepoints_and_calls_complete),
      cmocka_unit_test(tools_below_home_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
