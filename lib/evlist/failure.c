/* SPDX-License-Identifier: MIT */
/* Keeps the failures to open events, for each attr and place. Chooses the most
 * specific failure if no event could be opened. */
#include "evlist/internal.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "util/error.h"
#include "util/grow.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Whether the failure belongs to a later attr at the same place. */
static int is_after(const uvperf_set_failure_t *failure,
                    const uvperf_place_t *place, uint32_t attr) {
  return failure->error.target_index == place->target &&
         failure->pid == place->pid && failure->cpu == place->cpu &&
         failure->error.attr_index > attr;
}

int uvperf__evlist_fail(uvperf__evlist_t *evlist, const uvperf_place_t *place,
                        size_t attr, const uvperf_error_t *why,
                        uvperf_error_t *error) {
  uvperf_set_failure_t *failures =
      uvperf__grow(evlist->failures, evlist->nr_failures,
                   &evlist->room_failures, 8, sizeof(failures[0]));
  uvperf_set_failure_t *failure;

  if (failures == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot save a failure");
  evlist->failures = failures;
  failure = &failures[evlist->nr_failures++];
  /* The failure goes before the failures of later attrs: a group that is opened
   * again can fail after these. */
  for (; failure != failures && is_after(&failure[-1], place, (uint32_t)attr);
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

/* Removes the failures of a target that match the place and the attr. A NULL
 * place matches all places, pid 0 in the place matches all pids, and SIZE_MAX
 * matches all attrs. */
static void forget(uvperf__evlist_t *evlist, uint32_t target,
                   const uvperf_place_t *place, size_t attr) {
  const uvperf_set_failure_t *failure;
  size_t kept = 0;
  size_t i;

  for (i = 0; i < evlist->nr_failures; i++) {
    failure = &evlist->failures[i];
    if (failure->error.target_index != target ||
        (place != NULL && failure->cpu != place->cpu) ||
        (place != NULL && place->pid != 0 && failure->pid != place->pid) ||
        (attr != SIZE_MAX && failure->error.attr_index != attr))
      evlist->failures[kept++] = *failure;
  }
  evlist->nr_failures = kept;
}

void uvperf__evlist_forget(uvperf__evlist_t *evlist, uint32_t target) {
  forget(evlist, target, NULL, SIZE_MAX);
}

void uvperf__evlist_forget_place(uvperf__evlist_t *evlist,
                                 const uvperf_place_t *place) {
  forget(evlist, place->target, place, SIZE_MAX);
}

void uvperf__evlist_forget_misfit(uvperf__evlist_t *evlist, uint32_t target,
                                  size_t attr) {
  const uvperf_place_t none = {.cpu = -1};

  forget(evlist, target, &none, attr);
}

/* -- ordering -------------------------------------------------------------- */

/* Returns the position of a failure's place in its target. A failure that
 * belongs to no place comes first. */
static size_t rank_of_place(const evlist_target_t *target,
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

static const evlist_target_t *find_target(const uvperf__evlist_t *evlist,
                                          uint32_t index) {
  size_t i = 0;

  while (evlist->targets[i]->index != index)
    i++;
  return evlist->targets[i];
}

static int belongs_before(const uvperf__evlist_t *evlist,
                          const uvperf_set_failure_t *a,
                          const uvperf_set_failure_t *b) {
  const evlist_target_t *target;
  size_t rank_a, rank_b;

  if (a->error.target_index != b->error.target_index)
    return a->error.target_index < b->error.target_index;
  target = find_target(evlist, a->error.target_index);
  rank_a = rank_of_place(target, a);
  rank_b = rank_of_place(target, b);
  return rank_a != rank_b ? rank_a < rank_b
                          : a->error.attr_index < b->error.attr_index;
}

void uvperf__evlist_order_failures(uvperf__evlist_t *evlist) {
  uvperf_set_failure_t *failures = evlist->failures;
  uvperf_set_failure_t failure;
  size_t i, to;

  for (i = 1; i < evlist->nr_failures; i++) {
    failure = failures[i];
    for (to = i; to > 0 && belongs_before(evlist, &failure, &failures[to - 1]);
         to--)
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

static size_t rank_of(int cause) {
  size_t rank = 0;

  while (rank < COUNT_OF(causes) && causes[rank] != cause)
    rank++;
  return rank;
}

int uvperf__evlist_choose_failure(const uvperf__evlist_t *evlist, size_t first,
                                  uvperf_error_t *error) {
  const uvperf_set_failure_t *failures = evlist->failures;
  size_t most = first;
  size_t i;

  for (i = first + 1; i < evlist->nr_failures; i++)
    if (rank_of(failures[i].error.cause) < rank_of(failures[most].error.cause))
      most = i;
  if (error != NULL)
    *error = failures[most].error;
  return failures[most].error.code;
}

static int is_writer(const uvperf__evlist_t *evlist, size_t attr) {
  return uvperf__attr_writes_records(evlist->attrs[attr].attr);
}

static int has_open_writer(const uvperf__evlist_t *evlist,
                           const evlist_target_t *target) {
  size_t place, attr;

  for (place = 0; place < target->nr_places; place++)
    for (attr = 0; attr < evlist->nr_attrs; attr++)
      if (uvperf__evlist_writes(&target->places[place].events[attr]))
        return 1;
  return 0;
}

/* Whether the event will be opened when its CPU comes online. */
static int can_come(const uvperf__evlist_t *evlist,
                    const uvperf_set_failure_t *failure) {
  return !(evlist->flags & UVPERF_SET_FIXED_CPUS) &&
         failure->error.cause == UVPERF_CAUSE_NO_CPU;
}

int uvperf__evlist_check_writers(const uvperf__evlist_t *evlist,
                                 uvperf_error_t *error) {
  const uvperf_set_failure_t *failures = evlist->failures;
  size_t nr = evlist->nr_failures;
  const uvperf_error_t *first = NULL;
  size_t i;

  for (i = 0; i < evlist->nr_targets; i++)
    if (has_open_writer(evlist, evlist->targets[i]))
      return 0;
  for (i = 0; i < nr; i++) {
    if (!is_writer(evlist, failures[i].error.attr_index))
      continue;
    if (can_come(evlist, &failures[i]))
      return 0;
    if (first == NULL)
      first = &failures[i].error;
  }
  if (first == NULL)
    return 0;
  if (error != NULL)
    *error = *first;
  return first->code;
}
