/* SPDX-License-Identifier: MIT */
/* A program that waits, and knows for how long. It waits in the ways that it is
 * asked for, each in a function of its own, and names its thread after that
 * function meanwhile. Then it prints "wait_pipe 201345678": the nanoseconds in
 * which the thread was not on a CPU. Ends by SIGALRM if it hangs.
 *
 * syscall(3) has no frame, so a stack by frame pointers lacks the function that
 * calls it, but has the one before: hence the pairs. The waits in read(2),
 * sem_wait(3) and nanosleep(2) are for stacks without frame pointers: their
 * callers are functions of their own, even if the compiler optimizes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NR_WAITS   10
#define WAIT_NS    20000000
#define NR_BLOCKS  8
#define DISK_BYTES (4 << 20)
#define NOINLINE   __attribute__((noinline))

static int fds[2];
static int futex_word;
static sem_t semaphore;
static const char *disk_path;

static uint64_t now(clockid_t clock) {
  struct timespec time;

  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void nap(void) {
  const struct timespec time = {0, WAIT_NS};

  syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}

/* Ends the waits of the main thread, one after the other. */
static void *wake(void *arg) {
  int i;

  for (i = 0; i < NR_WAITS; i++) {
    nap();
    if (arg != NULL) {
      if (write(fds[1], "x", 1) != 1)
        abort();
    } else {
      __atomic_add_fetch(&futex_word, 1, __ATOMIC_SEQ_CST);
      syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
  }
  return NULL;
}

static void read_byte(void) {
  char byte;

  if (syscall(SYS_read, fds[0], &byte, 1) != 1)
    abort();
}

static void wait_pipe(void) {
  int i;

  for (i = 0; i < NR_WAITS; i++)
    read_byte();
}

static void take_futex(int value) {
  while (__atomic_load_n(&futex_word, __ATOMIC_SEQ_CST) == value)
    syscall(SYS_futex, &futex_word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static void wait_futex(void) {
  int i;

  for (i = 0; i < NR_WAITS; i++)
    take_futex(i);
}

static void wait_sleep(void) {
  int i;

  for (i = 0; i < NR_WAITS; i++)
    nap();
}

static NOINLINE void libc_read(void) {
  char byte;
  int i;

  for (i = 0; i < NR_WAITS; i++) {
    if (read(fds[0], &byte, 1) != 1)
      abort();
  }
}

static void *post(void *arg) {
  int i;

  for (i = 0; i < NR_WAITS; i++) {
    nap();
    sem_post(&semaphore);
  }
  return arg;
}

static NOINLINE void libc_lock(void) {
  int i;

  for (i = 0; i < NR_WAITS; i++) {
    while (sem_wait(&semaphore) != 0)
      continue;
  }
}

static NOINLINE void libc_sleep(void) {
  const struct timespec time = {0, WAIT_NS};
  int i;

  for (i = 0; i < NR_WAITS; i++)
    nanosleep(&time, NULL);
}

static void write_block(int fd, const char *block, long offset) {
  if (syscall(SYS_pwrite64, fd, block, DISK_BYTES, offset) != DISK_BYTES)
    abort();
}

static void read_block(int fd, char *block, long offset) {
  if (syscall(SYS_pread64, fd, block, DISK_BYTES, offset) != DISK_BYTES)
    abort();
}

/* Without the page cache, so that each call waits for the disk. */
static void wait_disk(void) {
  int fd =
      open(disk_path, O_RDWR | O_CREAT | O_DIRECT | O_DSYNC | O_CLOEXEC, 0600);
  void *block;
  long i;

  unlink(disk_path);
  if (fd < 0 || posix_memalign(&block, 4096, DISK_BYTES) != 0)
    abort();
  memset(block, 1, DISK_BYTES);
  for (i = 0; i < NR_BLOCKS; i++)
    write_block(fd, block, i * DISK_BYTES);
  for (i = 0; i < NR_BLOCKS; i++)
    read_block(fd, block, i * DISK_BYTES);
  free(block);
  close(fd);
}

static void spin(uint64_t ns) {
  uint64_t end = now(CLOCK_MONOTONIC) + ns;

  while (now(CLOCK_MONOTONIC) < end)
    continue;
}

static void *compete(void *arg) {
  spin(UINT64_C(2) * NR_WAITS * WAIT_NS);
  return arg;
}

/* Waits for a CPU that another thread also needs. */
static void wait_ready(void) {
  spin(UINT64_C(2) * NR_WAITS * WAIT_NS);
}

static void wait_for_ever(void) {
  for (;;)
    read_byte();
}

static void measure(const char *name, void (*wait)(void),
                    void *(*helper)(void *), void *arg) {
  uint64_t wall, cpu;
  pthread_t thread;

  if (helper != NULL && pthread_create(&thread, NULL, helper, arg) != 0)
    abort();
  prctl(PR_SET_NAME, name);
  wall = now(CLOCK_MONOTONIC);
  cpu = now(CLOCK_THREAD_CPUTIME_ID);
  wait();
  wall = now(CLOCK_MONOTONIC) - wall;
  cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
  prctl(PR_SET_NAME, "waits_target");
  printf("%s %llu\n", name, (unsigned long long)(wall - cpu));
  fflush(stdout);
  if (helper != NULL)
    pthread_join(thread, NULL);
}

static void use_one_cpu(void) {
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET((size_t)sched_getcpu(), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

static int run(const char *name) {
  if (strcmp(name, "pipe") == 0) {
    measure("wait_pipe", wait_pipe, wake, fds);
  } else if (strcmp(name, "futex") == 0) {
    measure("wait_futex", wait_futex, wake, NULL);
  } else if (strcmp(name, "sleep") == 0) {
    measure("wait_sleep", wait_sleep, NULL, NULL);
  } else if (strcmp(name, "libc") == 0) {
    measure("libc_read", libc_read, wake, fds);
    measure("libc_lock", libc_lock, post, NULL);
    measure("libc_sleep", libc_sleep, NULL, NULL);
  } else if (strncmp(name, "disk=", 5) == 0) {
    disk_path = name + 5;
    measure("wait_disk", wait_disk, NULL, NULL);
  } else if (strcmp(name, "ready") == 0) {
    use_one_cpu();
    measure("wait_ready", wait_ready, compete, NULL);
  } else if (strcmp(name, "ever") == 0) {
    puts("waits");
    fflush(stdout);
    wait_for_ever();
  } else {
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  int i;

  alarm(30);
  /* The loader looks up a function at its first call, in code without frame
   * pointers, and may lose the CPU there. */
  now(CLOCK_THREAD_CPUTIME_ID);
  syscall(SYS_getpid);
  if (pipe2(fds, O_CLOEXEC) != 0 || sem_init(&semaphore, 0, 0) != 0)
    return 1;
  for (i = 1; i < argc; i++) {
    if (run(argv[i]) != 0)
      return 1;
  }
  return 0;
}
