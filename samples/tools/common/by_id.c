/* SPDX-License-Identifier: MIT */
/* Ids are those of tasks or calls, so their lowest bits differ most. */
#include "common/by_id.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define FIRST_PLACES 16

static size_t place_number(const common_by_id_t *items, uint64_t id) {
  return (size_t)id & (items->nr_places - 1);
}

/* Returns the link to the item, or the last link of its place. */
static common_item_t **link_of(const common_by_id_t *items, uint64_t id) {
  common_item_t **link = &items->places[place_number(items, id)];

  while (*link != NULL && (*link)->id != id)
    link = &(*link)->next;
  return link;
}

static void by_id_grow(common_by_id_t *items) {
  common_by_id_t old = *items;
  common_item_t *item;
  size_t i;

  items->nr_places = old.nr_places == 0 ? FIRST_PLACES : 2 * old.nr_places;
  items->places = common_calloc(items->nr_places, sizeof(*items->places));
  for (i = 0; i < old.nr_places; i++) {
    while ((item = old.places[i]) != NULL) {
      old.places[i] = item->next;
      item->next = NULL;
      *link_of(items, item->id) = item;
    }
  }
  free(old.places);
}

void *common_by_id_find(const common_by_id_t *items, uint64_t id) {
  return items->nr == 0 ? NULL : *link_of(items, id);
}

void *common_by_id_get(common_by_id_t *items, uint64_t id, size_t size) {
  common_item_t *item = common_by_id_find(items, id);

  if (item != NULL)
    return item;
  if (items->nr == items->nr_places)
    by_id_grow(items);
  item = common_calloc(1, size);
  item->id = id;
  *link_of(items, id) = item;
  items->nr++;
  return item;
}

void common_by_id_remove(common_by_id_t *items, void *item) {
  common_item_t *removed = item;

  *link_of(items, removed->id) = removed->next;
  items->nr--;
}

void common_by_id_move(common_by_id_t *items, void *item, uint64_t id) {
  common_item_t *moved = item;

  *link_of(items, moved->id) = moved->next;
  moved->next = NULL;
  moved->id = id;
  *link_of(items, id) = moved;
}

void *common_by_id_next(const common_by_id_t *items, const void *item) {
  const common_item_t *before = item;
  size_t i = 0;

  if (before != NULL) {
    if (before->next != NULL)
      return before->next;
    i = place_number(items, before->id) + 1;
  }
  while (i < items->nr_places && items->places[i] == NULL)
    i++;
  return i < items->nr_places ? items->places[i] : NULL;
}

void common_by_id_free(common_by_id_t *items, void (*free_item)(void *item)) {
  void *item, *next;

  for (item = common_by_id_next(items, NULL); item != NULL; item = next) {
    next = common_by_id_next(items, item);
    free_item(item);
  }
  free(items->places);
  memset(items, 0, sizeof(*items));
}
