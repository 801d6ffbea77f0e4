/* SPDX-License-Identifier: MIT */
/* Computes one count from the values read from an event, the difference of two
 * counts, and sums. Scaling is in scale.c. */
#include "count/count.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <linux/perf_event.h>

#include "uvperf/record.h"

/* -- states --------------------------------------------------------------- */

/* Whether the event was enabled but never on a counter, as far as is known. A
 * value other than 0 shows that the event was on a counter, even if the running
 * time is 0: the kernel reads the times first and then the value, while the
 * event may count (__perf_event_read_value in kernel/events/core.c). */
static int never_ran(const uvperf__cell_t *cell) {
  return cell->enabled > 0 && cell->running == 0 && cell->value == 0;
}

uint32_t uvperf__cell_state(const uvperf__cell_t *cell, int gone) {
  if (gone)
    return UVPERF_COUNT_GONE;
  if (never_ran(cell))
    return UVPERF_COUNT_NEVER_SCHEDULED;
  if (cell->enabled == 0 && cell->value == 0)
    return UVPERF_COUNT_NOT_ENABLED;
  return UVPERF_COUNT_COUNTING;
}

/* The name of each state. A sum gets the state of its part with the highest
 * rank. */
static const struct {
  const char *name;
  int rank;
  int was_read;
} states[] = {
    [UVPERF_COUNT_NONE] = {"none", 0, 0},
    [UVPERF_COUNT_NOT_ENABLED] = {"did not run", 1, 1},
    [UVPERF_COUNT_NOT_AVAILABLE] = {"not available", 2, 0},
    [UVPERF_COUNT_NEVER_SCHEDULED] = {"never scheduled", 3, 1},
    [UVPERF_COUNT_ERROR] = {"error", 4, 0},
    [UVPERF_COUNT_GONE] = {"gone", 5, 1},
    [UVPERF_COUNT_COUNTING] = {"counting", 6, 1},
};

#define NR_STATES (sizeof(states) / sizeof(states[0]))

int uvperf__cell_was_read(const uvperf__cell_t *cell) {
  return cell->state < NR_STATES && states[cell->state].was_read;
}

const char *uvperf_count_state_name(uint32_t state) {
  return state < NR_STATES ? states[state].name : "unknown";
}

/* Returns the state that is reported. For an event that cannot always run,
 * NEVER_SCHEDULED would say too much, so this state becomes NOT_ENABLED. A gone
 * event that never ran has no value, so its state becomes NEVER_SCHEDULED. (Its
 * cell stays GONE, for later differences.) */
static uint32_t state_of(const uvperf__cell_t *cell, int unscaled) {
  if (cell->state == UVPERF_COUNT_NEVER_SCHEDULED && unscaled)
    return UVPERF_COUNT_NOT_ENABLED;
  if (cell->state == UVPERF_COUNT_GONE && never_ran(cell) && !unscaled)
    return UVPERF_COUNT_NEVER_SCHEDULED;
  return cell->state;
}

/* -- from the values read ------------------------------------------------- */

static double ratio_of(uint64_t enabled, uint64_t running) {
  if (enabled == 0)
    return 0;
  return running < enabled ? (double)running / (double)enabled : 1;
}

/* If a cell was not read, its count gets no numbers, whatever the cell
 * contains. So no sum includes this cell. */
void uvperf__count_of_cell(uvperf_count_t *count, const uvperf__cell_t *cell,
                           int unscaled) {
  memset(count, 0, sizeof(*count));
  count->state = state_of(cell, unscaled);
  count->code = cell->code;
  if (!uvperf__cell_was_read(cell)) {
    count->nr_missing = cell->state != UVPERF_COUNT_NONE;
    return;
  }
  count->flags = unscaled ? UVPERF_COUNT_UNSCALED : 0;
  count->time_enabled = cell->enabled;
  count->time_running = cell->running;
  count->ratio = ratio_of(cell->enabled, cell->running);
  count->lost = cell->lost;
  if (count->state == UVPERF_COUNT_NEVER_SCHEDULED) {
    count->nr_missing = 1;
    return;
  }
  count->nr_counts = 1;
  count->value = cell->value;
  if (unscaled || uvperf__count_scale(cell->value, cell->enabled, cell->running,
                                      &count->scaled) == -ENODATA)
    count->scaled = cell->value;
}

/* If either time is missing, only the value is known. */
static int has_times(uint64_t format) {
  const uint64_t both =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

  return (format & both) == both;
}

void uvperf__count_of_value(uvperf_count_t *count, uint64_t format,
                            const uvperf__value_t *value, int unscaled) {
  uvperf__cell_t cell = {.value = value->value,
                         .enabled = value->enabled,
                         .running = value->running,
                         .lost = value->lost,
                         .state = UVPERF_COUNT_COUNTING};

  if (has_times(format))
    cell.state = uvperf__cell_state(&cell, 0);
  uvperf__count_of_cell(count, &cell, unscaled || !has_times(format));
  count->id = value->id;
}

int uvperf_values_get(const uvperf_values_t *values, uint64_t index,
                      uvperf_count_t *count) {
  uvperf__value_t value;

  if (index >= values->nr)
    return -EINVAL;
  uvperf__read_format_get(values, index, &value);
  uvperf__count_of_value(count, values->format, &value, 0);
  return 0;
}

