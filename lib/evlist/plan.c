/* SPDX-License-Identifier: MIT */
/* Plans which attr is opened at which place. Events that the kernel cannot
 * count there, or would count twice, are left out. Opens nothing. */
#include "evlist/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

typedef struct plan_s {
  uvperf__evlist_t *evlist;
  evlist_target_t *target;
  int pid;          /* of the target, for failures without a place */
  int has_packages; /* the packages of its places were looked up */
  uvperf_error_t *error;
} plan_t;

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM, "cannot list the target");
}

/* -- places --------------------------------------------------------------- */

static void take_places(evlist_target_t *target, evlist_place_t *places,
                        evlist_event_t *events, size_t nr_attrs) {
  size_t i;

  if (target->nr_places != 0) {
    memcpy(places, target->places, target->nr_places * sizeof(*places));
    memcpy(events, target->events,
           target->nr_places * nr_attrs * sizeof(*events));
    for (i = 0; i < target->nr_places; i++)
      places[i].events = &events[i * nr_attrs];
  }
  uvperf__free(target->places);
  uvperf__free(target->events);
  target->places = places;
  target->events = events;
}

int uvperf__evlist_add_places(uvperf__evlist_t *evlist, evlist_target_t *target,
                              size_t nr, uvperf_error_t *error) {
  size_t old = target->nr_places;
  evlist_place_t *places;
  evlist_event_t *events = NULL;
  size_t i;

  places = uvperf__calloc(old + nr, sizeof(*places));
  /* The product may exceed a 32-bit size_t. */
  if (old + nr <= SIZE_MAX / evlist->nr_attrs)
    events = uvperf__calloc((old + nr) * evlist->nr_attrs, sizeof(*events));
  if (places == NULL || events == NULL) {
    uvperf__free(places);
    uvperf__free(events);
    return no_memory(error);
  }
  take_places(target, places, events, evlist->nr_attrs);
  target->nr_places = old + nr;
  for (i = old * evlist->nr_attrs; i < (old + nr) * evlist->nr_attrs; i++)
    events[i].fd = -1;
  for (i = old; i < old + nr; i++) {
    places[i].events = &events[i * evlist->nr_attrs];
    places[i].place.target = target->index;
    places[i].place.serial = evlist->next_serial++;
  }
  return 0;
}

static void make_unfit(evlist_event_t *event, int code) {
  event->state = COUNTER_FAILED;
  event->code = code;
  event->is_unfit = 1;
}

/* A target that does not exist has one place, where all attrs have failed. */
static int plan_nothing(plan_t *plan, uvperf_error_t *why) {
  evlist_target_t *target = plan->target;
  evlist_place_t *place;
  size_t i;
  int rc = uvperf__evlist_add_places(plan->evlist, target, 1, plan->error);

  if (rc != 0)
    return rc;
  place = &target->places[0];
  place->place.pid = plan->pid;
  place->place.cpu = -1;
  for (i = 0; i < plan->evlist->nr_attrs && rc == 0; i++) {
    make_unfit(&place->events[i], why->code);
    rc = uvperf__evlist_fail(plan->evlist, &place->place, i, why, plan->error);
  }
  return rc;
}

/* -- where an event can be ------------------------------------------------- */

static int has_cpu(const uvperf_event_item_t *item, int cpu) {
  size_t i;

  for (i = 0; i < item->nr_cpus; i++)
    if (item->cpus[i] == cpu)
      return 1;
  return 0;
}

/* Whether the event can be opened there. An event that follows its task to
 * every CPU can be opened: on hybrid machines it counts only on its PMU's
 * CPUs. */
static int can_be_at(const uvperf_event_item_t *item,
                     const evlist_place_t *place) {
  return item->cpus == NULL || place->place.cpu < 0 ||
         has_cpu(item, place->place.cpu);
}

static int can_be_anywhere(const uvperf_event_item_t *item,
                           const evlist_target_t *target) {
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    if (can_be_at(item, &target->places[i]))
      return 1;
  return 0;
}

/* Whether the PMU cannot count tasks. UVPERF_ITEM_CPU_WIDE marks such PMUs.
 * These are uncore PMUs and similar PMUs, whose task_ctx_nr is
 * perf_invalid_context in the kernel. */
static int is_of_no_task(const uvperf_event_item_t *item,
                         const evlist_target_t *target) {
  return (item->flags & UVPERF_ITEM_CPU_WIDE) != 0 &&
         target->type != UVPERF_TARGET_CPUS;
}

static int fits(const evlist_attr_t *attr, const evlist_target_t *target) {
  return !is_of_no_task(&attr->item, target) &&
         can_be_anywhere(&attr->item, target);
}

/* Whether another part of the event fits on the target. If it does, it is not a
 * failure that this part does not fit. */
static int has_other_part(const uvperf__evlist_t *evlist,
                          const evlist_target_t *target, size_t attr) {
  size_t first = evlist->attrs[attr].item.first, at = first;

  do
    if (at != attr && fits(&evlist->attrs[at], target))
      return 1;
  while ((at = evlist->next_parts[at]) != 0);
  return 0;
}

