/* SPDX-License-Identifier: MIT */
/* Puts the failures of an event into a sentence: where it could not be opened,
 * as far as there is room, and why. */
#include "stat/failures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* How many places are told by name. */
#define MAX_PLACES 4

/* A reason begins with the event and the place, which are told otherwise here;
 * but not that of a target which could not be told into places. */
static const char *reason_of(const uvperf_set_failure_t *failure) {
  const char *reason = failure->error.reason, *why = strstr(reason, ": ");

  if (why == NULL || (failure->pid < 0 && failure->cpu < 0))
    return reason;
  return why + 2;
}

/* Which event of the report a failure is of. */
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
  const char *reason; /* of the first: others are counted */
  size_t nr_places;   /* that have this reason */
  size_t nr_others;
} why_t;

static void begin(why_t *why, const uvperf_set_failure_t *failure) {
  why->file = open_memstream(&why->text, &why->size);
  why->reason = reason_of(failure);
}

static void add(why_t *why, const uvperf_set_failure_t *failure) {
  if (why->reason == NULL)
    begin(why, failure);
  if (why->file == NULL)
    return;
  if (strcmp(why->reason, reason_of(failure)) != 0) {
    why->nr_others++;
    return;
  }
  /* That of a whole target names it. */
  if (reason_of(failure) == failure->error.reason)
    return;
  if (why->nr_places++ >= MAX_PLACES)
    return;
  if (why->nr_places > 1)
    fputs(", ", why->file);
  put_place(why->file, failure);
}

/* For free(), or NULL. */
static char *end(why_t *why) {
  if (why->file == NULL)
    return NULL;
  if (why->nr_places > MAX_PLACES)
    fprintf(why->file, " and %zu more", why->nr_places - MAX_PLACES);
  fprintf(why->file, "%s%s", why->nr_places > 0 ? ": " : "", why->reason);
  if (why->nr_others > 0)
    fprintf(why->file, "; and %zu failures for other reasons", why->nr_others);
  if (fclose(why->file) == 0)
    return why->text;
  free(why->text);
  return NULL;
}

/* Sorted by target, place and attr: the places of an event come in order. */
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
                        size_t nr_groups, int no_merge) {
  const uvperf_set_failure_t *list;
  size_t nr, i;

  stat_failures_free(failures);
  list = uvperf_set_failures(set, &nr);
  if (nr == 0)
    return;
  failures->list = common_calloc(nr, sizeof(*list));
  memcpy(failures->list, list, nr * sizeof(*list));
  /* Those of all parts of an event are on the line of its sum. */
  for (i = 0; i < nr && !no_merge; i++)
    failures->list[i].error.attr_index =
        (uint32_t)uvperf_set_item(set, failures->list[i].error.attr_index)
            ->first;
  failures->nr = nr;
  failures->nr_groups = nr_groups;
  failures->nr_attrs = uvperf_set_nr_attrs(set);
  make_whys(failures);
}

/* The first failure of an event on a CPU, or on any for -1. */
static const char *first_reason(const stat_failures_t *failures, size_t event,
                                int32_t cpu) {
  const uvperf_set_failure_t *failure;
  size_t i;

  for (i = 0; i < failures->nr; i++) {
    failure = &failures->list[i];
    if (event_of(failures, failure) == event &&
        (cpu < 0 || failure->cpu == cpu))
      return reason_of(failure);
  }
  return NULL;
}

/* Of an event that is open nowhere the place does not matter. */
static const char *why_of(const stat_failures_t *failures,
                          const stat_line_t *line) {
  const uvperf_count_t *count = &line->count;

  if (count->state == UVPERF_COUNT_ERROR && count->code == UV_EBADF)
    return "it is pinned, and the PMU could not hold it";
  if (count->state == UVPERF_COUNT_NOT_AVAILABLE)
    return first_reason(failures, line->event, line->cpu);
  if (count->nr_missing > 0 && line->event < failures->nr_whys)
    return failures->whys[line->event];
  return NULL;
}

void stat_failures_explain(const stat_failures_t *failures,
                           stat_lines_t *lines) {
  size_t i;

  for (i = 0; i < lines->nr; i++)
    lines->lines[i].why = why_of(failures, &lines->lines[i]);
}

void stat_failures_free(stat_failures_t *failures) {
  size_t i;

  for (i = 0; i < failures->nr_whys; i++)
    free(failures->whys[i]);
  free(failures->whys);
  free(failures->list);
  memset(failures, 0, sizeof(*failures));
}
