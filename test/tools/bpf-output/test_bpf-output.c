/* SPDX-License-Identifier: MIT */
/* Runs bpf-output as root would, and compares its lines with the programs that
 * were executed meanwhile: their paths, their parents and their CPUs. */
#include "exec_lines.h"
#include "live.h"
#include "tool_run.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "sys/sys.h"

#define MAX_EXECS 500
/* The greatest number of children at a time. */
#define BATCH 50

/* The programs to execute while the sample runs. */
typedef struct execs_s {
  const char *path;
  char *const *argv;
  int directory; /* for execveat(2): base of `path`, or AT_FDCWD */
  size_t nr;
  int hold; /* stop the sample meanwhile */
  pid_t pids[MAX_EXECS];
  int cpus[MAX_EXECS];
} execs_t;

static char *const true_argv[] = {"true", NULL};

/* The sample prints pids of the initial pid namespace. */
static void need(const char *test) {
  struct stat status;

  exec_lines_need(test);
  if (stat("/proc/self/ns/pid", &status) != 0 || status.st_ino != 0xeffffffcU)
    support_skip(test, "the first pid namespace");
}

static pid_t start(const execs_t *execs, int cpu) {
  pid_t pid = fork();
  cpu_set_t set;

  assert_true(pid >= 0);
  if (pid != 0)
    return pid;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) == 0)
    syscall(SYS_execveat, execs->directory, execs->path, execs->argv, environ,
            0);
  _exit(125);
}

/* Starts the children on all CPUs in turn, or on one CPU if they shall fill its
 * ring. */
static void work(tool_run_t *run) {
  execs_t *execs = run->data;
  int cpus[CPU_SETSIZE];
  size_t nr_cpus = live_cpus(cpus, CPU_SETSIZE), i, done = 0;

  if (execs->hold)
    kill(run->pid, SIGSTOP);
  for (i = 0; i < execs->nr; i++) {
    execs->cpus[i] = cpus[execs->hold ? 0 : i % nr_cpus];
    execs->pids[i] = start(execs, execs->cpus[i]);
    if (i - done == BATCH)
      assert_int_equal(support_wait(execs->pids[done++]), 0);
  }
  while (done < execs->nr)
    assert_int_equal(support_wait(execs->pids[done++]), 0);
  if (execs->hold)
    kill(run->pid, SIGCONT);
}

/* Runs the sample for the children of this process, and then interrupts it. */
static void run_children(tool_run_t *run, execs_t *execs, exec_lines_t *lines) {
  static char pid[16];
  size_t i = 1;

  snprintf(pid, sizeof(pid), "%d", getpid());
  while (run->args[i] != NULL)
    i++;
  run->args[0] = BPF_OUTPUT_PATH;
  run->args[i] = "-p";
  run->args[i + 1] = pid;
  run->interrupt_at = "Ctrl-C";
  run->work = work;
  run->data = execs;
  run->file = tmpfile();
  assert_non_null(run->file);
  tool_run(run);
  tool_run_expect_status(run, 0);
  if (lines != NULL) {
    exec_lines_read(lines, run->file);
    fclose(run->file);
  }
}

/* Returns how many lines a child has. Each of these lines must be right. */
static size_t count_child(const exec_lines_t *lines, const execs_t *execs,
                          size_t child, const char *comm,
                          const char *filename) {
  size_t i, nr = 0;

  for (i = 0; i < lines->nr; i++) {
    const exec_line_t *line = &lines->lines[i];

    if (strcmp(line->type, "exec") != 0 || line->pid != execs->pids[child])
      continue;
    nr++;
    assert_int_equal(line->ppid, getpid());
    assert_int_equal(line->cpu, execs->cpus[child]);
    assert_string_equal(line->comm, comm);
    assert_string_equal(line->filename, filename);
    assert_int_equal(line->cut, 0);
  }
  return nr;
}

static void expect_children(const exec_lines_t *lines, const execs_t *execs,
                            const char *comm, const char *filename) {
  size_t i;

  for (i = 0; i < execs->nr; i++)
    assert_int_equal(count_child(lines, execs, i, comm, filename), 1);
  assert_int_equal(lines->execs, execs->nr);
  assert_int_equal(lines->lost, 0);
}

static void each_of_500_execs_of_all_cpus_is_printed_once(void **state) {
  static execs_t execs = {
      .path = "/bin/true", .argv = true_argv, .directory = AT_FDCWD, .nr = 500};
  static tool_run_t run = {.args = {"", "--json", "-m", "1M"}};
  exec_lines_t lines;

  (void)state;
  need(__func__);
  run_children(&run, &execs, &lines);
  expect_children(&lines, &execs, "true", "/bin/true");
  tool_run_expect_text(run.err, "bpf-output: 500 execs; 0 lost\n");
  exec_lines_free(&lines);
}

