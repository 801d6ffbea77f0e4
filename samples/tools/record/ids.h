/* SPDX-License-Identifier: MIT */
/* The ids of a set's events, which show to which event a record belongs. */
#ifndef RECORD_IDS_H
#define RECORD_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "record/file.h"
#include "uvperf.h"

typedef struct record_ids_s {
  uint64_t *table; /* a hash table of the file's ids; 0: free */
  size_t capacity; /* a power of two */
  size_t nr;
} record_ids_t;

/* Adds the ids of all events that are open at the places of a reading, except
 * the ids that are already in the file. `first` is the file's index of the
 * set's first attr. Call it again when there are new events. */
void record_ids_add(record_ids_t *ids, const uvperf_set_t *set,
                    const uvperf_reading_t *reading, record_file_t *file,
                    size_t first);

void record_ids_free(record_ids_t *ids);

/* Returns the id of an attr's event at a place, or 0 if the event is not
 * open. */
uint64_t record_ids_of(const uvperf_set_t *set, size_t attr, uint64_t serial);

#endif
