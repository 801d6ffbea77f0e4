/* SPDX-License-Identifier: MIT */
/* A scripted kernel. Every test program is linked with --wrap for the functions
 * of lib/sys/sys.h, lib/sys/bpf.h and lib/util/alloc.h, so each call of the
 * library comes here first. Without a script it calls the real function.
 *
 *   fake_kernel_reset();                        in the setup of the test
 *   fake = fake_event_add(7);                   the next open returns it
 *   fake_fail(FAKE_MMAP, 1, -EPERM);            the next mmap fails
 *   ... call the library ...
 *   fake_ring_append(fake, record, sizeof(record));
 *   fake_event_wake(fake);                      the loop sees POLLIN
 *   ... run the loop, close ...
 *   assert_string_equal(fake_log(), "ioctl DISABLE, munmap, close");
 *   fake_assert_clean();
 *
 * Calls that no kernel would allow (unmapping twice or with another size,
 * closing twice) fail the test at once; in a forked child they abort.
 *
 * A scripted event is a limited copy: its fd is an eventfd, level-triggered and
 * without hang-up. How a real perf fd wakes a loop needs live tests. Scripted
 * maps are in fake_map.h. */
#ifndef UVPERF_TEST_FAKE_KERNEL_H
#define UVPERF_TEST_FAKE_KERNEL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

/* The wrapped functions. */
enum fake_call {
  FAKE_OPEN,
  FAKE_IOCTL,
  FAKE_IOCTL_PTR,
  FAKE_MMAP,
  FAKE_MMAP_PRIVATE,
  FAKE_MUNMAP,
  FAKE_MADVISE,
  FAKE_POLL,
  FAKE_READ,
  FAKE_CLOSE,
  FAKE_BPF_LINK,
  FAKE_MEMBARRIER,
  FAKE_BPF_INFO,
  FAKE_BPF_MAP_BY_ID,
  FAKE_BPF_PINNED,
  FAKE_BPF_UPDATE,
  FAKE_BPF_LOOKUP,
  FAKE_BPF_DELETE,
  FAKE_DUP,
  FAKE_ACCESS,
  FAKE_GETPID,
  FAKE_IS_MARKED,
  FAKE_GETTID,
  FAKE_HAS_TASK,
  FAKE_RDPMC,
  FAKE_CYCLES,
  FAKE_CALLOC,
  FAKE_FREE,
  FAKE_CALLS
};

/* The size left in attr->size when a scripted open fails with -E2BIG. */
#define FAKE_ATTR_SIZE 112

typedef struct fake_event_s fake_event_t;

/* A scripted event. */
struct fake_event_s {
  /* Set by the test, at any time. */
  uint64_t id;   /* returned by PERF_EVENT_IOC_ID */
  short revents; /* returned by poll, besides POLLIN after a wake */
  const void
      *read_data;   /* returned by read: -ENOSPC if the buffer is smaller, */
  size_t read_size; /* as from the kernel; the default is 0 bytes */
  /* Called when the page, or page and ring, has been mapped, to fill or spoil
   * it; or NULL. */
  void (*on_map)(fake_event_t *fake);
  /* Called at the start of each poll of the event, for example to write a
   * record between a drain and a probe; or NULL. */
  void (*on_poll)(fake_event_t *fake);
  /* Called with each ioctl of the event, except ID and those that a script
   * makes fail; the ioctl returns its result. The argument is a number or a
   * pointer. Or NULL. */
  int (*on_ioctl)(fake_event_t *fake, unsigned long request,
                  uintptr_t argument);
  /* Called with each program to be linked to the event, unless a script makes
   * the link fail; a -errno refuses it. NULL: the event takes one program, and
   * the next is -EEXIST. The library gets a link, whose close is "close link"
   * in the log. */
  int (*on_link)(fake_event_t *fake, int prog_fd);
  void *data; /* for the test */

  /* Noted by the fake kernel. */
  int fd;          /* -1 before open and after close */
  int link;        /* the program's link fd, -1 without one */
  uint64_t cookie; /* the last link's */
  int opened;      /* whether an open returned it; stays 1 after close */
  int enabled;     /* by the last ENABLE or DISABLE, else !attr.disabled */
  union {
    struct perf_event_attr attr; /* as passed to open, attr.size bytes of it */
    uint8_t attr_bytes[512];
  };
  pid_t pid;
  int cpu;
  int group_fd;
  unsigned long flags;
  struct perf_event_mmap_page *page; /* NULL while not mapped */
  uint8_t *ring;                     /* the data after the page */
  size_t ring_size;

