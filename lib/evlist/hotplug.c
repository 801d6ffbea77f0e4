/* SPDX-License-Identifier: MIT */
/* CPU hotplug. The events of a CPU that goes offline are turned off. They stay
 * off when the CPU is back, even after PERF_EVENT_IOC_ENABLE, because they are
 * not in the lists of the CPU's context (perf_event_exit_cpu in
 * kernel/events/core.c). The events can still be read, so they stay open until
 * the CPU is back. Then new events replace them, and the old counts are added.
 *
 * The events of package PMUs go on: their drivers move them to another CPU of
 * the package. No field of an attr shows which events go on, but their running
 * time advances. The enabled time is no proof: it also advances for an event
 * that is enabled when its CPU is back, although that event is in no list
 * (__perf_event_enable does not check). */
#include "evlist/opening.h"
#include "evlist/reading.h"
#include "evlist/records.h"

#include <errno.h>
#include <string.h>

#include "host/cgroup.h"
#include "util/file.h"

/* Whether the place is bound to the CPU. A task's place is not, because the
 * task can run elsewhere. */
static int place_is_bound(const evlist_place_t *place, int cpu) {
  return place->place.cpu == cpu && place->place.pid < 0;
}

static void place_mark_away(const uvperf__evlist_t *evlist,
                            evlist_place_t *place) {
  size_t i;

  uvperf__evlist_read_place(evlist, place);
  for (i = 0; i < evlist->attrs->nr; i++)
    place->events[i].left = place->events[i].last.running;
  place->is_away = 1;
}

void uvperf__evlist_cpu_gone(uvperf__evlist_t *evlist, int cpu) {
  evlist_at_t at = uvperf__evlist_walk(evlist);

  if (uvperf__evlist_check(evlist, NULL) != 0)
    return;
  while (uvperf__evlist_walk_next(&at)) {
    if (!place_is_bound(at.place, cpu))
      continue;
    if (evlist->is_array)
      uvperf__evlist_end_output(evlist, at.place, -ENODEV);
    else
      place_mark_away(evlist, at.place);
  }
}

/* -- planning -------------------------------------------------------------- */

/* Closes the events of this leader, so that they can be opened again. Members
 * come first: if the leader were closed first, the kernel would make them
 * leaders. */
static void place_close_group(uvperf__evlist_t *evlist, evlist_place_t *place,
                              size_t leader) {
  evlist_event_t *event;
  size_t i;

  for (i = evlist->attrs->nr; i-- > leader;) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader))
      continue;
    uvperf__evlist_close_event(evlist, event, i);
    event->state = EVENT_PLANNED;
    event->code = 0;
    event->carry = event->last;
    event->is_carried = 1;
    /* A value that is not a sum does not go on from the old value. */
    if (evlist->attrs->flags[i] & UVPERF__READING_SNAPSHOT)
      event->carry.value = 0;
  }
}

/* Plans a place again. Its CPU was offline when the place was opened, or went
 * offline later, and is back now. Events of tasks follow the tasks to every
 * CPU, so only the events that could not be opened at their place are planned.
 *
 * In a set that is not enabled, no running time advances, so no event seems to
 * have gone on. But opening an event again then loses nothing. */
static void place_replan(uvperf__evlist_t *evlist,
                         const evlist_target_t *target, evlist_place_t *place) {
  int is_bound = place->place.pid < 0;
  evlist_event_t *event;
  size_t i;

  if (is_bound && !evlist->is_array) {
    if (!place->is_away)
      place_mark_away(evlist, place);
    place->is_away = 0;
    uvperf__evlist_read_place(evlist, place);
  }
  if (is_bound)
    uvperf__evlist_count_lost_at(evlist, place);
  for (i = 0; i < evlist->attrs->nr; i++) {
    event = &place->events[i];
    if (evlist->is_array)
      event->is_in_map = 0; /* it stays there until the new event is put */
    if (is_bound && uvperf__evlist_leads(place, i) &&
        (evlist->is_array || !evlist->is_enabled || event->code != 0 ||
         event->last.running == event->left))
      place_close_group(evlist, place, i);
    if (event->state != EVENT_FAILED || event->is_unfit)
      continue;
    event->code = 0;
    /* The package was not known while the CPU was offline. */
    event->state =
        is_bound && uvperf__evlist_has_package(evlist, target, place, i)
            ? EVENT_ABSENT
            : EVENT_PLANNED;
  }
  uvperf__evlist_forget(evlist, target->index, &place->place, SIZE_MAX);
}

/* -- opening -------------------------------------------------------------- */

/* Opens the planned events of a place, which has a cgroup if its target has
 * one. The planned events that are left after a failure have failed too. */
static void place_open_events(uvperf__evlist_t *evlist, const evlist_at_t *at,
                              uvperf_error_t *why) {
  evlist_target_t *target = at->target;
  evlist_event_t *event;
  size_t i;
  int rc = 0;

  if (target->cgroup_path != NULL)
    rc = uvperf__cgroup_open(target->cgroup_path, why);
  if (target->cgroup_path != NULL && rc >= 0) {
    target->cgroup = rc;
    rc = 0;
  }
  if (rc == 0)
    rc = uvperf__evlist_open_place(evlist, at, why);
  if (target->cgroup >= 0)
    uvperf__file_close(target->cgroup);
  target->cgroup = -1;
  for (i = 0; rc != 0 && i < evlist->attrs->nr; i++) {
    event = &at->place->events[i];
    if (event->state != EVENT_PLANNED)
      continue;
    event->state = EVENT_FAILED;
    event->code = why->code;
    /* If there is no memory for the failure, readings still have its code. */
    uvperf__evlist_fail(evlist, &at->place->place, i, why, NULL);
  }
}

