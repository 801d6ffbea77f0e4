/* SPDX-License-Identifier: MIT */
/* Adds up the counts of places to lines of a table. Also adds up the lines of
 * several runs. */
#include "stat/lines.h"

#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "common/memory.h"

/* Appends a line of zeros, with which uvperf_count_add begins. */
static stat_line_t *append(stat_lines_t *lines, size_t event, int32_t place) {
  size_t capacity = lines->capacity;
  stat_line_t *line;

  if (lines->nr == lines->capacity) {
    lines->lines = common_grow(lines->lines, &capacity, sizeof(*lines->lines));
    lines->series =
        common_grow(lines->series, &lines->capacity, sizeof(*lines->series));
  }
  memset(&lines->series[lines->nr], 0, sizeof(*lines->series));
  line = memset(&lines->lines[lines->nr++], 0, sizeof(*line));
  line->event = event;
  line->place = place;
  return line;
}

static int compare_ids(const void *left, const void *right) {
  const int32_t *a = left, *b = right;

  return (*a > *b) - (*a < *b);
}

/* Collects the CPUs, cores or threads of all places, in ascending order. A
 * place without such an id belongs to a target that could not be looked up. */
static void find_ids(common_ids_t *ids, const stat_sums_t *sums,
                     const uvperf_reading_t *reading) {
  size_t nr = uvperf_reading_info(reading)->nr_places, kept = 0, i;
  int32_t id;

  for (i = 0; i < nr; i++) {
    id = stat_places_id(sums->places, sums->by,
                        uvperf_reading_place(reading, i));
    if (id >= 0)
      common_ids_add(ids, id);
  }
  if (ids->nr > 0)
    qsort(ids->ids, ids->nr, sizeof(*ids->ids), compare_ids);
  for (i = 0; i < ids->nr; i++) {
    if (kept == 0 || ids->ids[i] != ids->ids[kept - 1])
      ids->ids[kept++] = ids->ids[i];
  }
  ids->nr = kept;
}

/* Returns the index of the id to whose line a place is added, or SIZE_MAX for
 * none. */
static size_t row_of(const common_ids_t *ids, const stat_sums_t *sums,
                     const uvperf_place_t *place) {
  const int32_t *found;
  int32_t id;

  if (ids->ids == NULL)
    return SIZE_MAX;
  if (ids->ids[0] == -1)
    return 0;
  id = stat_places_id(sums->places, sums->by, place);
  found = bsearch(&id, ids->ids, ids->nr, sizeof(*ids->ids), compare_ids);
  return found == NULL ? SIZE_MAX : (size_t)(found - ids->ids);
}

/* Makes an empty line for each event on each CPU. All CPUs of the first event
 * come first, as in perf-stat(1). */
static void lay_out(stat_lines_t *lines, const common_ids_t *ids,
                    size_t nr_events) {
  size_t i, event;

  lines->nr = 0;
  for (event = 0; event < nr_events; event++) {
    for (i = 0; i < ids->nr; i++)
      append(lines, event, ids->ids[i]);
  }
}

/* The lines of two successive events are `apart` lines apart. */
static void add_place(stat_line_t *lines, size_t apart, int no_merge,
                      const uvperf_reading_t *reading, size_t place) {
  size_t nr = uvperf_reading_info(reading)->nr_attrs, attr;
  uvperf_count_t count;

  for (attr = 0; attr < nr; attr++) {
    if ((no_merge ? uvperf_reading_part(reading, attr, place, &count)
                  : uvperf_reading_get(reading, attr, UVPERF_ALL, place,
                                       &count)) != 0)
      continue;
    uvperf_count_add(&lines[attr * apart].count, &count);
    lines[attr * apart].nr_cpus += count.state != UVPERF_COUNT_NONE;
    lines[attr * apart].lives |= count.state == UVPERF_COUNT_NOT_ENABLED;
  }
}

static void add_places(stat_lines_t *lines, const common_ids_t *ids,
                       const stat_sums_t *sums,
                       const uvperf_reading_t *reading) {
  size_t nr_groups = sums->nr_groups;
  size_t nr_attrs = uvperf_reading_info(reading)->nr_attrs;
  size_t nr = uvperf_reading_info(reading)->nr_places, i, row, group;
  const uvperf_place_t *place;

  for (i = 0; i < nr; i++) {
    place = uvperf_reading_place(reading, i);
    row = row_of(ids, sums, place);
    group = nr_groups > 1 ? place->target : 0;
    if (row != SIZE_MAX && group < nr_groups)
      add_place(&lines->lines[group * nr_attrs * ids->nr + row], ids->nr,
                sums->no_merge, reading, i);
  }
}

/* Returns 1 if the count of a line is already in the sum of another line. */
static int is_merged(const stat_sums_t *sums, size_t nr_attrs,
                     const stat_line_t *line) {
  size_t attr = line->event % nr_attrs;

  return sums->list != NULL && !sums->no_merge &&
         uvperf_event_list_get(sums->list, attr)->first != attr;
}

