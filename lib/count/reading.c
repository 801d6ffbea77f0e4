/* SPDX-License-Identifier: MIT */
/* A reading: its memory, how it is filled, its counts and sums, and the
 * difference of two readings. A single count is in count.c. */
#include "count/reading.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/alloc.h"

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

/* Adds the size of an array to *bytes. Returns 0, or -ENOMEM if the sum
 * overflows. */
static int add_array(size_t *bytes, size_t nr, size_t size) {
  if (nr > (SIZE_MAX - *bytes) / size)
    return -ENOMEM;
  *bytes += nr * size;
  return 0;
}

/* Computes the size of a reading's memory. */
static int reading_measure(size_t nr_attrs, size_t nr_places, size_t *bytes) {
  *bytes = 1; /* never 0 */
  if (nr_places != 0 && nr_attrs > SIZE_MAX / nr_places)
    return -ENOMEM;
  if (add_array(bytes, nr_attrs * nr_places, sizeof(uvperf__cell_t)) != 0 ||
      add_array(bytes, nr_places, sizeof(uvperf_place_t)) != 0)
    return -ENOMEM;
  return add_array(bytes, nr_attrs, sizeof(uint32_t) + 1);
}

/* The alignment falls from each array to the next, so no gaps are needed
 * between them. */
_Static_assert(_Alignof(uvperf__cell_t) >= _Alignof(uvperf_place_t),
               "the arrays of a reading follow each other without gaps");

static void lay_out(uvperf_reading_t *reading) {
  size_t nr_cells = reading->info.nr_attrs * reading->info.nr_places;

  reading->cells = reading->memory;
  reading->places = (uvperf_place_t *)(reading->cells + nr_cells);
  reading->next_parts = (uint32_t *)(reading->places + reading->info.nr_places);
  reading->attr_flags =
      (uint8_t *)(reading->next_parts + reading->info.nr_attrs);
}

/* The memory never shrinks, so repeated readings allocate nothing. */
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
  if (reading_measure(reading->info.nr_attrs, reading->info.nr_places,
                      &bytes) != 0 ||
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

  if (reading_measure(nr_attrs, nr_places, &bytes) != 0 ||
      make_room(reading, bytes) != 0)
    return -ENOMEM;
  memset(reading->memory, 0, bytes);
  reading->origin = *origin;
  reading->resets = resets;
  reading->since = since;
  reading->info.time = now;
  reading->info.interval = now > since ? now - since : 0;
  reading->is_filled = 0;
  reading->is_delta = 0;
  reading->info.nr_attrs = nr_attrs;
  reading->info.nr_places = nr_places;
  lay_out(reading);
  if (attr_flags != NULL)
    memcpy(reading->attr_flags, attr_flags, nr_attrs);
  return 0;
}

void uvperf__reading_set_parts(uvperf_reading_t *reading,
                               const uint32_t *next_parts) {
  memcpy(reading->next_parts, next_parts,
         reading->info.nr_attrs * sizeof(next_parts[0]));
}

void uvperf__reading_end(uvperf_reading_t *reading) {
  reading->is_filled = 1;
}

/* Some events of tasks can be on a counter only on some CPUs. Such events are
 * enabled even while the task runs on other CPUs: event_filter_match and the
 * filter of the PMU stop the event from being scheduled, but do not disable it
 * (kernel/events/core.c). */
static int is_part_time(const uvperf_reading_t *reading, size_t attr,
                        size_t place) {
  const uvperf_place_t *at = &reading->places[place];
  uint32_t flags = reading->attr_flags[attr];

  return at->pid > 0 && (at->cpu >= 0 || (flags & UVPERF__READING_PART_TIME));
}

static void make_count(const uvperf_reading_t *reading, size_t attr,
                       size_t place, uvperf_count_t *count) {
  uvperf__count_of_cell(count, uvperf__reading_const_cell(reading, attr, place),
                        is_part_time(reading, attr, place));
}

/* -- events of several parts ---------------------------------------------- */

/* An event with several parts has one part for each kind of cores. A part of a
 * task is always enabled, but runs only on its kind of cores. So the enabled
 * time of the whole event is the enabled time of one part, and its running time
 * is the sum of the parts' running times. If the running time is less than the
 * enabled time, the PMUs were shared, and the value is scaled. Parts are
 * enabled one after the other, so each part's running time is taken as a share
 * of its own enabled time. */

static uint64_t share_of(uint64_t enabled, const uvperf_count_t *part) {
  uint64_t running;

  if (part->time_enabled == 0)
    return 0;
  uvperf__count_scale(part->time_running, enabled, part->time_enabled,
                      &running);
  return running;
}

/* All parts were read, so the time in which the event was not counted is
 * known. */
static void scale_whole(uvperf_count_t *whole) {
  if (whole->time_enabled > 0 && whole->time_running == 0 &&
      whole->value == 0) {
    whole->state = UVPERF_COUNT_NEVER_SCHEDULED;
    whole->nr_missing = whole->nr_counts;
    whole->nr_counts = 0;
  }
  whole->flags &= ~(uint32_t)UVPERF_COUNT_UNSCALED;
  if (uvperf__count_scale(whole->value, whole->time_enabled,
                          whole->time_running, &whole->scaled) == -ENODATA)
    whole->scaled = whole->value;
}

