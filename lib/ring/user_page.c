/* SPDX-License-Identifier: MIT */
/* Maps the page of an event, and computes the count from the page and the
 * counter. */
#include "ring/user_page.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "sys/fork.h"
#include "sys/sys.h"

/* The kernel changes a page in an interrupt, or when its thread is switched.
 * This seldom happens twice during one read. */
#define TRIES 64

/* The beginning of struct perf_event_mmap_page. The headers of Linux 5.10 have
 * all of it except cap_user_time_short, time_cycles and time_mask (5.12). */
typedef struct __attribute__((may_alias)) head_s {
  uint32_t version;
  uint32_t compat_version;
  uint32_t lock;
  uint32_t index;
  int64_t offset;
  uint64_t time_enabled;
  uint64_t time_running;
  uint64_t cap_bit0 : 1;
  uint64_t cap_bit0_is_deprecated : 1;
  uint64_t cap_user_rdpmc : 1;
  uint64_t cap_user_time : 1;
  uint64_t cap_user_time_zero : 1;
  uint64_t cap_user_time_short : 1;
  uint64_t cap_reserved : 58;
  uint16_t pmc_width;
  uint16_t time_shift;
  uint32_t time_mult;
  uint64_t time_offset;
  uint64_t time_zero;
  uint32_t size;
  uint32_t reserved;
  uint64_t time_cycles;
  uint64_t time_mask;
} head_t;

_Static_assert(offsetof(head_t, pmc_width) ==
                   offsetof(struct perf_event_mmap_page, pmc_width),
               "the capabilities are 8 bytes");
_Static_assert(offsetof(head_t, size) ==
                   offsetof(struct perf_event_mmap_page, size),
               "the head of a page is as the kernel has it");
_Static_assert(sizeof(head_t) == 96, "time_mask ends at byte 96");

static size_t page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

void uvperf__user_reader_init(uvperf__user_reader_t *reader) {
  reader->thread = pthread_self();
  reader->process = uvperf__process_is_marked() ? uvperf__process() : 0;
}

int uvperf__user_reader_is_mine(const uvperf__user_reader_t *reader) {
  return reader->process != 0 && reader->process == uvperf__process() &&
         pthread_equal(reader->thread, pthread_self());
}

/* Whether the page has a known layout and has a count at all. Before Linux
 * 3.12, cap_user_rdpmc and cap_user_time were at the place of cap_bit0.
 * cap_bit0_is_deprecated means that they have moved, and that the page has a
 * size. */
static int has_counts(const volatile head_t *head) {
  return head->compat_version == 0 && head->cap_bit0_is_deprecated &&
         head->size >= offsetof(head_t, reserved) && head->cap_user_rdpmc &&
         head->cap_user_time;
}

/* Whether a counter exists and its value is a number of events. */
static int is_sum(uint32_t counter) {
#if defined(__x86_64__) || defined(__i386__)
  /* General counters start at 0, fixed counters at 1 << 30. Fixed counter 3
   * counts slots. If counter 3 is used with PERF_METRICS (1 << 29), which holds
   * fractions, each read(2) sets counter 3 to 0 without a change in the page:
   * intel_update_topdown_event and x86_pmu_event_idx, arch/x86/events. */
  const uint32_t fixed = 1u << 30;

  if (counter < fixed)
    return counter < 32;
  return counter - fixed < 16 && counter - fixed != 3;
#elif defined(__aarch64__)
  /* 31 is the counter of cycles: armv8pmu_user_event_idx,
   * drivers/perf/arm_pmuv3.c. */
  return counter <= 31;
#else
  (void)counter;
  return 0;
#endif
}

int uvperf__user_page_map(int fd, const struct perf_event_mmap_page **page) {
  void *address;
  int rc;

  /* On other architectures sys/ cannot read a counter. */
  if (!is_sum(0))
    return -EOPNOTSUPP;
  rc = uvperf__sys_mmap(&address, page_size(), PROT_READ, fd, 0);
  if (rc != 0)
    return rc;
  /* The fields that has_counts checks depend on the PMU and the clock.
   * perf_mmap has already set them. */
  if (!has_counts(address)) {
    uvperf__sys_munmap(address, page_size());
    return -EOPNOTSUPP;
  }
  *page = address;
  return 0;
}

