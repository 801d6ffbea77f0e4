/* SPDX-License-Identifier: MIT */
/* Maps of the type BPF_MAP_TYPE_PERF_EVENT_ARRAY that are kept filled with an
 * attr's events. The key is the CPU's id. The value is the event of that CPU.
 * Programs read its count by bpf_perf_event_read_value(). An entry is set after
 * its event is opened. The entry is deleted before the event is closed, because
 * the map would keep the event alive. */
#include "set/counters_internal.h"

#include <errno.h>

#include "ring/bpf_map.h"
#include "util/alloc.h"
#include "util/error.h"

/* -- entries --------------------------------------------------------------- */

/* Whether an event of another target has this key. */
static int has_entry(const uvperf__counters_t *counters, size_t attr, int cpu) {
  const counter_target_t *target;
  const counter_place_t *place;
  size_t i, at;

  for (i = 0; i < counters->nr_targets; i++) {
    target = counters->targets[i];
    for (at = 0; at < target->nr_places; at++) {
      place = &target->places[at];
      if (place->place.cpu == cpu && place->events[attr].map_entry != 0)
        return 1;
    }
  }
  return 0;
}

static int put(const uvperf__counters_t *counters, size_t attr,
               const counter_place_t *place, uvperf_error_t *error) {
  const uvperf__bpf_map_t *map = counters->attrs[attr].map;
  counter_t *event = &place->events[attr];
  int cpu = place->place.cpu;
  int rc;

  if (event->state != COUNTER_OPEN || event->map_entry != 0 ||
      has_entry(counters, attr, cpu))
    return 0;
  if ((uint32_t)cpu >= map->max_entries)
    rc = uvperf__error_set(error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                           "the map has no entry for CPU %d, only %u entries; "
                           "create it with max_entries for each possible CPU",
                           cpu, map->max_entries);
  else
    rc = uvperf__bpf_map_put(map, (uint32_t)cpu, event->fd, error);
  if (rc == 0)
    event->map_entry = (uint32_t)cpu + 1;
  else if (error != NULL) {
    error->attr_index = (uint32_t)attr;
    error->target_index = place->place.target;
  }
  return rc;
}

/* Puts all events of the attr into the map, except those that are in it
 * already. */
static int fill(const uvperf__counters_t *counters, size_t attr,
                uvperf_error_t *error) {
  const counter_target_t *target;
  size_t i, at;
  int rc = 0;

  for (i = 0; i < counters->nr_targets && rc == 0; i++) {
    target = counters->targets[i];
    if (target->type != UVPERF_TARGET_CPUS)
      continue;
    for (at = 0; at < target->nr_places && rc == 0; at++)
      rc = put(counters, attr, &target->places[at], error);
  }
  return rc;
}

int uvperf__counters_fill_maps(const uvperf__counters_t *counters,
                               uvperf_error_t *error) {
  size_t i;
  int rc = 0;

  for (i = 0; i < counters->nr_attrs && rc == 0; i++)
    if (counters->attrs[i].map != NULL)
      rc = fill(counters, i, error);
  return rc;
}

/* A forked child does not change the parent's entries. */
void uvperf__counters_leave_entry(const uvperf__counters_t *counters,
                                  counter_t *event, size_t attr) {
  if (event->map_entry != 0 && uvperf__counters_check(counters, NULL) == 0)
    uvperf__bpf_map_take(counters->attrs[attr].map, event->map_entry - 1, NULL);
  event->map_entry = 0;
}

/* -- maps ------------------------------------------------------------------ */

/* If closing the map deletes its entries, they are not deleted one by one,
 * because by now an entry may belong to another program. */
static void leave_map(const uvperf__counters_t *counters, size_t attr) {
  counter_attr_t *own = &counters->attrs[attr];
  const counter_target_t *target;
  counter_t *event;
  size_t i, at;
  int clears;

  if (own->map == NULL)
    return;
  clears = uvperf__bpf_map_clears(own->map);
  for (i = 0; i < counters->nr_targets; i++) {
    target = counters->targets[i];
    for (at = 0; at < target->nr_places; at++) {
      event = &target->places[at].events[attr];
      if (clears)
        event->map_entry = 0;
      uvperf__counters_leave_entry(counters, event, attr);
    }
  }
  uvperf__bpf_map_close(own->map);
  uvperf__free(own->map);
  own->map = NULL;
}

void uvperf__counters_leave_maps(const uvperf__counters_t *counters) {
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++)
    leave_map(counters, i);
}

static int has_target(const uvperf__counters_t *counters, uint32_t type) {
  size_t i;

  for (i = 0; i < counters->nr_targets; i++)
    if (counters->targets[i]->type == type)
      return 1;
  return 0;
}

static int check(const uvperf__counters_t *counters, size_t attr,
                 uvperf_error_t *error) {
  int rc = uvperf__counters_check_attr(counters, attr, error);

  if (rc != 0)
    return rc;
  if (counters->attrs[attr].map != NULL)
    return uvperf__error_set(error, -EEXIST, UVPERF_CAUSE_EXISTS,
                             "this attr's events are already kept in a map; "
                             "use another set for another map");
  if (counters->nr_targets != 0 && !has_target(counters, UVPERF_TARGET_CPUS))
    return uvperf__error_set(
        error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
        "the set has no CPUs for the map's entries, and BPF programs cannot "
        "read the events of tasks; add a UVPERF_TARGET_CPUS target");
  return 0;
}

static int open_map(const uvperf__counters_t *counters, size_t attr, int map_fd,
                    uvperf_error_t *error) {
  counter_attr_t *own = &counters->attrs[attr];
  int rc;

  own->map = uvperf__calloc(1, sizeof(*own->map));
  if (own->map == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot open the map");
  rc = uvperf__bpf_map_open(own->map, counters->root, map_fd, NULL, error);
  return rc == 0 ? fill(counters, attr, error) : rc;
}

/* Each part of an attr counts on its own CPUs. */
int uvperf__counters_fill_map(const uvperf__counters_t *counters, size_t attr,
                              int map_fd, uvperf_error_t *error) {
  size_t at = attr;
  int rc;

  do
    rc = check(counters, at, error);
  while (rc == 0 && (at = uvperf__counters_next_part(counters, attr, at)) != 0);
  if (rc != 0)
    return rc;
  at = attr;
  do
    rc = open_map(counters, at, map_fd, error);
  while (rc == 0 && (at = uvperf__counters_next_part(counters, attr, at)) != 0);
  if (rc == 0)
    return 0;
  at = attr;
  do
    leave_map(counters, at);
  while ((at = uvperf__counters_next_part(counters, attr, at)) != 0);
  return rc;
}
