/* SPDX-License-Identifier: MIT */
/* A program whose hottest place is known, for the tests of the profiler. `spin`
 * loops in one function of its own, `read` in the kernel, `jit` in a copy of
 * the function in memory, which it names "compiled" after 1.6 s, `threads` in
 * one thread after the other, for half a millisecond each. It first prints
 * where that function lies in the program's file, "start end" in hex, and its
 * pid. It ends by SIGALRM after 30 s. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* A section of its own has bounds that the linker knows. */
extern const char __start_hot_spin[];
extern const char __stop_hot_spin[];

__attribute__((section("hot_spin"), noinline)) static void spin(void) {
  volatile uint64_t counter = 0;

  for (;;)
    counter = counter + 1;
}

static char buffer[1 << 20];

static void read_zeros(void) {
  int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

  while (read(fd, buffer, sizeof(buffer)) > 0)
    continue;
}

/* By what /proc says of this process, not by what the profiler would find. */
static int print_place(void) {
  unsigned long start, end, pgoff, address = (unsigned long)__start_hot_spin;
  FILE *file = fopen("/proc/self/maps", "re");
  char line[512];
  int found = 0;

  if (file == NULL)
    return -1;
  while (!found && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &pgoff) == 3)
      found = start <= address && address < end;
  }
  fclose(file);
  if (!found)
    return -1;
  address = address - start + pgoff;
  printf("%lx %lx %d\n", address,
         address + (unsigned long)(__stop_hot_spin - __start_hot_spin),
         (int)getpid());
  return fflush(stdout);
}

static unsigned long copy;

static void name_copy(int number) {
  char path[64], line[64];
  int fd, size;

  signal(number, SIG_DFL);
  alarm(30);
  snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
  size = snprintf(line, sizeof(line), "%lx %lx compiled\n", copy,
                  (unsigned long)(__stop_hot_spin - __start_hot_spin));
  fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, line, (size_t)size) != size)
    _exit(1);
  close(fd);
}

static void spin_in_copy(void) {
  size_t size = (size_t)(__stop_hot_spin - __start_hot_spin);
  struct itimerval timer = {.it_value = {.tv_sec = 1, .tv_usec = 600000}};
  struct sigaction action = {.sa_handler = name_copy};
  void (*function)(void);
  char *memory;

  memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
  if (memory == MAP_FAILED)
    return;
  memcpy(memory, __start_hot_spin, size);
  __builtin___clear_cache(memory, memory + size);
  copy = (unsigned long)memory;
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0 ||
      sigaction(SIGALRM, &action, NULL) != 0 ||
      setitimer(ITIMER_REAL, &timer, NULL) != 0)
    return;
  memcpy(&function, &memory, sizeof(function));
  function();
}

static void *spin_shortly(void *arg) {
  struct timespec now;

  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec == 0 && now.tv_nsec < 500000);
  return arg;
}

static void run_threads(void) {
  pthread_t thread;

  while (pthread_create(&thread, NULL, spin_shortly, NULL) == 0)
    pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  alarm(30);
  if (argc != 2 || print_place() != 0)
    return 1;
  if (strcmp(argv[1], "spin") == 0)
    spin();
  if (strcmp(argv[1], "read") == 0)
    read_zeros();
  if (strcmp(argv[1], "jit") == 0)
    spin_in_copy();
  if (strcmp(argv[1], "threads") == 0)
    run_threads();
  return 1;
}
