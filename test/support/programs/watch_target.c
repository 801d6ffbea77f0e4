/* SPDX-License-Identifier: MIT */
/* Processes whose life is known, for the tests of watch. Each mode prints the
 * ids of the processes that it forked, one a line, and ends by SIGALRM if it
 * hangs:
 *
 *   storm N       N children that exec "true", some at the same time
 *   leader        a child whose first thread ends before another one forks
 *   thread        a child in which a second thread execs "true"
 *   name NAME     a child that calls itself so
 *   exec PATH     a child that execs PATH
 *   args          a child that execs this program with arguments, to sleep a
 *                 second
 *   sleep         that
 *   ends          children that end with status 0, 3 and 255, by SIGKILL and by
 *                 SIGUSR1, and one of two threads, of which the second ends it
 *                 with status 7 when the first has ended
 *   threads N     N threads, each of which forks a child that execs "true",
 *                 once stdin is closed
 *   tree          once stdin is closed: a child that forks a grandchild and
 *                 ends; the grandchild then execs "true" */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 16

static void exec_true(void) {
  execl("/bin/true", "true", (char *)NULL);
  _exit(125);
}

static pid_t fork_child(void (*run)(const char *), const char *argument) {
  pid_t pid = fork();

  if (pid == 0) {
    run(argument);
    _exit(0);
  }
  if (pid > 0)
    printf("%d\n", pid);
  return pid;
}

static void run_true(const char *unused) {
  exec_true();
}

static void run_name(const char *name) {
  prctl(PR_SET_NAME, name);
}

static void run_exec(const char *path) {
  execl(path, path, (char *)NULL);
  _exit(125);
}

static void run_args(const char *unused) {
  execl("/proc/self/exe", "target", "sleep", "one two", "", "a\x1b\xff",
        (char *)NULL);
  _exit(125);
}

static void run_status(const char *status) {
  _exit(atoi(status));
}

static void run_signal(const char *number) {
  kill(getpid(), atoi(number));
  pause();
}

static pthread_t first;

/* Waits until the first thread has ended, then forks. */
static void *outlive_first(void *unused) {
  pid_t pid;

  pthread_join(first, NULL);
  pid = fork();
  if (pid == 0)
    _exit(0);
  dprintf(STDOUT_FILENO, "%d\n", pid);
  waitpid(pid, NULL, 0);
  return unused;
}

static void run_leader(const char *unused) {
  pthread_t thread;

  first = pthread_self();
  if (pthread_create(&thread, NULL, outlive_first, NULL) != 0)
    _exit(125);
  pthread_exit(NULL);
}

static void *end_after_first(void *unused) {
  pthread_join(first, NULL);
  _exit(7);
  return unused;
}

static void run_last_thread(const char *unused) {
  pthread_t thread;

  first = pthread_self();
  if (pthread_create(&thread, NULL, end_after_first, NULL) != 0)
    _exit(125);
  pthread_exit(NULL);
}

static int make_ends(void) {
  static const char *const statuses[] = {"0", "3", "255"};
  static const int signals[] = {SIGKILL, SIGUSR1};
  char number[8];
  size_t i;

  for (i = 0; i < 3; i++)
    if (fork_child(run_status, statuses[i]) < 0)
      return 1;
  for (i = 0; i < 2; i++) {
    snprintf(number, sizeof(number), "%d", signals[i]);
    if (fork_child(run_signal, number) < 0)
      return 1;
  }
  return fork_child(run_last_thread, NULL) < 0;
}

static void *exec_in_thread(void *unused) {
  exec_true();
  return unused;
}

static void run_thread(const char *unused) {
  pthread_t thread;

  if (pthread_create(&thread, NULL, exec_in_thread, NULL) != 0)
    _exit(125);
  pause();
}

static void run_tree(const char *unused) {
  int ended[2];
  char byte;

  if (pipe(ended) != 0)
    _exit(125);
  if (fork() != 0)
    _exit(0);
  dprintf(STDOUT_FILENO, "%d\n", getpid());
  close(ended[1]);
  (void)!read(ended[0], &byte, 1); /* The parent is gone. */
  exec_true();
}

static void wait_for_stdin(void) {
  char byte;

  while (read(STDIN_FILENO, &byte, 1) > 0)
    continue;
}

static void *fork_true(void *unused) {
  pid_t pid;

  wait_for_stdin();
  pid = fork_child(run_true, NULL);
  waitpid(pid, NULL, 0);
  return unused;
}

/* Continues when all threads have started. */
static int make_threads(size_t nr) {
  pthread_t threads[64];
  size_t i;

  for (i = 0; i < nr && i < 64; i++) {
    if (pthread_create(&threads[i], NULL, fork_true, NULL) != 0)
      return 1;
  }
  while (i-- > 0)
    pthread_join(threads[i], NULL);
  return 0;
}

static int storm(long nr) {
  long i, running = 0;

  for (i = 0; i < nr; i++) {
    for (; running >= AT_ONCE; running--)
      wait(NULL);
    if (fork_child(run_true, NULL) < 0)
      return 1;
    running++;
  }
  return 0;
}

static int run_mode(int argc, char **argv) {
  const char *argument = argc > 2 ? argv[2] : "";

  if (strcmp(argv[1], "storm") == 0)
    return storm(strtol(argument, NULL, 10));
  if (strcmp(argv[1], "tree") == 0) {
    wait_for_stdin();
    return fork_child(run_tree, argument) < 0;
  }
  if (strcmp(argv[1], "threads") == 0)
    return make_threads(strtoul(argument, NULL, 10));
  if (strcmp(argv[1], "leader") == 0)
    return fork_child(run_leader, argument) < 0;
  if (strcmp(argv[1], "thread") == 0)
    return fork_child(run_thread, argument) < 0;
  if (strcmp(argv[1], "name") == 0)
    return fork_child(run_name, argument) < 0;
  if (strcmp(argv[1], "sleep") == 0)
    return (int)sleep(1);
  if (strcmp(argv[1], "args") == 0)
    return fork_child(run_args, argument) < 0;
  if (strcmp(argv[1], "ends") == 0)
    return make_ends();
  if (strcmp(argv[1], "exec") == 0)
    return fork_child(run_exec, argument) < 0;
  return 1;
}

int main(int argc, char **argv) {
  int status;

  alarm(250);
  setlinebuf(stdout);
  status = argc > 1 ? run_mode(argc, argv) : 1;
  while (wait(NULL) > 0)
    continue;
  fflush(stdout);
  /* The leak check of a sanitizer would fork. */
  _exit(status);
}
