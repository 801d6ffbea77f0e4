/* SPDX-License-Identifier: MIT */
/* A table in which numbers that come and go are looked up for each
 * record: ids of events, and where they lead. */
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

/* Open addressing with linear probing. Zeroed is not enough: see make. */
typedef struct uvperf__id_table_s {
  uvperf__id_slot_t *slots;
  size_t nr_slots; /* a power of two */
  size_t nr_used;  /* at most half of them */
} uvperf__id_table_t;

/* 0 or -ENOMEM. */
int uvperf__id_table_make(uvperf__id_table_t *table);
void uvperf__id_table_free(uvperf__id_table_t *table);

/* Makes room for so many more: 0 or -ENOMEM, and nothing is changed then. What
 * find gave is not valid after it. */
int uvperf__id_table_reserve(uvperf__id_table_t *table, size_t nr);

/* Puts an id, for which there is room, into the table, or gives the one that is
 * there another reader (not NULL) and source. */
void uvperf__id_table_put(uvperf__id_table_t *table, uint64_t id,
                          struct uvperf__reader_s *reader,
                          const uvperf_source_t *source);

/* Takes an id out, if it is there. What find gave is not valid after it. */
void uvperf__id_table_remove(uvperf__id_table_t *table, uint64_t id);

/* Fibonacci hashing: ids are small and dense, the high bits are the good
 * ones. */
static inline size_t uvperf__id_table_home(const uvperf__id_table_t *table,
                                           uint64_t id) {
  uint64_t hash = id * UINT64_C(0x9E3779B97F4A7C15);

  return (size_t)(hash >> 32) & (table->nr_slots - 1);
}

/* The slot of an id, or the free one where it would be. Here, as it is done for
 * each record. */
static inline uvperf__id_slot_t *
uvperf__id_table_find(const uvperf__id_table_t *table, uint64_t id) {
  size_t i = uvperf__id_table_home(table, id);

  while (table->slots[i].id != id && table->slots[i].reader != NULL)
    i = (i + 1) & (table->nr_slots - 1);
  return &table->slots[i];
}

#endif
