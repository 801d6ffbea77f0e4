/* SPDX-License-Identifier: MIT */
/* Plans which attr is opened at which place. Events that the kernel cannot
 * count there, or would count twice, are left out. Opens no events.
 *
 * An item is what the user asked for, an attr is the item as it is opened, and
 * an event is the attr at one place. The first place stands for the target: an
 * attr that is unfit is so at all places. */
#include "evlist/opening.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/line.h"

typedef struct plan_s {
  uvperf__evlist_t *evlist;
  evlist_target_t *target;
  int pid;          /* of the target, for failures without a place */
  int has_packages; /* the packages of its places were looked up */
  uvperf_error_t *error;
} plan_t;

static int plan_no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM, "cannot list the target");
}

/* -- places --------------------------------------------------------------- */

int uvperf__evlist_add_places(uvperf__evlist_t *evlist, evlist_target_t *target,
                              size_t nr, uvperf_error_t *error) {
  size_t nr_attrs = evlist->attrs->nr;
  size_t old = target->nr_places;
  evlist_place_t *places = uvperf__calloc(old + nr, sizeof(*places));
  evlist_event_t *events = NULL;
  size_t i;

  /* The product may exceed a 32-bit size_t. */
  if (old + nr <= SIZE_MAX / nr_attrs)
    events = uvperf__calloc((old + nr) * nr_attrs, sizeof(*events));
  if (places == NULL || events == NULL) {
    uvperf__free(places);
    uvperf__free(events);
    return plan_no_memory(error);
  }
  if (old != 0) {
    memcpy(places, target->places, old * sizeof(*places));
    memcpy(events, target->events, old * nr_attrs * sizeof(*events));
  }
  uvperf__free(target->places);
  uvperf__free(target->events);
  target->places = places;
  target->events = events;
  target->nr_places = old + nr;
  for (i = old * nr_attrs; i < (old + nr) * nr_attrs; i++)
    events[i].fd = -1;
  for (i = 0; i < old + nr; i++)
    places[i].events = &events[i * nr_attrs];
  for (i = old; i < old + nr; i++) {
    places[i].place.target = target->index;
    places[i].place.serial = evlist->places->next_serial++;
  }
  return 0;
}

static void event_make_unfit(evlist_event_t *event, int code) {
  event->state = EVENT_FAILED;
  event->code = code;
  event->is_unfit = 1;
}

/* -- where an event can be ------------------------------------------------- */

/* Whether the event can be opened there. An event that follows its task to
 * every CPU can be opened: on hybrid machines it counts only on its PMU's
 * CPUs. */
static int item_can_be_at(const uvperf_event_item_t *item,
                          const evlist_place_t *place) {
  size_t i;

  if (item->cpus == NULL || place->place.cpu < 0)
    return 1;
  for (i = 0; i < item->nr_cpus; i++)
    if (item->cpus[i] == place->place.cpu)
      return 1;
  return 0;
}

static int item_can_be_on(const uvperf_event_item_t *item,
                          const evlist_target_t *target) {
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    if (item_can_be_at(item, &target->places[i]))
      return 1;
  return 0;
}

/* Whether the target has tasks only and the PMU cannot count them.
 * UVPERF_ITEM_CPU_WIDE marks such PMUs.
 * These are uncore PMUs and similar PMUs, whose task_ctx_nr is
 * perf_invalid_context in the kernel. */
static int item_is_of_no_task(const uvperf_event_item_t *item,
                              const evlist_target_t *target) {
  return (item->flags & UVPERF_ITEM_CPU_WIDE) != 0 &&
         target->type != UVPERF_TARGET_CPUS;
}

static int attr_fits(const evlist_attr_t *attr, const evlist_target_t *target) {
  return !item_is_of_no_task(&attr->item, target) &&
         item_can_be_on(&attr->item, target);
}

/* Whether another part of the event fits on the target. If it does, it is not a
 * failure that this part does not fit. */
static int attr_has_other_part(const uvperf__evlist_t *evlist,
                               const evlist_target_t *target, size_t attr) {
  size_t first = evlist->attrs->at[attr].item.first, at = first;

  do
    if (at != attr && attr_fits(&evlist->attrs->at[at], target))
      return 1;
  while ((at = evlist->attrs->next_parts[at]) != 0);
  return 0;
}

/* -- failures -------------------------------------------------------------- */

/* Prints CPUs as in "0-3,8", cut to the size of the text. */
static void item_print_cpus(char *text, size_t size,
                            const uvperf_event_item_t *item) {
  uvperf__line_t line;
  size_t i, last;

  uvperf__line_begin(&line, text, size);
  for (i = 0; i < item->nr_cpus && line.length + 24 < size; i = last + 1) {
    last = i;
    while (last + 1 < item->nr_cpus &&
           item->cpus[last + 1] == item->cpus[last] + 1)
      last++;
    uvperf__line_put(&line, i == 0 ? "%d" : ",%d", item->cpus[i]);
    if (last > i)
      uvperf__line_put(&line, "-%d", item->cpus[last]);
  }
}

