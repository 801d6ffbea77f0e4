/* SPDX-License-Identifier: MIT */
/* The ids and names of cores and threads that have lines of their own. */
#ifndef STAT_PLACES_H
#define STAT_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "stat/report.h"
#include "uvperf.h"

/* A CPU, and the core, die, socket or node whose line it belongs to. */
typedef struct stat_cpu_s {
  int32_t cpu;
  int32_t socket, die, core; /* 0 if it does not matter */
  int32_t id;                /* in the order of these three */
} stat_cpu_t;

typedef struct stat_places_s {
  stat_place_t *list; /* sorted by id */
  size_t nr;
  size_t capacity;
  stat_cpu_t *cpus;
  size_t nr_cpus;
  size_t cpus_capacity;
} stat_places_t;

/* Adds the cores or threads of an open set. Threads that have ended keep their
 * names. */
void stat_places_add(stat_places_t *places, enum stat_by by, uvperf_set_t *set);

/* Returns the id of the line to which a place belongs, or -1 for none. */
int32_t stat_places_id(const stat_places_t *places, enum stat_by by,
                       const uvperf_place_t *place);

void stat_places_free(stat_places_t *places);

#endif
