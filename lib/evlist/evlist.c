/* SPDX-License-Identifier: MIT */
/* Makes and frees the evlist. Has their getters. */
#include "evlist/internal.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"

/* -- new and free --------------------------------------------------------- */

static int check_options(const uvperf_set_options_t *options,
                         uvperf_error_t *error) {
  if (options->flags &
      ~(UVPERF_SET_STRICT | UVPERF_SET_USER_READ | UVPERF_SET_RECORDS |
        UVPERF_SET_TIME_ORDER | UVPERF_SET_FIXED_CPUS | UVPERF_SET_OVERWRITE |
        UVPERF_SET_ENABLED | UVPERF_SET_TARGETS_LATER | UVPERF_SET_PERF_CLOCK))
    return uvperf__error_bits(error, "options.flags", options->flags);
  if (options->fallbacks & ~(uint32_t)UVPERF_FALLBACK_ALL)
    return uvperf__error_bits(error, "options.fallbacks", options->fallbacks);
  return uvperf__evlist_check_records(options, error);
}

int uvperf__evlist_begin(const char *root, int is_brief,
                         uvperf__evlist_t **evlist,
                         const uvperf_set_options_t *options,
                         uvperf_error_t *error) {
  uvperf__evlist_t *made;
  int rc = check_options(options, error);

  *evlist = NULL;
  if (rc != 0)
    return rc;
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot make the set");
  made->root = root;
  made->is_brief = is_brief;
  made->flags = options->flags;
  made->fallbacks = options->fallbacks;
  made->opener.open = options->open;
  made->opener.arg = options->open_arg;
  made->opener.calls = &made->calls;
  made->is_enabled = (options->flags & UVPERF_SET_ENABLED) != 0;
  made->process = uvperf__process();
  made->clockid = -1;
  made->born = uvperf__evlist_now();
  made->since = made->born;
  rc = uvperf__evlist_copy_attrs(made, options, error);
  if (rc == 0)
    rc = uvperf__evlist_begin_records(made, options, error);
  if (rc != 0) {
    uvperf__evlist_free(made);
    return rc;
  }
  *evlist = made;
  return 0;
}

int uvperf__evlist_make(const char *root, int is_brief,
                        uvperf__evlist_t **evlist,
                        const uvperf_set_options_t *options,
                        uvperf_error_t *error) {
  int rc = uvperf__evlist_begin(root, is_brief, evlist, options, error);

  if (rc != 0)
    return rc;
  rc = uvperf__evlist_add_targets(*evlist, options->targets,
                                  options->nr_targets, error);
  if (rc != 0) {
    uvperf__evlist_free(*evlist);
    *evlist = NULL;
  }
  return rc;
}

int uvperf__evlist_new_adding(uvperf__evlist_t **evlist,
                              const uvperf_set_options_t *options,
                              uvperf__adding_t *adding, uvperf_error_t *error) {
  int rc = uvperf__evlist_begin("", 0, evlist, options, error);

  if (rc != 0)
    return rc;
  rc = uvperf__adding_begin(adding, *evlist, options->targets,
                            options->nr_targets, 1, error);
  if (rc != 0) {
    uvperf__evlist_free(*evlist);
    *evlist = NULL;
  }
  return rc;
}

uvperf__evlist_t *uvperf__evlist_new_none(void) {
  uvperf__evlist_t *made = uvperf__calloc(1, sizeof(*made));

  if (made != NULL) {
    made->process = uvperf__process();
    made->is_none = 1;
  }
  return made;
}

int uvperf__evlist_new(uvperf__evlist_t **evlist,
                       const uvperf_set_options_t *options,
                       uvperf_error_t *error) {
  return uvperf__evlist_make("", 0, evlist, options, error);
}

int uvperf__evlist_new_brief(uvperf__evlist_t **evlist,
                             const uvperf_set_options_t *options,
                             uvperf_error_t *error) {
  return uvperf__evlist_make("", 1, evlist, options, error);
}

