/* SPDX-License-Identifier: MIT */
/* The page of an event, by which a thread reads its own counts without
 * a system call: struct perf_event_mmap_page in linux/perf_event.h. Where there
 * is any doubt the answer is -EAGAIN, and read(2) is asked. */
#ifndef UVPERF_LIB_RING_USER_PAGE_H
#define UVPERF_LIB_RING_USER_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

struct perf_event_mmap_page;

/* Who may read some pages: the thread that is measured, as the numbers in a
 * page are those of the counters of the CPU on which that thread runs. It is
 * told by pthread_self(): while it lives no other thread has the same, and when
 * it has ended its pages say so. A forked child has the same too, but another
 * `process`. (A child of vfork(2) has the same `process`, but its parent waits,
 * and the pages say that it is on no CPU.) All zero means no reader. */
typedef struct uvperf__user_reader_s {
  pthread_t thread;
  uint32_t process; /* uvperf__process; 0: no reader */
} uvperf__user_reader_t;

/* Makes the calling thread the reader, if a forked child can be recognised
 * without a system call. Else there is no reader, and all counts come from
 * read(2). */
void uvperf__user_reader_init(uvperf__user_reader_t *reader);

/* Whether this is the thread, and no forked child; no system call. */
int uvperf__user_reader_is_mine(const uvperf__user_reader_t *reader);

/* Maps the page of an event: 0 and *page; -EOPNOTSUPP where it will never tell
 * a count, as with software events; or what mmap(2) says, such as -EPERM when
 * all of perf_event_mlock_kb is used up. Events with attr.inherit are not for
 * this: a page has not what the children count. */
int uvperf__user_page_map(int fd, const struct perf_event_mmap_page **page);

/* Not in a forked child: the page is not there (VM_DONTCOPY in perf_mmap), but
 * something else may be. */
void uvperf__user_page_unmap(const struct perf_event_mmap_page *page);

/* A count as read(2) gives it; the times are nanoseconds. */
typedef struct uvperf__user_count_s {
  uint64_t value;
  uint64_t enabled;
  uint64_t running;
} uvperf__user_count_t;

/* Reads the count of an event of the calling thread from its page, which must
 * be mapped: with the last page of a process its leave to use rdpmc ends
 * (perf_rdpmc_allowed, x86_pmu_event_unmapped), and the instruction ends the
 * process. It also ends if an administrator takes that leave from all: 0
 * written to /sys/devices/cpu/rdpmc, or to kernel.perf_user_access on aarch64.
 *
 * 0, or -EAGAIN where only read(2) can tell, and *count is left alone: the
 * event is not on a counter now; kernel or CPU do not allow it, or do not tell
 * the times; the page is of a layout that is not known here, changes all the
 * time, or says what cannot be. */
int uvperf__user_page_read(const struct perf_event_mmap_page *page,
                           uvperf__user_count_t *count);

#endif
