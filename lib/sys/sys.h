/* SPDX-License-Identifier: MIT */
/* The only calls of the perf system calls and of netlink, and the
 * instructions that read a counter. Each function is one system call or
 * instruction (of a socket the two that make it), returns -errno if it can
 * fail, and knows no policy. They never call each other, so that tests can
 * replace each by the linker's --wrap. */
#ifndef UVPERF_LIB_SYS_SYS_H
#define UVPERF_LIB_SYS_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct perf_event_attr;
struct pollfd;

/* perf_event_open(2): the fd, or -errno; on E2BIG attr->size holds the size
 * that the kernel knows. */
int uvperf__sys_open(struct perf_event_attr *attr, pid_t pid, int cpu,
                     int group_fd, unsigned long flags);

/* ioctl(2) with an integer argument: pass -1L, not -1, for "none". */
int uvperf__sys_ioctl(int fd, unsigned long request, long arg);

/* ioctl(2) with a pointer argument. */
int uvperf__sys_ioctl_ptr(int fd, unsigned long request, void *arg);

/* mmap(2), shared: 0 and *address, or -errno. */
int uvperf__sys_mmap(void **address, size_t size, int prot, int fd,
                     off_t offset);

/* mmap(2) of memory of one's own, all zero: 0 and *address, or -errno. */
int uvperf__sys_mmap_private(void **address, size_t size);

int uvperf__sys_munmap(void *address, size_t size);

/* madvise(2): 0, or -errno. */
int uvperf__sys_madvise(void *address, size_t size, int advice);

/* poll(2) on one fd without waiting: the revents, or -errno. */
int uvperf__sys_poll(int fd, short events);

/* poll(2) on several fds without waiting: how many have revents, or -errno. */
int uvperf__sys_poll_all(struct pollfd *fds, size_t nr);

/* read(2): the bytes read, or -errno. */
ssize_t uvperf__sys_read(int fd, void *buffer, size_t size);

int uvperf__sys_close(int fd);

/* fcntl(2), F_SETFD: makes the fd close-on-exec. 0, or -errno. */
int uvperf__sys_cloexec(int fd);

/* membarrier(2), MEMBARRIER_CMD_GLOBAL: returns when all that runs in the
 * kernel inside of rcu_read_lock() now has come out of it, after some
 * milliseconds. 0; -EINVAL where a CPU is nohz_full; -ENOSYS, or what a seccomp
 * filter gives. */
int uvperf__sys_membarrier(void);

/* getpid(2), by which a forked child is recognised if there is no better way:
 * see sys/fork.h. */
/* The time of a clock in nanoseconds: 0, or -errno with *ns left alone. */
int uvperf__sys_now(clockid_t clock, uint64_t *ns);

pid_t uvperf__sys_getpid(void);

/* A number of the calling thread, without a system call; 0 where it is not to
 * be had. A forked child has another: pthread_getcpuclockid(3) makes the id of
 * the clock from that of the thread, which fork(3) renews in the child, in
 * glibc and in musl. A raw clone(2) does not. */
int uvperf__sys_thread(void);

/* gettid(2), the calling thread as perf_event_open(2) names it to others. */
pid_t uvperf__sys_gettid(void);

/* kill(2) without a signal: 0 where a task has this id, also a zombie; -EPERM
 * where it is another user's; -ESRCH where no task has it. */
int uvperf__sys_has_task(pid_t task);

/* The kernel's uevents, by a netlink socket (socket(2) and bind(2)), which
 * needs no privileges: its fd, close-on-exec and non-blocking; or -errno. */
int uvperf__sys_uevents_open(void);

/* recvfrom(2): the bytes of the next one, cut to `size`; -EAGAIN where none is
 * there, -ENOBUFS where some were lost, or another -errno. *from_kernel is
 * whether the kernel has sent it: a process that has CAP_NET_ADMIN could, too
 * (netlink_sendmsg in net/netlink/af_netlink.c). */
ssize_t uvperf__sys_uevents_read(int fd, void *buffer, size_t size,
                                 int *from_kernel);

/* Instructions, in rdpmc.c: they need the kernel's leave too, and tests script
 * them. */

/* What a counter of this CPU's PMU holds, by its number: x86: rdpmc; aarch64:
 * pmccntr_el0 for 31, pmevcntrN_el0 below. Where it is not allowed, and for a
 * counter that is not there, the instruction faults and the signal ends the
 * process. 0 on any other architecture. */
uint64_t uvperf__sys_rdpmc(uint32_t counter);

/* The clock that the times of an event's page are told in: x86: rdtsc; aarch64:
 * cntvct_el0. 0 on any other architecture. */
uint64_t uvperf__sys_cycles(void);

#endif
