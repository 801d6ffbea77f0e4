/* SPDX-License-Identifier: MIT */
/* Two readings of one set, place by place: the difference, what measuring
 * costs, the least. Places are matched by their serials, as targets and CPUs
 * come and go. */
#include "count/reading.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "uvperf/count.h"

/* Places ascend by their targets, and those of one by their serials: one that a
 * target gets later is behind its others, and before those of later targets. */
static int is_before(const uvperf_place_t *a, const uvperf_place_t *b) {
  return a->target != b->target ? a->target < b->target : a->serial < b->serial;
}

/* So a place of one is looked for in the other from where the last one was
 * found. */
static int find_place(const uvperf_reading_t *reading,
                      const uvperf_place_t *which, size_t *place) {
  while (*place < reading->nr_places &&
         is_before(&reading->places[*place], which))
    (*place)++;
  return *place < reading->nr_places &&
         reading->places[*place].serial == which->serial;
}

static int is_snapshot(const uvperf_reading_t *reading, size_t attr) {
  return (reading->attr_flags[attr] & UVPERF__READING_SNAPSHOT) != 0;
}

/* Attrs do not come and go. */
static int same_set(const uvperf_reading_t *a, const uvperf_reading_t *b) {
  return a->is_filled && b->is_filled && a->origin.owner == b->origin.owner &&
         a->origin.born == b->origin.born && a->nr_attrs == b->nr_attrs;
}

/* -- the difference ------------------------------------------------------- */

static uvperf_count_t count_of(const uvperf__cell_t *cell) {
  uvperf_count_t count;

  memset(&count, 0, sizeof(count));
  count.value = cell->value;
  count.time_enabled = cell->enabled;
  count.time_running = cell->running;
  count.lost = cell->lost;
  return count;
}

static void subtract_cell(const uvperf__cell_t *older, uvperf__cell_t *cell) {
  uvperf_count_t before = count_of(older), delta = count_of(cell);

  uvperf_count_delta(&before, &delta, &delta);
  cell->value = delta.value;
  cell->enabled = delta.time_enabled;
  cell->running = delta.time_running;
  cell->lost = delta.lost;
  cell->state = uvperf__cell_state(cell, cell->state == UVPERF_COUNT_GONE);
}

/* Makes the newer cell the difference. By the states of the two:
 *
 *   newer \ older   NONE, NOT_AVAILABLE,  COUNTING, GONE,    ERROR
 *                   or no such place      NOT_ENABLED,
 *                                         NEVER_SCHEDULED
 *   NONE,           newer                 newer              newer
 *   NOT_AVAILABLE,
 *   ERROR
 *   COUNTING, GONE, newer                 difference         ERROR, and the
 *   NOT_ENABLED,                                             older's code
 *   NEVER_SCHEDULED
 *
 * newer: as it is, with its code. Where there was no event before, it counts
 * from its beginning. Where it cannot be read now, there is no difference.
 * difference: its state is made from its times, as that of a total is: what was
 * on a counter once need not have been in this interval.
 * ERROR: an event that was in error counts on from where it was when it is
 * enabled again (_perf_event_enable in kernel/events/core.c), so that taking
 * what was not read for zero would tell all that it ever counted once more. */
static void delta_cell(const uvperf__cell_t *older, uvperf__cell_t *cell) {
  if (!uvperf__cell_was_read(cell))
    return;
  if (older->state == UVPERF_COUNT_ERROR) {
    memset(cell, 0, sizeof(*cell));
    cell->state = UVPERF_COUNT_ERROR;
    cell->code = older->code;
  } else if (uvperf__cell_was_read(older)) {
    subtract_cell(older, cell);
  }
}

static void delta_place(uvperf_reading_t *delta, size_t place,
                        const uvperf_reading_t *older, size_t at) {
  size_t attr;

  for (attr = 0; attr < delta->nr_attrs; attr++)
    if (!is_snapshot(delta, attr))
      delta_cell(uvperf__reading_see(older, attr, at),
                 uvperf__reading_cell(delta, attr, place));
}