static void drop_lines(stat_lines_t *lines, const stat_sums_t *sums,
                       size_t nr_attrs) {
  size_t kept = 0, i;

  for (i = 0; i < lines->nr; i++) {
    if ((lines->lines[i].place >= 0 &&
         lines->lines[i].count.state == UVPERF_COUNT_NONE) ||
        is_merged(sums, nr_attrs, &lines->lines[i]))
      continue;
    lines->lines[kept++] = lines->lines[i];
  }
  lines->nr = kept;
}

static int compare_by_core(const void *left, const void *right) {
  const stat_line_t *a = left, *b = right;

  if (a->place != b->place)
    return a->place < b->place ? -1 : 1;
  return (a->event > b->event) - (a->event < b->event);
}

static int has_value(const uvperf_count_t *count) {
  return count->state == UVPERF_COUNT_COUNTING ||
         count->state == UVPERF_COUNT_GONE;
}

static int compare_by_thread(const void *left, const void *right) {
  const stat_line_t *a = left, *b = right;
  int has_a = has_value(&a->count), has_b = has_value(&b->count);

  if (a->event != b->event)
    return a->event < b->event ? -1 : 1;
  if (has_a != has_b)
    return has_b - has_a;
  if (a->mean > b->mean || a->mean < b->mean)
    return a->mean > b->mean ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

void stat_lines_sort(stat_lines_t *lines, enum stat_by by) {
  if (lines->nr > 0 && by >= STAT_BY_THREAD)
    qsort(lines->lines, lines->nr, sizeof(*lines->lines),
          by == STAT_BY_THREAD ? compare_by_thread : compare_by_core);
}

void stat_lines_read(stat_lines_t *lines, const stat_sums_t *sums,
                     const uvperf_reading_t *reading) {
  common_ids_t ids = {NULL, 0, 0};
  int has_places = uvperf_reading_info(reading)->nr_places > 0;
  stat_line_t *line;
  size_t i;

  if (sums->by != STAT_BY_NONE && has_places)
    find_ids(&ids, sums, reading);
  else
    common_ids_add(&ids, -1);
  lay_out(lines, &ids,
          sums->nr_groups * uvperf_reading_info(reading)->nr_attrs);
  add_places(lines, &ids, sums, reading);
  common_ids_free(&ids);
  drop_lines(lines, sums, uvperf_reading_info(reading)->nr_attrs);
  for (i = 0; i < lines->nr; i++) {
    line = &lines->lines[i];
    /* If the event is open somewhere, it is supported, even if nothing ran
     * there. */
    if (line->count.state == UVPERF_COUNT_NOT_AVAILABLE &&
        line->count.nr_counts > 0)
      line->count.state = UVPERF_COUNT_NOT_ENABLED;
    /* One task has ended, and another one sleeps. */
    if (line->count.state == UVPERF_COUNT_GONE && line->lives &&
        line->count.time_running == 0)
      line->count.state = UVPERF_COUNT_NOT_ENABLED;
    line->mean = (double)line->count.scaled * sums->events[line->event].scale;
  }
}

/* Finds the line for an event and place, or appends it. Most runs have the same
 * lines, so `guess` is usually right. */
static size_t find(stat_lines_t *sum, size_t guess, const stat_line_t *line) {
  size_t i;

  for (i = 0; i < sum->nr; i++, guess++) {
    if (guess >= sum->nr)
      guess = 0;
    if (sum->lines[guess].event == line->event &&
        sum->lines[guess].place == line->place)
      return guess;
  }
  append(sum, line->event, line->place);
  return sum->nr - 1;
}

void stat_lines_add(stat_lines_t *sum, const stat_lines_t *run) {
  const stat_line_t *line;
  size_t i, at;

  for (i = 0; i < run->nr; i++) {
    line = &run->lines[i];
    at = find(sum, i, line);
    uvperf_count_add(&sum->lines[at].count, &line->count);
    sum->lines[at].nr_cpus = line->nr_cpus;
    if (!has_value(&line->count))
      continue;
    stat_series_add(&sum->series[at], line->mean);
    sum->lines[at].mean = sum->series[at].mean;
    sum->lines[at].deviation = stat_series_deviation_percent(&sum->series[at]);
  }
}

void stat_lines_free(stat_lines_t *lines) {
  free(lines->lines);
  free(lines->series);
  memset(lines, 0, sizeof(*lines));
}

/* -- series ---------------------------------------------------------------- */

void stat_series_add(stat_series_t *series, double value) {
  double delta = value - series->mean;

  series->nr++;
  series->mean += delta / (double)series->nr;
  series->m2 += delta * (value - series->mean);
}

double stat_series_deviation_percent(const stat_series_t *series) {
  double nr = (double)series->nr;

  if (series->nr < 2 || fpclassify(series->mean) == FP_ZERO)
    return 0;
  return 100 * sqrt(series->m2 / (nr - 1) / nr) / fabs(series->mean);
}
