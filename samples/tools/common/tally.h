/* SPDX-License-Identifier: MIT */
/* A hash table that counts samples by a key. A key is a number and an array of
 * items. The caller decides what they mean. */
#ifndef COMMON_TALLY_H
#define COMMON_TALLY_H

#include <stddef.h>
#include <stdint.h>

typedef struct common_entry_s {
  size_t index; /* in `entries` */
  uint64_t hash;
  uint64_t samples;
  uint64_t weight;
  uint64_t number;
  size_t nr;   /* items */
  void *items; /* after this struct in memory */
} common_entry_t;

typedef struct common_tally_s {
  common_entry_t **entries; /* in the order in which they were added */
  size_t nr, capacity;
  common_entry_t **places; /* a hash table with empty places */
  size_t nr_places;        /* a power of two, or 0 */
  size_t bytes;
  size_t item_bytes; /* a multiple of 8, without padding */
  char **blocks;     /* memory of the entries */
  size_t nr_blocks, block_capacity;
  char *next; /* in the last block, where `left` bytes are free */
  size_t left;
} common_tally_t;

/* Zeros are a tally of keys without items. */
void common_tally_init(common_tally_t *tally, size_t item_bytes);
void common_tally_free(common_tally_t *tally);

/* Returns the entry of a key. A new key is copied. Returns NULL if the key is
 * new and 128 MiB are full, so that very many stacks cannot fill the machine's
 * memory. */
common_entry_t *common_tally_get(common_tally_t *tally, uint64_t number,
                                 const void *items, size_t nr);

/* Returns the entry of a text, if item_bytes is 8. Its items are the text, cut
 * at COMMON_TALLY_TEXT bytes, and at least one NUL. */
#define COMMON_TALLY_TEXT 4095
common_entry_t *common_tally_text(common_tally_t *tally, const char *text);

/* Returns the entry of a key, or NULL. */
const common_entry_t *common_tally_find(const common_tally_t *tally,
                                        uint64_t number, const void *items,
                                        size_t nr);

/* Returns the entries, the heaviest first, in an array of *nr entries. Free the
 * array with free(). Entries of equal weight are in the order of their
 * hashes. */
common_entry_t **common_tally_sorted(const common_tally_t *tally, size_t *nr);

#endif
