/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "tool_run.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Any fd that is free. */
#define PIDFD 100

static void *spin(void *go) {
  while (*(volatile int *)go)
    continue;
  return NULL;
}

/* A process whose two threads spin. */
static int spin_twice(void *arg) {
  volatile int go = arg == NULL;
  pthread_t thread;

  if (pthread_create(&thread, NULL, spin, (void *)&go) != 0)
    return 1;
  spin((void *)&go);
  return 0;
}

/* Waits until a process has another thread. Returns the thread's id. */
static unsigned int other_thread(pid_t pid) {
  const struct dirent *entry;
  unsigned int tid = 0, other = 0;
  char path[64];
  DIR *tasks;

  snprintf(path, sizeof(path), "/proc/%d/task", pid);
  while (other == 0) {
    tasks = opendir(path);
    assert_non_null(tasks);
    while ((entry = readdir(tasks)) != NULL)
      if (sscanf(entry->d_name, "%u", &tid) == 1 && tid != (unsigned int)pid)
        other = tid;
    closedir(tasks);
  }
  return other;
}

typedef struct process_s {
  pid_t pid;
  char other_seen[32];
} process_t;

static void end_process(tool_run_t *run) {
  const process_t *process = run->data;

  kill(process->pid, SIGKILL);
  support_wait(process->pid);
}

static void wait_for_other(tool_run_t *run) {
  process_t *process = run->data;

  run->interrupt_at = process->other_seen;
  run->work = end_process;
}

static void expect_stacks(const char *test, int with_pidfd) {
  char pid[16], first_seen[32];
  process_t process;
  tool_run_t run = {.args = {SAMPLE_PATH, pid},
                    .interrupt_at = first_seen,
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = wait_for_other,
                    .data = &process};
  unsigned int tid, other;
  unsigned long long ip;
  const char *line;
  int fd;

  support_need_own_events(test);
  process.pid = support_fork(spin_twice, NULL);
  assert_true(process.pid > 0);
  other = other_thread(process.pid);
  snprintf(pid, sizeof(pid), "%d", process.pid);
  if (with_pidfd) {
    fd = (int)syscall(SYS_pidfd_open, process.pid, 0);
    assert_true(fd >= 0);
    assert_true(dup2(fd, PIDFD) == PIDFD); /* without FD_CLOEXEC */
    close(fd);
    snprintf(pid, sizeof(pid), "fd:%d", PIDFD);
  }
  snprintf(first_seen, sizeof(first_seen), "%d user 0x", process.pid);
  snprintf(process.other_seen, sizeof(process.other_seen), "%u user 0x", other);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "process 1 ");
  for (line = run.out; *line != '\0'; line = strchr(line, '\n') + 1) {
    assert_int_equal(sscanf(line, "%u %*s %llx", &tid, &ip), 2);
    assert_true(tid == (unsigned int)process.pid || tid == other);
  }
}

static void
sample_process_prints_stacks_of_all_threads_until_it_ends(void **state) {
  expect_stacks(__func__, 0);
}

static void sample_process_takes_a_pidfd(void **state) {
  expect_stacks(__func__, 1);
  close(PIDFD);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          sample_process_prints_stacks_of_all_threads_until_it_ends),
      cmocka_unit_test(sample_process_takes_a_pidfd),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
