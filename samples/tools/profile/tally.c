/* SPDX-License-Identifier: MIT */
/* A hash table of counters. Does not know what the words of a key mean. */
#include "profile/tally.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* A machine with very many different stacks must not fill its memory with
 * them: past this the new ones are counted together. */
#define MAX_BYTES ((size_t)128 << 20)

void profile_tally_init(profile_tally_t *tally) {
  memset(tally, 0, sizeof(*tally));
  tally->nr_places = 1024;
  tally->entries = common_calloc(tally->nr_places, sizeof(*tally->entries));
}

void profile_tally_free(profile_tally_t *tally) {
  size_t i;

  for (i = 0; i < tally->nr_places; i++)
    free(tally->entries[i]);
  free(tally->entries);
  memset(tally, 0, sizeof(*tally));
}

/* The finalizer of MurmurHash3 over each word. */
static uint64_t hash_words(const uint64_t *words, size_t nr) {
  uint64_t hash = nr;
  size_t i;

  for (i = 0; i < nr; i++) {
    hash ^= words[i];
    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    hash ^= hash >> 33;
  }
  return hash;
}

static profile_entry_t **find_place(const profile_tally_t *tally, uint64_t hash,
                                    const uint64_t *words, size_t nr) {
  size_t i = (size_t)hash & (tally->nr_places - 1);
  const profile_entry_t *entry;

  while ((entry = tally->entries[i]) != NULL) {
    if (entry->hash == hash && entry->nr == nr &&
        memcmp(entry->words, words, nr * sizeof(*words)) == 0)
      break;
    i = (i + 1) & (tally->nr_places - 1);
  }
  return &tally->entries[i];
}

static void grow(profile_tally_t *tally) {
  profile_entry_t **old = tally->entries;
  size_t i, nr = tally->nr_places;

  tally->nr_places *= 2;
  tally->entries = common_calloc(tally->nr_places, sizeof(*tally->entries));
  for (i = 0; i < nr; i++) {
    if (old[i] != NULL)
      *find_place(tally, old[i]->hash, old[i]->words, old[i]->nr) = old[i];
  }
  free(old);
}

static profile_entry_t *new_entry(uint64_t hash, const uint64_t *words,
                                  size_t nr) {
  profile_entry_t *entry;

  entry = common_calloc(1, sizeof(*entry) + nr * sizeof(*words));
  entry->hash = hash;
  entry->nr = nr;
  memcpy(entry->words, words, nr * sizeof(*words));
  return entry;
}

void profile_tally_add(profile_tally_t *tally, const uint64_t *words, size_t nr,
                       uint64_t weight) {
  uint64_t hash = hash_words(words, nr);
  profile_entry_t **place = find_place(tally, hash, words, nr);
  profile_entry_t *entry = *place;

  if (entry == NULL && tally->bytes >= MAX_BYTES) {
    tally->other_samples++;
    tally->other_weight += weight;
    return;
  }
  if (entry == NULL) {
    entry = *place = new_entry(hash, words, nr);
    tally->bytes += sizeof(*entry) + nr * sizeof(*words);
    if (++tally->nr > tally->nr_places / 2)
      grow(tally);
  }
  entry->samples++;
  entry->weight += weight;
}

/* Among equals the order must not depend on addresses. */
static int compare(const void *a, const void *b) {
  const profile_entry_t *left = *(profile_entry_t *const *)a;
  const profile_entry_t *right = *(profile_entry_t *const *)b;

  if (left->weight != right->weight)
    return left->weight > right->weight ? -1 : 1;
  if (left->samples != right->samples)
    return left->samples > right->samples ? -1 : 1;
  return (left->hash > right->hash) - (left->hash < right->hash);
}

profile_entry_t **profile_tally_sorted(const profile_tally_t *tally,
                                       size_t *nr) {
  profile_entry_t **sorted = common_calloc(tally->nr + 1, sizeof(*sorted));
  size_t i, used = 0;

  for (i = 0; i < tally->nr_places; i++) {
    if (tally->entries[i] != NULL)
      sorted[used++] = tally->entries[i];
  }
  qsort(sorted, used, sizeof(*sorted), compare);
  *nr = used;
  return sorted;
}
