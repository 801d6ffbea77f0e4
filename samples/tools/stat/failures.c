/* SPDX-License-Identifier: MIT */
/* Describes the failures of an event in a sentence: the places where it is
 * missing, up to a limit, and why it could not be opened there. */
#include "stat/failures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/remedies.h"
#include "common/loop.h"
#include "stat/targets.h"

/* The number of places that are listed by name. */
#define MAX_PLACES 4

/* Returns the reason without the event and the place at its beginning, because
 * they are printed separately here. The failure of a whole target has no place;
 * its reason is kept whole. */
static const char *reason_of(const uvperf_set_failure_t *failure) {
  const char *reason = failure->error.reason, *why = strstr(reason, ": ");

  if (why == NULL || (failure->pid < 0 && failure->cpu < 0))
    return reason;
  return why + 2;
}

/* Returns the index of the report's event that has failed. */
static size_t event_of(const stat_failures_t *failures,
                       const uvperf_set_failure_t *failure) {
  size_t group = failures->nr_groups > 1 ? failure->error.target_index : 0;

  return group * failures->nr_attrs + failure->error.attr_index;
}

static void put_place(FILE *file, const uvperf_set_failure_t *failure) {
  if (failure->pid >= 0)
    fprintf(file, "thread %" PRId32 "%s", failure->pid,
            failure->cpu >= 0 ? " on " : "");
  if (failure->cpu >= 0)
    fprintf(file, "CPU %" PRId32, failure->cpu);
}

typedef struct why_s {
  FILE *file;
  char *text;
  size_t size;
  const char *reason; /* of the first failure; others are only counted */
  size_t nr_places;   /* that have this reason */
  size_t nr_others;
} why_t;

static void add(why_t *why, const uvperf_set_failure_t *failure) {
  if (why->file == NULL) {
    why->file = common_memory_open(&why->text, &why->size);
    why->reason = reason_of(failure);
  }
  if (strcmp(why->reason, reason_of(failure)) != 0) {
    why->nr_others++;
    return;
  }
  /* The reason of a whole target already names the target. */
  if (reason_of(failure) == failure->error.reason)
    return;
  if (why->nr_places++ >= MAX_PLACES)
    return;
  if (why->nr_places > 1)
    fputs(", ", why->file);
  put_place(why->file, failure);
}

/* Returns the text, or NULL. The caller frees the text. */
static char *end(why_t *why) {
  if (why->file == NULL)
    return NULL;
  if (why->nr_places > MAX_PLACES)
    fprintf(why->file, " and %zu more", why->nr_places - MAX_PLACES);
  fprintf(why->file, "%s%s", why->nr_places > 0 ? ": " : "", why->reason);
  if (why->nr_others > 0)
    fprintf(why->file, "; and %zu failures for other reasons", why->nr_others);
  common_memory_close(why->file);
  return why->text;
}

/* The list is sorted by target, place and attr, so the places of an event are
 * in order. */
static void make_whys(stat_failures_t *failures) {
  size_t nr = failures->nr_groups * failures->nr_attrs, i;
  why_t *whys = common_calloc(nr, sizeof(*whys));

  failures->whys = common_calloc(nr, sizeof(*failures->whys));
  failures->nr_whys = nr;
  for (i = 0; i < failures->nr; i++)
    add(&whys[event_of(failures, &failures->list[i])], &failures->list[i]);
  for (i = 0; i < nr; i++)
    failures->whys[i] = end(&whys[i]);
  free(whys);
}

void stat_failures_take(stat_failures_t *failures, const uvperf_set_t *set,
                        const stat_refused_t *refused, size_t nr_groups,
                        int no_merge) {
  const uvperf_set_failure_t *list;
  size_t nr, i;

  stat_failures_free(failures);
  list = uvperf_set_failures(set, &nr);
  if (refused->list != NULL) {
    list = refused->list;
    nr = refused->nr;
  }
  if (nr == 0)
    return;
  failures->list = common_copy(list, nr * sizeof(*list));
  for (i = 0; i < nr; i++)
    common_remedies_for_users(failures->list[i].error.reason, 1);
  /* The failures of all parts of an event go to the line of their sum. */
  for (i = 0; i < nr && !no_merge; i++)
    failures->list[i].error.attr_index =
        (uint32_t)uvperf_set_item(set, failures->list[i].error.attr_index)
            ->first;
  failures->nr = nr;
  failures->nr_groups = nr_groups;
  failures->nr_attrs = uvperf_set_nr_attrs(set);
  make_whys(failures);
}

/* Returns 1 if a failure belongs to the place of a line. The places of cores,
 * dies, sockets and nodes are not compared. */
static int is_at(const uvperf_set_failure_t *failure, enum stat_by by,
                 int32_t place) {
  if (place < 0)
    return 1;
  if (by == STAT_BY_CPU)
    return failure->cpu == place;
  return by != STAT_BY_THREAD || failure->pid == place;
}

