/* SPDX-License-Identifier: MIT */
/* Runs watch as a user would and checks its lines against programs whose
 * processes are known. */
#include "json_check.h"
#include "json_lines.h"
#include "json_pick.h"
#include "tool_run.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- lines ----------------------------------------------------------------- */

typedef struct watch_lines_line_s {
  double time;
  char type[16];
  long pid, ppid, tid; /* 0 where there is none */
  char comm[128];      /* as it stands in the line, escaped */
  char path[512];      /* that, or exe */
  char text[1024];
} watch_lines_line_t;

typedef struct watch_lines_s {
  watch_lines_line_t *lines;
  size_t nr;
} watch_lines_t;

/* A number of the line, 0 if it has none of that name. */
static long watch_lines_number(const watch_lines_line_t *line,
                               const char *key) {
  return json_pick_number(line->text, key, 0);
}

static void pick_line(void *element, const char *text) {
  watch_lines_line_t *line = element;

  snprintf(line->text, sizeof(line->text), "%s", text);
  line->time = json_pick_double(text, "time");
  json_pick_string(text, "type", line->type, sizeof(line->type));
  line->pid = watch_lines_number(line, "pid");
  line->ppid = watch_lines_number(line, "ppid");
  line->tid = watch_lines_number(line, "tid");
  json_pick_string(text, "comm", line->comm, sizeof(line->comm));
  json_pick_string(text, strcmp(line->type, "exec") == 0 ? "exe" : "path",
                   line->path, sizeof(line->path));
}

/* Reads all lines of a file, and asserts that each is JSON, and that time goes
 * back as often as the last line says. */
static void watch_lines_read(watch_lines_t *lines, FILE *file) {
  double youngest = 0;
  long late = 0;
  size_t i;

  free(lines->lines);
  lines->lines = json_lines_read(file, json_is_tree, pick_line,
                                 sizeof(lines->lines[0]), &lines->nr);
  for (i = 0; i < lines->nr; i++) {
    late += lines->lines[i].time < youngest;
    if (lines->lines[i].time > youngest)
      youngest = lines->lines[i].time;
  }
  assert_true(lines->nr > 0);
  assert_string_equal(lines->lines[lines->nr - 1].type, "end");
  assert_int_equal(watch_lines_number(&lines->lines[lines->nr - 1], "late"),
                   late);
}

static int is_line(const watch_lines_line_t *line, const char *type, long pid) {
  return line->pid == pid && strcmp(line->type, type) == 0;
}

/* An older process may have had the same pid, but ended before the fork. */
static size_t begin_of(const watch_lines_t *lines, const char *type, long pid) {
  size_t i;

  if (strcmp(type, "fork") == 0)
    return 0;
  for (i = 0; i < lines->nr; i++)
    if (is_line(&lines->lines[i], "fork", pid))
      return i;
  return 0;
}

/* How many lines of a type there are of a process, since its fork if that has a
 * line, and which is the first. */
static size_t watch_lines_count(const watch_lines_t *lines, const char *type,
                                long pid, size_t *first) {
  size_t i, nr = 0;

  for (i = begin_of(lines, type, pid); i < lines->nr; i++) {
    if (!is_line(&lines->lines[i], type, pid))
      continue;
    if (nr++ == 0 && first != NULL)
      *first = i;
  }
  return nr;
}

/* The same; asserts that it is exactly one. */
static const watch_lines_line_t *watch_lines_one(const watch_lines_t *lines,
                                                 const char *type, long pid) {
  size_t i = 0, nr = watch_lines_count(lines, type, pid, &i);

  if (nr != 1)
    print_error("%zu times %s of %ld\n", nr, type, pid);
  assert_int_equal(nr, 1);
  return &lines->lines[i];
}

#define MAX_PIDS 4096

/* The helper program that runs while watch runs, and the pids that it
 * printed. */
typedef struct helper_s {
  const char *mode, *argument;
  int hold; /* stop watch meanwhile; or an fd that ends the helper's wait */
  pid_t pid;
  long pids[MAX_PIDS];
  size_t nr;
  char true_path[PATH_MAX]; /* the program that its children execute */
  size_t with_path;         /* children whose exec line has this path */
} helper_t;

