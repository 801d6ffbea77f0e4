/* SPDX-License-Identifier: MIT */
/* A reading: its memory, how it is filled, and what it tells. */
#include "count/reading.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/alloc.h"
#include "uvperf/count.h"

/* -- memory --------------------------------------------------------------- */

int uvperf_reading_new(uvperf_reading_t **reading) {
  if (reading == NULL)
    return -EINVAL;
  *reading = uvperf__calloc(1, sizeof(**reading));
  return *reading != NULL ? 0 : -ENOMEM;
}

void uvperf_reading_free(uvperf_reading_t *reading) {
  if (reading == NULL)
    return;
  uvperf__free(reading->memory);
  uvperf__free(reading);
}

/* Adds an array to a number of bytes: 0, or -ENOMEM for more than there is. */
static int add_array(size_t *bytes, size_t nr, size_t size) {
  if (nr > (SIZE_MAX - *bytes) / size)
    return -ENOMEM;
  *bytes += nr * size;
  return 0;
}

/* How much a reading takes. */
static int measure(size_t nr_attrs, size_t nr_places, size_t *bytes) {
  *bytes = 1; /* never 0 */
  if (nr_places != 0 && nr_attrs > SIZE_MAX / nr_places)
    return -ENOMEM;
  if (add_array(bytes, nr_attrs * nr_places, sizeof(uvperf__cell_t)) != 0 ||
      add_array(bytes, nr_places, sizeof(uvperf_place_t)) != 0)
    return -ENOMEM;
  return add_array(bytes, nr_attrs, 1);
}

/* Then each array ends where the next may begin. */
_Static_assert(_Alignof(uvperf__cell_t) >= _Alignof(uvperf_place_t),
               "the arrays of a reading follow each other without gaps");

static void lay_out(uvperf_reading_t *reading) {
  size_t nr_cells = reading->nr_attrs * reading->nr_places;

  reading->cells = reading->memory;
  reading->places = (uvperf_place_t *)(reading->cells + nr_cells);
  reading->attr_flags = (uint8_t *)(reading->places + reading->nr_places);
}

/* Memory only grows, so that reading again and again takes none. */
static int make_room(uvperf_reading_t *reading, size_t bytes) {
  void *memory;

  if (bytes <= reading->room)
    return 0;
  memory = uvperf__calloc(1, bytes);
  if (memory == NULL)
    return -ENOMEM;
  uvperf__free(reading->memory);
  reading->memory = memory;
  reading->room = bytes;
  return 0;
}

int uvperf_reading_copy(uvperf_reading_t *copy,
                        const uvperf_reading_t *reading) {
  void *memory;
  size_t bytes, room;

  if (copy == NULL || reading == NULL || copy == reading || !reading->is_filled)
    return -EINVAL;
  if (measure(reading->nr_attrs, reading->nr_places, &bytes) != 0 ||
      make_room(copy, bytes) != 0)
    return -ENOMEM;
  memory = copy->memory;
  room = copy->room;
  *copy = *reading;
  copy->memory = memory;
  copy->room = room;
  lay_out(copy);
  memcpy(copy->memory, reading->memory, bytes);
  return 0;
}

/* -- filling -------------------------------------------------------------- */

int uvperf__reading_begin(uvperf_reading_t *reading,
                          const uvperf__reading_origin_t *origin,
                          uint64_t resets, uint64_t since, uint64_t now,
                          size_t nr_attrs, const uint8_t *attr_flags,
                          size_t nr_places) {
  size_t bytes;

  if (measure(nr_attrs, nr_places, &bytes) != 0 ||
      make_room(reading, bytes) != 0)
    return -ENOMEM;
  memset(reading->memory, 0, bytes);
  reading->origin = *origin;
  reading->resets = resets;
  reading->since = since;
  reading->time = now;
  reading->interval = now > since ? now - since : 0;
  reading->is_filled = 0;
  reading->is_delta = 0;
  reading->nr_attrs = nr_attrs;
  reading->nr_places = nr_places;
  lay_out(reading);
  if (attr_flags != NULL)
    memcpy(reading->attr_flags, attr_flags, nr_attrs);
  return 0;
}

