/* SPDX-License-Identifier: MIT */
/* The only calls of the perf system calls and of netlink, and the instructions
 * that read a counter. Each function makes one system call or executes one
 * instruction (opening a socket takes two calls). A function that can fail
 * returns -errno. The functions have no policy. The functions never call each
 * other, so that tests can replace each with the linker's --wrap. */
#ifndef UVPERF_LIB_SYS_SYS_H
#define UVPERF_LIB_SYS_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct perf_event_attr;
struct pollfd;

/* perf_event_open(2). Returns the fd or -errno. On E2BIG attr->size holds the
 * size that the kernel knows. */
int uvperf__sys_open(struct perf_event_attr *attr, pid_t pid, int cpu,
                     int group_fd, unsigned long flags);

/* ioctl(2) with an integer argument: pass -1L, not -1, for "none". */
int uvperf__sys_ioctl(int fd, unsigned long request, long arg);

/* ioctl(2) with a pointer argument. */
int uvperf__sys_ioctl_ptr(int fd, unsigned long request, void *arg);

/* mmap(2), shared. Returns 0 and *address, or -errno. */
int uvperf__sys_mmap(void **address, size_t size, int prot, int fd,
                     off_t offset);

/* mmap(2) of private memory, all zero. Returns 0 and *address, or -errno. */
int uvperf__sys_mmap_private(void **address, size_t size);

int uvperf__sys_munmap(void *address, size_t size);

/* madvise(2). Returns 0 or -errno. */
int uvperf__sys_madvise(void *address, size_t size, int advice);

/* poll(2) on one fd without waiting. Returns the revents or -errno. */
int uvperf__sys_poll(int fd, short events);

/* poll(2) on several fds without waiting. Returns the number of fds with
 * revents, or -errno. */
int uvperf__sys_poll_all(struct pollfd *fds, size_t nr);

/* read(2). Returns the number of bytes read, or -errno. */
ssize_t uvperf__sys_read(int fd, void *buffer, size_t size);

int uvperf__sys_close(int fd);

/* fcntl(2), F_SETFD: makes the fd close-on-exec. Returns 0 or -errno. */
int uvperf__sys_cloexec(int fd);

/* membarrier(2), MEMBARRIER_CMD_GLOBAL: returns when all kernel code that is
 * inside rcu_read_lock() now has left it. This takes some milliseconds. Returns
 * 0, -EINVAL if a CPU is nohz_full, -ENOSYS, or the error of a seccomp
 * filter. */
int uvperf__sys_membarrier(void);

/* Reads the time of a clock in nanoseconds. Returns 0, or -errno with *ns
 * unchanged. */
int uvperf__sys_now(clockid_t clock, uint64_t *ns);

/* getpid(2), by which a forked child is recognised if there is no better way:
 * see sys/fork.h. */
pid_t uvperf__sys_getpid(void);

/* Returns a number of the calling thread, without a system call, or 0 if it is
 * not available. A forked child has a different number:
 * pthread_getcpuclockid(3) computes the clock's id from the thread's id, which
 * fork(3) updates in the child, in glibc and in musl. A raw clone(2) does not
 * update it. */
int uvperf__sys_thread(void);

/* gettid(2): the id that another thread or process passes to perf_event_open(2)
 * for the calling thread. */
pid_t uvperf__sys_gettid(void);

/* tgkill(2) without a signal. Returns 0 if a task of this process has this id
 * (a zombie too), -EPERM if the task belongs to another user, or -ESRCH if no
 * task of this process has this id. The process -1 means any. */
int uvperf__sys_has_task(pid_t process, pid_t task);

/* Opens a netlink socket for the kernel's uevents (socket(2) and bind(2)),
 * which needs no privileges. Returns its fd, close-on-exec and non-blocking, or
 * -errno. */
int uvperf__sys_uevents_open(void);

/* recvfrom(2). Returns the size in bytes of the next uevent, cut to `size`;
 * -EAGAIN if there is none, -ENOBUFS if some were lost, or another -errno.
 * *from_kernel is 1 if the kernel sent the uevent, because a process with
 * CAP_NET_ADMIN can send uevents too (netlink_sendmsg in
 * net/netlink/af_netlink.c). */
ssize_t uvperf__sys_uevents_read(int fd, void *buffer, size_t size,
                                 int *from_kernel);

/* Instructions, in rdpmc.c. The instructions are here because, like system
 * calls, they need the kernel's permission, and because tests replace them. */

/* Reads the value of a counter of this CPU's PMU. On x86 this is rdpmc. On
 * aarch64 this is pmccntr_el0 for counter 31, and pmevcntrN_el0 for the lower
 * numbers. On any other architecture it is 0. If the read is not allowed, or
 * the counter does not exist, the instruction faults and the signal ends the
 * process. */
uint64_t uvperf__sys_rdpmc(uint32_t counter);

/* Reads the clock in which the times of an event's page are measured. On x86
 * this is rdtsc, on aarch64 cntvct_el0. On any other architecture it is 0. */
uint64_t uvperf__sys_cycles(void);

#endif