static FILE *start_helper(helper_t *helper) {
  int out[2];

  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  helper->pid = fork();
  assert_true(helper->pid >= 0);
  if (helper->pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    execl(TARGET_PATH, "watch_target", helper->mode, helper->argument,
          (char *)NULL);
    _exit(125);
  }
  close(out[1]);
  return fdopen(out[0], "r");
}

static void read_pids(helper_t *helper, FILE *file) {
  while (helper->nr < MAX_PIDS &&
         fscanf(file, "%ld", &helper->pids[helper->nr]) == 1)
    helper->nr++;
  fclose(file);
}

static void work(tool_run_t *run) {
  helper_t *helper = run->data;
  FILE *file;

  assert_non_null(realpath("/bin/true", helper->true_path));
  if (helper->hold)
    kill(run->pid, SIGSTOP);
  file = start_helper(helper);
  assert_non_null(file);
  read_pids(helper, file);
  assert_int_equal(support_wait(helper->pid), 0);
  if (helper->hold)
    kill(run->pid, SIGCONT);
}

static watch_lines_t lines; /* of the last run */

/* Watches the whole machine while the helper runs, and then sends SIGINT. */
static void run_machine(const char *test, tool_run_t *run, helper_t *helper) {
  support_need_cpu_wide(test);
  run->interrupt_at = "Ctrl-C";
  run->work = work;
  run->data = helper;
  run->file = tmpfile();
  assert_non_null(run->file);
  tool_run_exits(run, 0);
  watch_lines_read(&lines, run->file);
  fclose(run->file);
}

static const watch_lines_line_t *last_of(void) {
  return &lines.lines[lines.nr - 1];
}

/* Returns how many of these three events of a child of the storm have a line:
 * fork, exec and exit. No event may have two lines, and the lines must be in
 * this order. */
static size_t count_child(helper_t *helper, long pid) {
  static const char *const types[] = {"fork", "exec", "exit"};
  size_t i, nr, found = 0, at = 0, last = 0;

  for (i = 0; i < 3; i++) {
    nr = watch_lines_count(&lines, types[i], pid, &at);
    if (nr > 1)
      print_error("%s of %ld has %zu lines\n", types[i], pid, nr);
    assert_true(nr <= 1);
    if (nr == 0)
      continue;
    assert_true(at >= last);
    last = at;
    found++;
    if (i == 0)
      assert_int_equal(lines.lines[at].ppid, helper->pid);
    if (i == 1) {
      assert_string_equal(lines.lines[at].comm, "true");
      /* The exec of a child that waits long for a CPU has no path. */
      if (lines.lines[at].path[0] != '\0')
        assert_string_equal(lines.lines[at].path, helper->true_path);
      helper->with_path += lines.lines[at].path[0] != '\0';
    }
  }
  return found;
}

static size_t count_children(helper_t *helper) {
  size_t i, found = 0;

  for (i = 0; i < helper->nr; i++)
    found += count_child(helper, helper->pids[i]);
  return found;
}

/* The counts in the last line must match the lines before it. */
static void expect_counts(void) {
  static const char *const types[] = {"fork", "exec", "exit", "mmap"};
  static const char *const counts[] = {"forks", "execs", "exits", "maps"};
  size_t i, line, nr;

  for (i = 0; i < 4; i++) {
    nr = 0;
    for (line = 0; line < lines.nr; line++)
      nr += strcmp(lines.lines[line].type, types[i]) == 0;
    assert_int_equal(watch_lines_number(last_of(), counts[i]), nr);
  }
}

static int has_connector(const tool_run_t *run) {
  return strstr(run->err, "no exit statuses") == NULL;
}

/* The number in the message before this text, or 0 if there is none. */
static size_t reported(const tool_run_t *run, const char *text) {
  const char *at = strstr(run->err, text);

  while (at != NULL && at > run->err && isdigit((unsigned char)at[-1]))
    at--;
  return at == NULL ? 0 : strtoul(at, NULL, 10);
}

/* Many processes live for less than a millisecond. A process that waits for a
 * CPU while it ends has no status: the kernel sends it later than the record.
 * The tool says how many have none. */
