/* SPDX-License-Identifier: MIT */
#include "live_hardware.h"

#include <sys/syscall.h>
#include <unistd.h>

/* Its labels are in the program once: it is neither inlined nor cloned. */
#if defined(__aarch64__)
#define LOOP                                                                   \
  "live_loop_first:\n\tsubs %0, %0, #1\n\tb.ne live_loop_first\n"              \
  "live_loop_end:\n"
#elif defined(__x86_64__)
#define LOOP                                                                   \
  "live_loop_first:\n\tdec %0\n\tjnz live_loop_first\n"                        \
  "live_loop_end:\n"
#endif

void live_need_loop(const char *test) {
#ifndef LOOP
  support_skip(test, "x86-64 or aarch64, for a loop of known instructions");
#else
#endif
}

#ifdef LOOP

/* Hidden; otherwise the compiler takes their addresses from the GOT, where the
 * linker puts the start of the section for assembler labels on aarch64. */
extern const char live_loop_first[] __attribute__((visibility("hidden")));
extern const char live_loop_end[] __attribute__((visibility("hidden")));

__attribute__((noinline, noclone)) void live_loop(uint64_t iterations) {
  __asm__ volatile(LOOP : "+r"(iterations) : : "cc");
}

int live_is_in_loop(uint64_t ip) {
  return ip >= (uintptr_t)live_loop_first && ip < (uintptr_t)live_loop_end;
}

#else

void live_loop(uint64_t iterations) {
}

int live_is_in_loop(uint64_t ip) {
  return 0;
}

#endif

/* They are enabled, because Arm's PMUs take any number of disabled ones into a
 * group (validate_event in drivers/perf/arm_pmu.c). */
size_t live_need_few_counters(const char *test) {
  struct perf_event_attr attr;
  int fds[LIVE_COUNTERS + 1];
  size_t nr;
  size_t i;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_INSTRUCTIONS;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  for (nr = 0; nr <= LIVE_COUNTERS; nr++) {
    fds[nr] = (int)syscall(SYS_perf_event_open, &attr, 0, -1,
                           nr == 0 ? -1 : fds[0], PERF_FLAG_FD_CLOEXEC);
    if (fds[nr] < 0)
      break;
  }
  for (i = 0; i < nr; i++)
    close(fds[i]);
  if (nr > LIVE_COUNTERS)
    support_skip(test, "a PMU of at most 13 counters");
  return nr;
}
