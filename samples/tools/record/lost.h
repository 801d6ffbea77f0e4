/* SPDX-License-Identifier: MIT */
/* What the kernel could not write, as the counts of a set tell it. */
#ifndef RECORD_LOST_H
#define RECORD_LOST_H

#include <stddef.h>
#include <stdint.h>

#include "record/file.h"
#include "uvperf.h"

/* Writes for each event that has lost samples a record that says how many, as
 * perf record does at its end (PERF_RECORD_LOST_SAMPLES). *lost is the sum. 0,
 * or what record_file_write gives. */
int record_lost_write(record_file_t *file, const uvperf_set_t *set,
                      const uvperf_reading_t *reading, uint64_t *lost);

/* Room for any such record. */
#define RECORD_LOST_WORDS 10

/* Fills such a record: header, count, and the trailer that this attr's records
 * have (perf_event_header__init_id in kernel/events/core.c). Its bytes. */
size_t record_lost_fill(uint64_t words[RECORD_LOST_WORDS],
                        const struct perf_event_attr *attr,
                        const uvperf_place_t *place, uint64_t id,
                        uint64_t lost);

#endif
