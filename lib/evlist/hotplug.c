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
#include "evlist/internal.h"

#include <string.h>

#include "host/cgroup.h"
#include "util/file.h"

/* Whether the place is bound to the CPU. A task's place is not, because the
 * task can run elsewhere. */
static int is_bound(const evlist_place_t *place, int cpu) {
  return place->place.cpu == cpu && place->place.pid < 0;
}

/* -- offline --------------------------------------------------------------- */

static void mark_away(const uvperf__evlist_t *evlist, evlist_place_t *place) {
  size_t i;

  uvperf__evlist_read_place(evlist, place);
  for (i = 0; i < evlist->nr_attrs; i++)
    place->events[i].left = place->events[i].last.running;
  place->is_away = 1;
}

void uvperf__evlist_cpu_gone(uvperf__evlist_t *evlist, int cpu) {
  evlist_target_t *target;
  size_t i, place;

  if (uvperf__evlist_check(evlist, NULL) != 0)
    return;
  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places; place++)
      if (is_bound(&target->places[place], cpu))
        mark_away(evlist, &target->places[place]);
  }
}

/* -- planning -------------------------------------------------------------- */

/* In a set that is not enabled, no running time advances, so no event seems to
 * have gone on. But opening an event again then loses nothing. */
static int has_gone_on(const uvperf__evlist_t *evlist,
                       const evlist_event_t *event) {
  return evlist->is_enabled && event->code == 0 &&
         event->last.running != event->left;
}

/* Closes the events of this leader, so that they can be opened again. Members
 * come first: if the leader were closed first, the kernel would make them
 * leaders. */
static void close_group(uvperf__evlist_t *evlist, evlist_place_t *place,
                        size_t leader) {
  evlist_event_t *event;
  size_t i;

  for (i = evlist->nr_attrs; i-- > leader;) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader))
      continue;
    uvperf__evlist_close_event(evlist, event, i);
    event->state = COUNTER_PLANNED;
    event->code = 0;
    event->carry = event->last;
    event->is_carried = 1;
    /* A value that is not a sum does not go on from the old value. */
    if (evlist->attr_flags[i] & UVPERF__READING_SNAPSHOT)
      event->carry.value = 0;
  }
}

static void replan_events(uvperf__evlist_t *evlist, evlist_target_t *target,
                          evlist_place_t *place) {
  evlist_event_t *event;
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++) {
    event = &place->events[i];
    if (uvperf__evlist_leads(place, i) && !has_gone_on(evlist, event))
      close_group(evlist, place, i);
    if (event->state != COUNTER_FAILED || event->is_unfit)
      continue;
    event->code = 0;
    /* The package was not known while the CPU was offline. */
    event->state = uvperf__evlist_has_package(evlist, target, place, i)
                       ? COUNTER_NONE
                       : COUNTER_PLANNED;
  }
}

/* Plans a place again. Its CPU was offline when the place was opened, or went
 * offline later, and is back now. */
static void replan_place(uvperf__evlist_t *evlist, evlist_target_t *target,
                         evlist_place_t *place) {
  if (!place->is_away)
    mark_away(evlist, place);
  place->is_away = 0;
  uvperf__evlist_read_place(evlist, place);
  uvperf__evlist_count_lost_at(evlist, place);
  replan_events(evlist, target, place);
  uvperf__evlist_forget_place(evlist, &place->place);
}

/* -- opening -------------------------------------------------------------- */

static int is_planned(const uvperf__evlist_t *evlist,
                      const evlist_place_t *place) {
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++)
    if (place->events[i].state == COUNTER_PLANNED)
      return 1;
  return 0;
}

/* Marks the other planned events of the place as failed. */
static void fail_rest(uvperf__evlist_t *evlist, evlist_place_t *place,
                      const uvperf_error_t *why) {
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++) {
    if (place->events[i].state != COUNTER_PLANNED)
      continue;
    place->events[i].state = COUNTER_FAILED;
    place->events[i].code = why->code;
    /* If there is no memory for the failure, readings still have its code. */
    uvperf__evlist_fail(evlist, &place->place, i, why, NULL);
  }
}

static int open_cgroup(const uvperf__evlist_t *evlist, evlist_target_t *target,
                       uvperf_error_t *error) {
  int fd;

  if (target->cgroup_path == NULL)
    return 0;
  fd = uvperf__cgroup_open(evlist->root, target->cgroup_path, error);
  if (fd < 0)
    return fd;
  target->cgroup = fd;
  return 0;
}

/* If a command has called execve(2) before the CPU came online, that execve(2)
 * has not enabled the new event. */
static void note_exec(const uvperf__evlist_t *evlist, evlist_target_t *target,
                      evlist_place_t *place) {
  size_t i;

  if (!target->on_exec)
    return;
  uvperf__evlist_read_place(evlist, &target->places[0]);
  for (i = 0; i < evlist->nr_attrs; i++)
    if (target->places[0].events[i].last.enabled != 0)
      place->has_begun = 1;
}

/* When a set is made, UVPERF_SET_STRICT turns any failure into a failure of the
 * set. Here it is a failure of this place only. */
