/* SPDX-License-Identifier: MIT */
/* Maps of the type BPF_MAP_TYPE_PERF_EVENT_ARRAY that are kept filled with an
 * attr's events. The key is the CPU's id. The value is the event of that CPU.
 * Programs read its count by bpf_perf_event_read_value(). An entry is set after
 * its event is opened. The entry is deleted before the event is closed, because
 * the map would keep the event alive. */
#include "evlist/opening.h"

#include <errno.h>

#include "ring/bpf_map.h"
#include "util/alloc.h"
#include "util/error.h"

/* -- entries --------------------------------------------------------------- */

/* Whether an event of another target has this key. */
static int map_has_entry(const uvperf__evlist_t *evlist, size_t attr, int cpu) {
  evlist_at_t at = uvperf__evlist_walk(evlist);

  while (uvperf__evlist_walk_next(&at))
    if (at.place->place.cpu == cpu && at.place->events[attr].is_in_map)
      return 1;
  return 0;
}

/* Puts all events of the attr into its map, if it has one, except those that
 * are in it already. */
static int map_fill(const uvperf__evlist_t *evlist, size_t attr,
                    uvperf_error_t *error) {
  const uvperf__bpf_map_t *map = evlist->attrs->at[attr].map;
  evlist_at_t at = uvperf__evlist_walk(evlist);
  evlist_event_t *event;
  int cpu;
  int rc = 0;

  while (map != NULL && rc == 0 && uvperf__evlist_walk_next(&at)) {
    event = &at.place->events[attr];
    cpu = at.place->place.cpu;
    if (at.target->type != UVPERF_TARGET_CPUS || event->state != EVENT_OPEN ||
        event->is_in_map ||
        (evlist->places->nr_targets > 1 && map_has_entry(evlist, attr, cpu)))
      continue;
    if ((uint32_t)cpu >= map->max_entries)
      rc = uvperf__error_set(
          error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
          "the map has no entry for CPU %d, only %u entries; create it with "
          "max_entries for each possible CPU",
          cpu, map->max_entries);
    else
      rc = uvperf__bpf_map_put(map, (uint32_t)cpu, event->fd, error);
    if (rc != 0) {
      uvperf__evlist_locate(error, attr, at.target->index);
      break;
    }
    event->map_entry = (uint32_t)cpu + 1;
    event->is_in_map = 1;
  }
  return rc;
}

int uvperf__evlist_fill_maps(const uvperf__evlist_t *evlist,
                             uvperf_error_t *error) {
  size_t i;
  int rc = 0;

  for (i = 0; i < evlist->attrs->nr && rc == 0; i++)
    if (evlist->attrs->at[i].is_map_filled)
      rc = map_fill(evlist, i, error);
  return rc;
}

/* A forked child does not change the parent's entries. */
int uvperf__evlist_leave_entry(const uvperf__evlist_t *evlist,
                               evlist_event_t *event, size_t attr,
                               uvperf_error_t *error) {
  int rc = 0;

  if (event->map_entry == 0)
    return 0;
  if (uvperf__evlist_check(evlist, NULL) == 0)
    rc = uvperf__bpf_map_take(evlist->attrs->at[attr].map, event->map_entry - 1,
                              error);
  if (rc != 0)
    return rc;
  event->map_entry = 0;
  event->is_in_map = 0;
  return 0;
}

/* -- maps ------------------------------------------------------------------ */

/* If closing the map deletes its entries, they are not deleted one by one,
 * because by now an entry may belong to another program. */
static void map_leave(const uvperf__evlist_t *evlist, size_t attr) {
  evlist_attr_t *own = &evlist->attrs->at[attr];
  evlist_at_t at = uvperf__evlist_walk(evlist);
  evlist_event_t *event;
  int clears;

  if (own->map == NULL)
    return;
  clears = uvperf__bpf_map_clears(own->map);
  while (uvperf__evlist_walk_next(&at)) {
    event = &at.place->events[attr];
    if (!clears)
      uvperf__evlist_leave_entry(evlist, event, attr, NULL);
    event->map_entry = 0;
    event->is_in_map = 0;
  }
  uvperf__bpf_map_close(own->map);
  uvperf__free(own->map);
  own->map = NULL;
}

void uvperf__evlist_leave_maps(const uvperf__evlist_t *evlist) {
  size_t i;

  for (i = 0; i < evlist->attrs->nr; i++)
    map_leave(evlist, i);
}

static int map_check(const uvperf__evlist_t *evlist, size_t attr,
                     uvperf_error_t *error) {
  size_t i = 0;
  int rc = uvperf__evlist_check_attr(evlist, attr, error);

  if (rc != 0)
    return rc;
  if (evlist->attrs->at[attr].map != NULL)
    return uvperf__error_set(error, -EEXIST, UVPERF_CAUSE_EXISTS,
                             "this attr's events are already kept in a map; "
                             "use another set for another map");
  while (i < evlist->places->nr_targets &&
         evlist->places->targets[i]->type != UVPERF_TARGET_CPUS)
    i++;
  if (i == evlist->places->nr_targets && i != 0)
    return uvperf__error_argument(
        error,
        "the set has no CPUs for the map's entries, and BPF programs cannot "
        "read the events of tasks; add a UVPERF_TARGET_CPUS target");
  return 0;
}

int uvperf__evlist_take_map(evlist_attr_t *own, uvperf__bpf_map_t *map,
                            uvperf_error_t *error) {
  own->map = uvperf__calloc(1, sizeof(*own->map));
  if (own->map == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot open the map");
  *own->map = *map;
  map->fd = -1;
  own->nr_entries = map->max_entries;
  return 0;
}

static int map_open(evlist_attr_t *own, int map_fd, uvperf_error_t *error) {
  uvperf__bpf_map_t map;
  int rc = uvperf__bpf_map_open(&map, map_fd, NULL, 0, error);

  if (rc == 0)
    rc = uvperf__evlist_take_map(own, &map, error);
  uvperf__bpf_map_close(&map);
  return rc;
}

/* Each part of an attr counts on its own CPUs. */
int uvperf__evlist_fill_map(const uvperf__evlist_t *evlist, size_t attr,
                            int map_fd, uvperf_error_t *error) {
  evlist_attr_t *own;
  size_t at = attr;
  int rc;

  do
    rc = map_check(evlist, at, error);
  while (rc == 0 && (at = uvperf__evlist_next_part(evlist, attr, at)) != 0);
  if (rc != 0)
    return rc;
  at = attr;
  do {
    own = &evlist->attrs->at[at];
    own->is_map_filled = 1;
    rc = map_open(own, map_fd, error);
    if (rc == 0)
      rc = map_fill(evlist, at, error);
  } while (rc == 0 && (at = uvperf__evlist_next_part(evlist, attr, at)) != 0);
  if (rc == 0)
    return 0;
  at = attr;
  do
    map_leave(evlist, at);
  while ((at = uvperf__evlist_next_part(evlist, attr, at)) != 0);
  return rc;
}
