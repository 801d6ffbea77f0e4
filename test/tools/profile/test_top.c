/* SPDX-License-Identifier: MIT */
/* The live table as a user sees it: in a terminal under a shell that types,
 * resizes, stops and ends it; and without a terminal. */
#include "tool_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define WAIT_MS 10000

/* Chosen by the profiled process. */
#define HOSTILE "\033]0;x\007\033[31m"

typedef struct window_s {
  int fd; /* the user's side of the terminal */
  pid_t shell, target;
  int from_shell; /* the tool's pid, then a seen_t */
  pid_t tool;
  size_t used, size;
  char *text; /* everything that was received */
} window_t;

/* The report of the shell at the end. */
typedef struct seen_s {
  int status;   /* the tool's exit status */
  int stops;    /* number of times it was stopped */
  int modes_ok; /* the terminal's modes were restored each time */
} seen_t;

/* -- the shell ------------------------------------------------------------- */

static int has_same_modes(const struct termios *before) {
  struct termios now;

  return tcgetattr(STDIN_FILENO, &now) == 0 && now.c_lflag == before->c_lflag &&
         now.c_iflag == before->c_iflag && now.c_oflag == before->c_oflag;
}

/* Runs the tool as the job of a shell. A stopped job continues at once. */
static void be_shell(const char *const *args, int to_test) {
  seen_t seen = {0, 0, 1};
  struct termios before;
  pid_t job;

  signal(SIGTTOU, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  tcgetattr(STDIN_FILENO, &before);
  job = fork();
  if (job == 0) {
    setpgid(0, 0);
    tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    tool_run_exec(args, 0);
  }
  if (write(to_test, &job, sizeof(job)) != sizeof(job))
    _exit(1);
  while (waitpid(job, &seen.status, WUNTRACED) == job) {
    seen.modes_ok &= has_same_modes(&before);
    if (!WIFSTOPPED(seen.status))
      break;
    seen.stops++;
    tcsetpgrp(STDIN_FILENO, job);
    kill(-job, SIGCONT);
  }
  _exit(write(to_test, &seen, sizeof(seen)) != sizeof(seen));
}

static void open_shell(const window_t *window, const char *const *args,
                       int to_test) {
  int fd;

  setsid();
  fd = open(ptsname(window->fd), O_RDWR);
  if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
    _exit(1);
  if (fd > 2)
    close(fd);
  close(window->fd);
  setenv("TERM", "xterm", 1);
  be_shell(args, to_test);
}

static pid_t start_target(void) {
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

static void resize(const window_t *window, unsigned short columns,
                   unsigned short lines) {
  const struct winsize size = {lines, columns, 0, 0};

  assert_int_equal(ioctl(window->fd, TIOCSWINSZ, &size), 0);
}

/* Opens a terminal with the tool in it, with --top -p and this option. */
static void open_window(window_t *window, const char *option,
                        const char *value) {
  char pid[16];
  const char *args[] = {PROFILE_PATH, "--top", "-F",  "499", "-p",
                        pid,          option,  value, NULL};
  int pair[2];

  memset(window, 0, sizeof(*window));
  window->target = start_target();
  snprintf(pid, sizeof(pid), "%d", (int)window->target);
  window->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  assert_true(window->fd >= 0);
  assert_int_equal(grantpt(window->fd) | unlockpt(window->fd), 0);
  resize(window, 100, 24);
  assert_int_equal(pipe2(pair, O_CLOEXEC), 0);
  window->shell = fork();
  assert_true(window->shell >= 0);
  if (window->shell == 0)
    open_shell(window, args, pair[1]);
  close(pair[1]);
  window->from_shell = pair[0];
  assert_int_equal(read(pair[0], &window->tool, sizeof(window->tool)),
                   sizeof(window->tool));
}

/* -- the user -------------------------------------------------------------- */

/* Reads more text. Returns 0 at the end, or if none came in time. */
static int read_window(window_t *window) {
  struct pollfd fd = {window->fd, POLLIN, 0};
  ssize_t nr;

  if (poll(&fd, 1, WAIT_MS) <= 0)
    return 0;
  if (window->size - window->used < 4096) {
    window->size += 65536;
    window->text = realloc(window->text, window->size);
    assert_non_null(window->text);
  }
  nr = read(window->fd, window->text + window->used,
            window->size - window->used - 1);
  if (nr <= 0)
    return 0;
  window->used += (size_t)nr;
  window->text[window->used] = '\0';
  return 1;
}

/* Reads until a whole frame after `from` contains this part. Returns the frame
 * up to its end, for free(). */
static char *wait_frame(window_t *window, size_t from, const char *part) {
  uint64_t end_ns = uv_hrtime() + UINT64_C(1000000) * WAIT_MS;
  char *begin, *end, *frame;

  for (;;) {
    begin = window->text == NULL ? NULL : window->text + from;
    while (begin != NULL && (begin = strstr(begin, "\033[H")) != NULL &&
           (end = strstr(begin, "\033[J")) != NULL) {
      frame = strndup(begin + 3, (size_t)(end - begin - 3));
      if (strstr(frame, part) != NULL)
        return frame;
      free(frame);
      begin = end;
    }
    if (uv_hrtime() > end_ns || !read_window(window)) {
      print_error("no '%s' in:\n%s\n", part,
                  window->text == NULL ? "" : window->text);
      fail();
    }
  }
}

static void expect(window_t *window, size_t from, const char *part) {
  free(wait_frame(window, from, part));
}

static void type(window_t *window, const char *keys) {
  assert_int_equal(write(window->fd, keys, strlen(keys)), strlen(keys));
}

static void type_and_expect(window_t *window, const char *keys,
                            const char *part) {
  size_t from = window->used;

  type(window, keys);
  expect(window, from, part);
}

/* Expects only sequences that the tool may send. The text between them has no
 * control characters except newlines. */
static void expect_own_sequences_only(const char *text) {
  static const char *const known[] = {
      "\033[?1049h", "\033[?1049l", "\033[?25h", "\033[?25l", "\033[?7h",
      "\033[?7l",    "\033[2J",     "\033[H",    "\033[7m",   "\033[m",
      "\033[K",      "\033[J",      "\030\033[", "\r",        "\n"};
  size_t i, nr = sizeof(known) / sizeof(known[0]);

  for (; *text != '\0'; text++) {
    if ((unsigned char)*text >= 0x20 && *text != 0x7f)
      continue;
    for (i = 0; i < nr && strncmp(text, known[i], strlen(known[i])) != 0; i++)
      continue;
    if (i == nr)
      print_error("a control character %#x before '%.20s'\n", *text, text + 1);
    assert_true(i < nr);
    text += *text == '\030' ? 0 : strlen(known[i]) - 1;
  }
}

/* Expects that the tool ends in time with this status and restores the
 * terminal. */
static void expect_end(window_t *window, int status) {
  const char *left;
  seen_t seen;

  while (read_window(window))
    continue;
  assert_int_equal(read(window->from_shell, &seen, sizeof(seen)), sizeof(seen));
  assert_int_equal(seen.status, status);
  assert_true(seen.modes_ok);
  left = strstr(window->text, "\033[?7h\033[?25h\033[?1049l");
  assert_non_null(left);
  assert_null(strstr(left, "\033[?25l"));
  expect_own_sequences_only(window->text);
}

static void close_window(window_t *window) {
  kill(window->target, SIGKILL);
  kill(window->shell, SIGKILL);
  waitpid(window->target, NULL, 0);
  waitpid(window->shell, NULL, 0);
  close(window->fd);
  close(window->from_shell);
  free(window->text);
}

/* -- tests ----------------------------------------------------------------- */

static void keys_change_the_table_and_q_restores_the_terminal(void **state) {
  window_t window;
  char *frame;

  support_need_own_events(__func__);
  open_window(&window, NULL, NULL);
  expect(&window, 0, "%");
  type_and_expect(&window, "t", "sorted by total");
  type_and_expect(&window, "\033[C", "sorted by samples");
  type_and_expect(&window, "?", "Ctrl-C");
  type_and_expect(&window, "x", "%");
  type_and_expect(&window, " ", "held: ");
  type_and_expect(&window, " ", "%");
  type_and_expect(&window, "h", "by thread");
  frame = wait_frame(&window, 0, "?]0;x??[31m");
  free(frame);
  type(&window, "q");
  expect_end(&window, 0);
  /* The last table stays on the screen. */
  assert_non_null(strstr(strstr(window.text, "\033[?1049l"), "by thread"));
  close_window(&window);
}

static void expect_size(window_t *window, size_t columns, size_t lines) {
  const char *line, *end;
  size_t i, width, from = window->used;
  char *frame;

  resize(window, (unsigned short)columns, (unsigned short)lines);
  frame = wait_frame(window, from, "\033[7m");
  for (i = 0, line = frame; line != NULL; i++, line = end) {
    end = strchr(line, '\n');
    width = end != NULL ? (size_t)(end - line) : strlen(line);
    assert_in_range(width, 0, columns + strlen("\033[7m\033[K\033[m\r\r"));
    end = end != NULL ? end + 1 : NULL;
  }
  assert_in_range(i, 2, lines);
  free(frame);
}

static void table_has_the_size_of_the_window(void **state) {
  window_t window;

  support_need_own_events(__func__);
  open_window(&window, NULL, NULL);
  expect(&window, 0, "%");
  expect_size(&window, 20, 6);
  expect_size(&window, 300, 60);
  expect_size(&window, 33, 3);
  type(&window, "\003");
  expect_end(&window, 0);
  close_window(&window);
}

static void signals_and_time_restore_the_terminal(void **state) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGABRT};
  window_t window;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
    open_window(&window, NULL, NULL);
    expect(&window, 0, "%");
    kill(window.tool, numbers[i]);
    expect_end(&window, i < 2 ? 0 : numbers[i]);
    close_window(&window);
  }
  open_window(&window, "-d", "1.5");
  expect_end(&window, 0);
  close_window(&window);
}