static void expect_statuses(const tool_run_t *run, const helper_t *helper) {
  size_t i, with_args = 0, without = 0;

  for (i = 0; i < helper->nr; i++) {
    const watch_lines_line_t *line =
        watch_lines_one(&lines, "exec", helper->pids[i]);

    with_args += strstr(line->text, ",\"args\":[\"true\"]}") != NULL;
    line = watch_lines_one(&lines, "exit", helper->pids[i]);
    if (strstr(line->text, ",\"status\":") == NULL)
      without++;
    else
      tool_run_expect_text(line->text, ",\"status\":0}");
  }
  printf("%zu of %zu with arguments, %zu without status\n", with_args,
         helper->nr, without);
  assert_true(with_args > 0);
  assert_in_range(without, 0, reported(run, " exits have no status"));
  assert_true(without < helper->nr / 2);
}

static void each_of_2000_processes_is_printed_exactly_once(void **state) {
  static tool_run_t run = {
      .args = {WATCH_PATH, "--json", "-k", "all", "-m", "4M"}};
  static helper_t helper = {.mode = "storm", .argument = "2000"};

  run_machine(__func__, &run, &helper);
  assert_int_equal(helper.nr, 2000);
  tool_run_expect_text(run.err, "; 0 records lost\n");
  assert_int_equal(watch_lines_number(last_of(), "lost"), 0);
  assert_int_equal(count_children(&helper), 3 * 2000);
  assert_true(helper.with_path > 0);
  if (has_connector(&run))
    expect_statuses(&run, &helper);
  expect_counts();
}

/* While watch is stopped it reads nothing, so a small ring overflows. Each lost
 * fork, exec, mapping and exit is a lost record. */
static void records_lost_in_a_tiny_ring_are_counted(void **state) {
  static tool_run_t run = {
      .args = {WATCH_PATH, "--json", "-k", "all", "-m", "4K"}};
  static helper_t helper = {.mode = "storm", .argument = "300", .hold = 1};
  size_t found, i, maps = 0;
  long lost;

  run_machine(__func__, &run, &helper);
  assert_int_equal(helper.nr, 300);
  lost = watch_lines_number(last_of(), "lost");
  found = count_children(&helper);
  assert_true(lost > 0);
  assert_true(found < 3 * 300);
  for (i = 0; i < helper.nr; i++)
    maps += watch_lines_count(&lines, "mmap", helper.pids[i], NULL);
  /* Each program maps at least its own file. */
  assert_true((size_t)lost + found + maps >= 4 * 300);
  assert_null(strstr(run.err, "; 0 records lost\n"));
  tool_run_expect_text(run.err, " -m");
  expect_counts();
}

/* The output is not read during the storm. */
static void slow_reader_gets_everything_later(void **state) {
  static tool_run_t run = {.args = {WATCH_PATH, "--json"}};
  static helper_t helper = {.mode = "storm", .argument = "1000"};

  run_machine(__func__, &run, &helper);
  assert_int_equal(helper.nr, 1000);
  assert_int_equal(count_children(&helper) +
                       (size_t)watch_lines_number(last_of(), "lost"),
                   3 * 1000);
}

/* The first thread, which has the id of the process, ends before the last
 * one. */
static void process_lives_until_its_last_thread_ends(void **state) {
  static tool_run_t run = {.args = {WATCH_PATH, "--json", "--threads"}};
  static helper_t helper = {.mode = "leader"};
  const watch_lines_line_t *end;
  size_t fork_of_last = 0;
  long first, last;

  run_machine(__func__, &run, &helper);
  assert_int_equal(helper.nr, 2);
  /* The order of the pids is not known: find out which is the parent. */
  first = helper.pids[0];
  last = helper.pids[1];
  if (watch_lines_one(&lines, "fork", first)->ppid == last) {
    first = helper.pids[1];
    last = helper.pids[0];
  }
  assert_int_equal(watch_lines_one(&lines, "fork", last)->ppid, first);
  watch_lines_count(&lines, "fork", last, &fork_of_last);
  end = watch_lines_one(&lines, "exit", first);
  assert_true(end > &lines.lines[fork_of_last]);
  assert_string_equal(end->comm, "watch_target");
  /* One thread was created, and both ended, the first one before the fork. */
  assert_int_equal(watch_lines_count(&lines, "thread", first, NULL), 1);
  assert_int_equal(watch_lines_count(&lines, "thread_exit", first, NULL), 1);
}

