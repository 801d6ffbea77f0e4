/* SPDX-License-Identifier: MIT */
/* The terms of events of a PMU, as "event=0x3c" and "mem-loads". */
#ifndef UVPERF_LIB_NAME_PMU_H
#define UVPERF_LIB_NAME_PMU_H

#include "name/build.h"

/* Begins an event of build->event.pmu's type. 0 or -errno, explained. */
int uvperf__pmu_build_begin(uvperf__event_build_t *build, const char *pmu);

/* Applies the terms of the text. 0 or -errno, explained. */
int uvperf__pmu_build_terms(uvperf__event_build_t *build);

/* Applies what an event of the PMU, called `word` by the user, stands for. 1;
 * 0: the PMU has no such event; or -errno, explained. */
int uvperf__pmu_build_event(uvperf__event_build_t *build, uvperf__span_t word);

/* Explains what sysfs says of a PMU's file. */
int uvperf__pmu_build_fail(const uvperf__parse_t *parse, const char *at,
                           int code, const char *pmu, const char *file);

#endif
