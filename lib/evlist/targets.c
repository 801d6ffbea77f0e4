/* SPDX-License-Identifier: MIT */
/* Adds and removes targets. Targets are added in steps. A step takes no time
 * except in the kernel. First a target's places are planned (plan.c),
 * then its events are opened (open.c). */
#include "evlist/internal.h"

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
  evlist_target_t **targets =
      uvperf__grow(evlist->targets, evlist->nr_targets, &evlist->room_targets,
                   4, sizeof(targets[0]));
  size_t at;

  if (targets == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot add the target");
  evlist->targets = targets;
  for (at = evlist->nr_targets++;
       at > 0 && targets[at - 1]->index > target->index; at--)
    targets[at] = targets[at - 1];
  targets[at] = target;
  evlist->nr_places += target->nr_places;
  return 0;
}

/* Closes the target at this position. */
static void drop(uvperf__evlist_t *evlist, size_t at) {
  evlist_target_t *target = evlist->targets[at];
  size_t i;

  for (i = at + 1; i < evlist->nr_targets; i++)
    evlist->targets[i - 1] = evlist->targets[i];
  evlist->nr_targets--;
  evlist->nr_places -= target->nr_places;
  uvperf__evlist_forget(evlist, target->index);
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
    drop(evlist, first + --nr);
  uvperf__evlist_cut_rings(evlist, nr_rings);
  for (i = 0; i < evlist->nr_attrs; i++)
    if (evlist->attrs[i].nr_open == 0 && !evlist->attrs[i].is_kept)
      uvperf__evlist_attr_restore(&evlist->attrs[i]);
}

/* Returns how many requested events are open. Side-band events do not replace
 * requested events. */
static size_t nr_asked_open(const uvperf__evlist_t *evlist) {
  const evlist_attr_t *last = &evlist->attrs[evlist->nr_attrs - 1];

  if (evlist->has_side_band && evlist->nr_attrs > 1)
    return evlist->nr_open - last->nr_open;
  return evlist->nr_open;
}

/* -- fds ------------------------------------------------------------------- */

/* Returns how many fds the planned events need. */
static size_t count_fds(const uvperf__evlist_t *evlist, size_t first) {
  size_t nr = 0;
  size_t i;

  for (i = first; i < evlist->nr_targets; i++)
    nr += uvperf__evlist_nr_planned(evlist, evlist->targets[i]) +
          (evlist->targets[i]->cgroup >= 0);
  return nr;
}

/* Returns 1 if tasks are checked in /proc, which needs an fd, or 0. */
static size_t has_check(const uvperf__evlist_t *evlist, size_t first) {
  size_t i;

  for (i = first; i < evlist->nr_targets; i++)
    if (evlist->targets[i]->nr_places != 0 &&
        evlist->targets[i]->places[0].start != 0)
      return 1;
  return 0;
}

/* One more fd would not help, so the error says how many fds are needed in
 * all. */
static void explain_fds(size_t nr_events, size_t nr_rings, size_t nr_checks,
                        uvperf_error_t *error) {
  uint64_t needed = uvperf__fds_needed(nr_events + nr_rings + nr_checks);
  char rings[32] = "";
  uvperf_error_t own;
  uvperf__fd_limits_t fds;

  if (error->code != -EMFILE)
    return;
  if (nr_rings != 0)
    snprintf(rings, sizeof(rings), " and %zu rings", nr_rings);
  uvperf__fd_limits(&fds);
  uvperf__error_set(
      &own, -EMFILE, UVPERF_CAUSE_FILES,
      "cannot open %zu events%s: they need RLIMIT_NOFILE %llu, and it is %llu "
      "(hard limit %llu); raise it with setrlimit(2) or ulimit -n",
      nr_events, rings, (unsigned long long)needed,
      (unsigned long long)fds.soft, (unsigned long long)fds.hard);
  own.limit = fds.soft;
  own.needed = needed;
  own.attr_index = error->attr_index;
  own.target_index = error->target_index;
  *error = own;
}

/* -- copies of the targets ------------------------------------------------- */

