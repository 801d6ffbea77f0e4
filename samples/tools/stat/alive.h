/* SPDX-License-Identifier: MIT */
/* Checks whether the counted tasks are still alive. */
#ifndef STAT_ALIVE_H
#define STAT_ALIVE_H

#include <stddef.h>
#include <stdint.h>

#include "stat/options.h"

typedef struct stat_task_s {
  int32_t id;
  int is_process;
  uint64_t start; /* in ticks since boot, because ids are reused */
} stat_task_t;

typedef struct stat_alive_s {
  stat_task_t *tasks;
  size_t nr;
} stat_alive_t;

/* Remembers the tasks of -p and -t that are alive now. */
void stat_alive_begin(stat_alive_t *alive, const stat_options_t *options);

/* Returns 1 if any of these tasks is still alive, otherwise 0. */
int stat_alive_any(const stat_alive_t *alive);

void stat_alive_end(stat_alive_t *alive);

#endif