/* Some execs wait for a wakeup, and the last ones for the timer. */
static void execs_below_the_wakeup_are_printed_too(void **state) {
  static execs_t execs = {
      .path = "/bin/true", .argv = true_argv, .directory = AT_FDCWD, .nr = 50};
  static tool_run_t run = {.args = {"", "--json", "--wakeup", "20"}};
  exec_lines_t lines;

  (void)state;
  need(__func__);
  run_children(&run, &execs, &lines);
  expect_children(&lines, &execs, "true", "/bin/true");
  exec_lines_free(&lines);
}

/* The stopped sample reads nothing, so its small ring overflows. */
static void execs_lost_in_a_tiny_ring_are_counted(void **state) {
  static execs_t execs = {.path = "/bin/true",
                          .argv = true_argv,
                          .directory = AT_FDCWD,
                          .nr = 300,
                          .hold = 1};
  static tool_run_t run = {.args = {"", "--json", "-m", "4K"}};
  size_t i, printed = 0;
  exec_lines_t lines;

  (void)state;
  need(__func__);
  run_children(&run, &execs, &lines);
  for (i = 0; i < execs.nr; i++)
    printed += count_child(&lines, &execs, i, "true", "/bin/true");
  assert_true(printed > 0 && printed < 300);
  assert_int_equal(lines.execs, printed);
  assert_int_equal(lines.execs + lines.lost, 300);
  assert_true(lines.lost_in_lines <= lines.lost);
  tool_run_expect_text(run.err, " -m");
  exec_lines_free(&lines);
}

/* Makes a path of the greatest possible length: "/bin/././…/true". */
static void long_path(char path[PATH_MAX], const char *start) {
  size_t used = (size_t)snprintf(path, PATH_MAX, "%s", start);

  while (used + strlen("./true") < PATH_MAX - 1)
    used += (size_t)snprintf(path + used, PATH_MAX - used, "%s",
                             (PATH_MAX - used) % 2 == 0 ? "/" : "./");
  snprintf(path + used, PATH_MAX - used, "%s",
           used + strlen("./true") == PATH_MAX - 1 ? "./true" : "true");
  assert_true(strlen(path) >= PATH_MAX - 2);
}

static void longest_path_is_printed_whole(void **state) {
  static char path[PATH_MAX];
  static execs_t execs = {
      .path = path, .argv = true_argv, .directory = AT_FDCWD, .nr = 4};
  static tool_run_t run = {.args = {"", "--json"}};
  exec_lines_t lines;

  (void)state;
  need(__func__);
  long_path(path, "/bin/");
  run_children(&run, &execs, &lines);
  expect_children(&lines, &execs, "true", path);
  exec_lines_free(&lines);
}

/* The kernel prints "/dev/fd/N/" before the path. */
static void longest_path_of_a_directory_is_printed_whole(void **state) {
  static char path[PATH_MAX], filename[PATH_MAX + 32];
  static execs_t execs = {.path = path, .argv = true_argv, .nr = 4};
  static tool_run_t run = {.args = {"", "--json"}};
  exec_lines_t lines;

  (void)state;
  need(__func__);
  execs.directory = open("/bin", O_PATH | O_DIRECTORY | O_CLOEXEC);
  assert_true(execs.directory >= 0);
  long_path(path, "./");
  snprintf(filename, sizeof(filename), "/dev/fd/%d/%s", execs.directory, path);
  run_children(&run, &execs, &lines);
  close(execs.directory);
  expect_children(&lines, &execs, "true", filename);
  exec_lines_free(&lines);
}

/* A hostile name, and its forms in the output. */
#define EVIL_NAME "\"\\\n\033[2J\xff\xc2\x9b"
#define EVIL_TEXT "\"\\\\\\n\\x1b[2J\\xff\\xc2\\x9b"
#define EVIL_JSON "\\\"\\\\\\u000a\\u001b[2J\\ufffd\xc2\x9b"
#define EVIL_HEX  "225c0a1b5b324affc29b"

/* A script that does nothing. */
static void make_script(char *path, size_t size, char *directory) {
  static const char text[] = "#!/bin/true\n";
  int fd;

  assert_non_null(mkdtemp(directory));
  snprintf(path, size, "%s/%s", directory, EVIL_NAME);
  fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
}

static void evil_name_of_a_script_is_valid_json(void **state) {
  static tool_run_t run = {.args = {"", "--json"}};
  char directory[] = "/tmp/uvperf-exec-XXXXXX", path[64], filename[128];
  char *argv[] = {path, NULL};
  execs_t execs = {.path = path, .argv = argv, .directory = AT_FDCWD, .nr = 2};
  exec_lines_t lines;

  (void)state;
  need(__func__);
  make_script(path, sizeof(path), directory);
  run_children(&run, &execs, &lines);
  unlink(path);
  rmdir(directory);
  snprintf(filename, sizeof(filename), "%s/%s", directory, EVIL_JSON);
  expect_children(&lines, &execs, EVIL_JSON, filename);
  assert_non_null(strstr(lines.lines[0].text, "\"comm_hex\":\"" EVIL_HEX "\""));
  assert_non_null(strstr(lines.lines[0].text, EVIL_HEX "\"}\n"));
  exec_lines_free(&lines);
}

