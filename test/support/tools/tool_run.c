/* SPDX-License-Identifier: MIT */
/* Runs a sample with pipes for its output. Does not know what the right output
 * is. */
#include "tool_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void drop_privileges(int as_nobody) {
  uid_t id = 65535 - (uid_t)as_nobody;

  if (geteuid() != 0 || support_is_in_user_namespace())
    return;
  if (setgroups(0, NULL) != 0 || setresgid(id, id, id) != 0 ||
      setresuid(id, id, id) != 0)
    _exit(125);
}

/* Opened before privileges are dropped: the directories on the way to it may be
 * closed to others. */
void tool_run_exec(const char *const *args, int as_nobody) {
  int fd = open(args[0], O_RDONLY | O_CLOEXEC);

  if (as_nobody)
    drop_privileges(as_nobody);
  fexecve(fd, (char *const *)(uintptr_t)args, environ);
  _exit(125);
}

static void exec_sample(const tool_run_t *run, int out, int err) {
  if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
    _exit(125);
  if (run->prepare != NULL)
    run->prepare();
  tool_run_exec(run->args, run->as_nobody);
}

int tool_run_append(int fd, char *text, size_t size) {
  size_t used = strlen(text);
  ssize_t nr;

  assert_true(used + 1 < size);
  nr = read(fd, text + used, size - used - 1);

  if (nr > 0)
    text[used + (size_t)nr] = '\0';
  return nr > 0;
}

static void interrupt(tool_run_t *run) {
  run->interrupt_at = NULL;
  if (run->work != NULL)
    run->work(run);
  if (run->interrupt_with != TOOL_RUN_NO_SIGNAL)
    kill(run->pid, run->interrupt_with != 0 ? run->interrupt_with : SIGINT);
}

static void make_room(tool_run_t *run) {
  size_t half = sizeof(run->out) / 2;

  if (strlen(run->out) == sizeof(run->out) - 1)
    memmove(run->out, run->out + half, sizeof(run->out) - half);
}

/* Of stdout: kept in the file if there is one. */
static int collect_out(tool_run_t *run, int out) {
  char bytes[65536];
  ssize_t nr;

  if (run->keeps_end)
    make_room(run);
  if (run->file == NULL)
    return tool_run_append(out, run->out, sizeof(run->out));
  nr = read(out, bytes, sizeof(bytes));
  if (nr <= 0)
    return 0;
  assert_int_equal(fwrite(bytes, 1, (size_t)nr, run->file), nr);
  return 1;
}

static void check(tool_run_t *run, int out_has_ended) {
  void (*call)(tool_run_t * run) = run->check;

  if (call == NULL || run->interrupt_at != NULL)
    return;
  if (run->check_at != NULL ? strstr(run->err, run->check_at) == NULL
                            : !out_has_ended)
    return;
  run->check = NULL;
  call(run);
}

static void collect(tool_run_t *run, int out, int err) {
  struct pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};

  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    assert_true(poll(fds, 2, -1) > 0);
    if (fds[0].revents != 0 && !collect_out(run, out))
      fds[0].fd = -1;
    if (fds[1].revents != 0 &&
        !tool_run_append(err, run->err, sizeof(run->err)))
      fds[1].fd = -1;
    if (run->interrupt_at != NULL && (strstr(run->err, run->interrupt_at) ||
                                      strstr(run->out, run->interrupt_at)))
      interrupt(run);
    check(run, fds[0].fd < 0);
  }
}

void tool_run_open_terminal(int fds[2]) {
  struct termios raw;

  fds[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  assert_true(fds[0] >= 0);
  assert_int_equal(grantpt(fds[0]) | unlockpt(fds[0]), 0);
  fds[1] = open(ptsname(fds[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
  assert_true(fds[1] >= 0);
  assert_int_equal(tcgetattr(fds[1], &raw), 0);
  cfmakeraw(&raw);
  assert_int_equal(tcsetattr(fds[1], TCSANOW, &raw), 0);
}

void tool_run(tool_run_t *run) {
  int out[2], err[2], status;

  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  if (run->err_is_terminal)
    tool_run_open_terminal(err);
  else
    assert_int_equal(pipe2(err, O_CLOEXEC), 0);
  run->pid = fork();
  assert_true(run->pid >= 0);
  if (run->pid == 0)
    exec_sample(run, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  collect(run, out[0], err[0]);
  close(out[0]);
  close(err[0]);
  assert_int_equal(waitpid(run->pid, &status, 0), run->pid);
  run->status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void tool_run_expect_status(const tool_run_t *run, int status) {
  if (run->status != status)
    print_error("stdout:\n%s\nstderr:\n%s\n", run->out, run->err);
  assert_int_equal(run->status, status);
}

void tool_run_expect_text(const char *text, const char *part) {
  if (strstr(text, part) == NULL)
    print_error("no '%s' in:\n%s\n", part, text);
  assert_non_null(strstr(text, part));
}

void tool_run_calls(tool_run_t *run, const char *text,
                    void (*work)(tool_run_t *run), void *data) {
  run->interrupt_at = text;
  run->interrupt_with = TOOL_RUN_NO_SIGNAL;
  run->work = work;
  run->data = data;
}

void tool_run_exits(tool_run_t *run, int status) {
  tool_run(run);
  tool_run_expect_status(run, status);
}

void tool_run_ends(tool_run_t *run, int status, const char *message) {
  tool_run_exits(run, status);
  tool_run_expect_text(run->err, message);
}

size_t tool_run_nr_events(const tool_run_t *run) {
  char path[64], target[64];
  struct dirent *entry;
  size_t nr = 0;
  ssize_t size;
  DIR *directory;

  snprintf(path, sizeof(path), "/proc/%d/fd", run->pid);
  directory = opendir(path);
  if (directory == NULL)
    return 0;
  while ((entry = readdir(directory)) != NULL) {
    size =
        readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
    target[size > 0 ? size : 0] = '\0';
    nr += strcmp(target, "anon_inode:[perf_event]") == 0;
  }
  closedir(directory);
  return nr;
}

void tool_run_need_terminal(const char *test) {
  if (access("/dev/ptmx", R_OK | W_OK) != 0)
    support_skip(test, "/dev/ptmx");
}

long tool_run_paranoid(void) {
  FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
  long level = 0;

  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld", &level), 1);
  fclose(file);
  return level;
}

void tool_run_need_own(const char *test) {
  if (tool_run_paranoid() > 2)
    support_skip(test, "perf_event_paranoid of at most 2");
}

void tool_run_is_refused(const char *test, tool_run_t *run) {
  if (tool_run_paranoid() < 1)
    support_skip(test, "perf_event_paranoid of at least 1");
  run->as_nobody = 1;
  tool_run_ends(run, 1, "perf_event_paranoid");
}