/* -- failures -------------------------------------------------------------- */

/* Prints CPUs as in "0-3,8", cut to the size of the text. */
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

static void explain_misfit(const evlist_attr_t *attr,
                           const evlist_target_t *target, uvperf_error_t *why) {
  const uvperf_event_item_t *item = &attr->item;
  char cpus[96];

  if (is_of_no_task(item, target)) {
    uvperf__error_set(why, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                      "cannot open '%.80s': its PMU counts whole CPUs only, "
                      "not tasks or cgroups; measure CPUs",
                      item->label);
    return;
  }
  print_cpus(cpus, sizeof(cpus), item);
  uvperf__error_set(
      why, -ENODEV, UVPERF_CAUSE_NO_CPU,
      "cannot open '%.80s': it counts on CPUs %s, and none of these is "
      "measured%s",
      item->label, cpus,
      can_be_anywhere(item, target) ? " with the leader of its group" : "");
}

/* Records one failure for all of the target's places. */
static int fail_everywhere(plan_t *plan, size_t attr) {
  evlist_target_t *target = plan->target;
  uvperf_place_t everywhere;
  uvperf_error_t why;
  size_t i;

  explain_misfit(&plan->evlist->attrs[attr], target, &why);
  for (i = 0; i < target->nr_places; i++)
    make_unfit(&target->places[i].events[attr], why.code);
  memset(&everywhere, 0, sizeof(everywhere));
  everywhere.target = target->index;
  everywhere.pid = plan->pid;
  everywhere.cpu = -1;
  return uvperf__evlist_fail(plan->evlist, &everywhere, attr, &why,
                             plan->error);
}

/* -- packages ------------------------------------------------------------- */

/* Finds the package of a place's CPU. sysfs has no package for an offline CPU.
 * Returns 0, or the code of a shortage. */
static int find_package(const uvperf__evlist_t *evlist, evlist_place_t *place) {
  int rc = uvperf__cpu_package(evlist->root, place->place.cpu, &place->package);

  if (rc == 0)
    place->has_package = 1;
  return uvperf__is_shortage(rc) ? rc : 0;
}

static int find_packages(plan_t *plan) {
  evlist_target_t *target = plan->target;
  size_t i;
  int rc;

  if (plan->has_packages)
    return 0;
  for (i = 0; i < target->nr_places; i++) {
    rc = find_package(plan->evlist, &target->places[i]);
    if (rc != 0)
      return uvperf__error_shortage(plan->error, rc,
                                    "cannot read the package of a CPU");
  }
  plan->has_packages = 1;
  return 0;
}

static int are_of_one_package(const evlist_place_t *a,
                              const evlist_place_t *b) {
  return a->has_package && b->has_package && a->package == b->package;
}

/* Leaves the attr planned at the first place of each package. */
static void leave_one_of_package(plan_t *plan, size_t attr) {
  evlist_place_t *places = plan->target->places;
  size_t i, j;

  for (i = 0; i < plan->target->nr_places; i++) {
    if (places[i].events[attr].state != COUNTER_PLANNED)
      continue;
    for (j = i + 1; j < plan->target->nr_places; j++)
      if (are_of_one_package(&places[i], &places[j]))
        places[j].events[attr].state = COUNTER_NONE;
  }
}

static int is_once_a_package(const uvperf__evlist_t *evlist,
                             const evlist_target_t *target, size_t attr) {
  return target->type == UVPERF_TARGET_CPUS &&
         (evlist->attrs[attr].item.flags & UVPERF_ITEM_PER_PACKAGE) != 0;
}

int uvperf__evlist_has_package(const uvperf__evlist_t *evlist,
                               const evlist_target_t *target,
                               evlist_place_t *place, size_t attr) {
  const evlist_place_t *other;
  size_t i;

  if (!is_once_a_package(evlist, target, attr))
    return 0;
  if (!place->has_package)
    find_package(evlist, place);
  for (i = 0; i < target->nr_places; i++) {
    other = &target->places[i];
    if (other != place && are_of_one_package(other, place) &&
        (other->events[attr].state == COUNTER_OPEN ||
         other->events[attr].state == COUNTER_PLANNED))
      return 1;
  }
  return 0;
}

/* -- planning -------------------------------------------------------------- */

/* Returns the first attr of a group that can be measured on the target. The
 * other attrs follow the first attr to its places, because the counts of a
 * group are compared. Returns `attr` itself if no earlier attr can be
 * measured. */
static size_t first_of_group(const plan_t *plan, size_t attr) {
  const evlist_attr_t *attrs = plan->evlist->attrs;
  size_t leader = attrs[attr].item.leader;
  size_t i;

  for (i = leader; i < attr; i++)
    if (attrs[i].item.leader == leader && fits(&attrs[i], plan->target))
      return i;
  return attr;
}

