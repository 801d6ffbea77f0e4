/* SPDX-License-Identifier: MIT */
/* A count as text: its value with the unit, its name, and the quality of the
 * count. */
#include "uvperf/count.h"

#include <inttypes.h>

#include "uvperf/name.h"

#include "util/line.h"

/* Writes two decimals, as perf-stat(1) does, independent of the locale. A
 * .scale file in sysfs may hold any number. */
static void put_scaled(uvperf__line_t *line, double value) {
  uint64_t whole, hundredths;

  if (value < 0) {
    uvperf__line_put(line, "-");
    value = -value;
  }
  if (value >= 1e16) {
    uvperf__line_put(line, "%.0f", value);
    return;
  }
  hundredths = (uint64_t)(value * 100 + 0.5);
  whole = hundredths / 100;
  uvperf__line_put(line, "%" PRIu64 ".%02u", whole,
                   (unsigned int)(hundredths % 100));
}

static int has_value(const uvperf_count_t *count) {
  return count->state == UVPERF_COUNT_COUNTING ||
         count->state == UVPERF_COUNT_GONE ||
         count->state == UVPERF_COUNT_NOT_ENABLED;
}

/* "<not counted: never scheduled>" */
static void put_reason(uvperf__line_t *line, const uvperf_count_t *count) {
  uvperf__line_put(line, "<not counted: %s",
                   uvperf_count_state_name(count->state));
  if (count->code != 0)
    uvperf__line_put(line, ", errno %d", -count->code);
  uvperf__line_put(line, ">");
}

static void put_value(uvperf__line_t *line, const uvperf_count_t *count,
                      const uvperf_event_item_t *item) {
  if (item != NULL && item->scale != 1)
    put_scaled(line, (double)count->scaled * item->scale);
  else
    uvperf__line_put(line, "%" PRIu64, count->scaled);
  if (item != NULL && item->unit[0] != '\0')
    uvperf__line_put(line, " %s", item->unit);
}

/* Other events used the counter too, so the value is an estimate. */
static int is_multiplexed(const uvperf_count_t *count) {
  return has_value(count) && !(count->flags & UVPERF_COUNT_UNSCALED) &&
         count->time_running < count->time_enabled;
}

size_t uvperf_count_format(const uvperf_count_t *count,
                           const uvperf_event_item_t *item, char *text,
                           size_t size) {
  uvperf__line_t line;

  uvperf__line_begin(&line, text, size);
  if (has_value(count))
    put_value(&line, count, item);
  else
    put_reason(&line, count);
  if (item != NULL)
    uvperf__line_put(&line, " %s", item->label);
  if (count->state == UVPERF_COUNT_NOT_ENABLED)
    uvperf__line_put(&line, " (%s)", uvperf_count_state_name(count->state));
  if (is_multiplexed(count)) {
    uvperf__line_put(&line, " (multiplexed: counted ");
    put_scaled(&line, 100 * count->ratio);
    uvperf__line_put(&line, "%% of the time)");
  }
  if (count->nr_missing != 0 && count->nr_counts != 0)
    uvperf__line_put(&line, " (%" PRIu32 " of %" PRIu64 " are missing)",
                     count->nr_missing,
                     (uint64_t)count->nr_counts + count->nr_missing);
  if (count->lost != 0)
    uvperf__line_put(&line, " (%" PRIu64 " records lost)", count->lost);
  return line.length;
}