/* Returns the first failure of a line's event at the line's place, or NULL. */
static const uvperf_set_failure_t *first_of(const stat_failures_t *failures,
                                            const stat_line_t *line,
                                            enum stat_by by) {
  const uvperf_set_failure_t *failure;
  size_t i;

  for (i = 0; i < failures->nr; i++) {
    failure = &failures->list[i];
    if (event_of(failures, failure) == line->event &&
        is_at(failure, by, line->place))
      return failure;
  }
  return NULL;
}

/* Returns the reason, or NULL if it is not known or nothing is missing. */
static const char *why_of(const stat_failures_t *failures,
                          const stat_line_t *line, enum stat_by by) {
  const uvperf_count_t *count = &line->count;
  const uvperf_set_failure_t *failure;

  if (count->state == UVPERF_COUNT_ERROR && count->code == UV_EBADF)
    return "it is pinned (modifier D), and the PMU had no counter for it";
  if (count->state == UVPERF_COUNT_NOT_AVAILABLE) {
    failure = first_of(failures, line, by);
    return failure == NULL ? NULL : reason_of(failure);
  }
  if (count->nr_missing > 0 && line->event < failures->nr_whys)
    return failures->whys[line->event];
  return NULL;
}

void stat_failures_explain(const stat_failures_t *failures, stat_lines_t *lines,
                           enum stat_by by) {
  const uvperf_set_failure_t *failure;
  stat_line_t *line;
  size_t i;

  for (i = 0; i < lines->nr; i++) {
    line = &lines->lines[i];
    /* The line of an event that is open nowhere has no count. The place of its
     * failure does not matter. */
    failure = line->count.state == UVPERF_COUNT_NONE
                  ? first_of(failures, line, STAT_BY_NONE)
                  : NULL;
    if (failure != NULL) {
      line->count.state = UVPERF_COUNT_NOT_AVAILABLE;
      line->count.code = failure->error.code;
    }
    line->why = why_of(failures, line, by);
  }
}

void stat_failures_free(stat_failures_t *failures) {
  size_t i;

  for (i = 0; i < failures->nr_whys; i++)
    free(failures->whys[i]);
  free(failures->whys);
  free(failures->list);
  memset(failures, 0, sizeof(*failures));
}

/* -- a set that cannot open anything --------------------------------------- */

int stat_refused_runs(const stat_options_t *options,
                      const uvperf_error_t *error) {
  if (options->command == NULL)
    return 0;
  switch (error->cause) {
    case UVPERF_CAUSE_NO_EVENT:
    case UVPERF_CAUSE_NOT_SUPPORTED:
      return 1;
    /* Nothing is wrong with the events. */
    case UVPERF_CAUSE_ARGUMENT:
    case UVPERF_CAUSE_NO_TASK:
    case UVPERF_CAUSE_FILES:
    case UVPERF_CAUSE_LOCKED_MEMORY:
    case UVPERF_CAUSE_MEMORY:
    case UVPERF_CAUSE_LOOP:
      return 0;
    default:
      return stat_targets_is_command(options);
  }
}

/* If the event can be opened alone, the error is not changed: then another
 * event of its group is the cause. */
static void try_open(uv_loop_t *loop, const struct perf_event_attr *attr,
                     const uvperf_target_t *target, uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_set_t set;

  options.attrs = &attr;
  options.nr_attrs = 1;
  options.targets = target;
  options.nr_targets = 1;
  options.fallbacks = UVPERF_FALLBACK_USER;
  if (uvperf_set_init(loop, &set, &options, error) == 0)
    uvperf_close(&set.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
}

void stat_refused_find(stat_refused_t *refused,
                       const uvperf_event_list_t *events,
                       const common_target_list_t *targets,
                       const uvperf_error_t *error) {
  size_t nr_attrs = uvperf_event_list_count(events), i;
  uvperf_set_failure_t *failure;
  uv_loop_t loop;
  int has_loop = common_loop_init(&loop) == 0;

  refused->nr = targets->nr * nr_attrs;
  refused->list = common_calloc(refused->nr, sizeof(*refused->list));
  for (i = 0; i < refused->nr; i++) {
    failure = &refused->list[i];
    failure->error = *error;
    if (has_loop)
      try_open(&loop, uvperf_event_list_get(events, i % nr_attrs)->attr,
               &targets->targets[i / nr_attrs], &failure->error);
    failure->error.attr_index = (uint32_t)(i % nr_attrs);
    failure->error.target_index = (uint32_t)(i / nr_attrs);
    failure->cpu = -1;
  }
  if (has_loop)
    uv_loop_close(&loop);
}

void stat_refused_free(stat_refused_t *refused) {
  free(refused->list);
  memset(refused, 0, sizeof(*refused));
}