/* Records one failure for all of the target's places. */
static int plan_fail(const plan_t *plan, size_t attr,
                     const uvperf_error_t *why) {
  const evlist_target_t *target = plan->target;
  const uvperf_place_t everywhere = {
      .target = target->index, .pid = plan->pid, .cpu = -1};
  size_t i;

  for (i = 0; i < target->nr_places; i++)
    event_make_unfit(&target->places[i].events[attr], why->code);
  return uvperf__evlist_fail(plan->evlist, &everywhere, attr, why, plan->error);
}

static int plan_misfit(const plan_t *plan, size_t attr) {
  const uvperf_event_item_t *item = &plan->evlist->attrs->at[attr].item;
  uvperf_error_t why;
  char cpus[96];

  item_print_cpus(cpus, sizeof(cpus), item);
  if (item_is_of_no_task(item, plan->target))
    uvperf__error_argument(&why,
                           "cannot open '%.80s': its PMU counts whole CPUs "
                           "only, not tasks or cgroups; measure CPUs",
                           item->label);
  else
    uvperf__error_set(&why, -ENODEV, UVPERF_CAUSE_NO_CPU,
                      "cannot open '%.80s': it counts on CPUs %s, and none of "
                      "these is measured%s",
                      item->label, cpus,
                      item_can_be_on(item, plan->target)
                          ? " with the leader of its group"
                          : "");
  return plan_fail(plan, attr, &why);
}

/* -- packages ------------------------------------------------------------- */

/* Finds the package of a place's CPU. sysfs has no package for an offline CPU.
 * Returns 0, or the code of a shortage. */
static int place_find_package(evlist_place_t *place) {
  int rc = uvperf__cpu_package(place->place.cpu, &place->package);

  if (rc == 0)
    place->has_package = 1;
  return uvperf__is_shortage(rc) ? rc : 0;
}

static int places_are_of_one_package(const evlist_place_t *a,
                                     const evlist_place_t *b) {
  return a->has_package && b->has_package && a->package == b->package;
}

/* Leaves the attr planned at the first place of each package. */
static int plan_once_a_package(plan_t *plan, size_t attr) {
  evlist_place_t *places = plan->target->places;
  size_t nr = plan->target->nr_places;
  size_t i, j;
  int rc;

  for (i = 0; i < nr && !plan->has_packages; i++) {
    rc = place_find_package(&places[i]);
    if (rc != 0)
      return uvperf__error_shortage(plan->error, rc,
                                    "cannot read the package of a CPU");
  }
  plan->has_packages = 1;
  for (i = 0; i < nr; i++)
    for (j = i + 1; j < nr && places[i].events[attr].state == EVENT_PLANNED;
         j++)
      if (places_are_of_one_package(&places[i], &places[j]))
        places[j].events[attr].state = EVENT_ABSENT;
  return 0;
}

static int attr_is_once_a_package(const uvperf__evlist_t *evlist,
                                  const evlist_target_t *target, size_t attr) {
  return target->type == UVPERF_TARGET_CPUS &&
         (evlist->attrs->at[attr].item.flags & UVPERF_ITEM_PER_PACKAGE) != 0;
}

int uvperf__evlist_has_package(const uvperf__evlist_t *evlist,
                               const evlist_target_t *target,
                               evlist_place_t *place, size_t attr) {
  const evlist_place_t *other;
  size_t i;

  if (!attr_is_once_a_package(evlist, target, attr))
    return 0;
  if (!place->has_package)
    place_find_package(place);
  for (i = 0; i < target->nr_places; i++) {
    other = &target->places[i];
    if (other != place && places_are_of_one_package(other, place) &&
        (other->events[attr].state == EVENT_OPEN ||
         other->events[attr].state == EVENT_PLANNED))
      return 1;
  }
  return 0;
}

/* -- planning -------------------------------------------------------------- */

/* Whether the attr goes to a place, if it fits on the target at all. All attrs
 * of a group follow its first attr that can be measured on the target, because
 * the counts of a group are compared. */
static int attr_goes_to(const uvperf__evlist_t *evlist,
                        const evlist_target_t *target,
                        const evlist_place_t *place, size_t attr) {
  const evlist_attr_t *attrs = evlist->attrs->at;
  size_t leader = attrs[attr].item.leader;
  size_t first = leader;

  while (first < attr && (attrs[first].item.leader != leader ||
                          !attr_fits(&attrs[first], target)))
    first++;
  return item_can_be_at(&attrs[attr].item, place) &&
         (first == attr || place->events[first].state == EVENT_PLANNED);
}

static int plan_attr(plan_t *plan, size_t attr) {
  const uvperf__evlist_t *evlist = plan->evlist;
  evlist_target_t *target = plan->target;
  size_t nr = 0;
  size_t i;

  if (!attr_fits(&evlist->attrs->at[attr], target))
    return attr_has_other_part(evlist, target, attr) ? 0
                                                     : plan_misfit(plan, attr);
  for (i = 0; i < target->nr_places; i++) {
    if (!attr_goes_to(evlist, target, &target->places[i], attr))
      continue;
    target->places[i].events[attr].state = EVENT_PLANNED;
    nr++;
  }
  if (nr == 0)
    return plan_misfit(plan, attr);
  return attr_is_once_a_package(evlist, target, attr)
             ? plan_once_a_package(plan, attr)
             : 0;
}

