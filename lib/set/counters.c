/* SPDX-License-Identifier: MIT */
/* Makes and frees the counters, and adds and removes targets: a target's places
 * are planned (counters_plan.c), then its events are opened there
 * (counters_open.c). */
#include "set/counters_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"
#include "util/grow.h"
#include "util/options.h"

/* -- targets -------------------------------------------------------------- */

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

static int push(uvperf__counters_t *counters, counter_target_t *target,
                uvperf_error_t *error) {
  counter_target_t **targets =
      uvperf__grow(counters->targets, counters->nr_targets,
                   &counters->room_targets, 4, sizeof(targets[0]));

  if (targets == NULL)
    return uvperf__error_set(error, -ENOMEM, UVPERF_CAUSE_MEMORY,
                             "no memory for one more target");
  counters->targets = targets;
  targets[counters->nr_targets++] = target;
  counters->nr_places += target->nr_places;
  return 0;
}

/* Closes the at-th target. */
static void drop(uvperf__counters_t *counters, size_t at) {
  counter_target_t *target = counters->targets[at];
  size_t i;

  for (i = at + 1; i < counters->nr_targets; i++)
    counters->targets[i - 1] = counters->targets[i];
  counters->nr_targets--;
  counters->nr_places -= target->nr_places;
  uvperf__counters_forget(counters, target->index);
  uvperf__counters_stop_writing(counters, target);
  uvperf__counters_close(counters, target);
  uvperf__counters_reattach(counters);
}

/* Closes the targets from the first-th on, and the rings from the nr-th on.
 * What a fallback did for them does not bind those to come. */
static void take_back(uvperf__counters_t *counters, size_t first,
                      size_t nr_rings) {
  size_t i;

  while (counters->nr_targets > first)
    drop(counters, counters->nr_targets - 1);
  uvperf__counters_cut_rings(counters, nr_rings);
  for (i = 0; i < counters->nr_attrs; i++)
    if (counters->attrs[i].nr_open == 0)
      uvperf__counter_attr_restore(&counters->attrs[i]);
}

static int plan_one(uvperf__counters_t *counters, const uvperf_target_t *target,
                    uvperf_error_t *error) {
  uint32_t index = counters->next_target;
  counter_target_t *planned;
  uvperf_target_t own;
  int rc = copy_target(&own, target, error);

  if (rc == 0)
    rc = uvperf__counters_plan(counters, &own, &planned, error);
  if (rc == 0) {
    rc = push(counters, planned, error);
    if (rc != 0)
      uvperf__counters_close(counters, planned);
  }
  if (rc != 0 && error != NULL)
    error->target_index = index;
  return rc;
}

static int plan_all(uvperf__counters_t *counters,
                    const uvperf_target_t *targets, size_t nr,
                    uvperf_error_t *error) {
  const char *at = (const char *)targets;
  size_t nr_failures = counters->nr_failures;
  size_t size;
  size_t i;
  int rc = 0;

  if (targets == NULL && nr != 0)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "the targets must not be NULL");
  for (i = 0; i < nr && rc == 0; i++) {
    rc = plan_one(counters, (const void *)at, error);
    memcpy(&size, at, sizeof(size));
    at += size;
  }
  if (rc == 0 && (counters->flags & UVPERF_SET_STRICT) &&
      counters->nr_failures > nr_failures) {
    rc = counters->failures[nr_failures].error.code;
    if (error != NULL)
      *error = counters->failures[nr_failures].error;
  }
  return rc;
}

/* How many fds it takes to open what is planned. */
static size_t count_fds(const uvperf__counters_t *counters, size_t first) {
  size_t nr = 0;
  size_t i;

  for (i = first; i < counters->nr_targets; i++)
    nr += uvperf__counters_nr_planned(counters, counters->targets[i]) +
          (counters->targets[i]->cgroup >= 0);
  return nr;
}

/* One event more would not help: what the whole call needs is told. */
static void explain_fds(size_t nr_events, size_t nr_rings,
                        uvperf_error_t *error) {
  uint64_t needed = uvperf__fds_needed(nr_events + nr_rings);
  char rings[32] = "";
  uvperf_error_t own;
  uvperf__fd_limits_t fds;

  if (error == NULL || error->code != -EMFILE)
    return;
  if (nr_rings != 0)
    snprintf(rings, sizeof(rings), " and %zu rings", nr_rings);
  uvperf__fd_limits(&fds);
  uvperf__error_set(&own, -EMFILE, UVPERF_CAUSE_FILES,
                    "%zu events%s take as many fds: that needs RLIMIT_NOFILE "
                    "%llu, and it is %llu (hard limit %llu): raise it by "
                    "setrlimit(2) or ulimit -n",
                    nr_events, rings, (unsigned long long)needed,
                    (unsigned long long)fds.soft, (unsigned long long)fds.hard);
  own.limit = fds.soft;
  own.needed = needed;
  own.attr_index = error->attr_index;
  own.target_index = error->target_index;
  *error = own;
}

