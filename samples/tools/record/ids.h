/* SPDX-License-Identifier: MIT */
/* The ids of a set's events, which show to which event a record belongs. */
#ifndef RECORD_IDS_H
#define RECORD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "common/tally.h"
#include "record/file.h"
#include "uvperf.h"

/* Adds the ids of all events that are open at the places of a reading, except
 * those that are already in the file: the keys of `ids`. `first` is the file's
 * index of the set's first attr. Call it again when there are new events. */
void record_ids_add(common_tally_t *ids, const uvperf_set_t *set,
                    const uvperf_reading_t *reading, record_file_t *file,
                    size_t first);

/* For each event that has lost samples, writes a record with their number, as
 * perf record does at its end (PERF_RECORD_LOST_SAMPLES). *lost is the sum.
 * Returns 0, or the code of record_file_write. */
int record_lost_write(record_file_t *file, const uvperf_set_t *set,
                      const uvperf_reading_t *reading, uint64_t *lost);

/* Room for any such record. */
#define RECORD_LOST_WORDS 10

/* Fills such a record: header, count, and the trailer of this attr's records
 * (perf_event_header__init_id in kernel/events/core.c). Returns the record's
 * size in bytes. */
size_t record_lost_fill(uint64_t words[RECORD_LOST_WORDS],
                        const struct perf_event_attr *attr,
                        const uvperf_place_t *place, uint64_t id,
                        uint64_t lost);

#endif
