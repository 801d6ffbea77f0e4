/* SPDX-License-Identifier: MIT */
/* Enables and disables all events at once. */
#include "set/counters_internal.h"

#include <sys/ioctl.h>

#include "explain/explain.h"
#include "sys/sys.h"

/* -- enable, disable ------------------------------------------------------ */

/* Of a place the events that are switched at once. */
enum part {
  PART_EARLY,
  PART_LATE
};

/* Whether a command has not called execve(2) yet: enabled by hand it would
 * count the program that forked it, and disabled by hand it would be enabled
 * all the same. time_enabled is the second word of a group's values and of a
 * single one's alike. */
static int is_waiting(counter_place_t *place, size_t leader) {
  uint64_t words[UVPERF__COUNTERS_WORDS];
  ssize_t size;

  if (place->has_begun)
    return 0;
  size = uvperf__sys_read(place->events[leader].fd, words, sizeof(words));
  if (size >= (ssize_t)(2 * sizeof(words[0])) && words[1] == 0)
    return 1;
  place->has_begun = 1;
  return 0;
}

static int switch_place(uvperf__counters_t *counters, counter_place_t *place,
                        enum part part, int is_command, unsigned long request,
                        uvperf_error_t *error) {
  uvperf__control_t control = {request, NULL, 0, NULL, NULL};
  int first = 0;
  size_t i;
  int rc;

  for (i = 0; i < counters->nr_attrs; i++) {
    if (!uvperf__counter_leads(place, i) ||
        counters->attrs[i].is_early != (part == PART_EARLY))
      continue;
    if (is_command && is_waiting(place, i))
      return first;
    rc = uvperf__sys_ioctl(place->events[i].fd, request, 0);
    if (rc >= 0 || first != 0)
      continue;
    control.attr = counters->attrs[i].attr;
    first = uvperf__explain_control(error, rc, counters->root, &control);
    if (error != NULL) {
      error->attr_index = (uint32_t)i;
      error->target_index = place->place.target;
    }
  }
  return first;
}

static int switch_part(uvperf__counters_t *counters, size_t first,
                       enum part part, unsigned long request,
                       uvperf_error_t *error) {
  counter_target_t *target;
  size_t i, place;
  int failed = 0;
  int rc;

  for (i = first; i < counters->nr_targets; i++) {
    target = counters->targets[i];
    for (place = 0; place < target->nr_places; place++) {
      rc = switch_place(counters, &target->places[place], part, target->on_exec,
                        request, failed == 0 ? error : NULL);
      if (failed == 0)
        failed = rc;
    }
  }
  return failed;
}

static int has_early(const uvperf__counters_t *counters) {
  return counters->attrs[counters->order[0]].is_early;
}

/* Dummies write from before the others begin until after these have ended, at
 * all places: a task goes from one CPU to another. */
int uvperf__counters_switch(uvperf__counters_t *counters, size_t first,
                            int enable, uvperf_error_t *error) {
  int early = 0;
  int late = 0;

  if (enable && has_early(counters))
    early =
        switch_part(counters, first, PART_EARLY, PERF_EVENT_IOC_ENABLE, error);
  late = switch_part(counters, first, PART_LATE,
                     enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
                     early == 0 ? error : NULL);
  if (early != 0)
    return early;
  if (!enable && has_early(counters))
    early = switch_part(counters, first, PART_EARLY, PERF_EVENT_IOC_DISABLE,
                        late == 0 ? error : NULL);
  return late != 0 ? late : early;
}

int uvperf__counters_switch_place(uvperf__counters_t *counters,
                                  const counter_target_t *target,
                                  counter_place_t *place, int enable,
                                  uvperf_error_t *error) {
  unsigned long request =
      enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
  int early = switch_place(counters, place, enable ? PART_EARLY : PART_LATE,
                           target->on_exec, request, error);
  int late = switch_place(counters, place, enable ? PART_LATE : PART_EARLY,
                          target->on_exec, request, early == 0 ? error : NULL);

  return early != 0 ? early : late;
}

int uvperf__counters_enable(uvperf__counters_t *counters,
                            uvperf_error_t *error) {
  int rc = uvperf__counters_check(counters, error);

  if (rc != 0)
    return rc;
  counters->is_enabled = 1;
  return uvperf__counters_switch(counters, 0, 1, error);
}

int uvperf__counters_stop(uvperf__counters_t *counters, uvperf_error_t *error) {
  counters->is_enabled = 0;
  return uvperf__counters_switch(counters, 0, 0, error);
}

int uvperf__counters_disable(uvperf__counters_t *counters,
                             uvperf_error_t *error) {
  int rc = uvperf__counters_check(counters, error);

  return rc != 0 ? rc : uvperf__counters_stop(counters, error);
}
