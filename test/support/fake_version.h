/* SPDX-License-Identifier: MIT */
/* Another kernel or PMU than this machine's: it refuses attrs in the order of
 * perf_event_open() in kernel/events/core.c. What it accepts is opened as
 * fake_kernel.h says. */
#ifndef UVPERF_TEST_FAKE_VERSION_H
#define UVPERF_TEST_FAKE_VERSION_H

#include "support.h"

#include "attr/kernel_knows.h"
#include "fake_kernel.h"

typedef struct fake_version_s {
  int denies;         /* for every attr, before any check; a -errno, or 0 */
  uint32_t attr_size; /* its own sizeof(struct perf_event_attr) */
  /* The bits that it knows. */
  uint64_t known[UVPERF__WORDS];
  int allows_user_only; /* kernel side and namespaces fail with -EACCES */
  int cycles;           /* its answer to hardware events; 0: it has them */
  unsigned precise_ip;  /* the highest of its PMU, */
  int imprecise;        /* and its answer to higher ones */
} fake_version_t;

/* From now on the kernel is Linux 6.19 with a perfect PMU, or what the test
 * changes it to. Nothing that was found out before is remembered. Lasts until
 * other_kernel_stop. */
fake_version_t *fake_version(void);

/* A setup that forgets what was found out about the kernel before, and a
 * teardown that also removes the other kernel. */
int fake_version_setup(void **state);
int fake_version_teardown(void **state);
/* The same with a loop, for support_loop_test_setup_teardown. */
int fake_version_loop_setup(void **state);
int fake_version_loop_teardown(void **state);

#define fake_version_test(f)                                                   \
  cmocka_unit_test_setup_teardown(f, fake_version_setup, fake_version_teardown)
#define fake_version_loop_test(f)                                              \
  support_loop_test_setup_teardown(f, fake_version_loop_setup,                 \
                                   fake_version_loop_teardown)

#endif
