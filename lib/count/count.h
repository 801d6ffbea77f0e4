/* SPDX-License-Identifier: MIT */
/* One count: its state, its scaled value, and the difference of two counts. */
#ifndef UVPERF_LIB_COUNT_COUNT_H
#define UVPERF_LIB_COUNT_COUNT_H

#include <stdint.h>

#include "uvperf/count.h"

#include "decode/read_format.h"

/* The values read from an event, without the part that was counted before a
 * reset. A uvperf_count_t is computed from these values alone. */
typedef struct uvperf__cell_s {
  uint64_t value;
  uint64_t enabled;
  uint64_t running;
  uint64_t lost;
  uint32_t state; /* enum uvperf_count_state */
  int32_t code;
} uvperf__cell_t;

/* Computes the state of a cell that was read. The cell's value, enabled and
 * running must be filled. The state is GONE if `gone` is set, else NOT_ENABLED,
 * NEVER_SCHEDULED or COUNTING. */
uint32_t uvperf__cell_state(const uvperf__cell_t *cell, int gone);

/* Whether a cell was read, so that its numbers mean something. */
int uvperf__cell_was_read(const uvperf__cell_t *cell);

/* Replaces the newer cell by its difference to the older cell. */
void uvperf__cell_subtract(uvperf__cell_t *newer, const uvperf__cell_t *older);

/* Estimates what the count would be if its event had been on a counter all the
 * time: value times enabled divided by running, computed in 128 bits and
 * rounded down. If running is not less than enabled, it is the value. Returns
 * 0; or -ENODATA, with *scaled 0, if running is 0 and enabled is not; or
 * -EOVERFLOW, with *scaled UINT64_MAX, if the result does not fit.
 * Source: perf_event_open(2), PERF_FORMAT_TOTAL_TIME_RUNNING. */
int uvperf__count_scale(uint64_t value, uint64_t enabled, uint64_t running,
                        uint64_t *scaled);

/* Fills a count. Set `unscaled` if the cell's event stays enabled even while it
 * cannot be on a counter (see UVPERF_COUNT_UNSCALED). */
void uvperf__count_of_cell(uvperf_count_t *count, const uvperf__cell_t *cell,
                           int unscaled);

/* Does the same for a value that was read with PERF_FORMAT_* bits `format`. */
void uvperf__count_of_value(uvperf_count_t *count, uint64_t format,
                            const uvperf__value_t *value, int unscaled);

#endif
