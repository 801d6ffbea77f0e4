/* SPDX-License-Identifier: MIT */
/* The live table as a user sees it, on a terminal and without one. */
#include "tool_run.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define COLUMNS 60
#define LINES   4

/* Chosen by the profiled process. */
#define HOSTILE "\033]0;x\007\033[31m"

static pid_t start_hostile(void) {
  volatile unsigned long counter = 0;
  pid_t pid = fork();

  assert_true(pid >= 0);
  if (pid != 0)
    return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, HOSTILE);
  for (;;)
    counter = counter + 1;
}

/* The tool's stderr is a terminal, and stdout becomes the same one. */
static void use_terminal(void) {
  const struct winsize size = {LINES, COLUMNS, 0, 0};

  ioctl(STDERR_FILENO, TIOCSWINSZ, &size);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  setenv("TERM", "xterm", 1);
}

/* Expects that each line fits, and has no control characters but its end. */
static void expect_fits(const char *frame, const char *end) {
  size_t width = 0, lines = 1;

  for (; frame < end; frame++) {
    if (*frame == '\n') {
      lines++;
      width = 0;
      continue;
    }
    assert_true((unsigned char)*frame >= 0x20 && *frame != 0x7f);
    assert_true(++width <= COLUMNS);
  }
  assert_in_range(lines, 2, LINES);
}

/* Two threads run, and there is room for one. */
static void table_replaces_the_last_one_on_a_terminal(void **state) {
  static const char begin[] = "\033[H\033[J";
  char pids[32];
  tool_run_t run = {.args = {PROFILE_PATH, "--top", "-F", "499", "-p", pids,
                             "--by", "thread", "-q"},
                    .interrupt_at = "?]0;x??[31m",
                    .err_is_terminal = 1,
                    .prepare = use_terminal};
  pid_t targets[] = {start_hostile(), start_hostile()};
  const char *frame, *next;
  size_t i, nr = 0;

  (void)state;
  tool_run_need_terminal(__func__);
  support_need_own_events(__func__);
  snprintf(pids, sizeof(pids), "%d,%d", (int)targets[0], (int)targets[1]);
  tool_run(&run);
  for (i = 0; i < 2; i++) {
    kill(targets[i], SIGKILL);
    waitpid(targets[i], NULL, 0);
  }
  tool_run_expect_status(&run, 0);
  for (frame = strstr(run.err, begin); frame != NULL; frame = next) {
    frame += sizeof(begin) - 1;
    next = strstr(frame, begin);
    expect_fits(frame, next != NULL ? next : frame + strlen(frame));
    nr++;
  }
  /* The last one is shown at the end again. */
  assert_true(nr >= 2);
}

static size_t count(const char *text, const char *part) {
  size_t nr = 0;

  while ((text = strstr(text, part)) != NULL) {
    text += strlen(part);
    nr++;
  }
  return nr;
}

static void without_a_terminal_lines_come_each_second(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "--top", "-d", "2.5", "--by",
                             "process", "--", TARGET_PATH, "spin"}};
  unsigned long samples;

  (void)state;
  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  assert_in_range(count(run.out, " samples/s of "), 2, 4);
  tool_run_expect_text(run.out, " profile_target\n");
  assert_null(strchr(run.out, '\033'));
  /* At most 997 samples a second. */
  assert_int_equal(sscanf(strstr(run.out, "%"), "%% %*f%% %lu", &samples), 1);
  assert_in_range(samples, 1, 4000);
}

/* The only table, at the end, waits for its names. */
static void last_table_has_names(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "--top", "-d", "0.5", "-F", "499",
                             "--", TARGET_PATH, "spin"}};

  (void)state;
  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  assert_int_equal(count(run.out, " samples/s"), 1);
  tool_run_expect_text(run.out, " spin\n");
}

/* Names are looked up after each second. A busy machine shows some tables
 * without them. */
static void lines_have_names(void **state) {
  tool_run_t run = {
      .args = {PROFILE_PATH, "--top", "-F", "499", "--", TARGET_PATH, "spin"},
      .interrupt_at = " spin\n"};

  (void)state;
  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, " spin\n");
}

static void reader_that_has_enough_ends_it(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "'" PROFILE_PATH "' --top -- '" TARGET_PATH
                             "' spin | head -n 3"}};

  (void)state;
  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_replaces_the_last_one_on_a_terminal),
      cmocka_unit_test(without_a_terminal_lines_come_each_second),
      cmocka_unit_test(lines_have_names),
      cmocka_unit_test(last_table_has_names),
      cmocka_unit_test(reader_that_has_enough_ends_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
