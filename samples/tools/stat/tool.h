/* SPDX-License-Identifier: MIT */
/* Times that are named like events, as in perf-stat(1): duration_time,
 * user_time and system_time. The kernel does not know these times. */
#ifndef STAT_TOOL_H
#define STAT_TOOL_H

#include <stdint.h>

#include "stat/lines.h"
#include "uvperf.h"

typedef struct stat_times_s {
  uint64_t elapsed_ns;
  uint64_t user_ns, system_ns; /* of the command */
  int has_command;             /* these two are known */
} stat_times_t;

/* Parses names as common_list_parse does, including names of times. In the
 * list, a time is a dummy event that has the time's name and counts nothing. So
 * a time has its place in the table, and can be the only event. */
int stat_tool_parse(uvperf_event_list_t **list, const char *names);

/* Returns the time that an event stands for, or STAT_TOOL_NONE. */
enum stat_tool stat_tool_of(const uvperf_event_item_t *item);

/* Fills in the lines of times. Each time has one line, for the first of its
 * places. */
void stat_tool_fill(stat_lines_t *lines, const stat_event_t *events,
                    const stat_times_t *times);

#endif
