/* SPDX-License-Identifier: MIT */
/* Decides when a slice ends by time. Reading the clock takes as long as several
 * records, so the clock is not read for each record. The more records there
 * are, the less often it is read. */
#include "loop/slice.h"

#include <string.h>

#include <uv.h>

/* The number of records between two reads of the clock: at first, and at
 * most. */
#define FIRST_RECORDS_PER_CLOCK_READ 32
#define MOST_RECORDS_PER_CLOCK_READ  128

void uvperf__slice_unbounded(uvperf__slice_t *slice, const uint64_t *session) {
  memset(slice, 0, sizeof(*slice));
  slice->session = session;
  slice->own_session = *session;
  slice->max_records = UINT64_MAX;
  slice->max_bytes = UINT64_MAX;
  slice->max_ns = UINT64_MAX;
  slice->next_clock_read = UINT64_MAX;
}

void uvperf__slice_begin(uvperf__slice_t *slice, const uint64_t *session,
                         uint64_t max_records, uint64_t max_bytes,
                         uint64_t max_ns) {
  uvperf__slice_unbounded(slice, session);
  slice->max_records = max_records;
  slice->max_bytes = max_bytes;
  slice->max_ns = max_ns;
  slice->next_clock_read = 1;
}

void uvperf__slice_start_clock(uvperf__slice_t *slice) {
  slice->start_ns = uv_hrtime();
}

int uvperf__slice_time_over(uvperf__slice_t *slice) {
  uint64_t step = slice->records;
  uint64_t per_record;
  uint64_t spent;
  uint64_t fit;

  if (slice->start_ns == 0)
    return 1;
  spent = uv_hrtime() - slice->start_ns;
  per_record = spent / slice->records;
  if (spent >= slice->max_ns)
    return 1;
  if (step < FIRST_RECORDS_PER_CLOCK_READ)
    step = FIRST_RECORDS_PER_CLOCK_READ;
  if (step > MOST_RECORDS_PER_CLOCK_READ)
    step = MOST_RECORDS_PER_CLOCK_READ;
  /* Half of the records that fit into the rest of the time, if they take as
   * long as the records before. With a steady callback the slice ends close to
   * the bound. */
  if (per_record > 0) {
    fit = (slice->max_ns - spent) / per_record / 2;
    if (fit < step)
      step = fit > 0 ? fit : 1;
  }
  slice->next_clock_read = slice->records + step;
  return 0;
}
