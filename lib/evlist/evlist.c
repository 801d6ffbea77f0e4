/* SPDX-License-Identifier: MIT */
/* Makes and frees the evlist. Has their getters. */
#include "evlist/opening.h"
#include "evlist/reading.h"
#include "evlist/records.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "util/alloc.h"
#include "util/error.h"

/* -- new and free --------------------------------------------------------- */

/* The evlist and its parts, in one piece of memory. */
typedef struct evlist_whole_s {
  uvperf__evlist_t evlist;
  evlist_attrs_t attrs;
  evlist_places_t places;
  evlist_opening_t opening;
  evlist_reading_t reading;
  evlist_records_t records;
} evlist_whole_t;

uvperf__evlist_t *uvperf__evlist_new_none(void) {
  evlist_whole_t *whole = uvperf__calloc(1, sizeof(*whole));
  uvperf__evlist_t *evlist;

  if (whole == NULL)
    return NULL;
  evlist = &whole->evlist;
  evlist->attrs = &whole->attrs;
  evlist->places = &whole->places;
  evlist->opening = &whole->opening;
  evlist->reading = &whole->reading;
  evlist->records = &whole->records;
  evlist->process = uvperf__process();
  evlist->is_none = 1;
  evlist->opening->opener.calls = &evlist->opening->calls;
  evlist->records->clockid = -1;
  return evlist;
}

