/* SPDX-License-Identifier: MIT */
/* The walks of uvperf/pmu.h, under a root path that tests can set (""
 * is the real one). */
#ifndef UVPERF_LIB_HOST_PMU_WALK_H
#define UVPERF_LIB_HOST_PMU_WALK_H

#include "uvperf/pmu.h"

int uvperf__pmu_walk(const char *root, uvperf_pmu_cb cb, void *arg);
int uvperf__pmu_walk_formats(const char *root, const char *pmu,
                             uvperf_pmu_format_cb cb, void *arg);
int uvperf__pmu_walk_events(const char *root, const char *pmu,
                            uvperf_pmu_event_cb cb, void *arg);

#endif
