/* SPDX-License-Identifier: MIT */
/* Reads the names of threads and the topology of CPUs, once each. */
#include "stat/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/proc.h"
#include "common/topology.h"
#include "stat/value.h"

static stat_place_t *append(stat_places_t *places, int32_t id) {
  stat_place_t *place = COMMON_ADD(places->list, places->nr, places->capacity);

  *place = (stat_place_t){id, ""};
  return place;
}

/* -- threads --------------------------------------------------------------- */

static void add_threads(stat_places_t *places,
                        const uvperf_reading_t *reading) {
  size_t nr = uvperf_reading_info(reading)->nr_places, known = places->nr, i;
  int32_t tid;

  for (i = 0; i < nr; i++) {
    tid = uvperf_reading_place(reading, i)->pid;
    /* /proc/TID exists for each thread, although /proc does not list it. */
    if (tid > 0 && stat_place_find(places->list, known, tid) == NULL)
      common_proc_comm(tid, tid, append(places, tid)->name);
  }
  if (places->nr > known)
    qsort(places->list, places->nr, sizeof(*places->list), stat_place_compare);
}

/* -- cores ----------------------------------------------------------------- */

static int compare_cores(const void *left, const void *right) {
  const stat_cpu_t *a = left, *b = right;

  if (a->socket != b->socket)
    return (a->socket > b->socket) - (a->socket < b->socket);
  if (a->die != b->die)
    return (a->die > b->die) - (a->die < b->die);
  return (a->core > b->core) - (a->core < b->core);
}

static int32_t core_of(const stat_places_t *places, int32_t cpu) {
  size_t i;

  for (i = 0; i < places->nr_cpus; i++) {
    if (places->cpus[i].cpu == cpu)
      return places->cpus[i].id;
  }
  return -1;
}

/* If a machine lists no dies or sockets, it has one die and one socket. */
static int32_t topology_id(int32_t cpu, const char *name) {
  int32_t id = common_topology_id(cpu, name);

  return id < 0 ? 0 : id;
}

static void add_cpu(stat_places_t *places, enum stat_by by, int32_t cpu) {
  stat_cpu_t *added;

  added = COMMON_ADD(places->cpus, places->nr_cpus, places->cpus_capacity);
  *added = (stat_cpu_t){cpu, 0, 0, 0, 0};
  if (by == STAT_BY_NODE) {
    added->socket = common_topology_node(cpu);
    return;
  }
  added->socket = topology_id(cpu, "physical_package_id");
  if (by != STAT_BY_SOCKET)
    added->die = topology_id(cpu, "die_id");
  if (by == STAT_BY_CORE)
    added->core = topology_id(cpu, "core_id");
}

static void put_name(char name[STAT_PLACE_BYTES], enum stat_by by,
                     const stat_cpu_t *cpu) {
  size_t size = STAT_PLACE_BYTES;
  int nr =
      snprintf(name, size, "%c%d", by == STAT_BY_NODE ? 'N' : 'S', cpu->socket);

  if (by == STAT_BY_DIE || by == STAT_BY_CORE)
    nr += snprintf(name + nr, size - (size_t)nr, "-D%d", cpu->die);
  if (by == STAT_BY_CORE)
    snprintf(name + nr, size - (size_t)nr, "-C%d", cpu->core);
}

static void number_cores(stat_places_t *places, enum stat_by by) {
  stat_cpu_t *cpu;
  size_t i;

  qsort(places->cpus, places->nr_cpus, sizeof(*places->cpus), compare_cores);
  places->nr = 0;
  for (i = 0; i < places->nr_cpus; i++) {
    cpu = &places->cpus[i];
    if (i == 0 || compare_cores(cpu - 1, cpu) != 0)
      put_name(append(places, (int32_t)places->nr)->name, by, cpu);
    cpu->id = (int32_t)places->nr - 1;
  }
}

static void add_cores(stat_places_t *places, enum stat_by by,
                      const uvperf_reading_t *reading) {
  size_t nr = uvperf_reading_info(reading)->nr_places, known = places->nr_cpus,
         i;
  int32_t cpu;

  for (i = 0; i < nr; i++) {
    cpu = uvperf_reading_place(reading, i)->cpu;
    if (cpu >= 0 && core_of(places, cpu) < 0)
      add_cpu(places, by, cpu);
  }
  if (places->nr_cpus > known)
    number_cores(places, by);
}

/* -- both ------------------------------------------------------------------ */

void stat_places_add(stat_places_t *places, enum stat_by by,
                     uvperf_set_t *set) {
  uvperf_reading_t *reading;

  if (by < STAT_BY_THREAD || uvperf_reading_new(&reading) != 0)
    return;
  if (uvperf_set_read(set, reading, NULL) != 0)
    ; /* lines have no names then */
  else if (by == STAT_BY_THREAD)
    add_threads(places, reading);
  else
    add_cores(places, by, reading);
  uvperf_reading_free(reading);
}

int32_t stat_places_id(const stat_places_t *places, enum stat_by by,
                       const uvperf_place_t *place) {
  if (by == STAT_BY_THREAD)
    return place->pid;
  return by >= STAT_BY_CORE ? core_of(places, place->cpu) : place->cpu;
}

void stat_places_free(stat_places_t *places) {
  free(places->list);
  free(places->cpus);
  memset(places, 0, sizeof(*places));
}