static int evlist_check_options(const uvperf_set_options_t *options,
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

/* Makes a list without targets, and begins to add the targets of the options.
 * Opens nothing, and makes no request to the kernel. */
static int evlist_begin(int is_brief, int is_deferred, uvperf__bpf_map_t *map,
                        uvperf__evlist_t **evlist,
                        const uvperf_set_options_t *options,
                        uvperf__adding_t *adding, uvperf_error_t *error) {
  uvperf__evlist_t *made;
  int rc = evlist_check_options(options, error);

  *evlist = NULL;
  if (rc != 0)
    return rc;
  made = uvperf__evlist_new_none();
  if (made == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot make the set");
  made->is_none = 0;
  made->is_array = map != NULL;
  made->flags = options->flags;
  made->is_enabled = (options->flags & UVPERF_SET_ENABLED) != 0;
  made->opening->is_brief = is_brief;
  made->opening->fallbacks = options->fallbacks;
  made->opening->opener.open = options->open;
  made->opening->opener.arg = options->open_arg;
  made->reading->born = made->reading->since = uvperf__evlist_now();
  rc = uvperf__evlist_copy_attrs(made, options, error);
  if (rc == 0)
    rc = uvperf__evlist_begin_records(made, options, error);
  if (rc == 0 && map != NULL)
    rc = uvperf__evlist_take_map(&made->attrs->at[0], map, error);
  if (rc == 0)
    rc = uvperf__adding_begin(adding, made, options->targets,
                              options->nr_targets, is_deferred, error);
  if (rc == 0)
    *evlist = made;
  else
    uvperf__evlist_free(made);
  return rc;
}

int uvperf__evlist_make(int is_brief, uvperf__evlist_t **evlist,
                        const uvperf_set_options_t *options,
                        uvperf_error_t *error) {
  uvperf__adding_t adding;
  int rc = evlist_begin(is_brief, 0, NULL, evlist, options, &adding, error);

  if (rc == 0)
    rc = uvperf__adding_run(&adding, error);
  if (rc != 0) {
    uvperf__evlist_free(*evlist);
    *evlist = NULL;
  }
  return rc;
}

int uvperf__evlist_new(uvperf__evlist_t **evlist,
                       const uvperf_set_options_t *options,
                       uvperf_error_t *error) {
  return uvperf__evlist_make(0, evlist, options, error);
}

int uvperf__evlist_new_adding(uvperf__evlist_t **evlist,
                              const uvperf_set_options_t *options,
                              uvperf__bpf_map_t *map, uvperf__adding_t *adding,
                              uvperf_error_t *error) {
  return evlist_begin(0, 1, map, evlist, options, adding, error);
}

int uvperf__evlist_close_slowly(const uvperf__evlist_t *evlist, size_t nr) {
  size_t i;

  for (i = 0; i < evlist->attrs->nr && nr != 0; i++)
    if (uvperf__attr_closes_slowly(evlist->attrs->at[i].attr))
      return 1;
  return nr >= UVPERF__MANY_EVENTS;
}

void uvperf__evlist_put_aside(uvperf__evlist_t *evlist,
                              uvperf__leftovers_t *leftovers) {
  evlist->opening->leftovers = leftovers;
  if (leftovers != NULL)
    leftovers->are_enabled = 1;
}

/* In a forked child closing is fast, because its fds are not the last fds of
 * the events. */
void uvperf__evlist_give_up(uvperf__evlist_t *evlist,
                            uvperf__leftovers_t *leftovers) {
  size_t i;

  if (uvperf__evlist_check(evlist, NULL) != 0 ||
      !uvperf__evlist_close_slowly(evlist, evlist->places->nr_open))
    return;
  uvperf__evlist_put_aside(evlist, leftovers);
  for (i = 0; i < evlist->places->nr_targets; i++)
    uvperf__evlist_close_events(evlist, evlist->places->targets[i]);
  if (evlist->records->rings != NULL)
    uvperf__cpu_rings_give_up(evlist->records->rings, leftovers);
  evlist->opening->leftovers = NULL;
}

void uvperf__evlist_free(uvperf__evlist_t *evlist) {
  size_t i;

  if (evlist == NULL)
    return;
  for (i = 0; i < evlist->places->nr_targets; i++)
    uvperf__evlist_close(evlist, evlist->places->targets[i]);
  uvperf__evlist_end_records(evlist);
  uvperf__evlist_free_attrs(evlist);
  uvperf__free(evlist->places->targets);
  uvperf__free(evlist->places->failures);
  uvperf__free(evlist);
}

/* -- getters -------------------------------------------------------------- */

const uvperf_set_failure_t *
uvperf__evlist_failures(const uvperf__evlist_t *evlist, size_t *nr) {
  *nr = evlist->places->nr_failures;
  return evlist->places->nr_failures == 0 ? NULL : evlist->places->failures;
}

size_t uvperf__evlist_nr_attrs(const uvperf__evlist_t *evlist) {
  return evlist->attrs->nr;
}

size_t uvperf__evlist_nr_whole(const uvperf__evlist_t *evlist) {
  size_t nr = evlist->attrs->nr;

  while (nr > 0 && evlist->attrs->at[nr - 1].item.first != nr - 1)
    nr--;
  return nr;
}

size_t uvperf__evlist_nr_open(const uvperf__evlist_t *evlist) {
  return evlist->places->nr_open;
}

uvperf__calls_t *uvperf__evlist_calls(uvperf__evlist_t *evlist) {
  return &evlist->opening->calls;
}

int uvperf__evlist_is_enabled(const uvperf__evlist_t *evlist) {
  return evlist->is_enabled;
}

const uvperf_change_t *uvperf__evlist_changes(const uvperf__evlist_t *evlist,
                                              size_t attr, size_t *nr) {
  if (attr >= evlist->attrs->nr) {
    *nr = 0;
    return NULL;
  }
  *nr = evlist->attrs->at[attr].nr_changes;
  return evlist->attrs->at[attr].changes;
}

/* The serials of a target's places ascend. */
int uvperf__evlist_fd(const uvperf__evlist_t *evlist, size_t attr,
                      uint64_t serial) {
  size_t i, first, end, middle;
  const evlist_target_t *target;

  for (i = 0; attr < evlist->attrs->nr && i < evlist->places->nr_targets; i++) {
    target = evlist->places->targets[i];
    for (first = 0, end = target->nr_places; first < end;) {
      middle = first + (end - first) / 2;
      if (target->places[middle].place.serial < serial)
        first = middle + 1;
      else
        end = middle;
    }
    if (first < target->nr_places &&
        target->places[first].place.serial == serial)
      return target->places[first].events[attr].fd;
  }
  return -1;
}
