/* SPDX-License-Identifier: MIT */
/* Maps of the type BPF_MAP_TYPE_PERF_EVENT_ARRAY that are kept filled with an
 * attr's events. The key is the CPU's id. The value is the event of that CPU.
 * Programs read its count by bpf_perf_event_read_value(). An entry is set after
 * its event is opened. The entry is deleted before the event is closed, because
 * the map would keep the event alive. */
#include "evlist/internal.h"

#include <errno.h>

#include "ring/bpf_map.h"
#include "util/alloc.h"
#include "util/error.h"

/* -- entries --------------------------------------------------------------- */

/* Whether an event of another target has this key. */
static int has_entry(const uvperf__evlist_t *evlist, size_t attr, int cpu) {
  const evlist_target_t *target;
  const evlist_place_t *place;
  size_t i, at;

  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (at = 0; at < target->nr_places; at++) {
      place = &target->places[at];
      if (place->place.cpu == cpu && place->events[attr].map_entry != 0)
        return 1;
    }
  }
  return 0;
}

static int put(const uvperf__evlist_t *evlist, size_t attr,
               const evlist_place_t *place, uvperf_error_t *error) {
  const uvperf__bpf_map_t *map = evlist->attrs[attr].map;
  evlist_event_t *event = &place->events[attr];
  int cpu = place->place.cpu;
  int rc;

  if (event->state != COUNTER_OPEN || event->map_entry != 0 ||
      has_entry(evlist, attr, cpu))
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
static int fill(const uvperf__evlist_t *evlist, size_t attr,
                uvperf_error_t *error) {
  const evlist_target_t *target;
  size_t i, at;
  int rc = 0;

  for (i = 0; i < evlist->nr_targets && rc == 0; i++) {
    target = evlist->targets[i];
    if (target->type != UVPERF_TARGET_CPUS)
      continue;
    for (at = 0; at < target->nr_places && rc == 0; at++)
      rc = put(evlist, attr, &target->places[at], error);
  }
  return rc;
}

int uvperf__evlist_fill_maps(const uvperf__evlist_t *evlist,
                             uvperf_error_t *error) {
  size_t i;
  int rc = 0;

  for (i = 0; i < evlist->nr_attrs && rc == 0; i++)
    if (evlist->attrs[i].map != NULL)
      rc = fill(evlist, i, error);
  return rc;
}

/* A forked child does not change the parent's entries. */
void uvperf__evlist_leave_entry(const uvperf__evlist_t *evlist,
                                evlist_event_t *event, size_t attr) {
  if (event->map_entry != 0 && uvperf__evlist_check(evlist, NULL) == 0)
    uvperf__bpf_map_take(evlist->attrs[attr].map, event->map_entry - 1, NULL);
  event->map_entry = 0;
}

/* -- maps ------------------------------------------------------------------ */

/* If closing the map deletes its entries, they are not deleted one by one,
 * because by now an entry may belong to another program. */
static void leave_map(const uvperf__evlist_t *evlist, size_t attr) {
  evlist_attr_t *own = &evlist->attrs[attr];
  const evlist_target_t *target;
  evlist_event_t *event;
  size_t i, at;
  int clears;

  if (own->map == NULL)
    return;
  clears = uvperf__bpf_map_clears(own->map);
  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (at = 0; at < target->nr_places; at++) {
      event = &target->places[at].events[attr];
      if (clears)
        event->map_entry = 0;
      uvperf__evlist_leave_entry(evlist, event, attr);
    }
  }
  uvperf__bpf_map_close(own->map);
  uvperf__free(own->map);
  own->map = NULL;
}

void uvperf__evlist_leave_maps(const uvperf__evlist_t *evlist) {
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++)
    leave_map(evlist, i);
}

static int has_target(const uvperf__evlist_t *evlist, uint32_t type) {
  size_t i;

  for (i = 0; i < evlist->nr_targets; i++)
    if (evlist->targets[i]->type == type)
      return 1;
  return 0;
}

static int check(const uvperf__evlist_t *evlist, size_t attr,
                 uvperf_error_t *error) {
  int rc = uvperf__evlist_check_attr(evlist, attr, error);

  if (rc != 0)
    return rc;
  if (evlist->attrs[attr].map != NULL)
    return uvperf__error_set(error, -EEXIST, UVPERF_CAUSE_EXISTS,
                             "this attr's events are already kept in a map; "
                             "use another set for another map");
  if (evlist->nr_targets != 0 && !has_target(evlist, UVPERF_TARGET_CPUS))
    return uvperf__error_set(
        error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
        "the set has no CPUs for the map's entries, and BPF programs cannot "
        "read the events of tasks; add a UVPERF_TARGET_CPUS target");
  return 0;
}

static int open_map(const uvperf__evlist_t *evlist, size_t attr, int map_fd,
                    uvperf_error_t *error) {
  evlist_attr_t *own = &evlist->attrs[attr];
  int rc;

  own->map = uvperf__calloc(1, sizeof(*own->map));
  if (own->map == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot open the map");
  rc = uvperf__bpf_map_open(own->map, evlist->root, map_fd, NULL, error);
  return rc == 0 ? fill(evlist, attr, error) : rc;
}

/* Each part of an attr counts on its own CPUs. */
int uvperf__evlist_fill_map(const uvperf__evlist_t *evlist, size_t attr,
                            int map_fd, uvperf_error_t *error) {
  size_t at = attr;
  int rc;

  do
    rc = check(evlist, at, error);
  while (rc == 0 && (at = uvperf__evlist_next_part(evlist, attr, at)) != 0);
  if (rc != 0)
    return rc;
  at = attr;
  do
    rc = open_map(evlist, at, map_fd, error);
  while (rc == 0 && (at = uvperf__evlist_next_part(evlist, attr, at)) != 0);
  if (rc == 0)
    return 0;
  at = attr;
  do
    leave_map(evlist, at);
  while ((at = uvperf__evlist_next_part(evlist, attr, at)) != 0);
  return rc;
}
