/* SPDX-License-Identifier: MIT */
/* The answer for each pair (object, offset) that was requested. */
#ifndef SYMBOLS_PLACES_H
#define SYMBOLS_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "common/tally.h"
#include "profile/symbols/symbols.h"

/* The largest number of entries. */
#define SYMBOLS_MAX_PLACES (1u << 20)

typedef struct symbols_entry_s {
  symbols_place_t place;
  uint64_t offset;
  uint32_t object;
  int is_answered;
} symbols_entry_t;

typedef struct symbols_places_s {
  common_tally_t keys; /* the offset and the object */
  symbols_entry_t *entries;
  size_t nr, capacity;
} symbols_places_t;

void symbols_places_init(symbols_places_t *places);
void symbols_places_free(symbols_places_t *places);

/* Returns the entry, or NULL. It is valid until the next one is added. */
symbols_entry_t *symbols_places_find(const symbols_places_t *places,
                                     uint32_t object, uint64_t offset);

/* Adds an entry that does not exist yet. Returns NULL if there is no room. */
symbols_entry_t *symbols_places_add(symbols_places_t *places, uint32_t object,
                                    uint64_t offset);

#endif
