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
#include "set/counters_internal.h"

#include <string.h>

#include "host/cgroup.h"
#include "util/file.h"

/* Whether the place is bound to the CPU. A task's place is not, because the
 * task can run elsewhere. */
static int is_bound(const counter_place_t *place, int cpu) {
  return place->place.cpu == cpu && place->place.pid < 0;
}

/* -- offline --------------------------------------------------------------- */

static void mark_away(const uvperf__counters_t *counters,
                      counter_place_t *place) {
  size_t i;

  uvperf__counters_read_place(counters, place);
  for (i = 0; i < counters->nr_attrs; i++)
    place->events[i].left = place->events[i].last.running;
  place->is_away = 1;
}

void uvperf__counters_cpu_gone(uvperf__counters_t *counters, int cpu) {
  counter_target_t *target;
  size_t i, place;

  if (uvperf__counters_check(counters, NULL) != 0)
    return;
  for (i = 0; i < counters->nr_targets; i++) {
    target = counters->targets[i];
    for (place = 0; place < target->nr_places; place++)
      if (is_bound(&target->places[place], cpu))
        mark_away(counters, &target->places[place]);
  }
}

/* -- planning -------------------------------------------------------------- */

/* In a set that is not enabled, no running time advances, so no event seems to
 * have gone on. But opening an event again then loses nothing. */
static int has_gone_on(const uvperf__counters_t *counters,
                       const counter_t *event) {
  return counters->is_enabled && event->code == 0 &&
         event->last.running != event->left;
}

/* Closes the events of this leader, so that they can be opened again. Members
 * come first: if the leader were closed first, the kernel would make them
 * leaders. */
static void close_group(uvperf__counters_t *counters, counter_place_t *place,
                        size_t leader) {
  counter_t *event;
  size_t i;

  for (i = counters->nr_attrs; i-- > leader;) {
    event = &place->events[i];
    if (!uvperf__counter_is_led(event, leader))
      continue;
    uvperf__counters_close_event(counters, event, i);
    event->state = COUNTER_PLANNED;
    event->code = 0;
    event->carry = event->last;
    event->is_carried = 1;
    /* A value that is not a sum does not go on from the old value. */
    if (counters->attr_flags[i] & UVPERF__READING_SNAPSHOT)
      event->carry.value = 0;
  }
}

static void replan_events(uvperf__counters_t *counters,
                          counter_target_t *target, counter_place_t *place) {
  counter_t *event;
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++) {
    event = &place->events[i];
    if (uvperf__counter_leads(place, i) && !has_gone_on(counters, event))
      close_group(counters, place, i);
    if (event->state != COUNTER_FAILED || event->is_unfit)
      continue;
    event->code = 0;
    /* The package was not known while the CPU was offline. */
    event->state = uvperf__counters_has_package(counters, target, place, i)
                       ? COUNTER_NONE
                       : COUNTER_PLANNED;
  }
}

/* Plans a place again. Its CPU was offline when the place was opened, or went
 * offline later, and is back now. */
static void replan_place(uvperf__counters_t *counters, counter_target_t *target,
                         counter_place_t *place) {
  if (!place->is_away)
    mark_away(counters, place);
  place->is_away = 0;
  uvperf__counters_read_place(counters, place);
  uvperf__counters_count_lost_at(counters, place);
  replan_events(counters, target, place);
  uvperf__counters_forget_place(counters, &place->place);
}

/* -- opening -------------------------------------------------------------- */

static int is_planned(const uvperf__counters_t *counters,
                      const counter_place_t *place) {
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++)
    if (place->events[i].state == COUNTER_PLANNED)
      return 1;
  return 0;
}

/* Marks the other planned events of the place as failed. */
static void fail_rest(uvperf__counters_t *counters, counter_place_t *place,
                      const uvperf_error_t *why) {
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++) {
    if (place->events[i].state != COUNTER_PLANNED)
      continue;
    place->events[i].state = COUNTER_FAILED;
    place->events[i].code = why->code;
    /* If there is no memory for the failure, readings still have its code. */
    uvperf__counters_fail(counters, &place->place, i, why, NULL);
  }
}

static int open_cgroup(const uvperf__counters_t *counters,
                       counter_target_t *target, uvperf_error_t *error) {
  int fd;

  if (target->cgroup_path == NULL)
    return 0;
  fd = uvperf__cgroup_open(counters->root, target->cgroup_path, error);
  if (fd < 0)
    return fd;
  target->cgroup = fd;
  return 0;
}

/* If a command has called execve(2) before the CPU came online, that execve(2)
 * has not enabled the new event. */
static void note_exec(const uvperf__counters_t *counters,
                      counter_target_t *target, counter_place_t *place) {
  size_t i;

  if (!target->on_exec)
    return;
  uvperf__counters_read_place(counters, &target->places[0]);
  for (i = 0; i < counters->nr_attrs; i++)
    if (target->places[0].events[i].last.enabled != 0)
      place->has_begun = 1;
}