  /* Private. */
  int old_fd;
  int old_link;
  void *region;
  size_t region_size;
};

/* Forgets every script, count and log, and frees what scripted events still
 * hold. For setups: there is one state per process. */
void fake_kernel_reset(void);

/* The same as a cmocka setup; and as the setup and teardown of a test with a
 * loop, for support_loop_test_setup_teardown. */
int fake_kernel_setup(void **state);
int fake_kernel_loop_setup(void **state);
int fake_kernel_loop_teardown(void **state);

/* The same, and if the test passed nothing may be left, as
 * fake_assert_clean. */
int fake_kernel_clean_teardown(void **state);

/* An entry of the table of tests: on a scripted kernel, with a loop, and
 * nothing may be left. */
#define fake_kernel_test(f)                                                    \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_clean_teardown)

/* Scripts an event. Opens return the added events in this order, then call the
 * real kernel. At most 512. */
fake_event_t *fake_event_add(uint64_t id);

/* Makes the nth call from now on (1: the next) fail with the code (a -errno),
 * on real and scripted events alike; calloc then returns NULL whatever the
 * code. A failing call does nothing else, except close, which closes as on
 * Linux. If several scripts match a call, the first one wins. At most 64. */
void fake_fail(enum fake_call call, unsigned nth, int code);
/* The same for this call and every later one. */
void fake_fail_from(enum fake_call call, unsigned nth, int code);
/* Called with each open that no script makes fail. It may check the attr as the
 * kernel does: a -errno refuses it, 0 continues with a scripted event or the
 * real kernel. NULL: no such function. */
void fake_on_open(int (*on_open)(struct perf_event_attr *attr));

/* Called instead of each membarrier that no script makes fail, which then
 * returns 0. It does what other CPUs do before the membarrier returns. NULL:
 * the real membarrier. */
void fake_on_membarrier(void (*on_membarrier)(void));

/* Set what the PMU's counters and their clock return; no script makes these
 * fail. NULL: the real ones, where a counter that the process may not read is a
 * SIGSEGV. */
void fake_on_rdpmc(uint64_t (*on_rdpmc)(uint32_t counter));
void fake_on_cycles(uint64_t (*on_cycles)(void));

/* A call on a scripted event or map, or an open. */
typedef struct fake_seen_s {
  const char *call;         /* as in the log: "open", "ioctl" */
  const char *detail;       /* "ENABLE", "link" */
  const fake_event_t *fake; /* NULL: of a map, or an open that failed */
  uintptr_t argument;       /* of an ioctl */
  int code;                 /* what the call returned */
  pid_t pid;                /* of an open */
  int cpu;
  int group_fd;
} fake_seen_t;

/* Called after each of them. NULL: no such function. */
void fake_on_call(void (*on_call)(const fake_seen_t *seen));

/* How often a script made a call fail. 0 ends a loop over "the i-th fails". */
unsigned fake_failures(void);

/* How often the function was called since the reset. */
unsigned fake_count(enum fake_call call);

/* The calls since the reset or the last clear, in order, except tasks, memory
 * and instructions: "open, mmap, ioctl ID, read failed, close". */
const char *fake_log(void);
void fake_log_clear(void);

/* Sets what uvperf__process returns, to act as a forked child; 0 restores the
 * real process. uvperf_next in the middle of a run (lib/loop/next.c) notices
 * real forks only. */
void fake_process(uint32_t process);

/* The same for uvperf__sys_thread, in all threads. */
void fake_thread(int number);

/* The number of blocks of uvperf__calloc that are not freed. */
size_t fake_live_allocations(void);

/* Fails the test if a scripted event is open, mapped or linked, a scripted map
 * is open, or memory is not freed. */
void fake_assert_clean(void);

/* The position that a reader has published. A 32-bit program stores only the
 * lower half of data_tail, which is enough for the kernel: the upper half
 * belongs to a position at most 4 GiB before data_head. */
uint64_t fake_ring_tail(const struct perf_event_mmap_page *page);

/* Writes at data_head, wrapping as the kernel does, and moves data_head. Fails
 * the test if there is no room. */
void fake_ring_append(fake_event_t *fake, const void *bytes, size_t size);

/* Writes as the kernel does into an overwritable ring (attr.write_backward):
 * below data_head, which it moves down, over older records. */
void fake_ring_prepend(fake_event_t *fake, const void *bytes, size_t size);

/* Makes the fd readable for libuv until fake_event_quiet is called or the
 * library itself polls it: polling clears the readiness, as perf_poll does. */
void fake_event_wake(fake_event_t *fake);
void fake_event_quiet(fake_event_t *fake);

#endif