/* Opens the targets from the first-th on. */
static int open_all(uvperf__counters_t *counters, size_t first,
                    uvperf_error_t *error) {
  size_t i;
  int rc = 0;

  for (i = first; i < counters->nr_targets && rc == 0; i++)
    rc = uvperf__counters_open(counters, counters->targets[i], error);
  return rc;
}

/* How many of those are open that were asked for: what is told beside them is
 * no stand-in. */
static size_t nr_asked_open(const uvperf__counters_t *counters) {
  const counter_attr_t *last = &counters->attrs[counters->nr_attrs - 1];

  if (counters->has_side_band && counters->nr_attrs > 1)
    return counters->nr_open - last->nr_open;
  return counters->nr_open;
}

/* Plans and opens. On failure all of it is closed again, and *nr_opened is how
 * many rings were open by then. */
static int try_targets(uvperf__counters_t *counters,
                       const uvperf_target_t *targets, size_t nr,
                       size_t *nr_opened, uvperf_error_t *error) {
  size_t first = counters->nr_targets;
  size_t nr_failures = counters->nr_failures;
  size_t nr_open = nr_asked_open(counters);
  size_t nr_rings = uvperf__counters_nr_rings(counters);
  size_t nr_fds = 0;
  size_t nr_new = 0;
  int rc;

  rc = plan_all(counters, targets, nr, error);
  if (rc == 0) {
    nr_fds = count_fds(counters, first);
    nr_new = uvperf__counters_nr_new_rings(counters, first);
    rc = open_all(counters, first, error);
  }
  if (rc == 0 && nr != 0 && nr_asked_open(counters) == nr_open)
    rc = uvperf__counters_choose_failure(counters, nr_failures, error);
  if (rc == 0)
    return 0;
  *nr_opened = uvperf__counters_nr_rings(counters) - nr_rings;
  take_back(counters, first, nr_rings);
  if (nr_fds != 0)
    explain_fds(nr_fds, nr_new, error);
  return rc;
}

/* All of them, as far as they can be opened; or none. Rings that took so much
 * that nothing was left for others are opened smaller. */
static int add_targets(uvperf__counters_t *counters,
                       const uvperf_target_t *targets, size_t nr,
                       uvperf_error_t *error) {
  const uvperf__target_context_t context = {
      counters->root, counters->rings != NULL, counters->is_brief, 0};
  uvperf__tracefs_ids_t tracepoints = {0};
  uint32_t index = counters->next_target;
  uvperf_error_t why;
  size_t nr_opened;
  int rc;

  counters->target_context = context;
  counters->tracepoints = &tracepoints;
  do {
    memset(&why, 0, sizeof(why));
    nr_opened = 0;
    counters->next_target = index;
    rc = try_targets(counters, targets, nr, &nr_opened, &why);
  } while (rc != 0 && uvperf__counters_shrink_rings(counters, nr_opened));
  counters->tracepoints = NULL;
  if (rc != 0 && error != NULL)
    *error = why;
  return rc;
}

int uvperf__counters_add_target(uvperf__counters_t *counters,
                                const uvperf_target_t *target, uint32_t *index,
                                uvperf_error_t *error) {
  size_t first = counters->nr_targets;
  size_t nr_rings = uvperf__counters_nr_rings(counters);
  int rc = uvperf__counters_check(counters, error);

  if (rc == 0)
    rc = add_targets(counters, target, 1, error);
  if (rc != 0)
    return rc;
  if (counters->is_enabled) {
    rc = uvperf__counters_switch(counters, first, 1, error);
    if (rc != 0) {
      take_back(counters, first, nr_rings);
      return rc;
    }
  }
  if (index != NULL)
    *index = counters->targets[first]->index;
  return 0;
}

int uvperf__counters_remove_target(uvperf__counters_t *counters,
                                   uint32_t index) {
  size_t i;
  int rc = uvperf__counters_check(counters, NULL);

  if (rc != 0)
    return rc;
  for (i = 0; i < counters->nr_targets; i++)
    if (counters->targets[i]->index == index) {
      drop(counters, i);
      return 0;
    }
  return -ENOENT;
}

/* -- new and free --------------------------------------------------------- */

static int check_options(const uvperf_set_options_t *options,
                         uvperf_error_t *error) {
  if (options->flags &
      ~(UVPERF_SET_STRICT | UVPERF_SET_USER_READ | UVPERF_SET_RECORDS |
        UVPERF_SET_TIME_ORDER | UVPERF_SET_FOLLOW_CPUS | UVPERF_SET_OVERWRITE))
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "options.flags 0x%x has unknown bits",
                             options->flags);
  if (options->fallbacks & ~(uint32_t)UVPERF_FALLBACK_ALL)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "options.fallbacks 0x%x has unknown bits",
                             options->fallbacks);
  return uvperf__counters_check_records(options, error);
}