static void open_place(uvperf__evlist_t *evlist, evlist_target_t *target,
                       evlist_place_t *place, uvperf_error_t *error) {
  uint32_t flags = evlist->flags;
  uvperf_error_t why;
  int rc;

  if (!is_planned(evlist, place))
    return;
  memset(&why, 0, sizeof(why));
  evlist->flags &= ~UVPERF_SET_STRICT;
  rc = open_cgroup(evlist, target, &why);
  if (rc == 0)
    rc = uvperf__evlist_open_place(evlist, target, place, &why);
  evlist->flags = flags;
  if (target->cgroup >= 0)
    uvperf__file_close(target->cgroup);
  target->cgroup = -1;
  if (rc != 0)
    fail_rest(evlist, place, &why);
  note_exec(evlist, target, place);
  if (!evlist->is_enabled)
    return;
  rc = uvperf__evlist_switch_place(evlist, target, place, 1, &why);
  if (rc != 0 && error->code == 0)
    *error = why;
}

/* -- new places ------------------------------------------------------------ */

static int has_cpu(const evlist_target_t *target, int cpu) {
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    if (target->places[i].place.cpu == cpu)
      return 1;
  return 0;
}

/* Writes one place for each task of the target into `places`, if this is not
 * NULL. The places on the target's first CPU show which tasks there are.
 * Returns the number of tasks. */
static size_t list_tasks(const evlist_target_t *target, size_t nr,
                         evlist_place_t *places) {
  const evlist_place_t *place;
  size_t tasks = 0;
  size_t i;

  for (i = 0; i < nr; i++) {
    place = &target->places[i];
    if (place->place.cpu != target->places[0].place.cpu)
      continue;
    if (places != NULL) {
      places[tasks].place.pid = place->place.pid;
      places[tasks].start = place->start;
    }
    tasks++;
  }
  return tasks;
}

/* Adds places on a CPU to the target. Returns 0, or fills the error and returns
 * -ENOMEM. */
static int add_cpu(uvperf__evlist_t *evlist, evlist_target_t *target, int cpu,
                   uvperf_error_t *error) {
  size_t old = target->nr_places;
  size_t nr = list_tasks(target, old, NULL);
  uvperf_error_t why;
  size_t i;
  int rc;

  rc = uvperf__evlist_add_places(evlist, target, nr, &why);
  if (rc != 0) {
    why.target_index = target->index;
    if (error->code == 0)
      *error = why;
    return rc;
  }
  evlist->nr_places += nr;
  list_tasks(target, old, &target->places[old]);
  for (i = old; i < old + nr; i++) {
    target->places[i].place.cpu = cpu;
    uvperf__evlist_plan_place(evlist, target, &target->places[i]);
  }
  return 0;
}

/* -- online ---------------------------------------------------------------- */

/* Events of tasks follow the tasks to every CPU. So only events that could not
 * be opened at this place must be opened. */
static void plan_failed(uvperf__evlist_t *evlist, evlist_place_t *place) {
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++) {
    if (place->events[i].state != COUNTER_FAILED || place->events[i].is_unfit)
      continue;
    place->events[i].state = COUNTER_PLANNED;
    place->events[i].code = 0;
  }
  uvperf__evlist_forget_place(evlist, &place->place);
}

static void update_target(uvperf__evlist_t *evlist, evlist_target_t *target,
                          int cpu, uvperf_error_t *error) {
  evlist_place_t *place;
  int is_new = !has_cpu(target, cpu);
  size_t i;

  if (is_new &&
      (!target->follows_cpus || add_cpu(evlist, target, cpu, error) != 0))
    return;
  for (i = 0; i < target->nr_places; i++) {
    place = &target->places[i];
    if (place->place.cpu != cpu)
      continue;
    if (!is_new && is_bound(place, cpu))
      replan_place(evlist, target, place);
    else if (!is_new)
      plan_failed(evlist, place);
    open_place(evlist, target, place, error);
  }
}

/* Fills the error with the first failure on that CPU. */
static void report_failure(const uvperf__evlist_t *evlist, int cpu,
                           uvperf_error_t *error) {
  size_t i;

  for (i = 0; error->code == 0 && i < evlist->nr_failures; i++)
    if (evlist->failures[i].cpu == cpu)
      *error = evlist->failures[i].error;
}

int uvperf__evlist_cpu_come(uvperf__evlist_t *evlist, int cpu,
                            uvperf_error_t *error) {
  uvperf__tracefs_ids_t tracepoints = {0};
  uvperf_error_t first;
  size_t i;
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0)
    return rc;
  memset(&first, 0, sizeof(first));
  evlist->tracepoints = &tracepoints;
  for (i = 0; i < evlist->nr_targets; i++)
    update_target(evlist, evlist->targets[i], cpu, &first);
  evlist->tracepoints = NULL;
  uvperf__evlist_order_failures(evlist);
  uvperf__evlist_reattach(evlist);
  report_failure(evlist, cpu, &first);
  uvperf__evlist_fill_maps(evlist, first.code == 0 ? &first : NULL);
  if (first.code != 0 && error != NULL)
    *error = first;
  return first.code;
}