static void add_parts(const uvperf_reading_t *reading, size_t attr,
                      size_t place, uvperf_count_t *whole) {
  uint64_t enabled = whole->time_enabled, running = 0;
  size_t at = attr;
  uvperf_count_t part;

  while ((at = reading->next_parts[at]) != 0) {
    make_count(reading, at, place, &part);
    if (enabled < part.time_enabled)
      enabled = part.time_enabled;
    uvperf_count_add(whole, &part);
  }
  at = attr;
  do {
    make_count(reading, at, place, &part);
    part.time_running = share_of(enabled, &part);
    running += part.time_running < enabled - running ? part.time_running
                                                     : enabled - running;
  } while ((at = reading->next_parts[at]) != 0);
  whole->time_enabled = enabled;
  whole->time_running = running;
  whole->ratio = enabled == 0 ? 0 : (double)running / (double)enabled;
  if (reading->places[place].pid > 0 && reading->places[place].cpu < 0 &&
      whole->nr_missing == 0)
    scale_whole(whole);
}

/* Computes the count of an attr. For the first of several parts it computes the
 * count of the whole event. */
static void make_whole(const uvperf_reading_t *reading, size_t attr,
                       size_t place, uvperf_count_t *count) {
  make_count(reading, attr, place, count);
  if (reading->next_parts[attr] != 0 &&
      (reading->attr_flags[attr] & UVPERF__READING_PART) == 0)
    add_parts(reading, attr, place, count);
}

/* -- getters -------------------------------------------------------------- */

const uvperf_reading_info_t *
uvperf_reading_info(const uvperf_reading_t *reading) {
  static const uvperf_reading_info_t nothing = {0, 0, 0, 0, {0}};

  return reading->is_filled ? &reading->info : &nothing;
}

/* Adds up the places of a target, or all places. Returns the number of these
 * places. */
static size_t sum_places(const uvperf_reading_t *reading, size_t attr,
                         size_t target, uvperf_count_t *count) {
  uvperf_count_t more;
  size_t place, nr = 0;

  memset(count, 0, sizeof(*count));
  for (place = 0; place < reading->info.nr_places; place++) {
    if (target != UVPERF_ALL && reading->places[place].target != target)
      continue;
    make_whole(reading, attr, place, nr == 0 ? count : &more);
    if (nr++ > 0)
      uvperf_count_add(count, &more);
  }
  return nr;
}

static int has_count(const uvperf_reading_t *reading, size_t attr,
                     size_t place) {
  const uvperf_reading_info_t *info = uvperf_reading_info(reading);

  return attr < info->nr_attrs &&
         (place < info->nr_places || place == UVPERF_ALL);
}

int uvperf_reading_get(const uvperf_reading_t *reading, size_t attr,
                       size_t target, size_t place, uvperf_count_t *count) {
  uvperf_count_t sum;

  if (count == NULL || !has_count(reading, attr, place))
    return -EINVAL;
  if (place != UVPERF_ALL) {
    if (target != UVPERF_ALL && reading->places[place].target != target)
      return -ENOENT;
    make_whole(reading, attr, place, &sum);
  } else if (sum_places(reading, attr, target, &sum) == 0 &&
             target != UVPERF_ALL) {
    return -ENOENT;
  }
  *count = sum;
  return 0;
}

int uvperf_reading_part(const uvperf_reading_t *reading, size_t attr,
                        size_t place, uvperf_count_t *count) {
  if (count == NULL || place == UVPERF_ALL || !has_count(reading, attr, place))
    return -EINVAL;
  make_count(reading, attr, place, count);
  return 0;
}

const uvperf_place_t *uvperf_reading_place(const uvperf_reading_t *reading,
                                           size_t place) {
  return place < uvperf_reading_info(reading)->nr_places
             ? &reading->places[place]
             : NULL;
}

/* -- two readings, place by place ----------------------------------------- */

/* Finds the place with the same serial in another reading. In every reading the
 * places ascend by target, then by serial, so the search continues from *place,
 * where the previous one was found. */
static int find_place(const uvperf_reading_t *reading,
                      const uvperf_place_t *which, size_t *place) {
  const uvperf_place_t *at;

  for (; *place < reading->info.nr_places; (*place)++) {
    at = &reading->places[*place];
    if (at->target > which->target ||
        (at->target == which->target && at->serial >= which->serial))
      return at->serial == which->serial;
  }
  return 0;
}

static int is_snapshot(const uvperf_reading_t *reading, size_t attr) {
  return (reading->attr_flags[attr] & UVPERF__READING_SNAPSHOT) != 0;
}

/* It is enough to compare the owners, because the attrs of an owner never
 * change. */
static int same_set(const uvperf_reading_t *a, const uvperf_reading_t *b) {
  return a->is_filled && b->is_filled && a->origin.owner == b->origin.owner &&
         a->origin.born == b->origin.born &&
         a->info.nr_attrs == b->info.nr_attrs;
}

/* -- the difference ------------------------------------------------------- */

static void delta_place(uvperf_reading_t *delta, size_t place,
                        const uvperf_reading_t *older, size_t at) {
  size_t attr;

  for (attr = 0; attr < delta->info.nr_attrs; attr++)
    if (!is_snapshot(delta, attr))
      uvperf__cell_subtract(uvperf__reading_cell(delta, attr, place),
                            uvperf__reading_const_cell(older, attr, at));
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
  if (older != NULL &&
      (!same_set(older, newer) || older->is_delta ||
       older->info.time > newer->info.time || older->resets > newer->resets))
    return -EINVAL;
  rc = uvperf_reading_copy(delta, newer);
  if (rc != 0)
    return rc;
  delta->is_delta = 1;
  /* After a reset the newer reading has only counts from after the reset, so it
   * already is the difference. */
  if (older != NULL && older->resets == newer->resets) {
    delta->info.interval = newer->info.time - older->info.time;
    for (place = 0; place < delta->info.nr_places; place++)
      if (find_place(older, &delta->places[place], &at))
        delta_place(delta, place, older, at);
  }
  return 0;
}
