/* SPDX-License-Identifier: MIT */
/* The answer for each pair (object, offset) that was requested. Entries never
 * move. No call takes long, because each table that grows is small. */
#ifndef SYMBOLS_PLACES_H
#define SYMBOLS_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "profile/symbols/symbols.h"

/* The largest number of entries. */
#define SYMBOLS_MAX_PLACES (1u << 20)
#define SYMBOLS_NR_TABLES  256

typedef struct symbols_entry_s {
  symbols_place_t place;
  uint64_t offset;
  uint32_t object;
  int is_answered;
} symbols_entry_t;

typedef struct symbols_table_s {
  symbols_entry_t **entries;
  size_t nr, size;
} symbols_table_t;

typedef struct symbols_places_s {
  symbols_table_t tables[SYMBOLS_NR_TABLES]; /* by hash */
  symbols_entry_t **blocks;                  /* of entries */
  size_t nr_blocks, block_capacity;
  size_t nr;
} symbols_places_t;

void symbols_places_free(symbols_places_t *places);

/* Returns the entry, or NULL. */
symbols_entry_t *symbols_places_find(const symbols_places_t *places,
                                     uint32_t object, uint64_t offset);

/* Returns one of the entries, from 0 to nr - 1. */
symbols_entry_t *symbols_places_get(const symbols_places_t *places, size_t i);

/* Adds an entry that does not exist yet. Returns NULL if there is no room. */
symbols_entry_t *symbols_places_add(symbols_places_t *places, uint32_t object,
                                    uint64_t offset);

#endif
