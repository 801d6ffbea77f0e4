/* SPDX-License-Identifier: MIT */
/* A hash table from the ids of events to their sources, which come and go. The
 * id of each sample is looked up here. (The decoder keeps its attrs in such a
 * table too.) */
#ifndef UVPERF_LIB_DECODE_ID_TABLE_H
#define UVPERF_LIB_DECODE_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

struct uvperf__reader_s;

typedef struct uvperf__id_slot_s {
  uint64_t id;
  struct uvperf__reader_s *reader; /* NULL: the slot is free */
  const uvperf_source_t *source;
} uvperf__id_slot_t;

/* Open addressing with linear probing. Must be made by
 * uvperf__id_table_make. */
typedef struct uvperf__id_table_s {
  uvperf__id_slot_t *slots;
  size_t nr_slots; /* a power of two */
  size_t nr_used;  /* at most half of them */
} uvperf__id_table_t;

/* Returns 0 or -ENOMEM. */
int uvperf__id_table_make(uvperf__id_table_t *table);
void uvperf__id_table_free(uvperf__id_table_t *table);

/* Makes room for nr more ids. Returns 0, or -ENOMEM with the table unchanged.
 * Slots that find has returned are not valid afterwards. */
int uvperf__id_table_reserve(uvperf__id_table_t *table, size_t nr);

/* Puts an id into the table, which must have room for it. If the id is there
 * already, replaces its reader (not NULL) and its source. */
void uvperf__id_table_put(uvperf__id_table_t *table, uint64_t id,
                          struct uvperf__reader_s *reader,
                          const uvperf_source_t *source);

/* Removes an id if it is there. Slots that find has returned are not valid
 * afterwards. */
void uvperf__id_table_remove(uvperf__id_table_t *table, uint64_t id);

/* Fibonacci hashing. Ids are small and dense, and the high bits of the product
 * are well spread. */
static inline size_t uvperf__id_table_home(const uvperf__id_table_t *table,
                                           uint64_t id) {
  uint64_t hash = id * UINT64_C(0x9E3779B97F4A7C15);

  return (size_t)(hash >> 32) & (table->nr_slots - 1);
}

/* Returns the slot of an id, or the free slot for a new id. Inline, because it
 * is called for each record. */
static inline uvperf__id_slot_t *
uvperf__id_table_find(const uvperf__id_table_t *table, uint64_t id) {
  size_t i = uvperf__id_table_home(table, id);

  while (table->slots[i].id != id && table->slots[i].reader != NULL)
    i = (i + 1) & (table->nr_slots - 1);
  return &table->slots[i];
}

#endif
