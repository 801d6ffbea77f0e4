/* SPDX-License-Identifier: MIT */
#include "sys/opener.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "sys/sys.h"

/* MAX_ERRNO in include/linux/err.h. A lower number is not an errno. */
#define MOST_ERRNO 4095

int uvperf__open_id(int fd, uint64_t *id) {
  int rc = uvperf__sys_ioctl_ptr(fd, PERF_EVENT_IOC_ID, id);

  return rc < 0 ? rc : 0;
}

/* If the fd is not open, it must not be closed here: another thread may have
 * opened it since. */
static int check(int fd) {
  uint64_t id;
  int rc = uvperf__sys_cloexec(fd);

  if (rc != 0)
    return -ENOTTY;
  rc = uvperf__open_id(fd, &id);
  if (rc == 0)
    return fd;
  uvperf__sys_close(fd);
  return -ENOTTY;
}

int uvperf__open(const uvperf__opener_t *opener, struct perf_event_attr *attr,
                 pid_t pid, int cpu, int group_fd, unsigned long flags) {
  int fd;

  if (opener->open == NULL)
    return uvperf__sys_open(attr, pid, cpu, group_fd, flags);
  if (pid == 0 && !(flags & PERF_FLAG_PID_CGROUP))
    pid = uvperf__sys_gettid();
  fd = opener->open(attr, pid, cpu, group_fd, flags, opener->arg);
  if (fd < -MOST_ERRNO)
    return -ENOTTY;
  return fd < 0 ? fd : check(fd);
}
