/* SPDX-License-Identifier: MIT */
#include "traced_child.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define NS_PER_SECOND 1000000000

/* -- the child ------------------------------------------------------------ */

static void add_ns(struct timespec *time, uint32_t ns) {
  time->tv_nsec += ns;
  while (time->tv_nsec >= NS_PER_SECOND) {
    time->tv_nsec -= NS_PER_SECOND;
    time->tv_sec += 1;
  }
}

static int64_t ns_since(const struct timespec *earlier) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - earlier->tv_sec) * NS_PER_SECOND + now.tv_nsec -
         earlier->tv_nsec;
}

static void wait_until(const struct timespec *due, uint32_t sleeps) {
  if (!sleeps)
    while (ns_since(due) < 0)
      continue;
  else
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) == EINTR)
      continue;
}

/* Returns 0, or -1 after ten seconds without progress. */
static int wait_for(const uint64_t *taken, uint64_t nr) {
  struct timespec began;

  clock_gettime(CLOCK_MONOTONIC, &began);
  while (__atomic_load_n(taken, __ATOMIC_ACQUIRE) < nr)
    if (ns_since(&began) > 10 * (int64_t)NS_PER_SECOND)
      return -1;
  return 0;
}

static void carry_out(const traced_plan_t *plan, const uint64_t *taken) {
  struct timespec due;
  uint32_t i;

  if (plan->interval_ns == 0 && !plan->follows) {
    for (i = 0; i < plan->nr; i++)
      syscall(TRACED_CHILD_SYSCALL);
    return;
  }
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (i = 0; i < plan->nr; i++) {
    if (plan->follows && wait_for(taken, i) != 0)
      return;
    /* After a delay the calls do not catch up in a burst. */
    if (plan->follows || ns_since(&due) > plan->interval_ns)
      clock_gettime(CLOCK_MONOTONIC, &due);
    add_ns(&due, plan->interval_ns);
    wait_until(&due, plan->sleeps);
    syscall(TRACED_CHILD_SYSCALL);
  }
}

/* Until the other end is closed. */
static void serve(int fd, const uint64_t *taken) {
  traced_plan_t plan;

  while (recv(fd, &plan, sizeof(plan), 0) == (ssize_t)sizeof(plan)) {
    carry_out(&plan, taken);
    if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
      return;
  }
}

static _Noreturn void be_child(pid_t parent, int cpu, int fd,
                               const uint64_t *taken) {
  /* A parent that has gone by then would not be noticed by the first. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
      bench_pin(cpu) == 0)
    serve(fd, taken);
  _exit(0);
}

/* -- its parent ----------------------------------------------------------- */

static int make_shared(traced_child_t *child) {
  child->taken = mmap(NULL, sizeof(*child->taken), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return child->taken != MAP_FAILED ? 0 : bench_fail("mmap", strerror(errno));
}

static int fork_child(traced_child_t *child, int cpu) {
  pid_t parent = getpid();
  int fds[2];

  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return bench_fail("socketpair", strerror(errno));
  child->pid = fork();
  if (child->pid == 0) {
    close(fds[0]);
    be_child(parent, cpu, fds[1], child->taken);
  }
  close(fds[1]);
  child->fd = fds[0];
  if (child->pid > 0)
    return 0;
  close(child->fd);
  return bench_fail("fork", strerror(errno));
}

int traced_child_start(traced_child_t *child, int cpu) {
  if (make_shared(child) != 0)
    return 1;
  if (fork_child(child, cpu) == 0)
    return 0;
  munmap(child->taken, sizeof(*child->taken));
  return 1;
}

int traced_child_go(const traced_child_t *child, const traced_plan_t *plan) {
  if (send(child->fd, plan, sizeof(*plan), MSG_NOSIGNAL) !=
      (ssize_t)sizeof(*plan))
    return bench_fail("the traced child", strerror(errno));
  return 0;
}

int traced_child_is_done(const traced_child_t *child) {
  char word;
  ssize_t nr = recv(child->fd, &word, 1, 0);

  if (nr == 1)
    return 1;
  if (nr == 0)
    return -ESRCH;
  return errno == EAGAIN || errno == EINTR ? 0 : -errno;
}

void traced_child_end(traced_child_t *child) {
  close(child->fd);
  while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
    continue;
  munmap(child->taken, sizeof(*child->taken));
}
