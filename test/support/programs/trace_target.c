/* SPDX-License-Identifier: MIT */
/* Makes a known number of system calls that no other process makes:
 * getpriority(2) with 0, 1, 2 … for whom.
 *
 *   trace_target             none
 *   trace_target calls N     N of them
 *   trace_target wait N      N once its stdin is closed, and then a child that
 *                            makes N
 *   trace_target turns N W   N in turns by two processes, each on a CPU of its
 *                            own, with W as `which`: refused, but seen
 *   trace_target name NAME   one under that name
 *   trace_target mixed NAME  5, 3 that are refused, 2 sleeps of 30 ms, 2
 *                            signals that are handled, a readv(2) that a third
 *                            one interrupts and that is restarted, a child by
 *                            vfork(2), a thread that executes "name NAME" */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void call(unsigned int who) {
  (void)getpriority(PRIO_USER, who);
}

/* The C library may declare the wrapper with an enum. */
static void call_which(unsigned int which, unsigned int who) {
  (void)syscall(SYS_getpriority, which, who);
}

static void calls(unsigned int nr) {
  unsigned int i;

  for (i = 0; i < nr; i++)
    call(i);
}

static int wait_for(pid_t pid) {
  int status;

  return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

static int calls_later(unsigned int nr) {
  char byte;
  pid_t pid;

  while (read(STDIN_FILENO, &byte, 1) > 0)
    continue;
  calls(nr);
  pid = fork();
  if (pid == 0) {
    calls(nr);
    _exit(0);
  }
  return wait_for(pid);
}

/* The nth CPU that this process may run on, modulo their number. */
static int pin(int nth) {
  cpu_set_t all, one;
  int left = nth;
  size_t cpu;

  if (sched_getaffinity(0, sizeof(all), &all) != 0)
    return -1;
  left %= CPU_COUNT(&all);
  for (cpu = 0; !CPU_ISSET(cpu, &all) || left-- > 0; cpu++)
    continue;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof(one), &one);
}

/* Each waits for the other's byte, calls, and hands it on. */
static int take_turns(int nth, unsigned int nr, unsigned int which, int in,
                      int out) {
  unsigned int i;
  char byte = 0;

  if (pin(nth) != 0)
    return 1;
  for (i = (unsigned int)nth; i < nr; i += 2) {
    if (i > 0 && read(in, &byte, 1) != 1)
      return 1;
    call_which(which, i);
    if (write(out, &byte, 1) != 1)
      return 1;
  }
  return 0;
}

static int turns(unsigned int nr, unsigned int which) {
  int there[2], back[2];
  pid_t pid;

  if (pipe(there) != 0 || pipe(back) != 0)
    return 1;
  pid = fork();
  if (pid == 0)
    _exit(take_turns(1, nr, which, there[0], back[1]));
  return take_turns(0, nr, which, back[0], there[1]) != 0 || wait_for(pid) != 0;
}

static int wake[2];

static void on_signal(int number, siginfo_t *info, void *context) {
  if (number == SIGALRM && write(wake[1], "", 1) != 1)
    abort();
}

/* Sends a signal to the first thread when it sleeps. */
static void *interrupt(void *first) {
  char state = 0;
  FILE *file;

  while (state != 'S') {
    sched_yield();
    file = fopen("/proc/self/stat", "re");
    if (file == NULL || fscanf(file, "%*d %*s %c", &state) != 1)
      abort();
    fclose(file);
  }
  pthread_kill(*(pthread_t *)first, SIGALRM);
  return NULL;
}

static int read_interrupted(void) {
  pthread_t self = pthread_self(), thread;
  char byte;
  struct iovec part = {&byte, 1};

  if (pipe(wake) != 0 || pthread_create(&thread, NULL, interrupt, &self) != 0 ||
      readv(wake[0], &part, 1) != 1)
    return -1;
  return pthread_join(thread, NULL);
}

static void *execute(void *name) {
  execl("/proc/self/exe", "trace_target", "name", (char *)name, (char *)NULL);
  abort();
}

static int mixed(char *name) {
  const struct sigaction action = {.sa_sigaction = on_signal,
                                   .sa_flags = SA_RESTART | SA_SIGINFO};
  const struct timespec nap = {0, 30000000};
  pthread_t thread;
  int status, i;
  pid_t pid;

  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  for (i = 0; i < 5; i++)
    call(0);
  for (i = 0; i < 3; i++)
    call_which(99, 0);
  for (i = 0; i < 2; i++) {
    nanosleep(&nap, NULL);
    kill(getpid(), SIGUSR1);
  }
  if (read_interrupted() != 0)
    return 1;
  pid = vfork();
  if (pid == 0)
    _exit(0);
  if (waitpid(pid, &status, 0) != pid ||
      pthread_create(&thread, NULL, execute, name) != 0)
    return 1;
  pthread_join(thread, NULL);
  return 1;
}

static unsigned int number(const char *text) {
  return (unsigned int)strtoul(text, NULL, 10);
}

int main(int argc, char **argv) {
  unsigned int nr;

  if (argc == 4 && strcmp(argv[1], "turns") == 0)
    return turns(number(argv[2]), number(argv[3]));
  if (argc == 1)
    return 0;
  if (argc != 3)
    return 2;
  nr = number(argv[2]);
  if (strcmp(argv[1], "calls") == 0)
    calls(nr);
  else if (strcmp(argv[1], "wait") == 0)
    return calls_later(nr);
  else if (strcmp(argv[1], "mixed") == 0)
    return mixed(argv[2]);
  else if (strcmp(argv[1], "name") == 0 &&
           prctl(PR_SET_NAME, argv[2], 0, 0, 0) == 0)
    call(0);
  else
    return 2;
  return 0;
}