static void exec_by_another_thread_is_one_exec_and_one_exit(void **state) {
  static tool_run_t run = {.args = {WATCH_PATH, "--json"}};
  static helper_t helper = {.mode = "thread"};

  run_machine(__func__, &run, &helper);
  assert_int_equal(helper.nr, 1);
  assert_int_equal(count_child(&helper, helper.pids[0]), 3);
  assert_string_equal(watch_lines_one(&lines, "exit", helper.pids[0])->comm,
                      "true");
  assert_int_equal(watch_lines_count(&lines, "thread", helper.pids[0], NULL),
                   0);
}

static void need_connector(const char *test, const tool_run_t *run) {
  if (!has_connector(run))
    support_skip(test, "the kernel's proc connector");
}

/* Processes that end by themselves, by a signal, and by their last thread. */
static void exit_has_the_status_of_the_process(void **state) {
  static const char *const ends[] = {
      "\"status\":0}",
      "\"status\":3}",
      "\"status\":255}",
      "\"signal\":\"SIGKILL\",\"core\":false}",
      "\"signal\":\"SIGUSR1\",\"core\":false}",
      "\"status\":7}",
  };
  static tool_run_t run = {.args = {WATCH_PATH, "--json"}};
  static helper_t helper = {.mode = "ends"};
  size_t i;

  run_machine(__func__, &run, &helper);
  need_connector(__func__, &run);
  assert_int_equal(helper.nr, 6);
  for (i = 0; i < 6; i++)
    tool_run_expect_text(watch_lines_one(&lines, "exit", helper.pids[i])->text,
                         ends[i]);
}

static void other_processes_are_watched_while_a_command_runs(void **state) {
  static tool_run_t run = {
      .args = {WATCH_PATH, "--json", "-a", "--", "sleep", "60"}};
  static helper_t helper = {.mode = "exec", .argument = "/bin/true"};

  run_machine(__func__, &run, &helper);
  watch_lines_one(&lines, "exit", helper.pids[0]);
}

static void exec_has_the_arguments(void **state) {
  static tool_run_t run = {.args = {WATCH_PATH, "--json"}};
  static helper_t helper = {.mode = "args"};

  run_machine(__func__, &run, &helper);
  need_connector(__func__, &run);
  tool_run_expect_text(
      watch_lines_one(&lines, "exec", helper.pids[0])->text,
      "\"args\":[\"target\",\"sleep\",\"one two\",\"\",\"a\\u001b\\ufffd\"],"
      "\"args_hex\":\"74617267657400736c656570006f6e652074776f0000611bff00\"}");
}

/* The connector exists only in the initial network namespace. */
static void without_the_connector_exits_have_no_status(void **state) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "exec unshare -n \"$0\" -- sh -c 'sleep 0.1; exit 3'",
               WATCH_PATH}};

  support_need_admin(__func__);
  support_need_own_events(__func__);
  tool_run_exits(&run, 3);
  assert_false(has_connector(&run));
  tool_run_expect_text(run.out, " sh\n");
  assert_null(strstr(run.out, " status "));
}

/* Since Linux 6.6 the connector needs no privileges. */
static void unprivileged_user_sees_arguments_and_ends(void **state) {
  static tool_run_t run = {.args = {WATCH_PATH, "-k", "exec,exit", "--", "sh",
                                    "-c",
                                    "(kill -9 $(sh -c 'echo $PPID')); "
                                    "sleep 2; exit 3"},
                           .as_nobody = 1};

  support_need_own_events(__func__);
  tool_run_exits(&run, 3);
  need_connector(__func__, &run);
  tool_run_expect_text(run.out, " sleep ");
  tool_run_expect_text(run.out, "/sleep 2\n");
  tool_run_expect_text(run.out, " sh killed by SIGKILL\n");
  tool_run_expect_text(run.out, " sh status 3\n");
  assert_null(strstr(run.out, " fork "));
}

/* Starts a helper that waits until its stdin is closed. It can run as the user
 * nobody. */
static void start_waiting(helper_t *helper, int as_nobody) {
  int go[2];

  assert_int_equal(pipe2(go, O_CLOEXEC), 0);
  helper->pid = fork();
  assert_true(helper->pid >= 0);
  if (helper->pid == 0) {
    dup2(go[0], STDIN_FILENO);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    tool_run_exec((const char *const[]){TARGET_PATH, helper->mode,
                                        helper->argument, NULL},
                  as_nobody);
  }
  close(go[0]);
  helper->hold = go[1];
}

