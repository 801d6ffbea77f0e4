/* SPDX-License-Identifier: MIT */
/* One rule for lost records, while measuring and in recordings. LOST records
 * and the counts of the events (PERF_FORMAT_LOST) report the same losses: LOST
 * records miss those at the end of a stream, counts those of children that have
 * ended. So the greater number is the total. */
#ifndef COMMON_LOST_H
#define COMMON_LOST_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

/* Set all to 0 to begin. */
typedef struct common_lost_s {
  uint64_t reported; /* by LOST records */
  uint64_t counted;  /* by the events, Linux 6.0 and later */
  uint64_t hardware; /* samples that the PMU lost: no event counts them */
} common_lost_t;

/* Adds what a record of a recording reports. Call it for each record. */
void common_lost_record(common_lost_t *lost, const uvperf_record_t *record);

/* Takes the losses of a set so far: of its rings, and of its first nr_attrs
 * attrs. It reads the events. */
void common_lost_read(common_lost_t *lost, uvperf_set_t *set, size_t nr_attrs);

/* Returns the total that common_lost_read would find. */
uint64_t common_lost_of_set(uvperf_set_t *set, size_t nr_attrs);

uint64_t common_lost_total(const common_lost_t *lost);

/* Reports the records that were lost since the last call, if any. *noted is the
 * number that was already reported. If stderr would block, the next call
 * reports them instead. */
void common_lost_note(uint64_t total, uint64_t *noted);

#endif
