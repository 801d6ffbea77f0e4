/* SPDX-License-Identifier: MIT */
/* The page of an event (struct perf_event_mmap_page in linux/perf_event.h),
 * with which a thread reads its own counts by rdpmc, without a system call. If
 * there is any doubt, reading returns -EAGAIN, and the caller uses read(2). */
#ifndef UVPERF_LIB_RING_USER_PAGE_H
#define UVPERF_LIB_RING_USER_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

#include "ring/leftovers.h"

struct perf_event_mmap_page;

/* The thread that may read some pages. It must be the measured thread, because
 * a page describes the counters of the CPU on which that thread runs. The
 * thread is recognized by pthread_self(). No other thread has the same value
 * while the thread lives. When the thread has ended, its pages show this. In a
 * forked child the value is the same, but `process` is different. (A child of
 * vfork(2) has the same `process`, but its parent waits, and the pages say that
 * the parent is on no CPU.) All zero means no reader. */
typedef struct uvperf__user_reader_s {
  pthread_t thread;
  uint32_t process; /* uvperf__process; 0: no reader */
} uvperf__user_reader_t;

/* Makes the calling thread the reader, if a forked child can be recognised
 * without a system call. Otherwise there is no reader, and all counts come from
 * read(2). */
void uvperf__user_reader_init(uvperf__user_reader_t *reader);

/* Whether the caller is this thread, and not a forked child. Makes no system
 * call. */
int uvperf__user_reader_is_mine(const uvperf__user_reader_t *reader);

/* Maps the page of an event. Returns 0 and *page. Returns -EOPNOTSUPP if the
 * page will never have a count, as with software events. Otherwise returns the
 * code of mmap(2), such as -EPERM when perf_event_mlock_kb is used up. Do not
 * use it for events with attr.inherit: a page does not have the counts of the
 * children. */
int uvperf__user_page_map(int fd, const struct perf_event_mmap_page **page);

/* Unmaps a page: at once if `leftovers` is NULL, otherwise later. Must not be
 * called in a forked child: the page is not mapped there (VM_DONTCOPY in
 * perf_mmap), but something else may be at its address. */
void uvperf__user_page_unmap(const struct perf_event_mmap_page *page,
                             uvperf__leftovers_t *leftovers);

/* A count as read(2) returns it; times in nanoseconds. */
typedef struct uvperf__user_count_s {
  uint64_t value;
  uint64_t enabled;
  uint64_t running;
} uvperf__user_count_t;

/* Reads the count of an event of the calling thread from its page, which must
 * be mapped. A process may use rdpmc while it has such a page
 * (perf_rdpmc_allowed, x86_pmu_event_unmapped). Without a page the instruction
 * ends the process. The same happens if an administrator forbids rdpmc by
 * writing 0 to /sys/devices/cpu/rdpmc, or to kernel.perf_user_access on
 * aarch64.
 *
 * Returns 0. If only read(2) can return the count, returns -EAGAIN with *count
 * unchanged. The reasons for -EAGAIN are:
 * - the event is not on a counter now;
 * - the kernel or the CPU does not allow it, or does not have the times;
 * - the page has an unknown layout, changes all the time, or makes no sense. */
int uvperf__user_page_read(const struct perf_event_mmap_page *page,
                           uvperf__user_count_t *count);

#endif
