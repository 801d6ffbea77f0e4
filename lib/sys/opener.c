/* SPDX-License-Identifier: MIT */
#include "sys/opener.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

#include "sys/sys.h"

/* MAX_ERRNO in include/linux/err.h. A lower number is not an errno. */
#define MOST_ERRNO 4095

#define NS_PER_MS 1000000

/* uvperf__calls_t.began_ms of the last call. A time is odd. */
#define CALLS_ENDED 2

int uvperf__open_id(int fd, uint64_t *id) {
  int rc = uvperf__sys_ioctl_ptr(fd, PERF_EVENT_IOC_ID, id);

  return rc < 0 ? rc : 0;
}

/* Checks the result of the program's function. A number that is refused is
 * left unchanged and open: it may be another fd of the program. The kernel
 * numbers all events in the order in which they are opened (perf_event_alloc()
 * in kernel/events/core.c). So an event whose id is not greater was not opened
 * by this call. If a seccomp filter or a security module forbids the ioctl, the
 * fd cannot be checked: then the first ioctl that is needed fails. */
static int opener_check(const uvperf__opener_t *opener, int fd) {
  uint64_t id;
  int rc = uvperf__open_id(fd, &id);

  if (rc != 0 && rc != -EPERM && rc != -EACCES)
    return -ENOTTY;
  if (rc == 0 && id <= opener->calls->newest)
    return -EEXIST;
  if (uvperf__sys_cloexec(fd) != 0)
    return -ENOTTY;
  if (rc == 0)
    opener->calls->newest = id;
  return fd;
}

static uint32_t calls_now(void) {
  uint64_t ns;

  uvperf__sys_now(CLOCK_MONOTONIC, &ns);
  return (uint32_t)(ns / NS_PER_MS) | 1;
}

uint32_t uvperf__calls_left(uvperf__calls_t *calls, uint32_t limit_ms) {
  uint32_t began_ms = atomic_load(&calls->began_ms);
  uint32_t passed_ms = began_ms == 0 ? 0 : calls_now() - began_ms;

  if (passed_ms < limit_ms)
    return limit_ms - passed_ms;
  return atomic_compare_exchange_strong(&calls->began_ms, &began_ms,
                                        CALLS_ENDED)
             ? 0
             : limit_ms;
}

int uvperf__open(const uvperf__opener_t *opener, struct perf_event_attr *attr,
                 pid_t pid, int cpu, int group_fd, unsigned long flags) {
  uint32_t began_ms, none = 0;
  int fd;

  if (opener->open == NULL)
    return uvperf__sys_open(attr, pid, cpu, group_fd, flags);
  began_ms = calls_now();
  if (!atomic_compare_exchange_strong(&opener->calls->began_ms, &none,
                                      began_ms))
    return -ECANCELED;
  if (pid == 0 && !(flags & PERF_FLAG_PID_CGROUP))
    pid = uvperf__sys_gettid();
  fd = opener->open(attr, pid, cpu, group_fd, flags, opener->arg);
  atomic_compare_exchange_strong(&opener->calls->began_ms, &began_ms, 0);
  if (fd < -MOST_ERRNO)
    return -ENOTTY;
  return fd < 0 ? fd : opener_check(opener, fd);
}
