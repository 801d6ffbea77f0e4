/* SPDX-License-Identifier: MIT */
/* Readings for tests, filled in as a set does. */
#ifndef UVPERF_TEST_MAKE_READING_H
#define UVPERF_TEST_MAKE_READING_H

#include "support.h"

#include "count/reading.h"

/* The number of values of enum uvperf_count_state. */
#define MAKE_STATES 7

/* A cell that was read: its state follows from the numbers. */
uvperf__cell_t make_cell(uint64_t value, uint64_t enabled, uint64_t running);
/* The same for a task that is gone. */
uvperf__cell_t make_gone(uint64_t value, uint64_t enabled, uint64_t running);
/* A cell that was not read. */
uvperf__cell_t make_failed(uint32_t state, int code);

/* The contents of a reading: the cells of the first place, of the second… */
typedef struct make_s {
  uint64_t resets;
  uint64_t since;
  uint64_t time;
  size_t nr_attrs;
  size_t nr_places;
  const uvperf__cell_t *cells;
  const uint64_t *serials;   /* NULL: 1, 2 … */
  const uint8_t *attr_flags; /* may be NULL */
} make_t;

/* Fills in a reading of always the same set; each place is CPU serial of every
 * task, and has target serial + 100. Fails the test if it cannot. */
void make_fill(uvperf_reading_t *reading, const make_t *build);

/* Returns a new reading, filled in: the caller frees it. */
uvperf_reading_t *make_reading(const make_t *build);

/* Return what the getters return; fail the test if they return an error. */
uvperf_count_t make_count(const uvperf_reading_t *reading, size_t attr,
                          size_t place);
uvperf_count_t make_total(const uvperf_reading_t *reading, size_t attr);

/* Fails the test unless a count has this state and value. */
void assert_counted(uvperf_count_t count, uint32_t state, uint64_t value,
                    uint64_t scaled, uint64_t enabled, uint64_t running);

/* Fails the test unless both readings are equal. */
void assert_same_reading(const uvperf_reading_t *a, const uvperf_reading_t *b);

/* One line about a count, until the next call: state, value, scaled value,
 * time_enabled/time_running, ratio, +nr_counts-nr_missing, and the lost records
 * and the code if they are not 0: "counting 10 30 300/100 0.3333 +1-0". */
const char *make_text(uvperf_count_t count);

#endif