static int copy_target(uvperf_target_t *own, const uvperf_target_t *target,
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

/* Returns the size of a target, by which the next one follows it. */
static size_t target_size(const uvperf_target_t *target) {
  size_t size;

  memcpy(&size, target, sizeof(size));
  return size;
}

/* A target with an error counts as one on CPUs; opening it reports why. */
int uvperf__targets_are_on_cpus(const uvperf_target_t *targets, size_t nr) {
  const char *at = (const char *)targets;
  uvperf_target_t own;
  size_t i;

  for (i = 0; i < nr && targets != NULL; i++) {
    if (copy_target(&own, (const void *)at, NULL) != 0 ||
        !uvperf__evlist_target_is_tasks(own.type) || own.cpus != NULL)
      return 1;
    at += target_size((const void *)at);
  }
  return 0;
}

/* Copies the target's texts, because the caller's texts may be gone when they
 * are needed. */
static int keep_texts(uvperf_target_t *own) {
  const char *cpus = own->cpus;
  const char *cgroup = own->cgroup;

  own->cpus = cpus == NULL ? NULL : uvperf__evlist_copy_text(cpus);
  own->cgroup = cgroup == NULL ? NULL : uvperf__evlist_copy_text(cgroup);
  return (own->cpus == NULL) != (cpus == NULL) ||
                 (own->cgroup == NULL) != (cgroup == NULL)
             ? -ENOMEM
             : 0;
}

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM, "cannot copy the targets");
}

static int copy_targets(uvperf__adding_t *adding,
                        const uvperf_target_t *targets, size_t nr,
                        uvperf_error_t *error) {
  const char *at = (const char *)targets;
  int rc = 0;

  adding->targets = uvperf__calloc(nr, sizeof(adding->targets[0]));
  adding->starts = uvperf__calloc(nr, sizeof(adding->starts[0]));
  if (adding->targets == NULL || adding->starts == NULL)
    return no_memory(error);
  for (; adding->nr < nr && rc == 0; adding->nr++) {
    uvperf_target_t *own = &adding->targets[adding->nr];

    rc = copy_target(own, (const void *)at, error);
    if (rc != 0)
      own->cpus = own->cgroup = NULL;
    else if (adding->is_deferred && keep_texts(own) != 0)
      rc = no_memory(error);
    if (rc == 0)
      rc = uvperf__target_begin(&adding->evlist->target_context, own,
                                adding->is_deferred,
                                &adding->starts[adding->nr], error);
    if (rc != 0 && error != NULL)
      error->target_index = adding->index + (uint32_t)adding->nr;
    at += target_size((const void *)at);
  }
  return rc;
}

