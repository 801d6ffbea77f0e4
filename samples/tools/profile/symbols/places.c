/* SPDX-License-Identifier: MIT */
#include "profile/symbols/places.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

void symbols_places_init(symbols_places_t *places) {
  memset(places, 0, sizeof(*places));
  common_tally_init(&places->keys, sizeof(uint64_t));
}

void symbols_places_free(symbols_places_t *places) {
  common_tally_free(&places->keys);
  free(places->entries);
}

symbols_entry_t *symbols_places_find(const symbols_places_t *places,
                                     uint32_t object, uint64_t offset) {
  const uint64_t item = object;
  const common_entry_t *key =
      common_tally_find(&places->keys, offset, &item, 1);

  return key == NULL ? NULL : &places->entries[key->index];
}

symbols_entry_t *symbols_places_add(symbols_places_t *places, uint32_t object,
                                    uint64_t offset) {
  const uint64_t item = object;
  symbols_entry_t *entry;

  if (places->nr == SYMBOLS_MAX_PLACES ||
      common_tally_get(&places->keys, offset, &item, 1) == NULL)
    return NULL;
  entry = COMMON_ADD(places->entries, places->nr, places->capacity);
  *entry = (symbols_entry_t){.object = object, .offset = offset};
  return entry;
}
