/* SPDX-License-Identifier: MIT */
/* A target that another thread opens while the set goes on. The thread opens
 * the events in a list of its own, with the same attrs. The events join the
 * set's list when all are open. They write into the set's rings only after
 * that. */
#include "evlist/opening.h"
#include "evlist/reading.h"
#include "evlist/records.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "name/list.h"
#include "util/alloc.h"
#include "util/error.h"

/* -- a list with the same attrs -------------------------------------------- */

/* Copies an attr, with its label for errors. Programs are attached when the
 * events join. Returns 0 or -ENOMEM. */
static int attr_copy(evlist_attr_t *to, const evlist_attr_t *from) {
  *to = *from;
  to->label = NULL;
  to->cpus = NULL;
  to->asked = to->attr = NULL;
  to->shape = NULL;
  to->changes = NULL;
  to->nr_changes = 0;
  to->opened_label = NULL;
  to->nr_open = 0;
  to->filter = NULL;
  to->bpf_fd = -1;
  to->map = NULL;
  if (uvperf__attr_copy(&to->asked, from->asked, NULL) != 0 ||
      uvperf__attr_copy(&to->attr, from->attr, NULL) != 0)
    return -ENOMEM;
  to->item.label = to->brief;
  if (from->item.label != from->brief) {
    to->label = uvperf__evlist_copy_text(from->item.label);
    to->item.label = to->label;
  }
  if (from->cpus != NULL) {
    to->cpus = uvperf__calloc(from->item.nr_cpus, sizeof(to->cpus[0]));
    to->item.cpus = to->cpus;
  }
  if (to->cpus != NULL)
    memcpy(to->cpus, from->cpus, from->item.nr_cpus * sizeof(to->cpus[0]));
  if (from->filter != NULL)
    to->filter = uvperf__evlist_copy_text(from->filter);
  return to->item.label == NULL || (from->cpus != NULL && to->cpus == NULL) ||
                 (from->filter != NULL && to->filter == NULL)
             ? -ENOMEM
             : 0;
}

static int attrs_copy(uvperf__evlist_t *to, const uvperf__evlist_t *from) {
  evlist_attrs_t *attrs = to->attrs;
  size_t i;
  int rc;

  attrs->nr = from->attrs->nr;
  rc = uvperf__evlist_make_attrs(to);
  for (i = 0; rc == 0 && i < attrs->nr; i++)
    rc = attr_copy(&attrs->at[i], &from->attrs->at[i]);
  if (rc != 0)
    return rc;
  memcpy(attrs->next_parts, from->attrs->next_parts,
         attrs->nr * sizeof(attrs->next_parts[0]));
  memcpy(attrs->order, from->attrs->order, attrs->nr * sizeof(attrs->order[0]));
  attrs->bytes = from->attrs->bytes;
  to->reading->words_size = from->reading->words_size;
  return uvperf__evlist_make_scratch(to);
}

