/* SPDX-License-Identifier: MIT */
/* Shared by the live tests of handles: events that produce exactly as many
 * records as a test asks for, a collector of delivered records, and functions
 * that run the loop until a condition holds. */
#ifndef UVPERF_TEST_LIVE_H
#define UVPERF_TEST_LIVE_H

#include <sched.h>
#include <sys/types.h>

#include "support.h"

#include "uvperf.h"

/* Counts what the callbacks receive. Its address is the handle's `data`. */
typedef struct live_collector_s {
  uvperf_event_t event;
  uint64_t records; /* of any type */
  uint64_t comms;   /* COMM records whose name is "live<n>", in order */
  uint64_t out_of_order;
  uint64_t others; /* any other record */
  uint64_t slice_ends;
  uint64_t ends; /* callbacks without a record and with a status */
  uint64_t after_end;
  int end_status;
  int closed;
  /* Called with each record, before it is counted; may be NULL. */
  void (*hook)(struct live_collector_s *collector,
               const uvperf_record_t *record);
  void *hook_data;
} live_collector_t;

/* An attr that records the calling thread's COMM records, each of which
 * wakes. */
void live_comm_attr(struct perf_event_attr *attr);

/* Makes exactly nr COMM records of the calling thread: "live0", "live1"…,
 * continuing at *next. */
void live_comm(uint64_t *next, uint64_t nr);

/* The record callback of a collector. */
void live_on_record(uvperf_handle_t *handle, int status,
                    const uvperf_record_t *record);

/* Initializes the collector and its event; fails the test on error. */
void live_init(uv_loop_t *loop, live_collector_t *collector,
               const struct perf_event_attr *attr,
               const uvperf_event_options_t *options);

/* The same for the calling thread's COMM records. */
void live_init_comm(uv_loop_t *loop, live_collector_t *collector);

/* Slices that no time ends: a test that loses its CPU for a millisecond must
 * still get its records in the turns that it expects. */
#define LIVE_SLICE_US UINT32_MAX

/* Starts it without a flush timer (flush_ms -1) and with LIVE_SLICE_US, unless
 * options say otherwise. */
void live_start(live_collector_t *collector,
                const uvperf_stream_options_t *options);

/* Initializes the collector with a hook, starts delivery and enables the event:
 * everything that follows is recorded until live_end. The code that disables
 * and enables has run before, so it causes no page fault. */
void live_begin(uv_loop_t *loop, live_collector_t *collector,
                const struct perf_event_attr *attr,
                const uvperf_event_options_t *options,
                void (*hook)(live_collector_t *, const uvperf_record_t *),
                void *hook_data);

/* Disables the event, runs the loop until nr records came, fails the test if
 * there are more, fewer, lost or corrupt ones, and closes the event. */
void live_end(live_collector_t *collector, uint64_t nr);

/* Closes it and runs the loop until its close callback was called. */
void live_close(live_collector_t *collector);

/* Runs the loop until *counter has reached nr. Returns 1, or 0 after 20
 * seconds. */
int live_run_until(uv_loop_t *loop, const uint64_t *counter, uint64_t nr);

/* Runs the loop for ms milliseconds. Returns the number of its turns. */
uint64_t live_run_ms(uv_loop_t *loop, uint64_t ms);

/* Forks a child that makes nr COMM records when live_child_go is called, and
 * then exits. */
typedef struct live_child_s {
  pid_t pid;
  int go;
} live_child_t;

void live_child_fork(live_child_t *child, uint64_t nr);
void live_child_go(live_child_t *child);
void live_child_wait(live_child_t *child);

/* Fills in the ring of a CPU, which must have one. */
void live_find_ring(const uvperf_handle_t *handle, uint32_t cpu,
                    uvperf_ring_info_t *ring);

/* -- work of known effect: live_work.c ------------------------------------- */

/* The length of a user's call chain: the context and the ip. Some kernels of
 * s390x do not walk the stack. */
#if defined(__s390x__)
#define LIVE_LEAST_CHAIN 1
#else
#define LIVE_LEAST_CHAIN 2
#endif

/* What live_touch and similar functions do, and what their records must
 * contain. */

/* LIVE_PAGES pages of fresh memory that are not yet present: the first touch of
 * each is one page fault. live_touch touches the i-th at live_touched(i), in
 * order. Its code has run before, so it faults nowhere else. On s390x, where
 * the kernel reports no more, live_touched(i) is the start of the page. */
#define LIVE_PAGES 8
char *live_region(void);
void live_region_free(char *region);
void live_touch(char *region);
uint64_t live_touched(const char *region, uint64_t i);
/* Whether an address is in live_touch's code. */
int live_is_in_touch(uint64_t ip);

/* A word for breakpoints, and a function that writes to it nr times. */
extern volatile unsigned long live_word;
void live_write(uint64_t nr);

/* A function for breakpoints. */
void live_called(uint64_t argument);

/* Makes nr calls of getpgid(LIVE_PGID). No other process calls it with this
 * argument. */
#define LIVE_PGID    0x1234567
#define LIVE_SYSCALL "syscalls:sys_enter_getpgid"
void live_syscall(uint64_t nr);

/* Attrs for which each page fault, write, call or system call is a sample with
 * these fields, and wakes; user side only. */
void live_touch_attr(struct perf_event_attr *attr, uint64_t sample_type);
void live_write_attr(struct perf_event_attr *attr, uint64_t sample_type);
void live_called_attr(struct perf_event_attr *attr, uint64_t sample_type);
/* A uprobe at live_called of this program. The caller frees the list. */
uvperf_event_list_t *live_called_list(void);
void live_syscall_attr(struct perf_event_attr *attr, uint64_t tracepoint,
                       uint64_t sample_type);
/* The same; skips the test if the tracepoint cannot be had. */
void live_need_syscall(const char *test, struct perf_event_attr *attr,
                       uint64_t sample_type);

uint64_t live_now(void); /* CLOCK_MONOTONIC, ns */
uint32_t live_tid(void);

/* Where an address lies in physical memory, by /proc/self/pagemap, which shows
 * it only to root. */
uint64_t live_physical(const volatile void *address);

/* Keeps the calling thread on one CPU; *old is for live_unpin. live_cpus lists
 * the CPUs that it may use, at most `most`. */
void live_pin(int cpu, cpu_set_t *old);
void live_unpin(const cpu_set_t *old);
size_t live_cpus(int *cpus, size_t most);
int live_last_cpu(void); /* not 0, if possible */

/* A forked child that works on request: live_worker_do returns when it has
 * worked, ended, or executed another program. */
typedef struct live_worker_s {
  pid_t pid;
  int go;
  int done;
} live_worker_t;

void live_worker_fork(live_worker_t *worker, void (*work)(void *), void *arg);
void live_worker_do(live_worker_t *worker);
/* Ends it and waits; its exit code must be 0. */
void live_worker_end(live_worker_t *worker);

/* A new cgroup (v2). The test skips if it may not write to any hierarchy. */
typedef struct live_cgroup_s {
  char path[512];
  int fd;      /* of its directory */
  uint64_t id; /* its live_cgroup_id */
} live_cgroup_t;

/* The id of a cgroup: what name_to_handle_at(2) returns for its directory. */
uint64_t live_cgroup_id(const char *path);
void live_cgroup_make(const char *test, live_cgroup_t *cgroup);
void live_cgroup_add(const live_cgroup_t *cgroup, pid_t pid);
void live_cgroup_remove(live_cgroup_t *cgroup);

/* The id of the process's own cgroup; skips as live_cgroup_make. */
uint64_t live_cgroup_own(const char *test);

#endif
