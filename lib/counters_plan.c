/* SPDX-License-Identifier: MIT */
/* Which attr is opened at which place: what the kernel cannot count there, or
 * would count twice, is left out. Opens nothing. */
#include "counters_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "explain.h"
#include "file.h"

/* The package of a place's CPU, where sysfs tells it: an offline CPU has
 * none. */
typedef struct package_s {
  int is_known;
  uint64_t number;
} package_t;

typedef struct plan_s {
  uvperf__counters_t *counters;
  counter_target_t *target;
  int pid;             /* of the target, for what is of no place of it */
  package_t *packages; /* of each place; NULL: nobody has asked */
  uvperf_error_t *error;
} plan_t;

static int no_memory(uvperf_error_t *error) {
  return uvperf__explain(error, -ENOMEM, UVPERF_CAUSE_MEMORY,
                         "no memory for the places of a target");
}

/* -- places --------------------------------------------------------------- */

static int make_places(uvperf__counters_t *counters, counter_target_t *target,
                       size_t nr, uvperf_error_t *error) {
  size_t i;

  target->places = uvperf__calloc(nr, sizeof(target->places[0]));
  /* The product may be too large for a size_t where that has 32 bits. */
  if (nr <= SIZE_MAX / counters->nr_attrs)
    target->events =
        uvperf__calloc(nr * counters->nr_attrs, sizeof(target->events[0]));
  if (target->places == NULL || target->events == NULL)
    return no_memory(error);
  target->nr_places = nr;
  for (i = 0; i < nr * counters->nr_attrs; i++)
    target->events[i].fd = -1;
  for (i = 0; i < nr; i++) {
    target->places[i].events = &target->events[i * counters->nr_attrs];
    target->places[i].place.target = target->index;
    target->places[i].place.serial = counters->next_serial++;
  }
  return 0;
}

/* A target that is not there is one place, at which nothing is. */
static int plan_nothing(plan_t *plan, uvperf_error_t *why) {
  counter_target_t *target = plan->target;
  counter_place_t *place;
  size_t i;
  int rc = make_places(plan->counters, target, 1, plan->error);

  if (rc != 0)
    return rc;
  place = &target->places[0];
  place->place.pid = plan->pid;
  place->place.cpu = -1;
  for (i = 0; i < plan->counters->nr_attrs && rc == 0; i++) {
    place->events[i].state = COUNTER_FAILED;
    place->events[i].code = why->code;
    rc = uvperf__counters_fail(plan->counters, &place->place, i, why,
                               plan->error);
  }
  return rc;
}

/* -- what an event is of -------------------------------------------------- */

static int has_cpu(const uvperf_event_item_t *item, int cpu) {
  size_t i;

  for (i = 0; i < item->nr_cpus; i++)
    if (item->cpus[i] == cpu)
      return 1;
  return 0;
}

/* Whether the event can be there at all. What follows its task to every CPU can
 * be everywhere: on hybrid machines it counts on the CPUs of its PMU alone. */
static int can_be_at(const uvperf_event_item_t *item,
                     const counter_place_t *place) {
  return item->cpus == NULL || place->place.cpu < 0 ||
         has_cpu(item, place->place.cpu);
}

static int can_be_anywhere(const uvperf_event_item_t *item,
                           const counter_target_t *target) {
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    if (can_be_at(item, &target->places[i]))
      return 1;
  return 0;
}

/* A PMU whose events are of no task has the bit: uncore PMUs and their like,
 * whose task_ctx_nr is perf_invalid_context in the kernel. */
static int is_of_no_task(const uvperf_event_item_t *item,
                         const counter_target_t *target) {
  return (item->flags & UVPERF_ITEM_CPU_WIDE) != 0 &&
         target->type != UVPERF_TARGET_CPUS;
}

static int fits(const uvperf_event_item_t *item,
                const counter_target_t *target) {
  return !is_of_no_task(item, target) && can_be_anywhere(item, target);
}

/* -- what is told of an event that cannot be ------------------------------ */