void uvperf__reading_end(uvperf_reading_t *reading) {
  reading->is_filled = 1;
}

/* It was enabled and is not known to have been on a counter. A value tells that
 * it was: the kernel takes the times first and then the value, while the event
 * may count (__perf_event_read_value in kernel/events/core.c). */
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

int uvperf__cell_was_read(const uvperf__cell_t *cell) {
  return cell->state == UVPERF_COUNT_COUNTING ||
         cell->state == UVPERF_COUNT_NOT_ENABLED ||
         cell->state == UVPERF_COUNT_NEVER_SCHEDULED ||
         cell->state == UVPERF_COUNT_GONE;
}

/* An event of a task that can be on a counter on some CPUs only is enabled
 * while the task runs on the others, too: event_filter_match and the filter of
 * its PMU keep it from being scheduled, not from being enabled
 * (kernel/events/core.c). */
static int is_part_time(const uvperf_reading_t *reading, size_t attr,
                        size_t place) {
  const uvperf_place_t *at = &reading->places[place];
  uint32_t flags = reading->attr_flags[attr];

  return at->pid > 0 && (at->cpu >= 0 || (flags & UVPERF__READING_PART_TIME));
}

/* The state that is told. That it never ran means less for a part-time event,
 * and the 0 of one that never ran before its task was gone is no value. (The
 * cell still says that it is gone, for the differences to come.) */
static uint32_t state_of(const uvperf_reading_t *reading, size_t attr,
                         size_t place) {
  const uvperf__cell_t *cell = uvperf__reading_see(reading, attr, place);
  int part_time = is_part_time(reading, attr, place);

  if (cell->state == UVPERF_COUNT_NEVER_SCHEDULED && part_time)
    return UVPERF_COUNT_NOT_ENABLED;
  if (cell->state == UVPERF_COUNT_GONE && never_ran(cell) && !part_time)
    return UVPERF_COUNT_NEVER_SCHEDULED;
  return cell->state;
}

int uvperf__reading_has_value(const uvperf_reading_t *reading, size_t attr,
                              size_t place) {
  return uvperf__cell_was_read(uvperf__reading_see(reading, attr, place)) &&
         state_of(reading, attr, place) != UVPERF_COUNT_NEVER_SCHEDULED;
}

/* -- counts --------------------------------------------------------------- */

static double ratio_of(uint64_t enabled, uint64_t running) {
  if (enabled == 0)
    return 0;
  return running < enabled ? (double)running / (double)enabled : 1;
}

/* What is not read has no numbers, whatever the cell has: a sum shall not take
 * them for some. */
static void make_count(const uvperf_reading_t *reading, size_t attr,
                       size_t place, uvperf_set_count_t *count) {
  const uvperf__cell_t *cell = uvperf__reading_see(reading, attr, place);

  memset(count, 0, sizeof(*count));
  count->state = state_of(reading, attr, place);
  count->code = cell->code;
  if (!uvperf__cell_was_read(cell)) {
    count->nr_missing = cell->state != UVPERF_COUNT_NONE;
    return;
  }
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
  if (is_part_time(reading, attr, place) ||
      uvperf_scale(cell->value, cell->enabled, cell->running, &count->scaled) ==
          -ENODATA)
    count->scaled = cell->value;
}

