/* SPDX-License-Identifier: MIT */
/* An array: the events of a BPF_MAP_TYPE_PERF_EVENT_ARRAY through which BPF
 * programs send samples. An array has one attr, and an event on each CPU of one
 * target. It differs from a set in this:
 *
 * - The attr is opened as it is. No id is added to it, and the decoder has one
 *   source for all records, so no id is looked up either.
 * - An event is under its CPU's id in the map while all events are put there.
 * - All events are opened, or none. Only a CPU that is offline has no event
 *   until it comes. The event of a CPU that goes is taken out and closed at
 *   once: if the event stayed in the map, programs that name the CPU would get
 *   -EOPNOTSUPP, because the kernel has disabled it for good
 *   (perf_event_exit_cpu in kernel/events/core.c). */
#include "evlist/attrs.h"
#include "evlist/opening.h"
#include "evlist/reading.h"

#include <errno.h>
#include <string.h>

#include "host/cpu_list.h"
#include "host/system.h"
#include "util/error.h"

/* -- which CPUs ------------------------------------------------------------ */

/* Also returns 1 if this is not known, so that the caller tries to open the
 * event. */
static int cpu_is_online(int cpu) {
  return uvperf__system_has_cpu("online", cpu) != 0;
}

static int cpu_has_entry(const uvperf__evlist_t *evlist, int cpu) {
  return (uint32_t)cpu < evlist->attrs->at[0].nr_entries;
}

static int explain_no_cpu(const uvperf__evlist_t *evlist, const char *cpus,
                          uvperf_error_t *error) {
  char online[UVPERF__TEXT_BYTES];

  if (uvperf__system_cpu_list("online", online) != 0)
    strcpy(online, "unknown");
  return uvperf__error_set(error, -ENODEV, UVPERF_CAUSE_NO_CPU,
                           "no CPU%s%.40s%s that has one of the map's %u "
                           "entries is online; the online CPUs are %.47s",
                           cpus != NULL ? " of options.cpus \"" : "",
                           cpus != NULL ? cpus : "", cpus != NULL ? "\"" : "",
                           evlist->attrs->at[0].nr_entries, online);
}

int uvperf__evlist_plan_array(const uvperf__evlist_t *evlist,
                              const evlist_target_t *target, const char *cpus,
                              uvperf_error_t *error) {
  evlist_event_t *event;
  size_t nr = 0;
  size_t i;
  int cpu;

  for (i = 0; i < target->nr_places; i++) {
    event = &target->places[i].events[0];
    cpu = target->places[i].place.cpu;
    if (cpus != NULL && !cpu_has_entry(evlist, cpu))
      return uvperf__error_argument(
          error,
          "options.cpus has CPU %d, but the map has %u entries; create it with "
          "more max_entries, or leave that CPU out",
          cpu, evlist->attrs->at[0].nr_entries);
    if (cpu_has_entry(evlist, cpu) && (cpus == NULL || cpu_is_online(cpu))) {
      nr++;
      continue;
    }
    event->state = EVENT_FAILED;
    event->code = -ENODEV;
  }
  return nr != 0 ? 0 : explain_no_cpu(evlist, cpus, error);
}

int uvperf__evlist_cpu_status(const uvperf__evlist_t *evlist, int cpu) {
  const evlist_target_t *target = evlist->places->targets[0];
  const evlist_event_t *event = NULL;
  int code = -ENODEV;
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    if (target->places[i].place.cpu == cpu)
      event = &target->places[i].events[0];
  if (cpu < 0 || cpu > UVPERF__MAX_CPU ||
      (event == NULL && !target->follows_cpus))
    return -ENOENT;
  if (event != NULL)
    code = event->state == EVENT_OPEN ? 0 : event->code;
  if (code != -ENODEV)
    return code;
  if (uvperf__system_has_cpu("possible", cpu) == 0)
    return -ENOENT;
  if (!cpu_has_entry(evlist, cpu))
    return -E2BIG;
  return (evlist->flags & UVPERF_SET_FIXED_CPUS) && cpu_is_online(cpu)
             ? -ENOENT
             : -ENODEV;
}

/* If the entry cannot be deleted now, the deletion is tried again when all
 * entries are taken out. */
void uvperf__evlist_end_output(uvperf__evlist_t *evlist, evlist_place_t *place,
                               int code) {
  evlist_event_t *event = &place->events[0];

  uvperf__evlist_leave_entry(evlist, event, 0, NULL);
  event->is_in_map = 0;
  uvperf__evlist_count_lost_at(evlist, place);
  uvperf__evlist_close_event(evlist, event, 0);
  event->state = EVENT_FAILED;
  event->code = code;
  event->carry = event->last;
}

/* -- in the map ------------------------------------------------------------ */

/* `goes_on` after a failure. Returns the first failure. */
static int array_empty_map(const uvperf__evlist_t *evlist, int goes_on,
                           uvperf_error_t *error) {
  evlist_at_t at = uvperf__evlist_walk(evlist);
  int first = 0;
  int rc;

  while ((first == 0 || goes_on) && uvperf__evlist_walk_next(&at)) {
    rc = uvperf__evlist_leave_entry(evlist, &at.place->events[0], 0,
                                    first == 0 ? error : NULL);
    if (first == 0)
      first = rc;
  }
  return first;
}

/* After a failure the old state is restored: before the call, either no event
 * or every event was in the map. */
int uvperf__evlist_put(uvperf__evlist_t *evlist, int is_in,
                       uvperf_error_t *error) {
  evlist_attr_t *own = &evlist->attrs->at[0];
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0 || own->is_map_filled == is_in)
    return rc;
  own->is_map_filled = 1;
  rc = is_in ? uvperf__evlist_fill_maps(evlist, error)
             : array_empty_map(evlist, 0, error);
  if (rc != 0 && is_in)
    array_empty_map(evlist, 1, NULL);
  else if (rc != 0)
    uvperf__evlist_fill_maps(evlist, NULL);
  own->is_map_filled = is_in == (rc == 0);
  return rc;
}