void uvperf__user_page_unmap(const struct perf_event_mmap_page *page,
                             uvperf__leftovers_t *leftovers) {
  uvperf__leftovers_add(leftovers, (void *)(uintptr_t)page, page_size(), -1);
}

/* The page, the counter and the clock at one moment. */
typedef struct seen_s {
  head_t head;
  uint64_t pmc;
  uint64_t cycles;
} seen_t;

/* Whether `head` makes sense. Called before the counter is read, and before it
 * is known whether the page was changing. A wrong -EAGAIN does no harm. */
static int is_sound(const head_t *head) {
  return has_counts(head) && head->index != 0 && is_sum(head->index - 1) &&
         head->pmc_width >= 1 && head->pmc_width <= 64 &&
         head->time_mult != 0 && head->time_shift <= 63 &&
         (!head->cap_user_time_short || head->size >= sizeof(*head));
}

/* Returns 1, 0 if the page was changing, or -EAGAIN. The lock is a seqlock: it
 * is odd while the kernel writes. The kernel writes on the CPU on which the
 * event's thread runs, so a compiler barrier is enough: see `lock` in
 * linux/perf_event.h. */
static int read_once(const struct perf_event_mmap_page *page, seen_t *seen) {
  const volatile head_t *head = (const volatile void *)page;
  uint32_t lock;

  lock = head->lock;
  if (lock % 2 != 0)
    return 0;
  atomic_signal_fence(memory_order_seq_cst);
  seen->head = *head;
  if (!is_sound(&seen->head))
    return -EAGAIN;
  seen->cycles = uvperf__sys_cycles();
  seen->pmc = uvperf__sys_rdpmc(seen->head.index - 1);
  atomic_signal_fence(memory_order_seq_cst);
  return head->lock == lock;
}

/* Returns the low `width` bits as a signed number. The kernel sets a counter to
 * a negative value, so that it overflows in time. `offset` corrects this. */
static uint64_t pmc_extend(uint64_t pmc, unsigned width) {
  uint64_t sign = (uint64_t)1 << (width - 1);

  return ((pmc & (sign | (sign - 1))) ^ sign) - sign;
}

/* Returns cycles * mult >> shift, modulo 2^64. The product has 96 bits, as in
 * the kernel's mul_u64_u32_shr. */
static uint64_t scale_cycles(uint64_t cycles, uint32_t mult, unsigned shift) {
  uint64_t low = (cycles & UINT32_MAX) * mult;
  uint64_t high = (cycles >> 32) * mult + (low >> 32);

  if (shift >= 32)
    return high >> (shift - 32);
  return (high << (32 - shift)) + ((low & UINT32_MAX) >> shift);
}

/* Nanoseconds since the page was written. */
static uint64_t seen_elapsed(const seen_t *seen) {
  const head_t *head = &seen->head;
  uint64_t cycles = seen->cycles;

  /* A clock with fewer bits may have wrapped since. */
  if (head->cap_user_time_short)
    cycles =
        head->time_cycles + ((cycles - head->time_cycles) & head->time_mask);
  return head->time_offset +
         scale_cycles(cycles, head->time_mult, head->time_shift);
}

int uvperf__user_page_read(const struct perf_event_mmap_page *page,
                           uvperf__user_count_t *count) {
  uint64_t since;
  seen_t seen;
  int tries;
  int rc = 0;

  for (tries = 0; tries < TRIES && rc == 0; tries++)
    rc = read_once(page, &seen);
  if (rc != 1)
    return -EAGAIN;
  since = seen_elapsed(&seen);
  /* The page seems to be written in the future, so it uses another clock. */
  if (since > INT64_MAX)
    return -EAGAIN;
  count->value =
      (uint64_t)seen.head.offset + pmc_extend(seen.pmc, seen.head.pmc_width);
  /* The event is on a counter, so both times advance. */
  count->enabled = seen.head.time_enabled + since;
  count->running = seen.head.time_running + since;
  return 0;
}