int uvperf_values_find(const uvperf_values_t *values, uint64_t id,
                       uvperf_count_t *count) {
  uvperf__value_t value;
  int rc = uvperf__read_format_find(values, id, 0, &value);

  if (rc == 0)
    uvperf__count_of_value(count, values->format, &value, 0);
  return rc;
}

/* -- the difference ------------------------------------------------------- */

static uint64_t value_less(uint64_t newer, uint64_t older) {
  return newer >= older ? newer - older : newer;
}

/* Subtracts both times or neither. The ratio of a difference and a total would
 * mean nothing. */
static void subtract_times(uvperf__cell_t *newer, const uvperf__cell_t *older) {
  if (newer->enabled < older->enabled || newer->running < older->running)
    return;
  newer->enabled -= older->enabled;
  newer->running -= older->running;
}

/* The result depends on the states of both:
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
 * newer: the cell is unchanged, with its code. A new event counts from its
 * beginning; an event that cannot be read now has no difference.
 * difference: the state is computed from the times, as for a total, because an
 * event that ran before may not have run in this interval. Without times the
 * state is unchanged.
 * ERROR: an event that was in error continues from its old value when it is
 * enabled again (_perf_event_enable in kernel/events/core.c). If the unread
 * value were taken as zero, all of it would be counted twice. */
void uvperf__cell_subtract(uvperf__cell_t *newer, const uvperf__cell_t *older) {
  int is_timed = newer->state != UVPERF_COUNT_COUNTING ||
                 (newer->enabled > 0 && newer->running > 0);

  if (!uvperf__cell_was_read(newer))
    return;
  if (older->state == UVPERF_COUNT_ERROR) {
    memset(newer, 0, sizeof(*newer));
    newer->state = UVPERF_COUNT_ERROR;
    newer->code = older->code;
    return;
  }
  if (!uvperf__cell_was_read(older))
    return;
  newer->value = value_less(newer->value, older->value);
  newer->lost = value_less(newer->lost, older->lost);
  subtract_times(newer, older);
  if (is_timed)
    newer->state = uvperf__cell_state(newer, newer->state == UVPERF_COUNT_GONE);
}

static uvperf__cell_t cell_of(const uvperf_count_t *count) {
  uvperf__cell_t cell = {.value = count->value,
                         .enabled = count->time_enabled,
                         .running = count->time_running,
                         .lost = count->lost,
                         .state = count->state,
                         .code = count->code};

  return cell;
}

int uvperf_count_delta(const uvperf_count_t *older, const uvperf_count_t *newer,
                       uvperf_count_t *delta) {
  uvperf__cell_t before, now;
  uint64_t id;
  int unscaled;

  if (older == NULL || newer == NULL || delta == NULL)
    return -EINVAL;
  if (older->id != 0 && newer->id != 0 && older->id != newer->id)
    return -EINVAL;
  before = cell_of(older);
  now = cell_of(newer);
  id = newer->id;
  unscaled = (newer->flags & UVPERF_COUNT_UNSCALED) != 0;
  uvperf__cell_subtract(&now, &before);
  uvperf__count_of_cell(delta, &now, unscaled);
  delta->id = id;
  return 0;
}

/* -- sums ----------------------------------------------------------------- */

static uint64_t sum_64(uint64_t a, uint64_t b) {
  return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static uint32_t sum_32(uint32_t a, uint32_t b) {
  return a <= UINT32_MAX - b ? a + b : UINT32_MAX;
}

/* Returns the ratio of a sum. The sum of the times may overflow: with a
 * thousand CPUs this happens after seven months. Then the result is the
 * weighted mean of the two ratios. */
static double ratio_mix(const uvperf_count_t *sum,
                        const uvperf_count_t *count) {
  double old = (double)sum->time_enabled, more = (double)count->time_enabled;

  if (sum->time_enabled <= UINT64_MAX - count->time_enabled)
    return ratio_of(sum->time_enabled + count->time_enabled,
                    sum_64(sum->time_running, count->time_running));
  return (sum->ratio * old + count->ratio * more) / (old + more);
}

int uvperf_count_add(uvperf_count_t *sum, const uvperf_count_t *count) {
  if (sum == NULL || count == NULL || sum->state >= NR_STATES ||
      count->state >= NR_STATES)
    return -EINVAL;
  if (states[count->state].rank > states[sum->state].rank)
    sum->state = count->state;
  if (sum->code == 0)
    sum->code = count->code;
  sum->ratio = ratio_mix(sum, count);
  sum->value = sum_64(sum->value, count->value);
  sum->scaled = sum_64(sum->scaled, count->scaled);
  sum->time_enabled = sum_64(sum->time_enabled, count->time_enabled);
  sum->time_running = sum_64(sum->time_running, count->time_running);
  sum->lost = sum_64(sum->lost, count->lost);
  sum->id = 0;
  sum->nr_counts = sum_32(sum->nr_counts, count->nr_counts);
  sum->nr_missing = sum_32(sum->nr_missing, count->nr_missing);
  sum->flags |= count->flags;
  return 0;
}
