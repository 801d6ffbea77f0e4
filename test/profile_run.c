/* SPDX-License-Identifier: MIT */
/* Runs the profiler with pipes for its output and picks that apart. Does not
 * know what the right output is. */
#include "profile_run.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void drop_privileges(void) {
  if (geteuid() != 0)
    return;
  if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
      setresuid(65534, 65534, 65534) != 0)
    _exit(125);
}

/* Opened before privileges are dropped: the directories on the way to it may be
 * closed to others. */
static void exec_profile(const profile_run_t *run, int out, int err) {
  int fd = open(run->args[0], O_RDONLY | O_CLOEXEC);

  if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
    _exit(125);
  if (run->as_nobody)
    drop_privileges();
  fexecve(fd, (char *const *)(uintptr_t)run->args, environ);
  _exit(125);
}

int profile_run_append(int fd, char *text, size_t size) {
  size_t used = strlen(text);
  ssize_t nr = read(fd, text + used, size - used - 1);

  if (nr > 0)
    text[used + (size_t)nr] = '\0';
  return nr > 0;
}

static void collect(profile_run_t *run, pid_t pid, int out, int err) {
  struct pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};

  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    assert_true(poll(fds, 2, -1) > 0);
    if (fds[0].revents != 0 &&
        !profile_run_append(out, run->out, sizeof(run->out)))
      fds[0].fd = -1;
    if (fds[1].revents != 0 &&
        !profile_run_append(err, run->err, sizeof(run->err)))
      fds[1].fd = -1;
    if (run->interrupt_at != NULL && strstr(run->err, run->interrupt_at)) {
      run->interrupt_at = NULL;
      kill(pid, run->interrupt_with != 0 ? run->interrupt_with : SIGINT);
    }
  }
}

void profile_run(profile_run_t *run) {
  int out[2], err[2], status;
  pid_t pid;

  assert_int_equal(pipe2(out, O_CLOEXEC), 0);
  assert_int_equal(pipe2(err, O_CLOEXEC), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0)
    exec_profile(run, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  collect(run, pid, out[0], err[0]);
  close(out[0]);
  close(err[0]);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  run->status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void profile_run_expect_status(const profile_run_t *run, int status) {
  if (run->status != status)
    print_error("stdout:\n%s\nstderr:\n%s\n", run->out, run->err);
  assert_int_equal(run->status, status);
}

void profile_run_expect_text(const char *text, const char *part) {
  if (strstr(text, part) == NULL)
    print_error("no '%s' in:\n%s\n", part, text);
  assert_non_null(strstr(text, part));
}

static int parse_row(const char *line, profile_row_t *row) {
  return sscanf(line, "%lf%% %lu %63s %255[^\n]", &row->percent, &row->samples,
                row->command, row->place) == 4;
}

/* The row'th line of the table; 0 if it has not so many. */
int profile_run_row(const profile_run_t *run, size_t index,
                    profile_row_t *row) {
  const char *line = strstr(run->out, " percent ");

  while (line != NULL && (line = strchr(line, '\n')) != NULL) {
    line++;
    if (!parse_row(line, row))
      return 0;
    if (index-- == 0)
      return 1;
  }
  return 0;
}

unsigned long profile_run_samples(const profile_run_t *run) {
  const char *line = strstr(run->out, " samples, ");
  unsigned long samples = 0;

  assert_non_null(line);
  while (line > run->out && line[-1] != '\n')
    line--;
  assert_int_equal(sscanf(line, "%lu samples, ", &samples), 1);
  return samples;
}

long profile_run_paranoid(void) {
  FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
  long level = 0;

  assert_non_null(file);
  assert_int_equal(fscanf(file, "%ld", &level), 1);
  fclose(file);
  return level;
}