/* As in "0-3,8"; cut where there is no room. */
static void print_cpus(char *text, size_t size,
                       const uvperf_event_item_t *item) {
  size_t used = 0;
  size_t i, last;

  text[0] = '\0';
  for (i = 0; i < item->nr_cpus && used + 24 < size; i = last + 1) {
    last = i;
    while (last + 1 < item->nr_cpus &&
           item->cpus[last + 1] == item->cpus[last] + 1)
      last++;
    used += (size_t)snprintf(text + used, size - used, i == 0 ? "%d" : ",%d",
                             item->cpus[i]);
    if (last > i)
      used +=
          (size_t)snprintf(text + used, size - used, "-%d", item->cpus[last]);
  }
}

static void explain_misfit(const uvperf_event_item_t *item,
                           const counter_target_t *target,
                           uvperf_error_t *why) {
  char cpus[96];

  if (is_of_no_task(item, target)) {
    uvperf__explain(why, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                    "'%.80s': no event of this PMU is of a task or a cgroup: "
                    "measure CPUs",
                    item->label);
    return;
  }
  print_cpus(cpus, sizeof(cpus), item);
  uvperf__explain(
      why, -ENODEV, UVPERF_CAUSE_NO_CPU,
      "'%.80s' counts on CPUs %s, and none of them is to be "
      "measured%s",
      item->label, cpus,
      can_be_anywhere(item, target) ? " where the leader of its group is" : "");
}

/* Once for all of the target's places. */
static int fail_everywhere(plan_t *plan, size_t attr) {
  const uvperf_event_item_t *item = &plan->counters->attrs[attr].item;
  counter_target_t *target = plan->target;
  uvperf_place_t everywhere;
  uvperf_error_t why;
  size_t i;

  explain_misfit(item, target, &why);
  for (i = 0; i < target->nr_places; i++) {
    target->places[i].events[attr].state = COUNTER_FAILED;
    target->places[i].events[attr].code = why.code;
  }
  memset(&everywhere, 0, sizeof(everywhere));
  everywhere.target = target->index;
  everywhere.pid = plan->pid;
  everywhere.cpu = -1;
  return uvperf__counters_fail(plan->counters, &everywhere, attr, &why,
                               plan->error);
}

/* -- packages ------------------------------------------------------------- */

static int find_packages(plan_t *plan) {
  const counter_target_t *target = plan->target;
  package_t *package;
  size_t i;
  int rc;

  if (plan->packages != NULL)
    return 0;
  plan->packages = uvperf__calloc(target->nr_places, sizeof(*package));
  if (plan->packages == NULL)
    return no_memory(plan->error);
  for (i = 0; i < target->nr_places; i++) {
    package = &plan->packages[i];
    rc = uvperf__cpu_package(plan->counters->root, target->places[i].place.cpu,
                             &package->number);
    if (uvperf__is_shortage(rc))
      return uvperf__explain_shortage(plan->error, rc,
                                      "the package of a CPU cannot be read");
    package->is_known = rc == 0;
  }
  return 0;
}

/* Leaves the attr planned at the first place of each package. */
static void leave_one_of_package(plan_t *plan, size_t attr) {
  const package_t *packages = plan->packages;
  counter_place_t *places = plan->target->places;
  size_t i, j;

  for (i = 0; i < plan->target->nr_places; i++) {
    if (places[i].events[attr].state != COUNTER_PLANNED ||
        !packages[i].is_known)
      continue;
    for (j = i + 1; j < plan->target->nr_places; j++)
      if (packages[j].is_known && packages[j].number == packages[i].number)
        places[j].events[attr].state = COUNTER_NONE;
  }
}

/* -- the plan ------------------------------------------------------------- */

/* Of a group the first that can be measured on the target: where it goes the
 * rest goes, as what a group counts is to be compared. Its own index for an
 * attr that cannot. */
static size_t first_of_group(const plan_t *plan, size_t attr) {
  const counter_attr_t *attrs = plan->counters->attrs;
  size_t leader = attrs[attr].item.leader;
  size_t i;

  for (i = leader; i < attr; i++)
    if (attrs[i].item.leader == leader && fits(&attrs[i].item, plan->target))
      return i;
  return attr;
}

