/* SPDX-License-Identifier: MIT */
/* Ids come and go for months, so a removed id leaves no mark. Instead the ids
 * that follow it move up. Marks would grow in number until every search had to
 * pass all of them. */
#include "decode/id_table.h"

#include <errno.h>

#include "util/alloc.h"

#define FEWEST_SLOTS 4

static int make_slots(uvperf__id_table_t *table, size_t nr_slots) {
  table->slots = uvperf__calloc(nr_slots, sizeof(*table->slots));
  table->nr_slots = nr_slots;
  table->nr_used = 0;
  return table->slots == NULL ? -ENOMEM : 0;
}

int uvperf__id_table_make(uvperf__id_table_t *table) {
  return make_slots(table, FEWEST_SLOTS);
}

void uvperf__id_table_free(uvperf__id_table_t *table) {
  uvperf__free(table->slots);
  table->slots = NULL;
}

void uvperf__id_table_put(uvperf__id_table_t *table, uint64_t id,
                          struct uvperf__reader_s *reader,
                          const uvperf_source_t *source) {
  uvperf__id_slot_t *slot = uvperf__id_table_find(table, id);

  if (slot->reader == NULL)
    table->nr_used += 1;
  slot->id = id;
  slot->reader = reader;
  slot->source = source;
}

int uvperf__id_table_reserve(uvperf__id_table_t *table, size_t nr) {
  uvperf__id_table_t larger;
  size_t nr_slots = table->nr_slots;
  size_t i;

  while (nr_slots / 2 < table->nr_used + nr)
    nr_slots *= 2;
  if (nr_slots == table->nr_slots)
    return 0;
  if (make_slots(&larger, nr_slots) != 0)
    return -ENOMEM;
  for (i = 0; i < table->nr_slots; i++) {
    const uvperf__id_slot_t *slot = &table->slots[i];

    if (slot->reader != NULL)
      uvperf__id_table_put(&larger, slot->id, slot->reader, slot->source);
  }
  uvperf__id_table_free(table);
  *table = larger;
  return 0;
}

/* Returns the distance from slot `other` forward to `slot`, around the end of
 * the table. */
static size_t id_slot_distance(const uvperf__id_table_t *table, size_t slot,
                               size_t other) {
  return (slot - other) & (table->nr_slots - 1);
}

void uvperf__id_table_remove(uvperf__id_table_t *table, uint64_t id) {
  uvperf__id_slot_t *slots = table->slots;
  uvperf__id_slot_t *slot = uvperf__id_table_find(table, id);
  size_t hole = (size_t)(slot - slots);
  size_t i, home;

  if (slot->reader == NULL)
    return;
  for (i = id_slot_distance(table, hole + 1, 0); slots[i].reader != NULL;
       i = id_slot_distance(table, i + 1, 0)) {
    home = uvperf__id_table_home(table, slots[i].id);
    /* An id moves into the hole if a search for this id would end at the
     * hole. */
    if (id_slot_distance(table, i, home) < id_slot_distance(table, i, hole))
      continue;
    slots[hole] = slots[i];
    hole = i;
  }
  slots[hole].reader = NULL;
  table->nr_used -= 1;
}
