/* SPDX-License-Identifier: MIT */
/* A target that another thread opens while the set goes on. The thread opens
 * the events in a list of its own, with the same attrs. The events join the
 * set's list when all are open. They write into the set's rings only after
 * that. */
#include "evlist/internal.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "name/list.h"
#include "util/alloc.h"
#include "util/error.h"

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM, "cannot open the target");
}

/* -- a list with the same attrs -------------------------------------------- */

/* Copies the label, for errors. Returns 0 or -ENOMEM. */
static int copy_label(evlist_attr_t *to, const evlist_attr_t *from) {
  to->item.label = to->brief;
  if (from->item.label == from->brief)
    return 0;
  to->label = uvperf__evlist_copy_text(from->item.label);
  to->item.label = to->label;
  return to->label == NULL ? -ENOMEM : 0;
}

/* Programs are attached when the events join. */
static int copy_attr(evlist_attr_t *to, const evlist_attr_t *from) {
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
  if (uvperf__attr_dup(&to->asked, from->asked) != 0 ||
      uvperf__attr_dup(&to->attr, from->attr) != 0 || copy_label(to, from) != 0)
    return -ENOMEM;
  if (from->cpus != NULL) {
    to->cpus = uvperf__calloc(from->item.nr_cpus, sizeof(to->cpus[0]));
    if (to->cpus == NULL)
      return -ENOMEM;
    memcpy(to->cpus, from->cpus, from->item.nr_cpus * sizeof(to->cpus[0]));
    to->item.cpus = to->cpus;
  }
  if (from->filter != NULL)
    to->filter = uvperf__evlist_copy_text(from->filter);
  return from->filter != NULL && to->filter == NULL ? -ENOMEM : 0;
}

static int copy_attrs(uvperf__evlist_t *to, const uvperf__evlist_t *from) {
  size_t i;
  int rc;

  to->nr_attrs = from->nr_attrs;
  rc = uvperf__evlist_make_attrs(to);
  for (i = 0; rc == 0 && i < to->nr_attrs; i++)
    rc = copy_attr(&to->attrs[i], &from->attrs[i]);
  if (rc != 0)
    return rc;
  memcpy(to->next_parts, from->next_parts,
         to->nr_attrs * sizeof(to->next_parts[0]));
  memcpy(to->order, from->order, to->nr_attrs * sizeof(to->order[0]));
  to->attr_bytes = from->attr_bytes;
  to->words_size = from->words_size;
  return uvperf__evlist_make_scratch(to);
}

int uvperf__evlist_new_for_target(uvperf__evlist_t **evlist,
                                  uvperf__evlist_t *joined,
                                  const uvperf_target_t *target,
                                  uvperf__adding_t *adding,
                                  uvperf_error_t *error) {
  uvperf__evlist_t *made = uvperf__calloc(1, sizeof(*made));
  int rc;

  if (made == NULL)
    return no_memory(error);
  made->root = joined->root;
  made->flags = joined->flags & ~UVPERF_SET_USER_READ; /* pages come later */
  made->fallbacks = joined->fallbacks;
  made->opener = joined->opener;
  made->calls.newest = joined->calls.newest;
  made->opener.calls = &made->calls;
  made->process = joined->process;
  made->next_target = joined->next_target++;
  made->has_side_band = joined->has_side_band;
  made->has_asked = 1;
  made->has_chosen = 1;
  /* Events that write are enabled once they have a ring. */
  made->is_enabled =
      joined->is_enabled && !(joined->flags & UVPERF_SET_RECORDS);
  if (joined->list != NULL)
    made->list = uvperf__event_list_hold(joined->list);
  rc = copy_attrs(made, joined);
  if (rc != 0)
    rc = no_memory(error);
  else
    rc = uvperf__adding_begin(adding, made, target, 1, 1, error);
  if (rc == 0)
    *evlist = made;
  else
    uvperf__evlist_free(made);
  return rc;
}

/* -- joining --------------------------------------------------------------- */

static int is_same_attr(const struct perf_event_attr *a,
                        const struct perf_event_attr *b) {
  return a->size == b->size && memcmp(a, b, a->size) == 0;
}

static int is_same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether the events of both attrs were opened with the same attr. If `a` has
 * no open event, `b` may be a copy of an attr that an earlier fallback had
 * changed. The changes of that fallback are no longer known. So `b` must have
 * changes of its own, or be as the user requested. */
static int is_alike(const evlist_attr_t *a, const evlist_attr_t *b) {
  if (a->asked->sample_period != b->asked->sample_period ||
      !is_same_text(a->filter, b->filter))
    return 0;
  if (a->is_fixed && b->is_fixed)
    return is_same_attr(a->attr, b->attr);
  return !b->is_fixed || b->nr_changes != 0 || is_same_attr(a->asked, b->attr);
}

