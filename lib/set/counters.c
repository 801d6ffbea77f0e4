/* SPDX-License-Identifier: MIT */
/* Makes and frees the counters. Has their getters. */
#include "set/counters_internal.h"

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
  return uvperf__counters_check_records(options, error);
}

int uvperf__counters_begin(const char *root, int is_brief,
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
  made->born = uvperf__counters_now();
  made->since = made->born;
  rc = uvperf__counters_copy_attrs(made, options, error);
  if (rc == 0)
    rc = uvperf__counters_begin_records(made, options, error);
  if (rc != 0) {
    uvperf__counters_free(made);
    return rc;
  }
  *counters = made;
  return 0;
}

int uvperf__counters_make(const char *root, int is_brief,
                          uvperf__counters_t **counters,
                          const uvperf_set_options_t *options,
                          uvperf_error_t *error) {
  int rc = uvperf__counters_begin(root, is_brief, counters, options, error);

  if (rc != 0)
    return rc;
  rc = uvperf__counters_add_targets(*counters, options->targets,
                                    options->nr_targets, error);
  if (rc != 0) {
    uvperf__counters_free(*counters);
    *counters = NULL;
  }
  return rc;
}

int uvperf__counters_new_adding(uvperf__counters_t **counters,
                                const uvperf_set_options_t *options,
                                uvperf__adding_t *adding,
                                uvperf_error_t *error) {
  int rc = uvperf__counters_begin("", 0, counters, options, error);

  if (rc != 0)
    return rc;
  rc = uvperf__adding_begin(adding, *counters, options->targets,
                            options->nr_targets, 1, error);
  if (rc != 0) {
    uvperf__counters_free(*counters);
    *counters = NULL;
  }
  return rc;
}

uvperf__counters_t *uvperf__counters_new_none(void) {
  uvperf__counters_t *made = uvperf__calloc(1, sizeof(*made));

  if (made != NULL) {
    made->process = uvperf__process();
    made->is_none = 1;
  }
  return made;
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

int uvperf__counters_close_slowly(const uvperf__counters_t *counters,
                                  size_t nr) {
  size_t i;

  for (i = 0; i < counters->nr_attrs && nr != 0; i++)
    if (uvperf__attr_closes_slowly(counters->attrs[i].attr))
      return 1;
  return nr >= UVPERF__MANY_EVENTS;
}

void uvperf__counters_put_aside(uvperf__counters_t *counters,
                                uvperf__leftovers_t *leftovers) {
  counters->leftovers = leftovers;
  if (leftovers != NULL)
    leftovers->are_enabled = 1;
}

/* In a forked child closing is fast, because its fds are not the last fds of
 * the events. */
void uvperf__counters_give_up(uvperf__counters_t *counters,
                              uvperf__leftovers_t *leftovers) {
  size_t i;

  if (uvperf__counters_check(counters, NULL) != 0 ||
      !uvperf__counters_close_slowly(counters, counters->nr_open))
    return;
  uvperf__counters_put_aside(counters, leftovers);
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

size_t uvperf__counters_nr_whole(const uvperf__counters_t *counters) {
  size_t nr = counters->nr_attrs;

  while (nr > 0 && counters->attrs[nr - 1].item.first != nr - 1)
    nr--;
  return nr;
}

size_t uvperf__counters_nr_open(const uvperf__counters_t *counters) {
  return counters->nr_open;
}

uvperf__calls_t *uvperf__counters_calls(uvperf__counters_t *counters) {
  return &counters->calls;
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

/* Returns the target's place with this serial, or NULL. Serials ascend. */
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
