/* SPDX-License-Identifier: MIT */
/* A program whose counts are known, for the tests of stat. SIGALRM ends it if
 * nothing else does.
 *
 *   calls N          N calls of sched_get_priority_max(2), which other programs
 *                    rarely make
 *   touch N          touches N pages of fresh memory
 *   children N M     N child processes, one after the other, of M calls each
 *   threads N M      the same in N threads at once
 *   loop N           a loop of N iterations, of 2 instructions each (x86-64 and
 *                    aarch64)
 *   serve            for each line "N" of stdin N calls, then a line on stdout;
 *                    until the end of the file
 *   team             as serve, but thread "one" makes N calls, "two" 2 N, and
 *                    one that has ended 3 N
 *   spin             for ever
 *   trap N           waits for SIGINT, then makes N calls and exits with 7
 * */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(unsigned long nr) {
  while (nr-- > 0)
    syscall(SYS_sched_get_priority_max, SCHED_OTHER);
}

static int touch(unsigned long nr) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  volatile char *memory;
  unsigned long i;

  memory = mmap(NULL, nr * page, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 1;
  /* A huge page would be one fault for all pages. EINVAL: the kernel has
   * none. */
  madvise((void *)(uintptr_t)memory, nr * page, MADV_NOHUGEPAGE);
  for (i = 0; i < nr; i++)
    memory[i * page] = 1;
  return 0;
}

static int run_children(unsigned long nr, unsigned long calls) {
  int status;
  pid_t pid;

  while (nr-- > 0) {
    pid = fork();
    if (pid < 0)
      return 1;
    if (pid == 0) {
      call(calls);
      _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
      return 1;
  }
  return 0;
}

static void *run_thread(void *arg) {
  call(*(unsigned long *)arg);
  return NULL;
}

static int run_threads(unsigned long nr, unsigned long calls) {
  pthread_t *threads = calloc(nr, sizeof(*threads));
  unsigned long i;

  if (threads == NULL)
    return 1;
  for (i = 0; i < nr; i++) {
    if (pthread_create(&threads[i], NULL, run_thread, &calls) != 0)
      return 1;
  }
  for (i = 0; i < nr; i++)
    pthread_join(threads[i], NULL);
  free(threads);
  return 0;
}

static int loop(unsigned long nr) {
#if defined(__aarch64__)
  __asm__ volatile("1:\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(nr) : : "cc");
#elif defined(__x86_64__)
  __asm__ volatile("1:\n\tdec %0\n\tjnz 1b" : "+r"(nr) : : "cc");
#endif
  return nr != 0;
}

static int serve(void) {
  char line[32];

  while (fgets(line, sizeof(line), stdin) != NULL) {
    call(strtoul(line, NULL, 10));
    puts("done");
    fflush(stdout);
  }
  return 0;
}

typedef struct member_s {
  const char *name;
  unsigned long factor;
} member_t;

static unsigned long team_calls;
static pthread_barrier_t begin, end;

static void *run_member(void *arg) {
  const member_t *member = arg;

  pthread_setname_np(pthread_self(), member->name);
  for (;;) {
    pthread_barrier_wait(&begin);
    call(team_calls * member->factor);
    pthread_barrier_wait(&end);
  }
  return NULL;
}

static int serve_team(void) {
  static member_t members[] = {{"one", 1}, {"two", 2}};
  unsigned long calls;
  pthread_t thread;
  char line[32];
  size_t i;

  pthread_barrier_init(&begin, NULL, 3);
  pthread_barrier_init(&end, NULL, 3);
  for (i = 0; i < 2; i++) {
    if (pthread_create(&thread, NULL, run_member, &members[i]) != 0)
      return 1;
  }
  while (fgets(line, sizeof(line), stdin) != NULL) {
    team_calls = strtoul(line, NULL, 10);
    calls = 3 * team_calls;
    pthread_barrier_wait(&begin);
    if (pthread_create(&thread, NULL, run_thread, &calls) != 0)
      return 1;
    pthread_join(thread, NULL);
    pthread_barrier_wait(&end);
    puts("done");
    fflush(stdout);
  }
  return 0;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
  interrupted = number;
}

static int trap(unsigned long calls) {
  sigset_t blocked, before;

  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  signal(SIGINT, on_interrupt);
  puts("waiting");
  fflush(stdout);
  while (!interrupted)
    sigsuspend(&before);
  call(calls);
  return 7;
}

static unsigned long number(int argc, char **argv, int index) {
  return index < argc ? strtoul(argv[index], NULL, 10) : 0;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";

  alarm(60);
  if (strcmp(mode, "calls") == 0) {
    call(number(argc, argv, 2));
    return 0;
  }
  if (strcmp(mode, "touch") == 0)
    return touch(number(argc, argv, 2));
  if (strcmp(mode, "children") == 0)
    return run_children(number(argc, argv, 2), number(argc, argv, 3));
  if (strcmp(mode, "threads") == 0)
    return run_threads(number(argc, argv, 2), number(argc, argv, 3));
  if (strcmp(mode, "loop") == 0)
    return loop(number(argc, argv, 2));
  if (strcmp(mode, "serve") == 0)
    return serve();
  if (strcmp(mode, "team") == 0)
    return serve_team();
  if (strcmp(mode, "trap") == 0)
    return trap(number(argc, argv, 2));
  while (strcmp(mode, "spin") == 0)
    continue;
  return 1;
}
