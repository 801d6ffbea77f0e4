/* SPDX-License-Identifier: MIT */
/* Settings of the kernel that a test changes. The old values are written back
 * when the program ends, also after a failure. */
#ifndef UVPERF_TEST_LIVE_SETTING_H
#define UVPERF_TEST_LIVE_SETTING_H

#include <stdint.h>

/* The number in a file of /proc/sys or sysfs; -1 if it cannot be read. */
int64_t live_setting(const char *path);

/* Writes it. Returns 0 or -1. The path must stay valid. */
int live_setting_write(const char *path, int64_t value);

#endif