int uvperf__evlist_close_slowly(const uvperf__evlist_t *evlist, size_t nr) {
  size_t i;

  for (i = 0; i < evlist->nr_attrs && nr != 0; i++)
    if (uvperf__attr_closes_slowly(evlist->attrs[i].attr))
      return 1;
  return nr >= UVPERF__MANY_EVENTS;
}

void uvperf__evlist_put_aside(uvperf__evlist_t *evlist,
                              uvperf__leftovers_t *leftovers) {
  evlist->leftovers = leftovers;
  if (leftovers != NULL)
    leftovers->are_enabled = 1;
}

/* In a forked child closing is fast, because its fds are not the last fds of
 * the events. */
void uvperf__evlist_give_up(uvperf__evlist_t *evlist,
                            uvperf__leftovers_t *leftovers) {
  size_t i;

  if (uvperf__evlist_check(evlist, NULL) != 0 ||
      !uvperf__evlist_close_slowly(evlist, evlist->nr_open))
    return;
  uvperf__evlist_put_aside(evlist, leftovers);
  for (i = 0; i < evlist->nr_targets; i++)
    uvperf__evlist_close_events(evlist, evlist->targets[i]);
  if (evlist->rings != NULL)
    uvperf__cpu_rings_give_up(evlist->rings, leftovers);
  evlist->leftovers = NULL;
}

void uvperf__evlist_free(uvperf__evlist_t *evlist) {
  size_t i;

  if (evlist == NULL)
    return;
  for (i = 0; i < evlist->nr_targets; i++)
    uvperf__evlist_close(evlist, evlist->targets[i]);
  uvperf__evlist_end_records(evlist);
  uvperf__evlist_free_attrs(evlist);
  uvperf__free(evlist->targets);
  uvperf__free(evlist->failures);
  uvperf__free(evlist);
}

/* -- getters -------------------------------------------------------------- */

const uvperf_set_failure_t *
uvperf__evlist_failures(const uvperf__evlist_t *evlist, size_t *nr) {
  *nr = evlist->nr_failures;
  return evlist->nr_failures == 0 ? NULL : evlist->failures;
}

size_t uvperf__evlist_nr_attrs(const uvperf__evlist_t *evlist) {
  return evlist->nr_attrs;
}

size_t uvperf__evlist_nr_whole(const uvperf__evlist_t *evlist) {
  size_t nr = evlist->nr_attrs;

  while (nr > 0 && evlist->attrs[nr - 1].item.first != nr - 1)
    nr--;
  return nr;
}

size_t uvperf__evlist_nr_open(const uvperf__evlist_t *evlist) {
  return evlist->nr_open;
}

uvperf__calls_t *uvperf__evlist_calls(uvperf__evlist_t *evlist) {
  return &evlist->calls;
}

int uvperf__evlist_is_enabled(const uvperf__evlist_t *evlist) {
  return evlist->is_enabled;
}

const uvperf_change_t *uvperf__evlist_changes(const uvperf__evlist_t *evlist,
                                              size_t attr, size_t *nr) {
  if (attr >= evlist->nr_attrs) {
    *nr = 0;
    return NULL;
  }
  *nr = evlist->attrs[attr].nr_changes;
  return evlist->attrs[attr].changes;
}

/* Returns the target's place with this serial, or NULL. Serials ascend. */
static const evlist_place_t *find_place(const evlist_target_t *target,
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

int uvperf__evlist_fd(const uvperf__evlist_t *evlist, size_t attr,
                      uint64_t serial) {
  const evlist_place_t *place;
  size_t i;

  for (i = 0; attr < evlist->nr_attrs && i < evlist->nr_targets; i++) {
    place = find_place(evlist->targets[i], serial);
    if (place != NULL)
      return place->events[attr].fd;
  }
  return -1;
}