/* When a set is made, UVPERF_SET_STRICT turns any failure into a failure of the
 * set. Here it is a failure of this place only. */
static void place_open(uvperf__evlist_t *evlist, const evlist_at_t *at,
                       uvperf_error_t *error) {
  uint32_t flags = evlist->flags;
  uvperf_error_t why;
  size_t i = 0;
  int is_early;

  while (i < evlist->attrs->nr && at->place->events[i].state != EVENT_PLANNED)
    i++;
  if (i == evlist->attrs->nr)
    return;
  memset(&why, 0, sizeof(why));
  evlist->flags &= ~UVPERF_SET_STRICT;
  place_open_events(evlist, at, &why);
  evlist->flags = flags;
  /* If a command has called execve(2) before the CPU came online, that
   * execve(2) has not enabled the new event. */
  if (at->target->on_exec) {
    uvperf__evlist_read_place(evlist, &at->target->places[0]);
    for (i = 0; i < evlist->attrs->nr; i++)
      if (at->target->places[0].events[i].last.enabled != 0)
        at->place->has_begun = 1;
  }
  for (is_early = 1; evlist->is_enabled && is_early >= 0; is_early--)
    if (uvperf__evlist_switch_part(evlist, at, is_early, 1, &why) != 0 &&
        error->code == 0)
      *error = why;
}

/* Adds places on a CPU to the target: one for each task of the target. The
 * places on the target's first CPU show which tasks there are. Returns 0, or
 * fills the error and returns -ENOMEM. */
static int target_add_cpu(uvperf__evlist_t *evlist, evlist_target_t *target,
                          int cpu, uvperf_error_t *error) {
  size_t old = target->nr_places;
  const evlist_place_t *task;
  evlist_place_t *place;
  uvperf_error_t why;
  size_t nr = 0;
  size_t i;
  int rc;

  for (i = 0; i < old; i++)
    nr += target->places[i].place.cpu == target->places[0].place.cpu;
  rc = uvperf__evlist_add_places(evlist, target, nr, &why);
  if (rc != 0) {
    why.target_index = target->index;
    if (error->code == 0)
      *error = why;
    return rc;
  }
  evlist->places->nr_places += nr;
  place = &target->places[old];
  for (i = 0; i < old; i++) {
    task = &target->places[i];
    if (task->place.cpu != target->places[0].place.cpu)
      continue;
    place->place.pid = task->place.pid;
    place->place.cpu = cpu;
    place->start = task->start;
    uvperf__evlist_plan_place(evlist, target, place++);
  }
  return 0;
}

static void target_cpu_come(uvperf__evlist_t *evlist, evlist_target_t *target,
                            int cpu, uvperf_error_t *error) {
  evlist_at_t at = {.target = target};
  int is_new = 1;
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    is_new &= target->places[i].place.cpu != cpu;
  if (is_new && (!target->follows_cpus ||
                 target_add_cpu(evlist, target, cpu, error) != 0))
    return;
  for (i = 0; i < target->nr_places; i++) {
    at.place = &target->places[i];
    if (at.place->place.cpu != cpu)
      continue;
    if (!is_new)
      place_replan(evlist, target, at.place);
    place_open(evlist, &at, error);
  }
}

/* Called when a CPU of an array did not get its event, or the event could not
 * be enabled or put into the map. The rings from `nr_rings` on were opened for
 * it. */
static void array_undo_come(uvperf__evlist_t *evlist, int cpu, size_t nr_rings,
                            int code) {
  evlist_at_t at = uvperf__evlist_walk(evlist);

  while (uvperf__evlist_walk_next(&at))
    if (at.place->place.cpu == cpu)
      uvperf__evlist_end_output(evlist, at.place, code);
  uvperf__evlist_cut_rings(evlist, nr_rings);
}

int uvperf__evlist_cpu_come(uvperf__evlist_t *evlist, int cpu,
                            uvperf_error_t *error) {
  const evlist_places_t *places = evlist->places;
  uvperf__tracefs_ids_t tracepoints = {0};
  size_t nr_rings = uvperf__evlist_nr_rings(evlist);
  uvperf_error_t first;
  size_t i;
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0 ||
      (evlist->is_array && (uint32_t)cpu >= evlist->attrs->at[0].nr_entries))
    return rc;
  memset(&first, 0, sizeof(first));
  evlist->opening->tracepoints = &tracepoints;
  for (i = 0; i < places->nr_targets; i++)
    target_cpu_come(evlist, places->targets[i], cpu, &first);
  evlist->opening->tracepoints = NULL;
  uvperf__evlist_order_failures(evlist);
  uvperf__evlist_reattach(evlist);
  for (i = 0; first.code == 0 && i < places->nr_failures; i++)
    if (places->failures[i].cpu == cpu)
      first = places->failures[i].error;
  if (!evlist->is_array || first.code == 0)
    uvperf__evlist_fill_maps(evlist, first.code == 0 ? &first : NULL);
  if (evlist->is_array && first.code != 0)
    array_undo_come(evlist, cpu, nr_rings, first.code);
  if (first.code != 0 && error != NULL)
    *error = first;
  return first.code;
}