static void free_targets(uvperf__adding_t *adding) {
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

static void begin_plan(uvperf__adding_t *adding) {
  static const evlist_cursor_t none = {0, 0, 0};
  uvperf__evlist_t *evlist = adding->evlist;

  evlist->next_target = adding->index;
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
static void fail(uvperf__adding_t *adding, int rc) {
  uvperf__evlist_t *evlist = adding->evlist;
  size_t nr_opened = uvperf__evlist_nr_rings(evlist) - adding->nr_rings;

  adding->rc = rc;
  adding->nr_shrinkable = nr_opened;
  evlist->leftovers = adding->is_deferred ? &adding->leftovers : NULL;
  uvperf__evlist_take_back(evlist, adding->first,
                           evlist->nr_targets - adding->first,
                           adding->nr_rings);
  evlist->leftovers = NULL;
  adding->stage = STAGE_CLOSE;
}

static int plan_next(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;
  uint32_t index = evlist->next_target;
  size_t at = adding->nr_planned++;
  evlist_target_t *planned;
  int rc;

  evlist->target_context.start = adding->starts[at];
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

static int end_plan(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;

  if ((evlist->flags & UVPERF_SET_STRICT) &&
      evlist->nr_failures > adding->nr_failures) {
    adding->why = evlist->failures[adding->nr_failures].error;
    return adding->why.code;
  }
  adding->nr_fds = count_fds(evlist, adding->first);
  adding->nr_checks = has_check(evlist, adding->first);
  adding->nr_new_rings = uvperf__evlist_nr_new_rings(evlist, adding->first);
  adding->stage = STAGE_OPEN;
  return 0;
}

static int check_enough(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;

  if (adding->nr != 0 && nr_asked_open(evlist) == adding->nr_open)
    return uvperf__evlist_choose_failure(evlist, adding->nr_failures,
                                         &adding->why);
  adding->stage = STAGE_CHOOSE;
  return 0;
}

/* Records point to the items of their sources, so the labels must be there. */
static int label_sources(uvperf__adding_t *adding) {
  int rc =
      adding->evlist->rings == NULL ? 0 : uvperf__evlist_label(adding->evlist);

  return rc == 0 ? 0
                 : uvperf__error_shortage(&adding->why, rc,
                                          "cannot name the events");
}

/* The fallbacks that change labels are chosen when the set is made: at the
 * first place where an attr opens, or, without targets, on this thread. */
static int choose_next(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;
  size_t i;
  int rc;

  if (!evlist->has_chosen && adding->nr == 0 &&
      adding->cursor.at < evlist->nr_attrs)
    return uvperf__evlist_choose(evlist, adding->cursor.at++, &adding->why);
  for (i = 0; i < evlist->nr_attrs && !evlist->has_chosen; i++)
    evlist->attrs[i].is_kept = evlist->attrs[i].is_fixed;
  rc = label_sources(adding);
  if (rc != 0)
    return rc;
  evlist->has_chosen = 1;
  adding->cursor.at = 0;
  adding->cursor.target = adding->first;
  adding->stage = evlist->is_enabled ? STAGE_ENABLE : STAGE_DONE;
  return 0;
}

/* Enables early events at all places first: see uvperf__evlist_switch. */
static int enable_next(uvperf__adding_t *adding) {
  uvperf__evlist_t *evlist = adding->evlist;

  if (adding->cursor.target < evlist->nr_targets)
    return uvperf__evlist_enable_next(evlist, &adding->cursor, &adding->why);
  if (adding->cursor.at == 0) {
    adding->cursor.at = 1;
    adding->cursor.target = adding->first;
  } else {
    adding->stage = STAGE_DONE;
  }
  return 0;
}

/* If the rings used up the memory that may be locked, the next try opens
 * smaller rings. */
static void close_next(uvperf__adding_t *adding) {
  if (uvperf__leftovers_close_one(&adding->leftovers))
    return;
  uvperf__leftovers_end(&adding->leftovers);
  if (adding->nr_fds != 0 && adding->evlist->opener.open == NULL)
    explain_fds(adding->nr_fds, adding->nr_new_rings, adding->nr_checks,
                &adding->why);
  if (uvperf__evlist_shrink_rings(adding->evlist, adding->nr_shrinkable))
    begin_plan(adding);
  else
    adding->stage = STAGE_DONE;
}

int uvperf__adding_step(uvperf__adding_t *adding, int is_cancelled) {
  uvperf__evlist_t *evlist = adding->evlist;
  int rc = 0;

  if (is_cancelled && adding->stage < STAGE_CLOSE) {
    uvperf__error_cancelled(&adding->why, "set");
    fail(adding, -ECANCELED);
    return 1;
  }
  switch ((enum stage)adding->stage) {
    case STAGE_ASK:
      uvperf__evlist_ask_formats(evlist);
      begin_plan(adding);
      rc = label_sources(adding);
      break;
    case STAGE_PLAN:
      rc = adding->nr_planned < adding->nr ? plan_next(adding)
                                           : end_plan(adding);
      break;
    case STAGE_OPEN:
      if (adding->cursor.target < evlist->nr_targets)
        rc = uvperf__evlist_open_next(evlist, &adding->cursor, &adding->why);
      else
        adding->stage = STAGE_CHECK;
      break;
    case STAGE_CHECK:
      rc = check_enough(adding);
      break;
    case STAGE_CHOOSE:
      rc = choose_next(adding);
      break;
    case STAGE_ENABLE:
      rc = enable_next(adding);
      break;
    case STAGE_CLOSE:
      close_next(adding);
      break;
    case STAGE_DONE:
      break;
  }
  if (rc != 0)
    fail(adding, rc);
  return adding->stage != STAGE_DONE;
}

/* -- begin and end --------------------------------------------------------- */

int uvperf__adding_begin(uvperf__adding_t *adding, uvperf__evlist_t *evlist,
                         const uvperf_target_t *targets, size_t nr,
                         int is_deferred, uvperf_error_t *error) {
  const uvperf__target_context_t context = {
      evlist->root,
      (evlist->flags & UVPERF_SET_RECORDS) != 0,
      evlist->is_brief,
      0,
      is_deferred ? (int)uvperf__sys_gettid() : 0,
      0};
  int rc;

  memset(adding, 0, sizeof(*adding));
  adding->evlist = evlist;
  adding->is_deferred = is_deferred;
  adding->first = evlist->nr_targets;
  adding->index = evlist->next_target;
  adding->nr_failures = evlist->nr_failures;
  adding->nr_open = nr_asked_open(evlist);
  adding->nr_rings = uvperf__evlist_nr_rings(evlist);
  if (targets == NULL && nr != 0)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "targets must not be NULL");
  evlist->target_context = context;
  rc = nr == 0 ? 0 : copy_targets(adding, targets, nr, error);
  if (rc != 0) {
    free_targets(adding);
    return rc;
  }
  uvperf__thread_init(&evlist->caller);
  evlist->tracepoints = &adding->tracepoints;
  if (evlist->has_asked)
    begin_plan(adding);
  else
    adding->stage = STAGE_ASK;
  return 0;
}

int uvperf__adding_end(uvperf__adding_t *adding, uvperf_error_t *error) {
  uvperf__evlist_t *evlist = adding->evlist;
  size_t i;

  evlist->tracepoints = NULL;
  uvperf__leftovers_end(&adding->leftovers);
  free_targets(adding);
  if (adding->rc != 0) {
    if (error != NULL)
      *error = adding->why;
    return adding->rc;
  }
  for (i = adding->first; i < evlist->nr_targets; i++)
    uvperf__evlist_map(evlist, evlist->targets[i]);
  return 0;
}

int uvperf__evlist_add_targets(uvperf__evlist_t *evlist,
                               const uvperf_target_t *targets, size_t nr,
                               uvperf_error_t *error) {
  uvperf__adding_t adding;
  int rc = uvperf__adding_begin(&adding, evlist, targets, nr, 0, error);

  if (rc != 0)
    return rc;
  while (uvperf__adding_step(&adding, 0))
    continue;
  return uvperf__adding_end(&adding, error);
}

int uvperf__evlist_add_target(uvperf__evlist_t *evlist,
                              const uvperf_target_t *target, uint32_t *index,
                              uvperf_error_t *error) {
  size_t first = evlist->nr_targets;
  int rc = uvperf__evlist_check(evlist, error);

  if (rc == 0)
    rc = uvperf__evlist_add_targets(evlist, target, 1, error);
  if (rc != 0)
    return rc;
  rc = uvperf__evlist_fill_maps(evlist, error);
  if (rc != 0)
    drop(evlist, first);
  else if (index != NULL)
    *index = evlist->targets[first]->index;
  return rc;
}

int uvperf__evlist_remove_target(uvperf__evlist_t *evlist, uint32_t index,
                                 uvperf_reading_t *last,
                                 uvperf_error_t *error) {
  size_t at = uvperf__evlist_position(evlist, index);
  size_t place;
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0)
    return rc;
  if (at == evlist->nr_targets || evlist->targets[at]->index != index)
    return uvperf__error_set(error, -ENOENT, UVPERF_CAUSE_ARGUMENT,
                             "the set has no target %u", index);
  if (last != NULL)
    rc = uvperf__evlist_read_targets(evlist, at, 1, last);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot read the last counts");
  for (place = 0; place < evlist->targets[at]->nr_places; place++)
    uvperf__evlist_count_lost_at(evlist, &evlist->targets[at]->places[place]);
  drop(evlist, at);
  return 0;
}
