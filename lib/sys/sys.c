/* SPDX-License-Identifier: MIT */
/* The system calls that perf events need, one function for each. The callers
 * decide when to call them, and know the meaning of their results. */
#define _GNU_SOURCE 1
#include "sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>

_Static_assert(sizeof(off_t) == sizeof(int64_t),
               "compile with -D_FILE_OFFSET_BITS=64");

/* The type of ioctl's second parameter: int in POSIX and musl. */
#ifdef __GLIBC__
typedef unsigned long request_t;
#else
typedef int request_t;
#endif

/* The group to which the kernel sends uevents; 2 is udev's. */
#define UEVENTS_OF_KERNEL 1
#define NS_PER_SECOND     UINT64_C(1000000000)

int uvperf__sys_open(struct perf_event_attr *attr, pid_t pid, int cpu,
                     int group_fd, unsigned long flags) {
  long fd;

  /* A signal can interrupt the call while the target is in execve(2):
   * perf_event_open takes exec_update_lock interruptibly. */
  do
    fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
  while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : (int)fd;
}

int uvperf__sys_ioctl(int fd, unsigned long request, long arg) {
  int rc;

  do
    rc = ioctl(fd, (request_t)request, arg);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : rc;
}

int uvperf__sys_ioctl_ptr(int fd, unsigned long request, void *arg) {
  int rc;

  do
    rc = ioctl(fd, (request_t)request, arg);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : rc;
}

int uvperf__sys_mmap(void **address, size_t size, int prot, int fd,
                     off_t offset) {
  void *mapped;

  mapped = mmap(NULL, size, prot, MAP_SHARED, fd, offset);
  if (mapped == MAP_FAILED)
    return -errno;
  *address = mapped;
  return 0;
}

int uvperf__sys_mmap_private(void **address, size_t size) {
  void *mapped;

  mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
  if (mapped == MAP_FAILED)
    return -errno;
  *address = mapped;
  return 0;
}

int uvperf__sys_munmap(void *address, size_t size) {
  return munmap(address, size) < 0 ? -errno : 0;
}

int uvperf__sys_madvise(void *address, size_t size, int advice) {
  return madvise(address, size, advice) < 0 ? -errno : 0;
}

int uvperf__sys_poll(int fd, short events) {
  struct pollfd pfd;
  int rc;

  pfd.fd = fd;
  pfd.events = events;
  pfd.revents = 0;
  do
    rc = poll(&pfd, 1, 0);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : pfd.revents;
}

int uvperf__sys_poll_all(struct pollfd *fds, size_t nr) {
  int rc;

  do
    rc = poll(fds, (nfds_t)nr, 0);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : rc;
}

ssize_t uvperf__sys_read(int fd, void *buffer, size_t size) {
  ssize_t rc;

  do
    rc = read(fd, buffer, size);
  while (rc < 0 && errno == EINTR);
  return rc < 0 ? -errno : rc;
}

int uvperf__sys_close(int fd) {
  /* close(2) is not repeated after EINTR, because Linux has already closed the
   * fd. */
  return close(fd) < 0 ? -errno : 0;
}

int uvperf__sys_cloexec(int fd) {
  return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

int uvperf__sys_membarrier(void) {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) < 0 ? -errno : 0;
}

int uvperf__sys_now(clockid_t clock, uint64_t *ns) {
  struct timespec now;

  if (clock_gettime(clock, &now) != 0)
    return -errno;
  *ns = (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
  return 0;
}

pid_t uvperf__sys_getpid(void) {
  return getpid();
}

int uvperf__sys_thread(void) {
  clockid_t clock;

  return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? clock : 0;
}

pid_t uvperf__sys_gettid(void) {
  /* glibc has gettid(2) only since 2.30. */
  return (pid_t)syscall(SYS_gettid);
}

int uvperf__sys_has_task(pid_t process, pid_t task) {
  /* glibc has tgkill(2) only since 2.30, and does not have tkill(2). */
  long rc = process < 0 ? syscall(SYS_tkill, task, 0)
                        : syscall(SYS_tgkill, process, task, 0);

  return rc < 0 ? -errno : 0;
}

int uvperf__sys_uevents_open(void) {
  struct sockaddr_nl address;
  int fd, rc;

  fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
              NETLINK_KOBJECT_UEVENT);
  if (fd < 0)
    return -errno;
  memset(&address, 0, sizeof(address));
  address.nl_family = AF_NETLINK;
  address.nl_groups = UEVENTS_OF_KERNEL;
  if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
    return fd;
  rc = -errno;
  close(fd);
  return rc;
}

ssize_t uvperf__sys_uevents_read(int fd, void *buffer, size_t size,
                                 int *from_kernel) {
  struct sockaddr_nl sender;
  socklen_t length;
  ssize_t rc;

  do {
    memset(&sender, 0, sizeof(sender));
    length = sizeof(sender);
    rc = recvfrom(fd, buffer, size, 0, (struct sockaddr *)&sender, &length);
  } while (rc < 0 && errno == EINTR);
  *from_kernel = rc >= 0 && sender.nl_family == AF_NETLINK &&
                 sender.nl_pid == 0 && sender.nl_groups == UEVENTS_OF_KERNEL;
  return rc < 0 ? -errno : rc;
}
