/* SPDX-License-Identifier: MIT */
/* Adds and removes targets. Targets are added in steps. A step takes no time
 * except in the kernel. First a target's places are planned (plan.c),
 * then its events are opened (open.c). */
#include "evlist/opening.h"
#include "evlist/reading.h"
#include "evlist/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/grow.h"
#include "util/options.h"

enum stage {
  STAGE_ASK,    /* checks which read_format the kernel supports */
  STAGE_PLAN,   /* plans the places of one target per step */
  STAGE_OPEN,   /* opens one event per step */
  STAGE_CHECK,  /* checks whether enough is open */
  STAGE_CHOOSE, /* without targets, tries one attr per step */
  STAGE_ENABLE, /* enables one place per step, in two passes */
  STAGE_CLOSE,  /* closes after a failure; may then plan again */
  STAGE_DONE
};

/* -- the targets of the set ------------------------------------------------ */

int uvperf__evlist_insert(uvperf__evlist_t *evlist, evlist_target_t *target,
                          uvperf_error_t *error) {
  evlist_places_t *places = evlist->places;
  evlist_target_t **targets =
      uvperf__grow(places->targets, places->nr_targets, &places->room_targets,
                   4, sizeof(targets[0]));
  size_t at;

  if (targets == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot add the target");
  places->targets = targets;
  for (at = places->nr_targets++;
       at > 0 && targets[at - 1]->index > target->index; at--)
    targets[at] = targets[at - 1];
  targets[at] = target;
  places->nr_places += target->nr_places;
  return 0;
}

/* Closes the target at this position. */
static void target_drop(uvperf__evlist_t *evlist, size_t at) {
  evlist_places_t *places = evlist->places;
  evlist_target_t *target = places->targets[at];

  places->nr_targets--;
  for (; at < places->nr_targets; at++)
    places->targets[at] = places->targets[at + 1];
  places->nr_places -= target->nr_places;
  uvperf__evlist_forget(evlist, target->index, NULL, SIZE_MAX);
  uvperf__evlist_stop_writing(evlist, target);
  uvperf__evlist_close(evlist, target);
  uvperf__evlist_reattach(evlist);
  uvperf__evlist_fill_maps(evlist, NULL);
}

/* Fallbacks that were chosen for the closed targets do not apply to later
 * targets, unless they were chosen when the set was made. */
void uvperf__evlist_take_back(uvperf__evlist_t *evlist, size_t first, size_t nr,
                              size_t nr_rings) {
  size_t i;

  while (nr > 0)
    target_drop(evlist, first + --nr);
  uvperf__evlist_cut_rings(evlist, nr_rings);
  for (i = 0; i < evlist->attrs->nr; i++)
    if (evlist->attrs->at[i].nr_open == 0 && !evlist->attrs->at[i].is_kept)
      uvperf__evlist_attr_restore(&evlist->attrs->at[i]);
}

/* Returns how many requested events are open. Side-band events do not replace
 * requested events. */
static size_t nr_asked_open(const uvperf__evlist_t *evlist) {
  const evlist_attr_t *last = &evlist->attrs->at[evlist->attrs->nr - 1];

  if (evlist->attrs->has_side_band && evlist->attrs->nr > 1)
    return evlist->places->nr_open - last->nr_open;
  return evlist->places->nr_open;
}

/* -- copies of the targets ------------------------------------------------- */

static int target_copy(uvperf_target_t *own, const uvperf_target_t *target,
                       uvperf_error_t *error) {
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  int rc;

  *own = init;
  rc = uvperf__options_copy(own, sizeof(*own), offsetof(uvperf_target_t, data),
                            target);
  if (rc == 0)
    return uvperf__target_check(own, error);
  return uvperf__error_options(error, rc, "uvperf_target_t");
}

/* Returns the target after this one: targets of an older or newer header have
 * another size. */
static const uvperf_target_t *target_after(const uvperf_target_t *target) {
  size_t size;

  memcpy(&size, target, sizeof(size));
  return (const void *)((const char *)target + size);
}

/* A target with an error counts as one on CPUs; opening it reports why. */
int uvperf__targets_are_on_cpus(const uvperf_target_t *targets, size_t nr) {
  uvperf_target_t own;

  for (; nr > 0 && targets != NULL; nr--, targets = target_after(targets))
    if (target_copy(&own, targets, NULL) != 0 ||
        !uvperf__evlist_target_is_tasks(own.type) || own.cpus != NULL)
      return 1;
  return 0;
}

/* Replaces a text of the caller's, which may be gone when it is needed, by a
 * copy. Returns 0 or -ENOMEM. */
static int text_keep(const char **text) {
  const char *given = *text;

  *text = given == NULL ? NULL : uvperf__evlist_copy_text(given);
  return given != NULL && *text == NULL ? -ENOMEM : 0;
}

static int adding_copy_targets(uvperf__adding_t *adding,
                               const uvperf_target_t *targets, size_t nr,
                               uvperf_error_t *error) {
  uvperf_target_t *own;
  int rc = 0;

  if (nr == 0)
    return 0;
  adding->targets = uvperf__calloc(nr, sizeof(adding->targets[0]));
  adding->starts = uvperf__calloc(nr, sizeof(adding->starts[0]));
  if (adding->targets == NULL || adding->starts == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot copy the targets");
  for (; adding->nr < nr && rc == 0; adding->nr++) {
    own = &adding->targets[adding->nr];
    rc = target_copy(own, targets, error);
    if (rc != 0)
      own->cpus = own->cgroup = NULL;
    else if (adding->is_deferred &&
             (text_keep(&own->cpus) | text_keep(&own->cgroup)) != 0)
      rc = uvperf__error_shortage(error, -ENOMEM, "cannot copy the targets");
    if (rc == 0)
      rc = uvperf__target_begin(&adding->evlist->opening->target_context, own,
                                adding->is_deferred,
                                &adding->starts[adding->nr], error);
    if (rc != 0 && error != NULL)
      error->target_index = adding->index + (uint32_t)adding->nr;
    targets = target_after(targets);
  }
  return rc;
}

static void adding_free_targets(uvperf__adding_t *adding) {
  size_t i;

  for (i = 0; adding->is_deferred && i < adding->nr; i++) {
    uvperf__free((void *)(uintptr_t)adding->targets[i].cpus);
    uvperf__free((void *)(uintptr_t)adding->targets[i].cgroup);
  }
  uvperf__free(adding->targets);
  uvperf__free(adding->starts);
  adding->targets = NULL;
  adding->starts = NULL;
}

/* -- the steps ------------------------------------------------------------- */

static void adding_begin_plan(uvperf__adding_t *adding) {
  static const evlist_cursor_t none = {0, 0, 0};

  adding->evlist->places->next_target = adding->index;
  adding->rc = 0;
  adding->nr_planned = 0;
  adding->nr_fds = 0;
  adding->nr_shrinkable = 0;
  adding->cursor = none;
  adding->cursor.target = adding->first;
  adding->stage = STAGE_PLAN;
}

/* Closes the targets again. If another thread makes the steps, the events are
 * closed in later steps. */
static void adding_fail(uvperf__adding_t *adding, int rc) {
  uvperf__evlist_t *evlist = adding->evlist;
  size_t nr_opened = uvperf__evlist_nr_rings(evlist) - adding->nr_rings;

  adding->rc = rc;
  adding->nr_shrinkable = nr_opened;
  evlist->opening->leftovers = adding->is_deferred ? &adding->leftovers : NULL;
  uvperf__evlist_take_back(evlist, adding->first,
                           evlist->places->nr_targets - adding->first,
                           adding->nr_rings);
  evlist->opening->leftovers = NULL;
  adding->stage = STAGE_CLOSE;
}

static int adding_plan_next(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;
  uint32_t index = evlist->places->next_target;
  size_t at = adding->nr_planned++;
  evlist_target_t *planned;
  int rc;

  evlist->opening->target_context.start = adding->starts[at];
  rc =
      uvperf__evlist_plan(evlist, &adding->targets[at], &planned, &adding->why);
  if (rc == 0) {
    rc = uvperf__evlist_insert(evlist, planned, &adding->why);
    if (rc != 0)
      uvperf__evlist_close(evlist, planned);
  }
  if (rc != 0)
    adding->why.target_index = index;
  return rc;
}

/* Counts the fds that are needed: for the planned events and their cgroups, for
 * rings, and one if tasks are checked in /proc. */
static int adding_end_plan(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;
  const evlist_places_t *places = evlist->places;
  const evlist_target_t *target;
  size_t i;

  if ((evlist->flags & UVPERF_SET_STRICT) &&
      places->nr_failures > adding->nr_failures) {
    adding->why = places->failures[adding->nr_failures].error;
    return adding->why.code;
  }
  for (i = adding->first; i < places->nr_targets; i++) {
    target = places->targets[i];
    adding->nr_fds +=
        uvperf__evlist_nr_planned(evlist, target) + (target->cgroup >= 0);
    if (target->nr_places != 0 && target->places[0].start != 0)
      adding->nr_checks = 1;
  }
  adding->nr_new_rings = uvperf__evlist_nr_new_rings(evlist, adding->first);
  adding->stage = STAGE_OPEN;
  return 0;
}

/* One more fd would not help, so the error says how many fds are needed in
 * all. */
static void adding_explain_fds(const uvperf__adding_t *adding,
                               uvperf_error_t *error) {
  size_t nr_rings = adding->nr_new_rings;
  uint64_t needed =
      uvperf__fds_needed(adding->nr_fds + nr_rings + adding->nr_checks);
  uint32_t attr = error->attr_index, target = error->target_index;
  char rings[32] = "";
  uvperf__fd_limits_t fds;

  if (error->code != -EMFILE || adding->nr_fds == 0 ||
      adding->evlist->opening->opener.open != NULL)
    return;
  if (nr_rings != 0)
    snprintf(rings, sizeof(rings), " and %zu rings", nr_rings);
  uvperf__fd_limits(&fds);
  uvperf__error_set(
      error, -EMFILE, UVPERF_CAUSE_FILES,
      "cannot open %zu events%s: they need RLIMIT_NOFILE %llu, and it is %llu "
      "(hard limit %llu); raise it with setrlimit(2) or ulimit -n",
      adding->nr_fds, rings, (unsigned long long)needed,
      (unsigned long long)fds.soft, (unsigned long long)fds.hard);
  uvperf__error_limit(error, -EMFILE, fds.soft, needed);
  uvperf__evlist_locate(error, attr, target);
}

/* Records point to the items of their sources, so the labels must be there. */
static int adding_label_sources(uvperf__adding_t *adding) {
  int rc = adding->evlist->records->rings == NULL
               ? 0
               : uvperf__evlist_label(adding->evlist);

  return rc == 0 ? 0
                 : uvperf__error_shortage(&adding->why, rc,
                                          "cannot name the events");
}

/* The fallbacks that change labels are chosen when the set is made: at the
 * first place where an attr opens, or, without targets, on this thread. */
static int adding_choose_next(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;
  int has_chosen = evlist->opening->has_chosen;
  evlist_attr_t *attr;
  size_t i;
  int rc;

  if (!has_chosen && adding->nr == 0 && adding->cursor.at < evlist->attrs->nr)
    return uvperf__evlist_choose(evlist, adding->cursor.at++, &adding->why);
  for (i = 0; i < evlist->attrs->nr && !has_chosen; i++) {
    attr = &evlist->attrs->at[i];
    attr->is_kept = attr->is_fixed;
  }
  rc = adding_label_sources(adding);
  if (rc != 0)
    return rc;
  evlist->opening->has_chosen = 1;
  adding->cursor.at = 0;
  adding->cursor.target = adding->first;
  adding->stage = evlist->is_enabled ? STAGE_ENABLE : STAGE_DONE;
  return 0;
}

/* Enables early events at all places first: see uvperf__evlist_switch. */
static int adding_enable_next(uvperf__adding_t *adding) {
  const uvperf__evlist_t *evlist = adding->evlist;
  evlist_cursor_t *cursor = &adding->cursor;
  evlist_at_t at = {0};

  if (cursor->target < evlist->places->nr_targets) {
    at.target = evlist->places->targets[cursor->target];
    at.place = &at.target->places[cursor->place++];
    if (cursor->place == at.target->nr_places) {
      cursor->place = 0;
      cursor->target++;
    }
    return uvperf__evlist_switch_part(evlist, &at, cursor->at == 0, 1,
                                      &adding->why);
  }
  if (cursor->at++ == 0)
    cursor->target = adding->first;
  else
    adding->stage = STAGE_DONE;
  return 0;
}

/* Makes a step of the stage. Returns 0, or a code and adding->why. */
static int adding_make_step(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;
  const evlist_places_t *places = evlist->places;

  switch ((enum stage)adding->stage) {
    case STAGE_ASK:
      uvperf__evlist_ask_formats(evlist);
      adding_begin_plan(adding);
      return adding_label_sources(adding);
    case STAGE_PLAN:
      return adding->nr_planned < adding->nr ? adding_plan_next(adding)
                                             : adding_end_plan(adding);
    case STAGE_OPEN:
      if (adding->cursor.target < places->nr_targets)
        return uvperf__evlist_open_next(evlist, &adding->cursor, &adding->why);
      adding->stage = STAGE_CHECK;
      return 0;
    case STAGE_CHECK:
      if (adding->nr != 0 && nr_asked_open(evlist) == adding->nr_open)
        return uvperf__evlist_choose_failure(evlist, adding->nr_failures,
                                             &adding->why);
      adding->stage = STAGE_CHOOSE;
      return 0;
    case STAGE_CHOOSE:
      return adding_choose_next(adding);
    case STAGE_ENABLE:
      return adding_enable_next(adding);
    case STAGE_CLOSE:
      if (uvperf__leftovers_close_one(&adding->leftovers))
        return 0;
      uvperf__leftovers_end(&adding->leftovers);
      adding_explain_fds(adding, &adding->why);
      /* If the rings used up the memory that may be locked, the next try opens
       * smaller rings. */
      if (uvperf__evlist_shrink_rings(evlist, adding->nr_shrinkable))
        adding_begin_plan(adding);
      else
        adding->stage = STAGE_DONE;
      return 0;
    case STAGE_DONE:
      break;
  }
  return 0;
}

int uvperf__adding_step(uvperf__adding_t *adding, int is_cancelled) {
  int rc;

  if (is_cancelled && adding->stage < STAGE_CLOSE) {
    uvperf__error_cancelled(&adding->why, "set");
    rc = -ECANCELED;
  } else {
    rc = adding_make_step(adding);
  }
  if (rc != 0)
    adding_fail(adding, rc);
  return adding->stage != STAGE_DONE;
}

/* -- begin and end --------------------------------------------------------- */

int uvperf__adding_begin(uvperf__adding_t *adding, uvperf__evlist_t *evlist,
                         const uvperf_target_t *targets, size_t nr,
                         int is_deferred, uvperf_error_t *error) {
  const uvperf__target_context_t context = {
      .has_rings = (evlist->flags & UVPERF_SET_RECORDS) != 0,
      .no_starts = evlist->opening->is_brief,
      .self = is_deferred ? (int)uvperf__sys_gettid() : 0,
      .cpus_name = evlist->is_array ? "options.cpus" : "target.cpus"};
  int rc;

  memset(adding, 0, sizeof(*adding));
  adding->evlist = evlist;
  adding->is_deferred = is_deferred;
  adding->first = evlist->places->nr_targets;
  adding->index = evlist->places->next_target;
  adding->nr_failures = evlist->places->nr_failures;
  adding->nr_open = nr_asked_open(evlist);
  adding->nr_rings = uvperf__evlist_nr_rings(evlist);
  if (targets == NULL && nr != 0)
    return uvperf__error_argument(error, "targets must not be NULL");
  evlist->opening->target_context = context;
  rc = adding_copy_targets(adding, targets, nr, error);
  if (rc != 0) {
    adding_free_targets(adding);
    return rc;
  }
  uvperf__thread_init(&evlist->opening->caller);
  evlist->opening->tracepoints = &adding->tracepoints;
  if (evlist->opening->has_asked)
    adding_begin_plan(adding);
  else
    adding->stage = STAGE_ASK;
  return 0;
}

int uvperf__adding_end(uvperf__adding_t *adding, uvperf_error_t *error) {
  uvperf__evlist_t *evlist = adding->evlist;
  size_t i;

  evlist->opening->tracepoints = NULL;
  uvperf__leftovers_end(&adding->leftovers);
  adding_free_targets(adding);
  if (adding->rc != 0) {
    if (error != NULL)
      *error = adding->why;
    return adding->rc;
  }
  for (i = adding->first; i < evlist->places->nr_targets; i++)
    uvperf__evlist_map(evlist, evlist->places->targets[i]);
  return 0;
}

int uvperf__adding_run(uvperf__adding_t *adding, uvperf_error_t *error) {
  while (uvperf__adding_step(adding, 0))
    continue;
  return uvperf__adding_end(adding, error);
}

int uvperf__evlist_add_target(uvperf__evlist_t *evlist,
                              const uvperf_target_t *target, uint32_t *index,
                              uvperf_error_t *error) {
  size_t first = evlist->places->nr_targets;
  uvperf__adding_t adding;
  int rc = uvperf__evlist_check(evlist, error);

  if (rc == 0)
    rc = uvperf__adding_begin(&adding, evlist, target, 1, 0, error);
  if (rc == 0)
    rc = uvperf__adding_run(&adding, error);
  if (rc != 0)
    return rc;
  rc = uvperf__evlist_fill_maps(evlist, error);
  if (rc != 0)
    target_drop(evlist, first);
  else if (index != NULL)
    *index = adding.index;
  return rc;
}

int uvperf__evlist_remove_target(uvperf__evlist_t *evlist, uint32_t index,
                                 uvperf_reading_t *last,
                                 uvperf_error_t *error) {
  size_t at = uvperf__evlist_position(evlist, index);
  const evlist_target_t *target;
  size_t i;
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0)
    return rc;
  if (at == evlist->places->nr_targets ||
      evlist->places->targets[at]->index != index)
    return uvperf__error_set(error, -ENOENT, UVPERF_CAUSE_ARGUMENT,
                             "the set has no target %u", index);
  if (last != NULL)
    rc = uvperf__evlist_read_targets(evlist, at, 1, last);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot read the last counts");
  target = evlist->places->targets[at];
  for (i = 0; i < target->nr_places; i++)
    uvperf__evlist_count_lost_at(evlist, &target->places[i]);
  target_drop(evlist, at);
  return 0;
}