static void stopped_tool_lends_the_terminal_to_the_shell(void **state) {
  window_t window;
  size_t from;
  seen_t seen;

  support_need_own_events(__func__);
  open_window(&window, NULL, NULL);
  expect(&window, 0, "%");
  from = window.used;
  type(&window, "\032");
  expect(&window, from, "%");
  assert_non_null(strstr(window.text + from, "\033[?1049l"));
  type(&window, "q");
  while (read_window(&window))
    continue;
  assert_int_equal(read(window.from_shell, &seen, sizeof(seen)), sizeof(seen));
  assert_int_equal(seen.status, 0);
  assert_int_equal(seen.stops, 1);
  assert_true(seen.modes_ok);
  close_window(&window);
}

/* The test closes the window. */
static void lost_terminal_ends_the_tool(void **state) {
  struct pollfd fd = {.events = POLLIN};
  window_t window;
  seen_t seen;

  support_need_own_events(__func__);
  open_window(&window, NULL, NULL);
  expect(&window, 0, "%");
  close(window.fd);
  fd.fd = window.from_shell;
  assert_int_equal(poll(&fd, 1, WAIT_MS), 1);
  assert_int_equal(read(window.from_shell, &seen, sizeof(seen)), sizeof(seen));
  assert_true(WIFEXITED(seen.status));
  window.fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close_window(&window);
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

  support_need_own_events(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_in_range(count(run.out, " samples/s, 0 lost, by process"), 2, 4);
  tool_run_expect_text(run.out, " profile_target\n");
  assert_null(strchr(run.out, '\033'));
}

/* The only table, at the end, waits for its names. */
static void last_table_has_names(void **state) {
  tool_run_t run = {.args = {PROFILE_PATH, "--top", "-d", "0.5", "-F", "499",
                             "--", TARGET_PATH, "spin"}};

  support_need_own_events(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_int_equal(count(run.out, " samples/s"), 1);
  tool_run_expect_text(run.out, " spin\n");
}

/* Names are looked up after each second. A busy machine shows some tables
 * without them. */
static void lines_have_names(void **state) {
  tool_run_t run = {
      .args = {PROFILE_PATH, "--top", "-F", "499", "--", TARGET_PATH, "spin"},
      .interrupt_at = " spin\n"};

  support_need_own_events(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, " spin\n");
}

static void reader_that_has_enough_ends_it(void **state) {
  tool_run_t run = {.args = {"/bin/sh", "-c",
                             "'" PROFILE_PATH "' --top -- '" TARGET_PATH
                             "' spin | head -n 3"}};

  support_need_own_events(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_change_the_table_and_q_restores_the_terminal),
      cmocka_unit_test(table_has_the_size_of_the_window),
      cmocka_unit_test(signals_and_time_restore_the_terminal),
      cmocka_unit_test(stopped_tool_lends_the_terminal_to_the_shell),
      cmocka_unit_test(lost_terminal_ends_the_tool),
      cmocka_unit_test(without_a_terminal_lines_come_each_second),
      cmocka_unit_test(lines_have_names),
      cmocka_unit_test(last_table_has_names),
      cmocka_unit_test(reader_that_has_enough_ends_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
