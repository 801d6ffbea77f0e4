/* SPDX-License-Identifier: MIT */
/* The functions of uvperf/system.h under a root path that tests can
 * set ("" is the real one). */
#ifndef UVPERF_LIB_HOST_SYSTEM_LIMITS_H
#define UVPERF_LIB_HOST_SYSTEM_LIMITS_H

#include "uvperf/system.h"

void uvperf__system_limits(const char *root, uvperf_limits_t *limits);

/* uvperf__system_has_perfmon, where that counts: 1, 0, or -errno. */
int uvperf__system_is_perfmon(const char *root);

#endif
