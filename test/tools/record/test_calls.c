/* SPDX-License-Identifier: MIT */
/* record makes about as many system calls as perf(1) for the same recording.
 * ptrace(2) counts them in all threads and children. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_dump.h"
#include "record_run.h"

/* The signal number of a stop at a system call, with PTRACE_O_TRACESYSGOOD. */
#define SYSCALL_STOP (SIGTRAP | 0x80)

#define TRACED                                                                 \
  (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |          \
   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

/* LeakSanitizer uses ptrace(2) itself, and a thread can have only one
 * tracer. */
static void run_traced(const char *const *args) {
  int fd = open("/dev/null", O_RDWR);

  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0)
    _exit(120);
  execvp(args[0], (char *const *)(uintptr_t)args);
  _exit(121);
}

/* Returns the signal to pass on to a stopped task. Counts the stop if the task
 * enters or leaves a system call. */
static int signal_of(int status, size_t *nr_stops) {
  int number = WSTOPSIG(status);

  *nr_stops += number == SYSCALL_STOP;
  return number == SYSCALL_STOP || number == SIGTRAP || number == SIGSTOP
             ? 0
             : number;
}

/* Runs a program to its end. Returns the number of system calls that it and its
 * children made. */
static size_t count_calls(const char *const *args) {
  size_t nr_stops = 0;
  int status = 0, of_first = 0;
  pid_t pid = fork(), tid;

  assert_true(pid >= 0);
  if (pid == 0)
    run_traced(args);
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSTOPPED(status));
  assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, TRACED), 0);
  assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
  while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
    if (tid > 0 && WIFSTOPPED(status))
      ptrace(PTRACE_SYSCALL, tid, NULL, (long)signal_of(status, &nr_stops));
    else if (tid == pid)
      of_first = status;
  }
  assert_int_equal(of_first, 0);
  return nr_stops / 2;
}

/* Records into the file of this test, and returns the number of calls. */
static size_t calls_of(const char *program, const char *event, int is_perf) {
  const char *const args[] = {
      program, is_perf ? "record" : "-a", "-a", "-e",   event,
      "-o",    record_run_path(),         "--", "true", NULL};

  return count_calls(args);
}

/* perf(1) makes about the same number of calls each time. */
static void
calls_for_tracepoints_are_at_most_a_fifth_more_than_perfs(void **state) {
  size_t perfs, ours;

  support_need_root(__func__);
  support_need_tracepoint(__func__, "sched:sched_switch");
  perf_dump_need(__func__);
  perfs = calls_of("perf", "sched:*", 1);
  ours = calls_of(RECORD_PATH, "sched:*", 0);
  if (ours > perfs + perfs / 5)
    fail_msg("record made %zu system calls, perf record %zu", ours, perfs);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      record_run_test(
          calls_for_tracepoints_are_at_most_a_fifth_more_than_perfs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
