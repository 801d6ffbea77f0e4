/* SPDX-License-Identifier: MIT */
/* What the worker that reads files may do. Each call runs in a child. */
#include "profile/symbols/filter.h"

#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long read_a_file(void) {
  return open("/proc/self/status", O_RDONLY | O_CLOEXEC);
}

static long write_a_file(void) {
  return open("/tmp", O_RDWR | O_TMPFILE, 0600);
}

static long truncate_a_file(void) {
  return open("/dev/null", O_RDONLY | O_TRUNC | O_CLOEXEC);
}

static long raise_a_limit(void) {
  return syscall(SYS_prlimit64, 0, 0, NULL, NULL);
}

static long allocate(void) {
  void *memory = malloc(100 << 20);

  return memory == NULL ? -1 : 0;
}

static long read_flags(void) {
  return fcntl(STDERR_FILENO, F_GETFL);
}

static long own_an_fd(void) {
  return fcntl(STDERR_FILENO, F_SETOWN, getpid());
}

static long send_a_signal(void) {
  return kill(getppid(), 0);
}

static long use_the_network(void) {
  return socket(AF_INET, SOCK_STREAM, 0);
}

static long start_a_program(void) {
  return execl("/bin/true", "true", (char *)NULL);
}

static long start_a_process(void) {
  return syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static long remove_a_file(void) {
  return unlink("/tmp/uvperf-none");
}

static long make_a_call_of_32_bits(void) {
#ifdef __x86_64__
  long rc;

  /* getpid(2) of i386 has the number of writev(2). */
  __asm__ volatile("int $0x80" : "=a"(rc) : "a"(20) : "memory");
  return rc;
#else
  return kill(getppid(), 0);
#endif
}

/* Returns an exit status: 0, or the errno. */
static int run(void *arg) {
  long (*const *call)(void) = arg;

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      symbols_filter_install() != 0)
    return 255;
  return (*call)() < 0 ? errno : 0;
}

static void worker_may_only_read_files(void **state) {
  static const struct case_s {
    long (*call)(void);
    int error, number; /* its errno, or the signal that ends the process */
  } cases[] = {
      {read_a_file, 0, 0},
      {allocate, 0, 0},
      {write_a_file, EACCES, 0},
      {truncate_a_file, EACCES, 0},
      {raise_a_limit, EPERM, 0},
      {read_flags, 0, 0},
      {own_an_fd, EPERM, 0},
      {send_a_signal, 0, SIGSYS},
      {use_the_network, 0, SIGSYS},
      {start_a_program, 0, SIGSYS},
      {start_a_process, 0, SIGSYS},
      {remove_a_file, 0, SIGSYS},
      {make_a_call_of_32_bits, 0, SIGSYS},
  };
  size_t i;
  pid_t pid;
  int status;

  if (symbols_filter_lack() != NULL)
    support_skip(__func__, "seccomp filters on x86-64 or aarch64");
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
      _exit(run((void *)&cases[i].call));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (cases[i].number != 0)
      assert_true(WIFSIGNALED(status) && WTERMSIG(status) == cases[i].number);
    else
      assert_true(WIFEXITED(status) && WEXITSTATUS(status) == cases[i].error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(worker_may_only_read_files),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
