/* SPDX-License-Identifier: MIT */
/* Counts samples by a key, which is an array of words. */
#ifndef PROFILE_TALLY_H
#define PROFILE_TALLY_H

#include <stddef.h>
#include <stdint.h>

typedef struct profile_entry_s {
  uint64_t hash;
  uint64_t samples;
  uint64_t weight; /* sum of the periods: events, or nanoseconds */
  size_t nr;
  uint64_t words[];
} profile_entry_t;

typedef struct profile_tally_s {
  profile_entry_t **entries; /* a hash table with empty places */
  size_t nr_places;          /* a power of two */
  size_t nr;
  size_t bytes;
  /* Samples whose key no longer fitted into the memory that a tally may
   * take; they are counted, but not told apart. */
  uint64_t other_samples;
  uint64_t other_weight;
} profile_tally_t;

void profile_tally_init(profile_tally_t *tally);
void profile_tally_free(profile_tally_t *tally);

/* Counts one sample. */
void profile_tally_add(profile_tally_t *tally, const uint64_t *words, size_t nr,
                       uint64_t weight);

/* The entries in an array for free(), heaviest first; *nr of them. */
profile_entry_t **profile_tally_sorted(const profile_tally_t *tally,
                                       size_t *nr);

#endif
