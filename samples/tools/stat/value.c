/* SPDX-License-Identifier: MIT */
/* Decides how counts are shown, by the rules of perf-stat(1). */
#include "stat/value.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int stat_value_is_none(const stat_report_t *report, const stat_line_t *line) {
  return report->by != STAT_BY_NONE && line->count.state == UVPERF_COUNT_NONE;
}

int stat_value_is_hidden(const stat_report_t *report, const stat_line_t *line) {
  return stat_value_is_none(report, line) ||
         (report->hide_idle &&
          !(stat_value_is_counted(line) && line->mean > 0));
}

const char *stat_value_group(enum stat_by by) {
  static const char *const names[] = {
      [STAT_BY_CORE] = "core",
      [STAT_BY_DIE] = "die",
      [STAT_BY_SOCKET] = "socket",
      [STAT_BY_NODE] = "node",
  };

  return names[by];
}

int stat_place_compare(const void *left, const void *right) {
  const stat_place_t *a = left, *b = right;

  return (a->id > b->id) - (a->id < b->id);
}

const stat_place_t *stat_place_find(const stat_place_t *places, size_t nr,
                                    int32_t id) {
  stat_place_t key = {id, ""};

  return nr == 0
             ? NULL
             : bsearch(&key, places, nr, sizeof(*places), stat_place_compare);
}

const char *stat_value_place(const stat_report_t *report,
                             const stat_line_t *line) {
  const stat_place_t *place =
      stat_place_find(report->places, report->nr_places, line->place);

  return place == NULL ? "" : place->name;
}

int stat_value_is_counted(const stat_line_t *line) {
  const uvperf_count_t *count = &line->count;

  if (count->state != UVPERF_COUNT_COUNTING &&
      count->state != UVPERF_COUNT_GONE)
    return 0;
  return count->time_running > 0 && isfinite(line->mean);
}

const char *stat_value_word(const stat_line_t *line) {
  /* An event whose task has ended is supported. */
  if (line->count.state != UVPERF_COUNT_NOT_AVAILABLE ||
      line->count.code == UV_ESRCH)
    return "<not counted>";
  return line->count.code == UV_EACCES || line->count.code == UV_EPERM
             ? "<not permitted>"
             : "<not supported>";
}

int stat_value_is_clock(const stat_event_t *event) {
  const struct perf_event_attr *attr = event->attr;

  return attr != NULL && attr->type == PERF_TYPE_SOFTWARE &&
         (attr->config == PERF_COUNT_SW_TASK_CLOCK ||
          attr->config == PERF_COUNT_SW_CPU_CLOCK);
}

/* Returns 1 if an event is shown in msec, as in perf stat. */
static int is_msec(const stat_event_t *event) {
  return stat_value_is_clock(event) && strcmp(event->unit, "ns") == 0;
}

double stat_value(const stat_report_t *report, const stat_line_t *line) {
  return is_msec(&report->events[line->event]) ? line->mean / 1e6 : line->mean;
}

const char *stat_value_unit(const stat_event_t *event) {
  return is_msec(event) ? "msec" : event->unit;
}

int stat_value_decimals(const stat_event_t *event) {
  return is_msec(event) || event->scale > floor(event->scale) ? 2 : 0;
}

double stat_value_ns(const stat_report_t *report, const stat_line_t *line) {
  return line->mean / report->events[line->event].scale;
}

double stat_value_percent(const stat_line_t *line) {
  const uvperf_count_t *count = &line->count;

  if (count->time_running == count->time_enabled || count->time_enabled == 0)
    return 100;
  return 100 * (double)count->time_running / (double)count->time_enabled;
}

uint64_t stat_value_runtime(const stat_report_t *report,
                            const stat_line_t *line) {
  return line->count.time_running / (report->nr_runs > 1 ? report->nr_runs : 1);
}

void stat_value_print(char text[STAT_NUMBER_BYTES], double value,
                      int decimals) {
  const char *point = localeconv()->decimal_point;
  size_t size = strlen(point);
  char *at;

  snprintf(text, STAT_NUMBER_BYTES, "%.*f", decimals, value);
  at = size == 0 ? NULL : strstr(text, point);
  if (at == NULL)
    return;
  *at = '.';
  memmove(at + 1, at + size, strlen(at + size) + 1);
}