static void evil_name_of_a_script_is_escaped_in_text(void **state) {
  static tool_run_t run;
  char directory[] = "/tmp/uvperf-exec-XXXXXX", path[64], line[128];
  char *argv[] = {path, NULL}, text[4096] = "";
  execs_t execs = {.path = path, .argv = argv, .directory = AT_FDCWD, .nr = 1};

  (void)state;
  need(__func__);
  make_script(path, sizeof(path), directory);
  run_children(&run, &execs, NULL);
  unlink(path);
  rmdir(directory);
  rewind(run.file);
  assert_true(fread(text, 1, sizeof(text) - 1, run.file) > 0);
  fclose(run.file);
  assert_int_equal(strncmp(text, "TIME ", 5), 0);
  snprintf(line, sizeof(line), " %3d %7d %7d %s %s/%s\n", execs.cpus[0],
           execs.pids[0], getpid(), EVIL_TEXT, directory, EVIL_TEXT);
  tool_run_expect_text(text, line);
  assert_null(strchr(text, '\033'));
}

static void only_the_name_that_is_asked_for_is_printed(void **state) {
  static execs_t execs = {
      .path = "/bin/true", .argv = true_argv, .directory = AT_FDCWD, .nr = 4};
  static tool_run_t same = {.args = {"", "--json", "-n", "true"}};
  static tool_run_t other = {.args = {"", "--json", "-n", "tru"}};
  exec_lines_t lines;

  (void)state;
  need(__func__);
  run_children(&same, &execs, &lines);
  expect_children(&lines, &execs, "true", "/bin/true");
  exec_lines_free(&lines);
  run_children(&other, &execs, &lines);
  assert_int_equal(lines.execs, 0);
  exec_lines_free(&lines);
}

/* Returns the id of the first BPF program for which a process has an fd. */
static uint32_t program_of(pid_t pid) {
  char path[64], line[256];
  unsigned id = 0;
  FILE *info;
  int fd;

  for (fd = 3; fd < 256 && id == 0; fd++) {
    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", pid, fd);
    info = fopen(path, "re");
    while (info != NULL && id == 0 && fgets(line, sizeof(line), info) != NULL)
      sscanf(line, "prog_id: %u", &id);
    if (info != NULL)
      fclose(info);
  }
  return id;
}

static int is_loaded(uint32_t id) {
  union bpf_attr attr;
  int fd;

  memset(&attr, 0, sizeof(attr));
  attr.prog_id = id;
  fd = (int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &attr, sizeof(attr));
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

static void find_program(tool_run_t *run) {
  *(uint32_t *)run->data = program_of(run->pid);
}

/* The kernel frees a program only some time after its last fd is closed. */
static void program_is_gone_with_the_sample(void **state) {
  uint32_t id = 0;
  tool_run_t run = {.args = {BPF_OUTPUT_PATH},
                    .interrupt_at = "Ctrl-C",
                    .work = find_program,
                    .data = &id};
  int i;

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_int_not_equal(id, 0);
  for (i = 0; i < 2000 && is_loaded(id); i++)
    poll(NULL, 0, 10);
  assert_false(is_loaded(id));
}

/* The execs of children that this process counted while the sample ran. */
static uint64_t hits;

static void count_hits(tool_run_t *run) {
  static execs_t execs = {
      .path = "/bin/true", .argv = true_argv, .directory = AT_FDCWD, .nr = 20};
  struct perf_event_attr attr;
  int fd;

  assert_int_equal(uvperf_attr_parse(&attr, "sched:sched_process_exec", NULL),
                   0);
  attr.inherit = 1;
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  run->data = &execs;
  work(run);
  assert_int_equal(uvperf__sys_read(fd, &hits, sizeof(hits)), sizeof(hits));
  uvperf__sys_close(fd);
}

/* A BPF program that returns 0 would hide the exec from all perf events. */
static void perf_events_of_others_see_each_exec_too(void **state) {
  tool_run_t run = {
      .args = {BPF_OUTPUT_PATH}, .interrupt_at = "Ctrl-C", .work = count_hits};

  (void)state;
  exec_lines_need(__func__);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  assert_int_equal(hits, 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_of_500_execs_of_all_cpus_is_printed_once),
      cmocka_unit_test(execs_below_the_wakeup_are_printed_too),
      cmocka_unit_test(execs_lost_in_a_tiny_ring_are_counted),
      cmocka_unit_test(longest_path_is_printed_whole),
      cmocka_unit_test(longest_path_of_a_directory_is_printed_whole),
      cmocka_unit_test(evil_name_of_a_script_is_valid_json),
      cmocka_unit_test(evil_name_of_a_script_is_escaped_in_text),
      cmocka_unit_test(only_the_name_that_is_asked_for_is_printed),
      cmocka_unit_test(program_is_gone_with_the_sample),
      cmocka_unit_test(perf_events_of_others_see_each_exec_too),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