static uint64_t sum64(uint64_t a, uint64_t b) {
  return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static uint32_t sum32(uint32_t a, uint32_t b) {
  return a <= UINT32_MAX - b ? a + b : UINT32_MAX;
}

/* Which state a sum has of those of its parts: the one that ranks highest. */
static int rank_of(uint32_t state) {
  switch (state) {
    case UVPERF_COUNT_NONE:
      return 0;
    case UVPERF_COUNT_NOT_ENABLED:
      return 1;
    case UVPERF_COUNT_NOT_AVAILABLE:
      return 2;
    case UVPERF_COUNT_NEVER_SCHEDULED:
      return 3;
    case UVPERF_COUNT_ERROR:
      return 4;
    case UVPERF_COUNT_GONE:
      return 5;
    case UVPERF_COUNT_COUNTING:
      return 6;
    default:
      return -1;
  }
}

/* The ratio of a sum. Its times may be too great for their type: those of a
 * thousand CPUs get there in seven months. Then the two ratios are weighed, as
 * that of the sums would be wrong. */
static double mix(const uvperf_set_count_t *sum,
                  const uvperf_set_count_t *count) {
  double old = (double)sum->time_enabled, more = (double)count->time_enabled;

  if (sum->time_enabled <= UINT64_MAX - count->time_enabled)
    return ratio_of(sum->time_enabled + count->time_enabled,
                    sum64(sum->time_running, count->time_running));
  return (sum->ratio * old + count->ratio * more) / (old + more);
}

int uvperf_set_count_add(uvperf_set_count_t *sum,
                         const uvperf_set_count_t *count) {
  if (sum == NULL || count == NULL || rank_of(sum->state) < 0 ||
      rank_of(count->state) < 0)
    return -EINVAL;
  if (rank_of(count->state) > rank_of(sum->state))
    sum->state = count->state;
  if (sum->code == 0)
    sum->code = count->code;
  sum->ratio = mix(sum, count);
  sum->value = sum64(sum->value, count->value);
  sum->scaled = sum64(sum->scaled, count->scaled);
  sum->time_enabled = sum64(sum->time_enabled, count->time_enabled);
  sum->time_running = sum64(sum->time_running, count->time_running);
  sum->lost = sum64(sum->lost, count->lost);
  sum->nr_counts = sum32(sum->nr_counts, count->nr_counts);
  sum->nr_missing = sum32(sum->nr_missing, count->nr_missing);
  return 0;
}

/* -- what it tells -------------------------------------------------------- */

size_t uvperf_reading_nr_attrs(const uvperf_reading_t *reading) {
  return reading->is_filled ? reading->nr_attrs : 0;
}

size_t uvperf_reading_nr_places(const uvperf_reading_t *reading) {
  return reading->is_filled ? reading->nr_places : 0;
}

uint64_t uvperf_reading_time(const uvperf_reading_t *reading) {
  return reading->is_filled ? reading->time : 0;
}

uint64_t uvperf_reading_interval(const uvperf_reading_t *reading) {
  return reading->is_filled ? reading->interval : 0;
}

int uvperf_reading_total(const uvperf_reading_t *reading, size_t attr,
                         uvperf_set_count_t *count) {
  uvperf_set_count_t more;
  size_t place;

  if (count == NULL || attr >= uvperf_reading_nr_attrs(reading))
    return -EINVAL;
  if (reading->nr_places == 0)
    memset(count, 0, sizeof(*count));
  else
    make_count(reading, attr, 0, count);
  for (place = 1; place < reading->nr_places; place++) {
    make_count(reading, attr, place, &more);
    uvperf_set_count_add(count, &more);
  }
  return 0;
}

int uvperf_reading_count(const uvperf_reading_t *reading, size_t attr,
                         size_t place, uvperf_set_count_t *count) {
  if (count == NULL || attr >= uvperf_reading_nr_attrs(reading) ||
      place >= uvperf_reading_nr_places(reading))
    return -EINVAL;
  make_count(reading, attr, place, count);
  return 0;
}

const uvperf_place_t *uvperf_reading_place(const uvperf_reading_t *reading,
                                           size_t place) {
  return place < uvperf_reading_nr_places(reading) ? &reading->places[place]
                                                   : NULL;
}

const char *uvperf_count_state_name(uint32_t state) {
  static const char *const names[] = {
      [UVPERF_COUNT_NONE] = "none",
      [UVPERF_COUNT_COUNTING] = "counting",
      [UVPERF_COUNT_NOT_ENABLED] = "not enabled",
      [UVPERF_COUNT_NEVER_SCHEDULED] = "never scheduled",
      [UVPERF_COUNT_NOT_AVAILABLE] = "not available",
      [UVPERF_COUNT_GONE] = "gone",
      [UVPERF_COUNT_ERROR] = "error",
  };

  return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}