/* Called when an attr that fitted nowhere on the target fits now. */
static void target_make_fit(uvperf__evlist_t *evlist, evlist_target_t *target,
                            size_t attr) {
  const uvperf_place_t nowhere = {.cpu = -1}; /* see plan_fail */
  evlist_event_t *event;
  size_t i;

  for (i = 0; i < target->nr_places; i++) {
    event = &target->places[i].events[attr];
    if (!event->is_unfit)
      continue;
    event->state = EVENT_ABSENT;
    event->code = 0;
    event->is_unfit = 0;
  }
  uvperf__evlist_forget(evlist, target->index, &nowhere, attr);
}

void uvperf__evlist_plan_place(uvperf__evlist_t *evlist,
                               evlist_target_t *target, evlist_place_t *place) {
  const evlist_event_t *elsewhere;
  size_t attr;

  for (attr = 0; attr < evlist->attrs->nr; attr++) {
    elsewhere = &target->places[0].events[attr];
    if (attr_fits(&evlist->attrs->at[attr], target) &&
        attr_goes_to(evlist, target, place, attr) &&
        !uvperf__evlist_has_package(evlist, target, place, attr)) {
      if (elsewhere->is_unfit)
        target_make_fit(evlist, target, attr);
      place->events[attr].state = EVENT_PLANNED;
    } else if (elsewhere->is_unfit) {
      event_make_unfit(&place->events[attr], elsewhere->code);
    }
  }
}

/* Plans the places of the target, and keeps the data that is needed when CPUs
 * come online. */
static int plan_spots(plan_t *plan, uvperf__target_spots_t *spots,
                      const uvperf_target_t *asked) {
  const uvperf__evlist_t *evlist = plan->evlist;
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
  for (i = 0; i < evlist->attrs->nr && rc == 0; i++)
    rc = plan_attr(plan, i);
  if (rc != 0)
    return rc;
  target->follows_cpus =
      asked->cpus == NULL && target->places[0].place.cpu >= 0;
  if (evlist->is_array)
    return uvperf__evlist_plan_array(evlist, target, asked->cpus, plan->error);
  if (asked->cgroup == NULL || evlist->flags & UVPERF_SET_FIXED_CPUS)
    return 0;
  target->cgroup_path = uvperf__evlist_copy_text(asked->cgroup);
  return target->cgroup_path == NULL ? plan_no_memory(plan->error) : 0;
}

/* A target that cannot be listed, as it does not exist for example, has one
 * place, where all attrs have failed. */
int uvperf__evlist_plan(uvperf__evlist_t *evlist, const uvperf_target_t *asked,
                        evlist_target_t **planned, uvperf_error_t *error) {
  int is_tasks = uvperf__evlist_target_is_tasks(asked->type);
  evlist_target_t *target = uvperf__calloc(1, sizeof(*target));
  plan_t plan = {evlist, target, is_tasks ? asked->pid : -1, 0, error};
  uvperf__target_spots_t spots;
  uvperf_error_t why;
  size_t i;
  int rc;

  if (target == NULL)
    return plan_no_memory(error);
  target->index = evlist->places->next_target++;
  target->type = asked->type;
  if (asked->type == UVPERF_TARGET_SELF)
    target->thread = evlist->opening->caller;
  target->data = asked->data;
  target->cgroup = -1;
  memset(&why, 0, sizeof(why));
  rc = uvperf__target_expand(&evlist->opening->target_context, asked, &spots,
                             &why);
  why.target_index = target->index;
  if (rc == 0) {
    rc = plan_spots(&plan, &spots, asked);
    uvperf__target_free(&spots);
  } else if (uvperf__is_shortage(rc)) {
    if (error != NULL)
      *error = why;
  } else {
    rc = uvperf__evlist_add_places(evlist, target, 1, error);
    if (rc == 0) {
      target->places[0].place.pid = plan.pid;
      target->places[0].place.cpu = -1;
    }
    for (i = 0; i < evlist->attrs->nr && rc == 0; i++)
      rc = plan_fail(&plan, i, &why);
  }
  if (rc == 0) {
    *planned = target;
    return 0;
  }
  uvperf__evlist_forget(evlist, target->index, NULL, SIZE_MAX);
  uvperf__evlist_close(evlist, target);
  return rc;
}

size_t uvperf__evlist_nr_planned(const uvperf__evlist_t *evlist,
                                 const evlist_target_t *target) {
  size_t nr = 0;
  size_t i;

  for (i = 0; i < target->nr_places * evlist->attrs->nr; i++)
    nr += target->events[i].state == EVENT_PLANNED;
  return nr;
}