static int agree(const uvperf__evlist_t *evlist, const uvperf__evlist_t *made,
                 uvperf_error_t *error) {
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++) {
    if (is_alike(&evlist->attrs[i], &made->attrs[i]))
      continue;
    uvperf__error_set(
        error, -EAGAIN, UVPERF_CAUSE_ARGUMENT,
        "attr %zu has been opened with other fallbacks meanwhile, or its "
        "period or filter was changed; open the target again",
        i);
    if (error != NULL)
      error->attr_index = (uint32_t)i;
    return -EAGAIN;
  }
  return 0;
}

static void take_fallbacks(evlist_attr_t *to, evlist_attr_t *from) {
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

static int take_failures(uvperf__evlist_t *evlist, const uvperf__evlist_t *made,
                         uvperf_error_t *error) {
  size_t first = evlist->nr_failures;
  const uvperf_set_failure_t *failure;
  size_t i;
  int rc = 0;

  for (i = 0; i < made->nr_failures && rc == 0; i++) {
    failure = &made->failures[i];
    const uvperf_place_t place = {.target = failure->error.target_index,
                                  .pid = failure->pid,
                                  .cpu = failure->cpu};

    rc = uvperf__evlist_fail(evlist, &place, failure->error.attr_index,
                             &failure->error, error);
  }
  /* A target with a higher index may have joined before. */
  if (first > 0 && evlist->nr_failures > first &&
      evlist->failures[first - 1].error.target_index >
          evlist->failures[first].error.target_index)
    uvperf__evlist_order_failures(evlist);
  return rc;
}

/* From now on the events belong to the set, and have the set's serials. */
static void take_target(uvperf__evlist_t *evlist, uvperf__evlist_t *made,
                        evlist_target_t *target) {
  size_t i;

  made->nr_targets = 0;
  if (evlist->calls.newest < made->calls.newest)
    evlist->calls.newest = made->calls.newest;
  for (i = 0; i < target->nr_places; i++)
    target->places[i].place.serial = evlist->next_serial++;
  for (i = 0; i < evlist->nr_attrs; i++) {
    evlist->attrs[i].nr_open += made->attrs[i].nr_open;
    evlist->nr_open += made->attrs[i].nr_open;
  }
}

static int join_event(uvperf__evlist_t *evlist, evlist_target_t *target,
                      evlist_place_t *place, size_t attr,
                      uvperf_error_t *error) {
  evlist_event_t *event = &place->events[attr];
  int is_vital;
  int rc;

  if (event->state != COUNTER_OPEN)
    return 0;
  rc = uvperf__evlist_attach(evlist, attr, event, error);
  if (rc == 0)
    rc = uvperf__evlist_join(evlist, target, place, attr, &is_vital, error);
  if (rc != 0 && error != NULL) {
    error->attr_index = (uint32_t)attr;
    error->target_index = target->index;
  }
  return rc;
}

/* All events must join. A failure must not leave a group without one of its
 * members. */
static int join_events(uvperf__evlist_t *evlist, evlist_target_t *target,
                       uvperf_error_t *error) {
  size_t i, attr;
  int rc = 0;

  for (i = 0; i < target->nr_places && rc == 0; i++)
    for (attr = 0; attr < evlist->nr_attrs && rc == 0; attr++)
      rc = join_event(evlist, target, &target->places[i], attr, error);
  return rc;
}

int uvperf__evlist_take_target(uvperf__evlist_t *evlist, uvperf__evlist_t *made,
                               uvperf_error_t *error) {
  size_t nr_rings = uvperf__evlist_nr_rings(evlist);
  evlist_target_t *target = made->targets[0];
  size_t at = uvperf__evlist_position(evlist, target->index);
  size_t i;
  int rc = agree(evlist, made, error);

  if (rc == 0)
    rc = uvperf__evlist_insert(evlist, target, error);
  if (rc != 0)
    return rc;
  for (i = 0; i < evlist->nr_attrs; i++)
    take_fallbacks(&evlist->attrs[i], &made->attrs[i]);
  take_target(evlist, made, target);
  rc = take_failures(evlist, made, error);
  if (rc == 0)
    rc = join_events(evlist, target, error);
  if (rc == 0)
    rc = uvperf__evlist_fill_maps(evlist, error);
  if (rc == 0 && evlist->is_enabled != made->is_enabled)
    rc = uvperf__evlist_switch(evlist, at, 1, evlist->is_enabled, error);
  if (rc != 0) {
    uvperf__evlist_take_back(evlist, at, 1, nr_rings);
    return rc;
  }
  uvperf__evlist_map(evlist, target);
  return 0;
}
