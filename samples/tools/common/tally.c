/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing, at most half full. */
#include "common/tally.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define MAX_BYTES   ((size_t)128 << 20)
#define BLOCK_BYTES ((size_t)32 << 10)

void common_tally_init(common_tally_t *tally, size_t item_bytes) {
  memset(tally, 0, sizeof(*tally));
  tally->item_bytes = item_bytes;
}

void common_tally_free(common_tally_t *tally) {
  size_t i;

  for (i = 0; i < tally->nr_blocks; i++)
    free(tally->blocks[i]);
  free(tally->blocks);
  free(tally->entries);
  free(tally->places);
  memset(tally, 0, sizeof(*tally));
}

/* The finalizer of MurmurHash3 over each word. */
static uint64_t hash_key(uint64_t number, const void *items, size_t bytes) {
  uint64_t hash = number, word;
  size_t i;

  for (i = 0; i <= bytes; i += sizeof(word)) {
    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    hash ^= hash >> 33;
    if (i == bytes)
      break;
    memcpy(&word, (const char *)items + i, sizeof(word));
    hash ^= word;
  }
  return hash;
}

static common_entry_t **find_place(const common_tally_t *tally,
                                   const common_entry_t *key) {
  size_t i = (size_t)key->hash & (tally->nr_places - 1);
  const common_entry_t *entry;

  while ((entry = tally->places[i]) != NULL) {
    if (entry->hash == key->hash && entry->number == key->number &&
        entry->nr == key->nr &&
        (key->nr == 0 ||
         memcmp(entry->items, key->items, key->nr * tally->item_bytes) == 0))
      break;
    i = (i + 1) & (tally->nr_places - 1);
  }
  return &tally->places[i];
}

static void grow(common_tally_t *tally) {
  size_t i;

  free(tally->places);
  tally->nr_places = tally->nr_places == 0 ? 1024 : tally->nr_places * 2;
  tally->places = common_calloc(tally->nr_places, sizeof(*tally->places));
  for (i = 0; i < tally->nr; i++)
    *find_place(tally, tally->entries[i]) = tally->entries[i];
}

/* Entries are freed together, so they share blocks of memory. */
static void *allocate(common_tally_t *tally, size_t bytes) {
  size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

  if (tally->left < bytes) {
    tally->next = common_calloc(1, size);
    tally->left = size;
    *COMMON_ADD(tally->blocks, tally->nr_blocks, tally->block_capacity) =
        tally->next;
  }
  tally->left -= bytes;
  tally->next += bytes;
  return tally->next - bytes;
}

static common_entry_t *copy(common_tally_t *tally, const common_entry_t *key,
                            size_t bytes) {
  common_entry_t *entry = allocate(tally, sizeof(*entry) + bytes);

  *entry = *key;
  entry->items = entry + 1;
  if (bytes > 0)
    memcpy(entry->items, key->items, bytes);
  return entry;
}

static common_entry_t key_of(const common_tally_t *tally, uint64_t number,
                             const void *items, size_t nr) {
  common_entry_t key = {.number = number, .nr = nr};

  key.hash = hash_key(number, items, nr * tally->item_bytes);
  key.items = (void *)(uintptr_t)items;
  return key;
}

const common_entry_t *common_tally_find(const common_tally_t *tally,
                                        uint64_t number, const void *items,
                                        size_t nr) {
  const common_entry_t key = key_of(tally, number, items, nr);

  return tally->nr == 0 ? NULL : *find_place(tally, &key);
}

common_entry_t *common_tally_get(common_tally_t *tally, uint64_t number,
                                 const void *items, size_t nr) {
  common_entry_t key = key_of(tally, number, items, nr);
  size_t bytes = nr * tally->item_bytes;
  common_entry_t **place;

  if (tally->nr >= tally->nr_places / 2)
    grow(tally);
  place = find_place(tally, &key);
  if (*place != NULL || tally->bytes >= MAX_BYTES)
    return *place;
  key.index = tally->nr;
  *place = copy(tally, &key, bytes);
  *COMMON_ADD(tally->entries, tally->nr, tally->capacity) = *place;
  tally->bytes += sizeof(key) + bytes;
  return *place;
}

common_entry_t *common_tally_text(common_tally_t *tally, const char *text) {
  uint64_t words[COMMON_TALLY_TEXT / 8 + 1];
  size_t size = strnlen(text, COMMON_TALLY_TEXT);

  words[size / 8] = 0;
  memcpy(words, text, size);
  return common_tally_get(tally, 0, words, size / 8 + 1);
}

/* The order of equal entries must not depend on addresses. */
static int compare(const void *a, const void *b) {
  const common_entry_t *left = *(common_entry_t *const *)a;
  const common_entry_t *right = *(common_entry_t *const *)b;

  if (left->weight != right->weight)
    return left->weight > right->weight ? -1 : 1;
  if (left->samples != right->samples)
    return left->samples > right->samples ? -1 : 1;
  return (left->hash > right->hash) - (left->hash < right->hash);
}

common_entry_t **common_tally_sorted(const common_tally_t *tally, size_t *nr) {
  common_entry_t **sorted =
      common_copy(tally->entries, tally->nr * sizeof(*tally->entries));

  *nr = tally->nr;
  if (tally->nr > 0)
    qsort(sorted, tally->nr, sizeof(*sorted), compare);
  return sorted;
}
