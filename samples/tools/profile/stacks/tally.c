/* SPDX-License-Identifier: MIT */
/* Open addressing with linear probing, at most half full. */
#include "profile/stacks/tally.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define MAX_BYTES ((size_t)128 << 20)

void stacks_tally_init(stacks_tally_t *tally, size_t item_bytes) {
  memset(tally, 0, sizeof(*tally));
  tally->item_bytes = item_bytes;
  tally->nr_places = 1024;
  tally->entries = common_calloc(tally->nr_places, sizeof(*tally->entries));
}

void stacks_tally_free(stacks_tally_t *tally) {
  size_t i;

  for (i = 0; i < tally->nr_places; i++)
    free(tally->entries[i]);
  free(tally->entries);
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

static stacks_entry_t **find_place(const stacks_tally_t *tally,
                                   const stacks_entry_t *key) {
  size_t i = (size_t)key->hash & (tally->nr_places - 1);
  const stacks_entry_t *entry;

  while ((entry = tally->entries[i]) != NULL) {
    if (entry->hash == key->hash && entry->number == key->number &&
        entry->nr == key->nr &&
        (key->nr == 0 ||
         memcmp(entry->items, key->items, key->nr * tally->item_bytes) == 0))
      break;
    i = (i + 1) & (tally->nr_places - 1);
  }
  return &tally->entries[i];
}

static void grow(stacks_tally_t *tally) {
  stacks_entry_t **old = tally->entries;
  size_t i, nr = tally->nr_places;

  tally->nr_places *= 2;
  tally->entries = common_calloc(tally->nr_places, sizeof(*tally->entries));
  for (i = 0; i < nr; i++) {
    if (old[i] != NULL)
      *find_place(tally, old[i]) = old[i];
  }
  free(old);
}

static stacks_entry_t *copy(const stacks_entry_t *key, size_t bytes) {
  stacks_entry_t *entry = common_calloc(1, sizeof(*entry) + bytes);

  *entry = *key;
  entry->items = entry + 1;
  if (bytes > 0)
    memcpy(entry->items, key->items, bytes);
  return entry;
}

static stacks_entry_t key_of(const stacks_tally_t *tally, uint64_t number,
                             const void *items, size_t nr) {
  stacks_entry_t key = {.number = number, .nr = nr};

  key.hash = hash_key(number, items, nr * tally->item_bytes);
  key.items = (void *)(uintptr_t)items;
  return key;
}

const stacks_entry_t *stacks_tally_find(const stacks_tally_t *tally,
                                        uint64_t number, const void *items,
                                        size_t nr) {
  const stacks_entry_t key = key_of(tally, number, items, nr);

  return *find_place(tally, &key);
}

stacks_entry_t *stacks_tally_get(stacks_tally_t *tally, uint64_t number,
                                 const void *items, size_t nr) {
  stacks_entry_t key = key_of(tally, number, items, nr);
  size_t bytes = nr * tally->item_bytes;
  stacks_entry_t **place, *entry;

  place = find_place(tally, &key);
  entry = *place;
  if (entry != NULL)
    return entry;
  if (tally->bytes >= MAX_BYTES)
    return NULL;
  entry = *place = copy(&key, bytes);
  tally->bytes += sizeof(*entry) + bytes;
  if (++tally->nr > tally->nr_places / 2)
    grow(tally);
  return entry;
}

/* The order of equal entries must not depend on addresses. */
static int compare(const void *a, const void *b) {
  const stacks_entry_t *left = *(stacks_entry_t *const *)a;
  const stacks_entry_t *right = *(stacks_entry_t *const *)b;

  if (left->weight != right->weight)
    return left->weight > right->weight ? -1 : 1;
  if (left->samples != right->samples)
    return left->samples > right->samples ? -1 : 1;
  return (left->hash > right->hash) - (left->hash < right->hash);
}

stacks_entry_t **stacks_tally_sorted(const stacks_tally_t *tally, size_t *nr) {
  stacks_entry_t **sorted = common_calloc(tally->nr + 1, sizeof(*sorted));
  size_t i, used = 0;

  for (i = 0; i < tally->nr_places; i++) {
    if (tally->entries[i] != NULL)
      sorted[used++] = tally->entries[i];
  }
  qsort(sorted, used, sizeof(*sorted), compare);
  *nr = used;
  return sorted;
}