static int copy(uvperf_reading_t *to, const uvperf_reading_t *from) {
  int rc = uvperf__reading_begin(to, &from->origin, from->resets, from->since,
                                 from->time, from->nr_attrs, from->attr_flags,
                                 from->nr_places);

  if (rc != 0)
    return rc;
  memcpy(to->cells, from->cells,
         from->nr_attrs * from->nr_places * sizeof(*from->cells));
  memcpy(to->places, from->places, from->nr_places * sizeof(*from->places));
  return 0;
}

/* Whether one may be taken from the other. */
static int are_in_order(const uvperf_reading_t *older,
                        const uvperf_reading_t *newer) {
  return same_set(older, newer) && !older->is_delta &&
         older->time <= newer->time && older->resets <= newer->resets;
}

int uvperf_reading_delta(uvperf_reading_t *delta, const uvperf_reading_t *older,
                         const uvperf_reading_t *newer) {
  size_t place, at = 0;
  int rc;

  if (delta == NULL || newer == NULL || delta == newer || delta == older ||
      !newer->is_filled || newer->is_delta)
    return -EINVAL;
  if (older != NULL && !older->is_filled)
    older = NULL;
  if (older != NULL && !are_in_order(older, newer))
    return -EINVAL;
  rc = copy(delta, newer);
  if (rc != 0)
    return rc;
  delta->is_delta = 1;
  /* What was before a reset is off the newer already. */
  if (older != NULL && older->resets == newer->resets) {
    delta->interval = newer->time - older->time;
    for (place = 0; place < delta->nr_places; place++)
      if (find_place(older, &delta->places[place], &at))
        delta_place(delta, place, older, at);
  }
  uvperf__reading_end(delta);
  return 0;
}

/* -- what measuring costs ------------------------------------------------- */

static void subtract_place(uvperf_reading_t *reading, size_t place,
                           const uvperf_reading_t *overhead, size_t at) {
  size_t attr;

  for (attr = 0; attr < reading->nr_attrs; attr++) {
    uvperf__cell_t *cell = uvperf__reading_cell(reading, attr, place);
    uint64_t cost = uvperf__reading_see(overhead, attr, at)->value;

    if (!is_snapshot(reading, attr) &&
        uvperf__reading_has_value(overhead, attr, at))
      cell->value = cell->value > cost ? cell->value - cost : 0;
  }
}

int uvperf_reading_subtract(uvperf_reading_t *reading,
                            const uvperf_reading_t *overhead) {
  size_t place, at = 0;

  if (reading == NULL || overhead == NULL || !same_set(reading, overhead))
    return -EINVAL;
  for (place = 0; place < reading->nr_places; place++)
    if (find_place(overhead, &reading->places[place], &at))
      subtract_place(reading, place, overhead, at);
  uvperf__reading_end(reading);
  return 0;
}

/* Whether a cell tells what a measurement costs: its event was counted. */
static int tells(const uvperf_reading_t *reading, size_t attr, size_t place) {
  return uvperf__reading_has_value(reading, attr, place) &&
         uvperf__reading_see(reading, attr, place)->state !=
             UVPERF_COUNT_NOT_ENABLED;
}

static void least_place(uvperf_reading_t *least, size_t place,
                        const uvperf_reading_t *other, size_t at) {
  size_t attr;

  for (attr = 0; attr < least->nr_attrs; attr++) {
    uvperf__cell_t *cell = uvperf__reading_cell(least, attr, place);
    const uvperf__cell_t *its = uvperf__reading_see(other, attr, at);

    if (tells(other, attr, at) &&
        (!tells(least, attr, place) || its->value < cell->value))
      *cell = *its;
  }
}

int uvperf__reading_least(uvperf_reading_t *least,
                          const uvperf_reading_t *other) {
  size_t place, at = 0;

  if (!same_set(least, other))
    return -EINVAL;
  for (place = 0; place < least->nr_places; place++)
    if (find_place(other, &least->places[place], &at))
      least_place(least, place, other, at);
  uvperf__reading_end(least);
  return 0;
}
