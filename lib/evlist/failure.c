/* SPDX-License-Identifier: MIT */
/* Keeps the failures to open events, for each attr and place. Chooses the most
 * specific failure if no event could be opened. */
#include "evlist/attrs.h"
#include "evlist/places.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "util/error.h"
#include "util/grow.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

int uvperf__evlist_fail(uvperf__evlist_t *evlist, const uvperf_place_t *place,
                        size_t attr, const uvperf_error_t *why,
                        uvperf_error_t *error) {
  uvperf_set_failure_t *failures =
      uvperf__grow(evlist->places->failures, evlist->places->nr_failures,
                   &evlist->places->room_failures, 8, sizeof(failures[0]));
  uvperf_set_failure_t *failure;

  if (failures == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot save a failure");
  evlist->places->failures = failures;
  failure = &failures[evlist->places->nr_failures++];
  /* The failure goes before the failures of later attrs: a group that is opened
   * again can fail after these. */
  for (;
       failure != failures && failure[-1].error.target_index == place->target &&
       failure[-1].pid == place->pid && failure[-1].cpu == place->cpu &&
       failure[-1].error.attr_index > attr;
       failure--)
    *failure = failure[-1];
  memset(failure, 0, sizeof(*failure));
  failure->error = *why;
  failure->error.attr_index = (uint32_t)attr;
  failure->error.target_index = place->target;
  failure->pid = place->pid;
  failure->cpu = place->cpu;
  return 0;
}

void uvperf__evlist_forget(uvperf__evlist_t *evlist, uint32_t target,
                           const uvperf_place_t *place, size_t attr) {
  const uvperf_set_failure_t *failure;
  size_t kept = 0;
  size_t i;

  for (i = 0; i < evlist->places->nr_failures; i++) {
    failure = &evlist->places->failures[i];
    if (failure->error.target_index != target ||
        (place != NULL && failure->cpu != place->cpu) ||
        (place != NULL && place->pid != 0 && failure->pid != place->pid) ||
        (attr != SIZE_MAX && failure->error.attr_index != attr))
      evlist->places->failures[kept++] = *failure;
  }
  evlist->places->nr_failures = kept;
}

/* -- ordering -------------------------------------------------------------- */

/* Returns the position of a failure's place in its target. A failure that
 * belongs to no place comes first. */
static size_t failure_rank_of_place(const evlist_target_t *target,
                                    const uvperf_set_failure_t *failure) {
  const uvperf_place_t *place;
  size_t i;

  for (i = 0; i < target->nr_places; i++) {
    place = &target->places[i].place;
    if (place->pid == failure->pid && place->cpu == failure->cpu)
      return i + 1;
  }
  return 0;
}

static int failure_is_before(const uvperf__evlist_t *evlist,
                             const uvperf_set_failure_t *a,
                             const uvperf_set_failure_t *b) {
  const evlist_target_t *target;
  size_t rank_a, rank_b;

  if (a->error.target_index != b->error.target_index)
    return a->error.target_index < b->error.target_index;
  target =
      evlist->places
          ->targets[uvperf__evlist_position(evlist, a->error.target_index)];
  rank_a = failure_rank_of_place(target, a);
  rank_b = failure_rank_of_place(target, b);
  return rank_a != rank_b ? rank_a < rank_b
                          : a->error.attr_index < b->error.attr_index;
}

void uvperf__evlist_order_failures(uvperf__evlist_t *evlist) {
  uvperf_set_failure_t *failures = evlist->places->failures;
  uvperf_set_failure_t failure;
  size_t i, to;

  for (i = 1; i < evlist->places->nr_failures; i++) {
    failure = failures[i];
    for (to = i;
         to > 0 && failure_is_before(evlist, &failure, &failures[to - 1]); to--)
      failures[to] = failures[to - 1];
    failures[to] = failure;
  }
}

/* -- the most specific failure --------------------------------------------- */

/* The most useful failure comes first. Obstacles of this process come before
 * limits of this machine, and limits of this machine come before missing CPUs
 * or tasks. For {cycles, faults} without privileges in a virtual machine it is
 * true that cycles has no PMU, but perf_event_paranoid 3 is the real obstacle.
 * Causes that are not listed come last. */
static const int causes[] = {
    /* Nothing works if perf events are missing. */
    UVPERF_CAUSE_NO_PERF,
    UVPERF_CAUSE_PERMISSION,
    /* A limit must be raised, or something must end first. */
    UVPERF_CAUSE_LOCKED_MEMORY,
    UVPERF_CAUSE_BUSY,
    UVPERF_CAUSE_BREAKPOINT_SLOTS,
    UVPERF_CAUSE_SAMPLE_RATE,
    UVPERF_CAUSE_MAX_STACK,
    UVPERF_CAUSE_EXISTS,
    UVPERF_CAUSE_BPF_PROGRAMS,
    /* The program is wrong on any machine. */
    UVPERF_CAUSE_ARGUMENT,
    /* Another kernel, PMU or event would work. */
    UVPERF_CAUSE_OLD_KERNEL,
    UVPERF_CAUSE_NOT_SUPPORTED,
    UVPERF_CAUSE_NO_EVENT,
    /* The events exist, but the CPU or task does not. */
    UVPERF_CAUSE_NO_CPU,
    UVPERF_CAUSE_NO_TASK,
};

static size_t cause_rank(int cause) {
  size_t rank = 0;

  while (rank < COUNT_OF(causes) && causes[rank] != cause)
    rank++;
  return rank;
}

int uvperf__evlist_choose_failure(const uvperf__evlist_t *evlist, size_t first,
                                  uvperf_error_t *error) {
  const uvperf_set_failure_t *failures = evlist->places->failures;
  size_t most = first;
  size_t i;

  for (i = first + 1; i < evlist->places->nr_failures; i++)
    if (cause_rank(failures[i].error.cause) <
        cause_rank(failures[most].error.cause))
      most = i;
  if (error != NULL)
    *error = failures[most].error;
  return failures[most].error.code;
}

/* A failure of an event that will be opened when its CPU comes online is not
 * final. */
int uvperf__evlist_check_writers(const uvperf__evlist_t *evlist,
                                 uvperf_error_t *error) {
  const evlist_places_t *places = evlist->places;
  evlist_at_t at = uvperf__evlist_walk(evlist);
  const uvperf_error_t *first = NULL;
  const uvperf_error_t *failure;
  size_t i;

  while (uvperf__evlist_walk_next(&at))
    for (i = 0; i < evlist->attrs->nr; i++)
      if (uvperf__evlist_writes(&at.place->events[i]))
        return 0;
  for (i = 0; i < places->nr_failures; i++) {
    failure = &places->failures[i].error;
    if (!uvperf__attr_writes_records(
            evlist->attrs->at[failure->attr_index].attr))
      continue;
    if (!(evlist->flags & UVPERF_SET_FIXED_CPUS) &&
        failure->cause == UVPERF_CAUSE_NO_CPU)
      return 0;
    if (first == NULL)
      first = failure;
  }
  if (first == NULL)
    return 0;
  if (error != NULL)
    *error = *first;
  return first->code;
}