int uvperf__evlist_new_for_target(uvperf__evlist_t **evlist,
                                  uvperf__evlist_t *joined,
                                  const uvperf_target_t *target,
                                  uvperf__adding_t *adding,
                                  uvperf_error_t *error) {
  uvperf__evlist_t *made = uvperf__evlist_new_none();
  evlist_opening_t *opening;
  int rc;

  if (made == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot open the target");
  opening = made->opening;
  made->is_none = 0;
  made->flags = joined->flags & ~UVPERF_SET_USER_READ; /* pages come later */
  made->process = joined->process;
  /* Events that write are enabled once they have a ring. */
  made->is_enabled =
      joined->is_enabled && !(joined->flags & UVPERF_SET_RECORDS);
  opening->fallbacks = joined->opening->fallbacks;
  opening->opener = joined->opening->opener;
  opening->opener.calls = &opening->calls;
  opening->calls.newest = joined->opening->calls.newest;
  opening->has_asked = 1;
  opening->has_chosen = 1;
  made->places->next_target = joined->places->next_target++;
  made->attrs->has_side_band = joined->attrs->has_side_band;
  if (joined->attrs->list != NULL)
    made->attrs->list = uvperf__event_list_hold(joined->attrs->list);
  rc = attrs_copy(made, joined);
  if (rc != 0)
    rc = uvperf__error_shortage(error, rc, "cannot open the target");
  else
    rc = uvperf__adding_begin(adding, made, target, 1, 1, error);
  if (rc == 0)
    *evlist = made;
  else
    uvperf__evlist_free(made);
  return rc;
}

/* -- joining --------------------------------------------------------------- */

static int attr_is_same(const struct perf_event_attr *a,
                        const struct perf_event_attr *b) {
  return a->size == b->size && memcmp(a, b, a->size) == 0;
}

/* Whether the events of both attrs were opened with the same attr. If `a` has
 * no open event, `b` may be a copy of an attr that an earlier fallback had
 * changed. The changes of that fallback are no longer known. So `b` must have
 * changes of its own, or be as the user requested. */
static int attr_is_alike(const evlist_attr_t *a, const evlist_attr_t *b) {
  if (a->asked->sample_period != b->asked->sample_period ||
      (a->filter == NULL) != (b->filter == NULL) ||
      (a->filter != NULL && strcmp(a->filter, b->filter) != 0))
    return 0;
  if (a->is_fixed && b->is_fixed)
    return attr_is_same(a->attr, b->attr);
  return !b->is_fixed || b->nr_changes != 0 || attr_is_same(a->asked, b->attr);
}

static void attr_take_fallbacks(evlist_attr_t *to, evlist_attr_t *from) {
  if (!from->is_fixed || (to->is_fixed && to->nr_changes != 0))
    return;
  /* If `to` is fixed, UVPERF_FALLBACK_INHERIT is the only change that `from`
   * can have. */
  if (!to->is_fixed)
    memcpy(to->attr, from->attr, from->attr->size);
  to->changes = from->changes;
  to->nr_changes = from->nr_changes;
  to->is_fixed = 1;
  from->changes = NULL;
  from->nr_changes = 0;
}

/* From now on the target's events and failures belong to the set, and have the
 * set's serials. */
static int target_take(uvperf__evlist_t *evlist, uvperf__evlist_t *made,
                       evlist_target_t *target, uvperf_error_t *error) {
  evlist_places_t *places = evlist->places;
  uvperf__calls_t *calls = &evlist->opening->calls;
  size_t first = places->nr_failures;
  const uvperf_set_failure_t *failure;
  size_t i;
  int rc = 0;

  made->places->nr_targets = 0;
  if (calls->newest < made->opening->calls.newest)
    calls->newest = made->opening->calls.newest;
  for (i = 0; i < target->nr_places; i++)
    target->places[i].place.serial = places->next_serial++;
  for (i = 0; i < evlist->attrs->nr; i++) {
    attr_take_fallbacks(&evlist->attrs->at[i], &made->attrs->at[i]);
    evlist->attrs->at[i].nr_open += made->attrs->at[i].nr_open;
    places->nr_open += made->attrs->at[i].nr_open;
  }
  for (i = 0; i < made->places->nr_failures && rc == 0; i++) {
    failure = &made->places->failures[i];
    const uvperf_place_t place = {.target = failure->error.target_index,
                                  .pid = failure->pid,
                                  .cpu = failure->cpu};

    rc = uvperf__evlist_fail(evlist, &place, failure->error.attr_index,
                             &failure->error, error);
  }
  /* A target with a higher index may have joined before. */
  if (first > 0 && places->nr_failures > first &&
      places->failures[first - 1].error.target_index > target->index)
    uvperf__evlist_order_failures(evlist);
  return rc;
}

/* All events must join. A failure must not leave a group without one of its
 * members. */
static int target_join(uvperf__evlist_t *evlist, evlist_at_t at,
                       uvperf_error_t *error) {
  evlist_event_t *event;
  int is_vital;
  size_t i;
  int rc = 0;

  while (rc == 0 && uvperf__evlist_walk_next(&at))
    for (i = 0; i < evlist->attrs->nr && rc == 0; i++) {
      event = &at.place->events[i];
      if (event->state != EVENT_OPEN)
        continue;
      rc = uvperf__evlist_attach(evlist, i, event, error);
      if (rc == 0)
        rc = uvperf__evlist_join(evlist, at.target, at.place, i, &is_vital,
                                 error);
      if (rc != 0)
        uvperf__evlist_locate(error, i, at.target->index);
    }
  return rc;
}

int uvperf__evlist_take_target(uvperf__evlist_t *evlist, uvperf__evlist_t *made,
                               uvperf_error_t *error) {
  size_t nr_rings = uvperf__evlist_nr_rings(evlist);
  evlist_target_t *target = made->places->targets[0];
  size_t first = uvperf__evlist_position(evlist, target->index);
  evlist_at_t at;
  size_t i;
  int rc;

  for (i = 0; i < evlist->attrs->nr; i++)
    if (!attr_is_alike(&evlist->attrs->at[i], &made->attrs->at[i])) {
      uvperf__error_set(
          error, -EAGAIN, UVPERF_CAUSE_ARGUMENT,
          "attr %zu has been opened with other fallbacks meanwhile, or its "
          "period or filter was changed; open the target again",
          i);
      if (error != NULL)
        error->attr_index = (uint32_t)i;
      return -EAGAIN;
    }
  rc = uvperf__evlist_insert(evlist, target, error);
  if (rc != 0)
    return rc;
  at = uvperf__evlist_walk_some(evlist, first, 1);
  rc = target_take(evlist, made, target, error);
  if (rc == 0)
    rc = target_join(evlist, at, error);
  if (rc == 0)
    rc = uvperf__evlist_fill_maps(evlist, error);
  if (rc == 0 && evlist->is_enabled != made->is_enabled)
    rc = uvperf__evlist_switch(evlist, at, evlist->is_enabled, error);
  if (rc != 0) {
    uvperf__evlist_take_back(evlist, first, 1, nr_rings);
    return rc;
  }
  uvperf__evlist_map(evlist, target);
  return 0;
}
