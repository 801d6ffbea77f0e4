/* SPDX-License-Identifier: MIT */
/* Each table is an array and a tally. The tally finds the index of an existing
 * item by the ids of its names. */
#include "profile/stacks/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/tally.h"
#include "profile/stacks/names.h"

/* A table of items, with their indices by the ids of names that identify
 * them. */
typedef struct index_s {
  common_tally_t keys; /* the weight of an entry is its index */
  void *items;
  size_t capacity, size; /* of the array, of an item */
} index_t;

typedef struct stacks_tables_s {
  stacks_names_t names;
  index_t objects, functions, tasks;
  common_tally_t stacks;
} stacks_tables_t;

/* -- tables ---------------------------------------------------------------- */

static void index_init(index_t *index, size_t size) {
  memset(index, 0, sizeof(*index));
  index->size = size;
  common_tally_init(&index->keys, sizeof(uint64_t));
}

static void index_free(index_t *index) {
  common_tally_free(&index->keys);
  free(index->items);
}

static void *index_at(const index_t *index, size_t i) {
  return (char *)index->items + i * index->size;
}

/* Finds the index of a key. If the key is new, returns its item, which the
 * caller fills in. Otherwise returns NULL. */
static void *index_add(index_t *index, const uint64_t *key, size_t nr,
                       uint32_t *i) {
  size_t before = index->keys.nr;
  const common_entry_t *entry = common_tally_get(&index->keys, 0, key, nr);

  *i = entry == NULL ? STACKS_OTHER : (uint32_t)entry->index;
  if (index->keys.nr == before)
    return NULL;
  if (before == index->capacity)
    index->items = common_grow(index->items, &index->capacity, index->size);
  return index_at(index, before);
}

static uint64_t id_of(stacks_tables_t *tables, const char *name) {
  return stacks_names_add(&tables->names, name == NULL ? "" : name);
}

static const char *name_of(const stacks_tables_t *tables, uint64_t id) {
  return stacks_names_get(&tables->names, (uint32_t)id);
}

uint32_t stacks_object(stacks_t *stacks, const stacks_object_t *object) {
  stacks_tables_t *tables = stacks->tables;
  uint64_t key[5] = {id_of(tables, object->name), id_of(tables, object->path)};
  stacks_object_t *added;
  uint32_t i;

  memcpy(key + 2, object->build_id, sizeof(object->build_id));
  added = index_add(&tables->objects, key, 5, &i);
  if (added != NULL) {
    *added = *object;
    added->name = name_of(tables, key[0]);
    added->path = name_of(tables, key[1]);
  }
  return i;
}

uint32_t stacks_function(stacks_t *stacks, const stacks_function_t *function) {
  stacks_tables_t *tables = stacks->tables;
  uint64_t key[3] = {id_of(tables, function->name),
                     id_of(tables, function->linked_name), function->object};
  uint32_t i;
  stacks_function_t *added = index_add(&tables->functions, key, 3, &i);

  if (added != NULL) {
    added->name = name_of(tables, key[0]);
    added->linked_name = name_of(tables, key[1]);
    added->file = name_of(tables, id_of(tables, function->file));
    added->object = function->object;
  }
  return i;
}

uint32_t stacks_task(stacks_t *stacks, const stacks_task_t *task) {
  stacks_tables_t *tables = stacks->tables;
  uint64_t key[5] = {id_of(tables, task->thread), id_of(tables, task->process),
                     id_of(tables, task->cgroup), task->pid, task->tid};
  uint32_t i;
  stacks_task_t *added = index_add(&tables->tasks, key, 5, &i);

  if (added != NULL) {
    *added = *task;
    added->thread = name_of(tables, key[0]);
    added->process = name_of(tables, key[1]);
    added->cgroup = name_of(tables, key[2]);
  }
  return i;
}

static const stacks_frame_t other = {0, STACKS_OTHER, 0, 0};

/* -- stacks ---------------------------------------------------------------- */

void stacks_init(stacks_t *stacks) {
  const stacks_object_t object = {.name = "[other]", .path = ""};
  const stacks_function_t function = {"[other]", "[other]", "", STACKS_OTHER};
  const stacks_task_t task = {0, 0, "[other]", "[other]", ""};
  stacks_tables_t *tables = common_calloc(1, sizeof(*tables));

  memset(stacks, 0, sizeof(*stacks));
  stacks->event = stacks->unit = "";
  stacks->tables = tables;
  stacks_names_init(&tables->names);
  index_init(&tables->objects, sizeof(stacks_object_t));
  index_init(&tables->functions, sizeof(stacks_function_t));
  index_init(&tables->tasks, sizeof(stacks_task_t));
  common_tally_init(&tables->stacks, sizeof(stacks_frame_t));
  /* [other] exists from now on, so it is never refused. */
  common_tally_get(&tables->stacks, STACKS_OTHER, &other, 1);
  stacks_object(stacks, &object);
  stacks_function(stacks, &function);
  stacks_task(stacks, &task);
}

void stacks_free(stacks_t *stacks) {
  stacks_tables_t *tables = stacks->tables;

  stacks_names_free(&tables->names);
  index_free(&tables->objects);
  index_free(&tables->functions);
  index_free(&tables->tasks);
  common_tally_free(&tables->stacks);
  free(tables);
  memset(stacks, 0, sizeof(*stacks));
}

void stacks_add(stacks_t *stacks, uint32_t task, const stacks_frame_t *frames,
                size_t nr_frames, uint64_t samples, uint64_t weight) {
  common_tally_t *tally = &stacks->tables->stacks;
  common_entry_t *entry;

  entry = common_tally_get(tally, task, frames, nr_frames);
  if (entry == NULL)
    entry = common_tally_get(tally, STACKS_OTHER, &other, 1);
  entry->samples += samples;
  entry->weight += weight;
  stacks->samples += samples;
  stacks->weight += weight;
}

size_t stacks_nr_objects(const stacks_t *stacks) {
  return stacks->tables->objects.keys.nr;
}

const stacks_object_t *stacks_get_object(const stacks_t *stacks, uint32_t i) {
  return index_at(&stacks->tables->objects, i);
}

size_t stacks_nr_functions(const stacks_t *stacks) {
  return stacks->tables->functions.keys.nr;
}

const stacks_function_t *stacks_get_function(const stacks_t *stacks,
                                             uint32_t i) {
  return index_at(&stacks->tables->functions, i);
}

size_t stacks_nr_tasks(const stacks_t *stacks) {
  return stacks->tables->tasks.keys.nr;
}

const stacks_task_t *stacks_get_task(const stacks_t *stacks, uint32_t i) {
  return index_at(&stacks->tables->tasks, i);
}

stacks_stack_t *stacks_sorted(const stacks_t *stacks, size_t *nr) {
  common_entry_t **entries = common_tally_sorted(&stacks->tables->stacks, nr);
  stacks_stack_t *sorted = common_calloc(*nr + 1, sizeof(*sorted));
  size_t i;

  for (i = 0; i < *nr; i++) {
    sorted[i].frames = entries[i]->items;
    sorted[i].nr_frames = entries[i]->nr;
    sorted[i].task = (uint32_t)entries[i]->number;
    sorted[i].samples = entries[i]->samples;
    sorted[i].weight = entries[i]->weight;
  }
  /* Drop [other] if nothing was added to it. In that case it is the last
   * stack. */
  while (*nr > 0 && sorted[*nr - 1].samples == 0)
    --*nr;
  free(entries);
  return sorted;
}
