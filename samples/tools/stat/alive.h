/* SPDX-License-Identifier: MIT */
/* Whether the tasks that are counted still live. */
#ifndef STAT_ALIVE_H
#define STAT_ALIVE_H

#include <stddef.h>
#include <stdint.h>

#include "stat/options.h"

typedef struct stat_task_s {
  int32_t id;
  int is_process;
  uint64_t start; /* in ticks since boot: an id may be used again */
} stat_task_t;

typedef struct stat_alive_s {
  stat_task_t *tasks;
  size_t nr;
} stat_alive_t;

/* Remembers those of -p and -t that live now. */
void stat_alive_begin(stat_alive_t *alive, const stat_options_t *options);

/* Whether any of them does still. */
int stat_alive_any(const stat_alive_t *alive);

void stat_alive_end(stat_alive_t *alive);

/* Reads /proc/ID/stat as it stands in a text: state, number of threads and
 * start: 0, or -1. */
int stat_alive_parse(const char *text, char *state, long *nr_threads,
                     uint64_t *start);

#endif
