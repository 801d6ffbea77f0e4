/* SPDX-License-Identifier: MIT */
/* Layer 1: ioctls on an open event that take more than the call. Which events
 * they are for, and why they fail, is for the layers above. */
#ifndef UVPERF_LIB_CONTROL_FD_H
#define UVPERF_LIB_CONTROL_FD_H

#include <stdint.h>

#include "uvperf/attr.h"

/* PERF_EVENT_IOC_PERIOD; of an attr with freq the period is a frequency. 0 or
 * -errno. */
int uvperf__control_period(int fd, const struct perf_event_attr *attr,
                           uint64_t period);

/* PERF_EVENT_IOC_SET_FILTER. 0 or -errno. */
int uvperf__control_filter(int fd, const struct perf_event_attr *attr,
                           const char *filter);

#endif
