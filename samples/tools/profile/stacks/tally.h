/* SPDX-License-Identifier: MIT */
/* A hash table that counts samples by a key. A key is a number and an array of
 * items. The caller decides what they mean. */
#ifndef STACKS_TALLY_H
#define STACKS_TALLY_H

#include <stddef.h>
#include <stdint.h>

typedef struct stacks_entry_s {
  uint64_t hash;
  uint64_t samples;
  uint64_t weight;
  uint64_t number;
  size_t nr;   /* items */
  void *items; /* after this struct in memory */
} stacks_entry_t;

typedef struct stacks_tally_s {
  stacks_entry_t **entries; /* a hash table with empty places */
  size_t nr_places;         /* a power of two */
  size_t nr;
  size_t bytes;
  size_t item_bytes; /* a multiple of 8, without padding */
} stacks_tally_t;

void stacks_tally_init(stacks_tally_t *tally, size_t item_bytes);
void stacks_tally_free(stacks_tally_t *tally);

/* Returns the entry of a key. A new key is copied. Returns NULL if the key is
 * new and 128 MiB are full, so that very many stacks cannot fill the machine's
 * memory. */
stacks_entry_t *stacks_tally_get(stacks_tally_t *tally, uint64_t number,
                                 const void *items, size_t nr);

/* Returns the entry of a key, or NULL. */
const stacks_entry_t *stacks_tally_find(const stacks_tally_t *tally,
                                        uint64_t number, const void *items,
                                        size_t nr);

/* Returns the entries, the heaviest first, in an array of *nr entries. Free the
 * array with free(). Entries of equal weight are in the order of their
 * hashes. */
stacks_entry_t **stacks_tally_sorted(const stacks_tally_t *tally, size_t *nr);

#endif