/* The storm does not belong to the tree. */
static void let_go(tool_run_t *run) {
  helper_t *helper = run->data;
  helper_t storm = {.mode = "storm", .argument = "20"};

  read_pids(&storm, start_helper(&storm));
  assert_int_equal(support_wait(storm.pid), 0);
  close(helper->hold);
}

/* The helper forks a child, and the child forks a grandchild. The child ends
 * before the grandchild executes a program. There are no other processes. */
static void expect_tree(const helper_t *helper) {
  size_t i, forks = 0;
  long pids[2] = {0, 0};

  for (i = 0; i < lines.nr; i++) {
    if (strcmp(lines.lines[i].type, "fork") != 0)
      continue;
    assert_true(forks < 2);
    pids[forks++] = lines.lines[i].pid;
  }
  assert_int_equal(forks, 2);
  assert_int_equal(watch_lines_one(&lines, "fork", pids[0])->ppid, helper->pid);
  assert_int_equal(watch_lines_one(&lines, "fork", pids[1])->ppid, pids[0]);
  assert_true(watch_lines_one(&lines, "exec", pids[1]) >
              watch_lines_one(&lines, "exit", pids[0]));
  assert_string_equal(watch_lines_one(&lines, "exec", pids[1])->comm, "true");
  watch_lines_one(&lines, "exit", pids[1]);
  watch_lines_one(&lines, "exit", helper->pid);
  assert_int_equal(watch_lines_number(last_of(), "exits"), 3);
  expect_counts();
}

static void watch_waiting(tool_run_t *run, helper_t *helper, int as_nobody) {
  char pid_text[16];

  start_waiting(helper, as_nobody);
  snprintf(pid_text, sizeof(pid_text), "%d", helper->pid);
  run->args[0] = WATCH_PATH;
  run->args[1] = "--json";
  run->args[2] = "-p";
  run->args[3] = pid_text;
  run->as_nobody = as_nobody;
  run->interrupt_at = "Ctrl-C";
  run->interrupt_with = TOOL_RUN_NO_SIGNAL;
  if (run->work == NULL)
    run->work = let_go;
  run->data = helper;
  run->file = tmpfile();
  assert_non_null(run->file);
  tool_run(run);
  if (run->interrupt_at != NULL) /* let_go() was not called */
    close(helper->hold);
  assert_int_equal(support_wait(helper->pid), 0);
  tool_run_expect_status(run, 0);
}

static void watch_tree(tool_run_t *run, int as_nobody) {
  helper_t helper = {.mode = "tree"};

  watch_waiting(run, &helper, as_nobody);
  watch_lines_read(&lines, run->file);
  fclose(run->file);
  expect_tree(&helper);
}

static void tree_is_followed_until_it_has_ended(void **state) {
  static tool_run_t run;

  support_need_cpu_wide(__func__);
  watch_tree(&run, 0);
}

static void unprivileged_user_follows_own_tree(void **state) {
  static tool_run_t run;

  support_need_own_events(__func__);
  if (tool_run_paranoid() < 1)
    support_skip(__func__, "kernel.perf_event_paranoid at 1 or more");
  watch_tree(&run, 1);
}

/* Counts the perf rings that a process has mapped. */
static long count_rings(pid_t pid) {
  char path[32], line[512];
  long nr = 0;
  FILE *maps;

  snprintf(path, sizeof(path), "/proc/%d/maps", pid);
  maps = fopen(path, "re");
  assert_non_null(maps);
  while (fgets(line, sizeof(line), maps) != NULL)
    nr += strstr(line, "anon_inode:[perf_event]") != NULL;
  fclose(maps);
  return nr;
}

static void count_rings_and_let_go(tool_run_t *run) {
  assert_int_equal(count_rings(run->pid), sysconf(_SC_NPROCESSORS_CONF));
  let_go(run);
}

/* All threads share a ring on each CPU, so the limit of locked memory does not
 * limit the number of threads. */
static void unprivileged_user_follows_a_process_of_many_threads(void **state) {
  static tool_run_t run;
  helper_t helper = {.mode = "threads", .argument = "40"};

  support_need_own_events(__func__);
  if (tool_run_paranoid() < 1)
    support_skip(__func__, "kernel.perf_event_paranoid at 1 or more");
  run.work = count_rings_and_let_go;
  watch_waiting(&run, &helper, 1);
  fclose(run.file);
  tool_run_expect_text(run.err, "watch: 40 forks, 40 execs, 41 exits; ");
}

