/* SPDX-License-Identifier: MIT */
/* A scripted kernel. Every test program is linked with --wrap for the functions
 * of lib/sys/sys.h, lib/sys/bpf.h and lib/util/alloc.h, so each call of the
 * library comes here first. Without a script it goes on to the real one.
 *
 *   fake_kernel_reset();                        in the setup of the test
 *   fake = fake_event_add(7);                   the next open gives this event
 *   fake_fail(FAKE_MMAP, 1, -EPERM);            the next mmap fails
 *   ... call the library ...
 *   fake_ring_append(fake, record, sizeof(record));
 *   fake_event_wake(fake);                      the loop sees POLLIN
 *   ... run the loop, close ...
 *   assert_string_equal(fake_log(), "ioctl DISABLE, munmap, close");
 *   fake_assert_clean();
 *
 * What no kernel would allow (unmapping twice, unmapping another size, closing
 * twice) fails the test on the spot; in a forked child it aborts.
 *
 * It is a poor event: its fd is an eventfd, level-triggered and without
 * hang-up. How a real perf fd wakes a loop needs live tests. Scripted maps are
 * in fake_map.h. */
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

/* Where a scripted open fails with -E2BIG, the size left in attr->size. */
#define FAKE_ATTR_SIZE 112

typedef struct fake_event_s fake_event_t;

/* A scripted event. */
struct fake_event_s {
  /* Set by the test, at any time. */
  uint64_t id;   /* what PERF_EVENT_IOC_ID gives */
  short revents; /* what poll gives, beside POLLIN after a wake */
  const void
      *read_data;   /* what read gives: -ENOSPC if the buffer is smaller, */
  size_t read_size; /* as from the kernel; 0 bytes is the default */
  /* Called when the page, or page and ring, was mapped, to spoil or fill it; or
   * NULL. */
  void (*on_map)(fake_event_t *fake);
  /* Called at the start of each poll of it, to let something happen between a
   * drain and a probe; or NULL. */
  void (*on_poll)(fake_event_t *fake);
  /* Called with each ioctl of it but ID that no script makes fail; what it
   * gives the ioctl gives. The argument is a number, or a pointer; or NULL. */
  int (*on_ioctl)(fake_event_t *fake, unsigned long request,
                  uintptr_t argument);
  /* Called with each program that is to be linked to it and that no script
   * makes fail; a -errno refuses it. NULL: it takes one, and -EEXIST is the
   * next. The library is given a link, whose close is "close link" in the
   * log. */
  int (*on_link)(fake_event_t *fake, int prog_fd);
  void *data; /* the test's */

  /* Noted by the fake. */
  int fd;          /* -1 before open and after close */
  int link;        /* of a program: its fd, -1 while there is none */
  uint64_t cookie; /* of the last link */
  int opened;      /* whether open gave it away; stays 1 after close */
  int enabled;     /* by the last ENABLE or DISABLE, else !attr.disabled */
  union {
    struct perf_event_attr attr; /* as open got it, attr.size bytes of it */
    uint8_t attr_bytes[512];
  };
  pid_t pid;
  int cpu;
  int group_fd;
  unsigned long flags;
  struct perf_event_mmap_page *page; /* NULL while not mapped */
  uint8_t *ring;                     /* the data behind it */
  size_t ring_size;

  /* Private. */
  int old_fd;
  int old_link;
  void *region;
  size_t region_size;
};

/* Forgets every script, count and log; frees what scripted events still hold.
 * For setups: the state is one per process. */
void fake_kernel_reset(void);

/* The same as a setup of cmocka's; and as setup and teardown of a test that has
 * a loop, for support_loop_test_setup_teardown. */
int fake_kernel_setup(void **state);
int fake_kernel_loop_setup(void **state);
int fake_kernel_loop_teardown(void **state);

/* Scripts an event: opens give the added ones in this order, then the real
 * kernel's. Room for 512. */
fake_event_t *fake_event_add(uint64_t id);

/* Makes the nth call from now on (1: the next) fail with the code (a -errno),
 * on real and scripted events alike; calloc gives NULL whatever the code. A
 * call that fails does nothing else, but for close: that closes, as Linux does.
 * Of several scripts for a call the first holds. Room for 64. */
void fake_fail(enum fake_call call, unsigned nth, int code);
/* The same for that call and each later one. */
void fake_fail_from(enum fake_call call, unsigned nth, int code);
/* Called with each open that no script makes fail, and may look at the attr as
 * the kernel does: a -errno refuses it, 0 lets it go on to a scripted event or
 * the real kernel. NULL: none. */
void fake_on_open(int (*on_open)(struct perf_event_attr *attr));

/* Called instead of each membarrier that no script makes fail, which then gives
 * 0: for what other CPUs do before it returns. NULL: the real one. */
void fake_on_membarrier(void (*on_membarrier)(void));

/* What the counters of the PMU and their clock give; NULL: the real ones, where
 * a counter that the process may not read is a SIGSEGV. No script makes these
 * fail. */
void fake_on_rdpmc(uint64_t (*on_rdpmc)(uint32_t counter));
void fake_on_cycles(uint64_t (*on_cycles)(void));

/* How often a script made a call fail: 0 ends a loop over "the i-th fails". */
unsigned fake_failures(void);

/* How often the function was called since the reset. */
unsigned fake_count(enum fake_call call);

/* What was called since the reset or the last clear, in order, but for tasks,
 * memory and instructions: "open, mmap, ioctl ID, read failed, close". */
const char *fake_log(void);
void fake_log_clear(void);

/* What uvperf__process returns from now on, to play a forked child; 0 is the
 * real one again. */
void fake_process(uint32_t process);

/* The same of uvperf__sys_thread, for all threads. */
void fake_thread(int number);

/* Blocks of uvperf__calloc that are not freed. */
size_t fake_live_allocations(void);

/* Fails the test if a scripted event is open, mapped or linked, a scripted map
 * open, or memory is left. */
void fake_assert_clean(void);

/* Where a reader has published that it is. A program of 32 bits stores only the
 * lower half of data_tail, which is enough for the kernel: the upper half is
 * that of a position at most 4 GiB before data_head. */
uint64_t fake_ring_tail(const struct perf_event_mmap_page *page);

/* Writes behind data_head, wrapping as the kernel does, and moves data_head.
 * Fails the test if there is no room. */
void fake_ring_append(fake_event_t *fake, const void *bytes, size_t size);

/* Writes as the kernel does into an overwritable ring (attr.write_backward):
 * below data_head, which it moves down, over whatever is there. */
void fake_ring_prepend(fake_event_t *fake, const void *bytes, size_t size);

/* Makes the fd readable, for libuv until fake_event_quiet, or until the library
 * itself polls it: that clears the readiness, as perf_poll does. */
void fake_event_wake(fake_event_t *fake);
void fake_event_quiet(fake_event_t *fake);

#endif
