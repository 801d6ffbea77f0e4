/* SPDX-License-Identifier: MIT */
/* Settings of the kernel that a test changes. What they were is written back
 * when the program ends, also after a failure. */
#ifndef UVPERF_TEST_KERNEL_SETTING_H
#define UVPERF_TEST_KERNEL_SETTING_H

#include <stdint.h>

/* The number that a file of /proc/sys or sysfs has; -1 if it cannot be read. */
int64_t kernel_setting(const char *path);

/* Writes it: 0 or -1. The path must last. */
int kernel_setting_write(const char *path, int64_t value);

#endif