/* A name, and its forms in the output. */
#define EVIL_NAME "\"\\\n\033[2J\xff\xc2\x9b"
#define EVIL_TEXT "\"\\\\\\n\\x1b[2J\\xff\\xc2\\x9b"
#define EVIL_JSON "\\\"\\\\\\u000a\\u001b[2J\\ufffd\xc2\x9b"
#define EVIL_HEX  "225c0a1b5b324affc29b"

static void evil_name_is_valid_json(void **state) {
  static tool_run_t run = {.args = {WATCH_PATH, "--json"}};
  static helper_t helper = {.mode = "name", .argument = EVIL_NAME};
  const watch_lines_line_t *line;

  run_machine(__func__, &run, &helper);
  line = watch_lines_one(&lines, "comm", helper.pids[0]);
  assert_string_equal(line->comm, EVIL_JSON);
  assert_non_null(strstr(line->text, "\"comm_hex\":\"" EVIL_HEX "\""));
  assert_string_equal(watch_lines_one(&lines, "exit", helper.pids[0])->comm,
                      EVIL_JSON);
}

static void evil_name_is_escaped_in_text(void **state) {
  static tool_run_t run = {
      .args = {WATCH_PATH, "--", TARGET_PATH, "name", EVIL_NAME}};

  support_need_own_events(__func__);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, " " EVIL_TEXT "\n");
  assert_null(strchr(run.out, '\033'));
}

static void copy_file(const char *from, const char *to) {
  int in = open(from, O_RDONLY | O_CLOEXEC);
  int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  char bytes[65536];
  ssize_t nr;

  assert_true(in >= 0 && out >= 0);
  while ((nr = read(in, bytes, sizeof(bytes))) > 0)
    assert_int_equal(write(out, bytes, (size_t)nr), nr);
  close(in);
  close(out);
}

static void evil_file_name_is_escaped_in_text_and_json(void **state) {
  static tool_run_t run;
  char directory[] = "/tmp/uvperf-watch-XXXXXX", path[64];

  support_need_own_events(__func__);
  assert_non_null(mkdtemp(directory));
  snprintf(path, sizeof(path), "%s/%s", directory, EVIL_NAME);
  copy_file("/bin/true", path);
  run = (tool_run_t){.args = {WATCH_PATH, "-k", "all", "--", path}};
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, " " EVIL_TEXT " /tmp/uvperf-watch-");
  tool_run_expect_text(run.out, "/" EVIL_TEXT "\n");
  tool_run_expect_text(run.out, "/" EVIL_TEXT " 0x");
  run = (tool_run_t){.args = {WATCH_PATH, "--json", "-k", "all", "--", path}};
  tool_run(&run);
  unlink(path);
  rmdir(directory);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "/" EVIL_JSON "\",\"exe_hex\":\"");
  tool_run_expect_text(run.out, EVIL_HEX "\",\"addr\":");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_of_2000_processes_is_printed_exactly_once),
      cmocka_unit_test(records_lost_in_a_tiny_ring_are_counted),
      cmocka_unit_test(slow_reader_gets_everything_later),
      cmocka_unit_test(process_lives_until_its_last_thread_ends),
      cmocka_unit_test(exec_by_another_thread_is_one_exec_and_one_exit),
      cmocka_unit_test(exit_has_the_status_of_the_process),
      cmocka_unit_test(exec_has_the_arguments),
      cmocka_unit_test(other_processes_are_watched_while_a_command_runs),
      cmocka_unit_test(without_the_connector_exits_have_no_status),
      cmocka_unit_test(unprivileged_user_sees_arguments_and_ends),
      cmocka_unit_test(tree_is_followed_until_it_has_ended),
      cmocka_unit_test(unprivileged_user_follows_own_tree),
      cmocka_unit_test(unprivileged_user_follows_a_process_of_many_threads),
      cmocka_unit_test(evil_name_is_valid_json),
      cmocka_unit_test(evil_name_is_escaped_in_text),
      cmocka_unit_test(evil_file_name_is_escaped_in_text_and_json),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