static int plan_attr(plan_t *plan, size_t attr) {
  const uvperf_event_item_t *item = &plan->counters->attrs[attr].item;
  counter_target_t *target = plan->target;
  size_t first = first_of_group(plan, attr);
  counter_place_t *place;
  size_t nr = 0;
  size_t i;
  int rc;

  if (!fits(item, target))
    return fail_everywhere(plan, attr);
  for (i = 0; i < target->nr_places; i++) {
    place = &target->places[i];
    if (!can_be_at(item, place) ||
        (first != attr && place->events[first].state != COUNTER_PLANNED))
      continue;
    place->events[attr].state = COUNTER_PLANNED;
    nr++;
  }
  if (nr == 0)
    return fail_everywhere(plan, attr);
  if (target->type != UVPERF_TARGET_CPUS ||
      (item->flags & UVPERF_ITEM_PER_PACKAGE) == 0)
    return 0;
  rc = find_packages(plan);
  if (rc == 0)
    leave_one_of_package(plan, attr);
  return rc;
}

static int plan_spots(plan_t *plan, uvperf__target_spots_t *spots) {
  counter_target_t *target = plan->target;
  size_t i;
  int rc;

  rc = make_places(plan->counters, target, spots->nr_spots, plan->error);
  if (rc != 0)
    return rc;
  target->inherit = spots->inherit;
  target->on_exec = spots->on_exec;
  target->cgroup = spots->cgroup_fd;
  spots->cgroup_fd = -1;
  for (i = 0; i < target->nr_places; i++) {
    target->places[i].place.pid = spots->spots[i].pid;
    target->places[i].place.cpu = spots->spots[i].cpu;
    target->places[i].start = spots->spots[i].start;
  }
  if (plan->pid == 0)
    plan->pid = target->places[0].place.pid;
  for (i = 0; i < plan->counters->nr_attrs && rc == 0; i++)
    rc = plan_attr(plan, i);
  uvperf__free(plan->packages);
  return rc;
}

static int plan_target(plan_t *plan, const uvperf_target_t *target) {
  uvperf__counters_t *counters = plan->counters;
  uvperf__target_spots_t spots;
  uvperf_error_t why;
  int rc;

  memset(&why, 0, sizeof(why));
  rc = uvperf__target_expand(counters->root, target, counters->rings != NULL,
                             &spots, &why);
  if (rc == 0) {
    rc = plan_spots(plan, &spots);
    uvperf__target_free(&spots);
    return rc;
  }
  why.target_index = plan->target->index;
  if (!uvperf__is_shortage(rc))
    return plan_nothing(plan, &why);
  if (plan->error != NULL)
    *plan->error = why;
  return rc;
}

int uvperf__counters_plan(uvperf__counters_t *counters,
                          const uvperf_target_t *target,
                          counter_target_t **planned, uvperf_error_t *error) {
  int is_of_task = target->type != UVPERF_TARGET_CPUS &&
                   target->type != UVPERF_TARGET_CGROUP;
  plan_t plan = {counters, NULL, is_of_task ? target->pid : -1, NULL, error};
  int rc;

  plan.target = uvperf__calloc(1, sizeof(*plan.target));
  if (plan.target == NULL)
    return no_memory(error);
  plan.target->index = counters->next_target++;
  plan.target->type = target->type;
  plan.target->data = target->data;
  plan.target->cgroup = -1;
  rc = plan_target(&plan, target);
  if (rc != 0) {
    uvperf__counters_forget(counters, plan.target->index);
    uvperf__counters_close(counters, plan.target);
    return rc;
  }
  *planned = plan.target;
  return 0;
}

size_t uvperf__counters_nr_planned(const uvperf__counters_t *counters,
                                   const counter_target_t *target) {
  size_t nr = 0;
  size_t i;

  for (i = 0; i < target->nr_places * counters->nr_attrs; i++)
    nr += target->events[i].state == COUNTER_PLANNED;
  return nr;
}
