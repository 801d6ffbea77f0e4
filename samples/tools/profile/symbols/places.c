/* SPDX-License-Identifier: MIT */
#include "profile/symbols/places.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define BLOCK 256

static uint64_t hash(uint32_t object, uint64_t offset) {
  uint64_t x = offset ^ (uint64_t)object << 40;

  x = (x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15);
  return x ^ x >> 29;
}

/* Returns the slot of an entry, or the empty slot for it. */
static symbols_entry_t **find_slot(const symbols_table_t *table,
                                   uint32_t object, uint64_t offset) {
  size_t i = (size_t)(hash(object, offset) >> 8) & (table->size - 1);
  const symbols_entry_t *entry;

  while ((entry = table->entries[i]) != NULL &&
         (entry->object != object || entry->offset != offset))
    i = (i + 1) & (table->size - 1);
  return &table->entries[i];
}

symbols_entry_t *symbols_places_find(const symbols_places_t *places,
                                     uint32_t object, uint64_t offset) {
  const symbols_table_t *table =
      &places->tables[hash(object, offset) % SYMBOLS_NR_TABLES];

  return table->size == 0 ? NULL : *find_slot(table, object, offset);
}

static void grow(symbols_table_t *table) {
  symbols_table_t old = *table;
  size_t i;

  table->size = old.size == 0 ? 16 : old.size * 2;
  table->entries = common_calloc(table->size, sizeof(*table->entries));
  for (i = 0; i < old.size; i++) {
    if (old.entries[i] != NULL)
      *find_slot(table, old.entries[i]->object, old.entries[i]->offset) =
          old.entries[i];
  }
  free(old.entries);
}

symbols_entry_t *symbols_places_get(const symbols_places_t *places, size_t i) {
  return &places->blocks[i / BLOCK][i % BLOCK];
}

static symbols_entry_t *allocate(symbols_places_t *places) {
  if (places->nr % BLOCK == 0) {
    if (places->nr_blocks == places->block_capacity)
      places->blocks = common_grow(places->blocks, &places->block_capacity,
                                   sizeof(*places->blocks));
    places->blocks[places->nr_blocks++] =
        common_calloc(BLOCK, sizeof(symbols_entry_t));
  }
  return symbols_places_get(places, places->nr);
}

symbols_entry_t *symbols_places_add(symbols_places_t *places, uint32_t object,
                                    uint64_t offset) {
  symbols_table_t *table =
      &places->tables[hash(object, offset) % SYMBOLS_NR_TABLES];
  symbols_entry_t *entry;

  if (places->nr == SYMBOLS_MAX_PLACES)
    return NULL;
  if (table->nr * 2 >= table->size)
    grow(table);
  entry = allocate(places);
  entry->object = object;
  entry->offset = offset;
  *find_slot(table, object, offset) = entry;
  table->nr++;
  places->nr++;
  return entry;
}

void symbols_places_free(symbols_places_t *places) {
  size_t i;

  for (i = 0; i < SYMBOLS_NR_TABLES; i++)
    free(places->tables[i].entries);
  for (i = 0; i < places->nr_blocks; i++)
    free(places->blocks[i]);
  free(places->blocks);
  memset(places, 0, sizeof(*places));
}