static int plan_attr(plan_t *plan, size_t attr) {
  const uvperf_event_item_t *item = &plan->evlist->attrs[attr].item;
  evlist_target_t *target = plan->target;
  size_t first = first_of_group(plan, attr);
  evlist_place_t *place;
  size_t nr = 0;
  size_t i;
  int rc;

  if (!fits(&plan->evlist->attrs[attr], target))
    return has_other_part(plan->evlist, target, attr)
               ? 0
               : fail_everywhere(plan, attr);
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
  if (!is_once_a_package(plan->evlist, target, attr))
    return 0;
  rc = find_packages(plan);
  if (rc == 0)
    leave_one_of_package(plan, attr);
  return rc;
}

/* Called when an attr that fitted nowhere on the target fits now. */
static void make_fit(plan_t *plan, size_t attr) {
  evlist_target_t *target = plan->target;
  evlist_event_t *event;
  size_t i;

  for (i = 0; i < target->nr_places; i++) {
    event = &target->places[i].events[attr];
    if (!event->is_unfit)
      continue;
    event->state = COUNTER_NONE;
    event->code = 0;
    event->is_unfit = 0;
  }
  uvperf__evlist_forget_misfit(plan->evlist, target->index, attr);
}

static int is_to_be_at(plan_t *plan, evlist_place_t *place, size_t attr) {
  const uvperf_event_item_t *item = &plan->evlist->attrs[attr].item;
  size_t first = first_of_group(plan, attr);

  return can_be_at(item, place) &&
         (first == attr || place->events[first].state == COUNTER_PLANNED) &&
         !uvperf__evlist_has_package(plan->evlist, plan->target, place, attr);
}

void uvperf__evlist_plan_place(uvperf__evlist_t *evlist,
                               evlist_target_t *target, evlist_place_t *place) {
  plan_t plan = {evlist, target, place->place.pid, 0, NULL};
  const evlist_event_t *elsewhere;
  size_t attr;

  for (attr = 0; attr < evlist->nr_attrs; attr++) {
    elsewhere = &target->places[0].events[attr];
    if (fits(&evlist->attrs[attr], target) && is_to_be_at(&plan, place, attr)) {
      if (elsewhere->is_unfit)
        make_fit(&plan, attr);
      place->events[attr].state = COUNTER_PLANNED;
    } else if (elsewhere->is_unfit) {
      make_unfit(&place->events[attr], elsewhere->code);
    }
  }
}

static int plan_spots(plan_t *plan, uvperf__target_spots_t *spots) {
  evlist_target_t *target = plan->target;
  size_t i;
  int rc;

  rc = uvperf__evlist_add_places(plan->evlist, target, spots->nr_spots,
                                 plan->error);
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
  for (i = 0; i < plan->evlist->nr_attrs && rc == 0; i++)
    rc = plan_attr(plan, i);
  return rc;
}

/* Keeps the data that is needed when CPUs come online. */
static int keep_target(plan_t *plan, const uvperf_target_t *target) {
  evlist_target_t *own = plan->target;

  own->follows_cpus = target->cpus == NULL && own->places[0].place.cpu >= 0;
  if (target->cgroup == NULL || plan->evlist->flags & UVPERF_SET_FIXED_CPUS)
    return 0;
  own->cgroup_path = uvperf__evlist_copy_text(target->cgroup);
  return own->cgroup_path == NULL ? no_memory(plan->error) : 0;
}

static int plan_target(plan_t *plan, const uvperf_target_t *target) {
  uvperf__evlist_t *evlist = plan->evlist;
  uvperf__target_spots_t spots;
  uvperf_error_t why;
  int rc;

  memset(&why, 0, sizeof(why));
  rc = uvperf__target_expand(&evlist->target_context, target, &spots, &why);
  if (rc == 0) {
    rc = plan_spots(plan, &spots);
    if (rc == 0)
      rc = keep_target(plan, target);
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

int uvperf__evlist_plan(uvperf__evlist_t *evlist, const uvperf_target_t *target,
                        evlist_target_t **planned, uvperf_error_t *error) {
  int is_tasks = uvperf__evlist_target_is_tasks(target->type);
  plan_t plan = {evlist, NULL, is_tasks ? target->pid : -1, 0, error};
  int rc;

  plan.target = uvperf__calloc(1, sizeof(*plan.target));
  if (plan.target == NULL)
    return no_memory(error);
  plan.target->index = evlist->next_target++;
  plan.target->type = target->type;
  if (target->type == UVPERF_TARGET_SELF)
    plan.target->thread = evlist->caller;
  plan.target->data = target->data;
  plan.target->cgroup = -1;
  rc = plan_target(&plan, target);
  if (rc != 0) {
    uvperf__evlist_forget(evlist, plan.target->index);
    uvperf__evlist_close(evlist, plan.target);
    return rc;
  }
  *planned = plan.target;
  return 0;
}

size_t uvperf__evlist_nr_planned(const uvperf__evlist_t *evlist,
                                 const evlist_target_t *target) {
  size_t nr = 0;
  size_t i;

  for (i = 0; i < target->nr_places * evlist->nr_attrs; i++)
    nr += target->events[i].state == COUNTER_PLANNED;
  return nr;
}