int uvperf__counters_make(const char *root, int is_brief,
                          uvperf__counters_t **counters,
                          const uvperf_set_options_t *options,
                          uvperf_error_t *error) {
  uvperf__counters_t *made;
  int rc = check_options(options, error);

  *counters = NULL;
  if (rc != 0)
    return rc;
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL)
    return uvperf__error_set(error, -ENOMEM, UVPERF_CAUSE_MEMORY,
                             "no memory for the counters");
  made->root = root;
  made->is_brief = is_brief;
  made->flags = options->flags;
  made->fallbacks = options->fallbacks;
  made->process = uvperf__process();
  made->clockid = -1;
  made->born = uvperf__counters_now();
  made->since = made->born;
  rc = uvperf__counters_copy_attrs(made, options, error);
  if (rc == 0)
    rc = uvperf__counters_begin_records(made, options, error);
  if (rc == 0)
    rc = add_targets(made, options->targets, options->nr_targets, error);
  if (rc != 0) {
    uvperf__counters_free(made);
    return rc;
  }
  *counters = made;
  return 0;
}

int uvperf__counters_new(uvperf__counters_t **counters,
                         const uvperf_set_options_t *options,
                         uvperf_error_t *error) {
  return uvperf__counters_make("", 0, counters, options, error);
}

int uvperf__counters_new_brief(uvperf__counters_t **counters,
                               const uvperf_set_options_t *options,
                               uvperf_error_t *error) {
  return uvperf__counters_make("", 1, counters, options, error);
}

static int closes_slowly(const uvperf__counters_t *counters) {
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++)
    if (counters->attrs[i].nr_open != 0 &&
        uvperf__attr_closes_slowly(counters->attrs[i].attr))
      return 1;
  return counters->nr_open >= UVPERF__MANY_EVENTS;
}

/* A forked child's fds are not the last of their events. */
void uvperf__counters_give_up(uvperf__counters_t *counters,
                              uvperf__leftovers_t *leftovers) {
  size_t i;

  if (uvperf__counters_check(counters, NULL) != 0 || !closes_slowly(counters))
    return;
  counters->leftovers = leftovers;
  for (i = 0; i < counters->nr_targets; i++)
    uvperf__counters_close_events(counters, counters->targets[i]);
  if (counters->rings != NULL)
    uvperf__cpu_rings_give_up(counters->rings, leftovers);
  counters->leftovers = NULL;
}

void uvperf__counters_free(uvperf__counters_t *counters) {
  size_t i;

  if (counters == NULL)
    return;
  for (i = 0; i < counters->nr_targets; i++)
    uvperf__counters_close(counters, counters->targets[i]);
  uvperf__counters_end_records(counters);
  uvperf__counters_free_attrs(counters);
  uvperf__free(counters->targets);
  uvperf__free(counters->failures);
  uvperf__free(counters);
}

/* -- getters -------------------------------------------------------------- */

const uvperf_set_failure_t *
uvperf__counters_failures(const uvperf__counters_t *counters, size_t *nr) {
  *nr = counters->nr_failures;
  return counters->nr_failures == 0 ? NULL : counters->failures;
}

size_t uvperf__counters_nr_attrs(const uvperf__counters_t *counters) {
  return counters->nr_attrs;
}

size_t uvperf__counters_nr_open(const uvperf__counters_t *counters) {
  return counters->nr_open;
}

int uvperf__counters_is_enabled(const uvperf__counters_t *counters) {
  return counters->is_enabled;
}

const uvperf_change_t *
uvperf__counters_changes(const uvperf__counters_t *counters, size_t attr,
                         size_t *nr) {
  if (attr >= counters->nr_attrs) {
    *nr = 0;
    return NULL;
  }
  *nr = counters->attrs[attr].nr_changes;
  return counters->attrs[attr].changes;
}

/* The place of a target, whose serials ascend, with this one; or NULL. */
static const counter_place_t *find_place(const counter_target_t *target,
                                         uint64_t serial) {
  size_t first = 0;
  size_t end = target->nr_places;
  size_t middle;

  while (first < end) {
    middle = first + (end - first) / 2;
    if (target->places[middle].place.serial < serial)
      first = middle + 1;
    else
      end = middle;
  }
  return first < target->nr_places &&
                 target->places[first].place.serial == serial
             ? &target->places[first]
             : NULL;
}

int uvperf__counters_fd(const uvperf__counters_t *counters, size_t attr,
                        uint64_t serial) {
  const counter_place_t *place;
  size_t i;

  for (i = 0; attr < counters->nr_attrs && i < counters->nr_targets; i++) {
    place = find_place(counters->targets[i], serial);
    if (place != NULL)
      return place->events[attr].fd;
  }
  return -1;
}
