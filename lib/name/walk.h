/* SPDX-License-Identifier: MIT */
/* The walk of uvperf/name.h. */
#ifndef UVPERF_LIB_NAME_WALK_H
#define UVPERF_LIB_NAME_WALK_H

#include "uvperf/name.h"

int uvperf__event_name_walk(const char *pattern, uint32_t kinds,
                            uvperf_event_name_cb cb, void *arg);

#endif