/* When a set is made, UVPERF_SET_STRICT turns any failure into a failure of the
 * set. Here it is a failure of this place only. */
static void open_place(uvperf__counters_t *counters, counter_target_t *target,
                       counter_place_t *place, uvperf_error_t *error) {
  uint32_t flags = counters->flags;
  uvperf_error_t why;
  int rc;

  if (!is_planned(counters, place))
    return;
  memset(&why, 0, sizeof(why));
  counters->flags &= ~UVPERF_SET_STRICT;
  rc = open_cgroup(counters, target, &why);
  if (rc == 0)
    rc = uvperf__counters_open_place(counters, target, place, &why);
  counters->flags = flags;
  if (target->cgroup >= 0)
    uvperf__file_close(target->cgroup);
  target->cgroup = -1;
  if (rc != 0)
    fail_rest(counters, place, &why);
  note_exec(counters, target, place);
  if (!counters->is_enabled)
    return;
  rc = uvperf__counters_switch_place(counters, target, place, 1, &why);
  if (rc != 0 && error->code == 0)
    *error = why;
}

/* -- new places ------------------------------------------------------------ */

static int has_cpu(const counter_target_t *target, int cpu) {
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    if (target->places[i].place.cpu == cpu)
      return 1;
  return 0;
}

/* Writes one place for each task of the target into `places`, if this is not
 * NULL. The places on the target's first CPU show which tasks there are.
 * Returns the number of tasks. */
static size_t list_tasks(const counter_target_t *target, size_t nr,
                         counter_place_t *places) {
  const counter_place_t *place;
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
static int add_cpu(uvperf__counters_t *counters, counter_target_t *target,
                   int cpu, uvperf_error_t *error) {
  size_t old = target->nr_places;
  size_t nr = list_tasks(target, old, NULL);
  uvperf_error_t why;
  size_t i;
  int rc;

  rc = uvperf__counters_add_places(counters, target, nr, &why);
  if (rc != 0) {
    why.target_index = target->index;
    if (error->code == 0)
      *error = why;
    return rc;
  }
  counters->nr_places += nr;
  list_tasks(target, old, &target->places[old]);
  for (i = old; i < old + nr; i++) {
    target->places[i].place.cpu = cpu;
    uvperf__counters_plan_place(counters, target, &target->places[i]);
  }
  return 0;
}

/* -- online ---------------------------------------------------------------- */

/* Events of tasks follow the tasks to every CPU. So only events that could not
 * be opened at this place must be opened. */
static void plan_failed(uvperf__counters_t *counters, counter_place_t *place) {
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++) {
    if (place->events[i].state != COUNTER_FAILED || place->events[i].is_unfit)
      continue;
    place->events[i].state = COUNTER_PLANNED;
    place->events[i].code = 0;
  }
  uvperf__counters_forget_place(counters, &place->place);
}

static void update_target(uvperf__counters_t *counters,
                          counter_target_t *target, int cpu,
                          uvperf_error_t *error) {
  counter_place_t *place;
  int is_new = !has_cpu(target, cpu);
  size_t i;

  if (is_new &&
      (!target->follows_cpus || add_cpu(counters, target, cpu, error) != 0))
    return;
  for (i = 0; i < target->nr_places; i++) {
    place = &target->places[i];
    if (place->place.cpu != cpu)
      continue;
    if (!is_new && is_bound(place, cpu))
      replan_place(counters, target, place);
    else if (!is_new)
      plan_failed(counters, place);
    open_place(counters, target, place, error);
  }
}

/* Fills the error with the first failure on that CPU. */
static void report_failure(const uvperf__counters_t *counters, int cpu,
                           uvperf_error_t *error) {
  size_t i;

  for (i = 0; error->code == 0 && i < counters->nr_failures; i++)
    if (counters->failures[i].cpu == cpu)
      *error = counters->failures[i].error;
}

int uvperf__counters_cpu_come(uvperf__counters_t *counters, int cpu,
                              uvperf_error_t *error) {
  uvperf__tracefs_ids_t tracepoints = {0};
  uvperf_error_t first;
  size_t i;
  int rc = uvperf__counters_check(counters, error);

  if (rc != 0)
    return rc;
  memset(&first, 0, sizeof(first));
  counters->tracepoints = &tracepoints;
  for (i = 0; i < counters->nr_targets; i++)
    update_target(counters, counters->targets[i], cpu, &first);
  counters->tracepoints = NULL;
  uvperf__counters_order_failures(counters);
  uvperf__counters_reattach(counters);
  report_failure(counters, cpu, &first);
  uvperf__counters_fill_maps(counters, first.code == 0 ? &first : NULL);
  if (first.code != 0 && error != NULL)
    *error = first;
  return first.code;
}
