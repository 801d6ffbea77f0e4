/* SPDX-License-Identifier: MIT */
/* Items by their numbers: a hash table. Items stay where they are in memory. */
#ifndef COMMON_BY_ID_H
#define COMMON_BY_ID_H

#include <stddef.h>
#include <stdint.h>

/* The first member of each item. */
typedef struct common_item_s {
  struct common_item_s *next; /* in the same place of the table */
  uint64_t id;
} common_item_t;

/* All zero at first. */
typedef struct common_by_id_s {
  common_item_t **places;
  size_t nr_places; /* a power of two, or 0 */
  size_t nr;
} common_by_id_t;

/* Removes all items, and releases each with this function. */
void common_by_id_free(common_by_id_t *items, void (*free_item)(void *item));

/* Returns the item, or NULL. */
void *common_by_id_find(const common_by_id_t *items, uint64_t id);

/* Returns the item. If there is none, adds one of `size` bytes, all zero but
 * the first member. */
void *common_by_id_get(common_by_id_t *items, uint64_t id, size_t size);

/* Removes an item, which the caller releases. */
void common_by_id_remove(common_by_id_t *items, void *item);

/* Gives an item another number, which no other item has. */
void common_by_id_move(common_by_id_t *items, void *item, uint64_t id);

/* Returns the next item, in no particular order. Pass NULL to get the first
 * item. Returns NULL after the last item. Add no items between the calls. */
void *common_by_id_next(const common_by_id_t *items, const void *item);

#endif
