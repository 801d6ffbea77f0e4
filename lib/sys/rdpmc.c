/* SPDX-License-Identifier: MIT */
/* The instructions that read a counter of the PMU and the clock of its times
 * from user space. The callers know whether the instructions are allowed and
 * what the bits mean. */
#include "sys/sys.h"

#if defined(__x86_64__) || defined(__i386__)

uint64_t uvperf__sys_rdpmc(uint32_t counter) {
  uint32_t low;
  uint32_t high;

  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
  return (uint64_t)high << 32 | low;
}

uint64_t uvperf__sys_cycles(void) {
  uint32_t low;
  uint32_t high;

  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__)

/* The number of the counter is a part of the instruction. */
#define COUNTER(n)                                                             \
  case n:                                                                      \
    __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value));              \
    break

static uint64_t event_counter(uint32_t counter) {
  uint64_t value = 0;

  switch (counter) {
    COUNTER(0);
    COUNTER(1);
    COUNTER(2);
    COUNTER(3);
    COUNTER(4);
    COUNTER(5);
    COUNTER(6);
    COUNTER(7);
    COUNTER(8);
    COUNTER(9);
    COUNTER(10);
    COUNTER(11);
    COUNTER(12);
    COUNTER(13);
    COUNTER(14);
    COUNTER(15);
    COUNTER(16);
    COUNTER(17);
    COUNTER(18);
    COUNTER(19);
    COUNTER(20);
    COUNTER(21);
    COUNTER(22);
    COUNTER(23);
    COUNTER(24);
    COUNTER(25);
    COUNTER(26);
    COUNTER(27);
    COUNTER(28);
    COUNTER(29);
    COUNTER(30);
    default:
      break;
  }
  return value;
}

uint64_t uvperf__sys_rdpmc(uint32_t counter) {
  uint64_t value;

  if (counter != 31)
    return event_counter(counter);
  __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
  return value;
}

uint64_t uvperf__sys_cycles(void) {
  uint64_t value;

  /* The CPU may read the counter before the instructions in front of it: Arm's
   * manual, "The AArch64 view of the Generic Timer". */
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value) : : "memory");
  return value;
}

#else

uint64_t uvperf__sys_rdpmc(uint32_t counter) {
  (void)counter;
  return 0;
}

uint64_t uvperf__sys_cycles(void) {
  return 0;
}

#endif
