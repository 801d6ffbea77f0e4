/* SPDX-License-Identifier: MIT */
/* Another kernel, or another PMU, than this machine has: what of an attr it
 * refuses, in the order of perf_event_open() in kernel/events/core.c. What it
 * takes is opened as fake_kernel.h says. */
#ifndef UVPERF_TEST_OTHER_KERNEL_H
#define UVPERF_TEST_OTHER_KERNEL_H

#include "support.h"

#include "attr/kernel_knows.h"
#include "fake_kernel.h"

typedef struct other_kernel_s {
  int denies;         /* to all, before it looks; a -errno, 0: nothing */
  uint32_t attr_size; /* sizeof(struct perf_event_attr) of its own */
  /* The bits that it knows. */
  uint64_t known[UVPERF__WORDS];
  int allows_user_only; /* the kernel side and namespaces are -EACCES */
  int cycles;           /* what it says of hardware events; 0: it has them */
  unsigned precise_ip;  /* the highest of its PMU, */
  int imprecise;        /* and what it says of higher ones */
} other_kernel_t;

/* From now on the kernel is Linux 6.19 with a perfect PMU, or what the test
 * makes of it; nothing is known of it yet. Until other_kernel_stop. */
other_kernel_t *other_kernel(void);

/* A setup that forgets what was found out of the kernel before, and a teardown
 * that forgets the one that was played. */
int other_kernel_setup(void **state);
int other_kernel_teardown(void **state);
/* The same with a loop, for support_loop_test_setup_teardown. */
int other_kernel_loop_setup(void **state);
int other_kernel_loop_teardown(void **state);

#define other_kernel_test(f)                                                   \
  cmocka_unit_test_setup_teardown(f, other_kernel_setup, other_kernel_teardown)
#define other_kernel_loop_test(f)                                              \
  support_loop_test_setup_teardown(f, other_kernel_loop_setup,                 \
                                   other_kernel_loop_teardown)

#endif
