/* SPDX-License-Identifier: MIT */
#include "profile/symbols/objects.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/memory.h"
#include "profile/symbols/open.h"

/* The most files that are open at once, but never more than a quarter of the
 * process's limit. */
#define MAX_OPEN 256
/* The largest number of objects. */
#define MAX_OBJECTS 65536

void symbols_objects_init(symbols_objects_t *objects) {
  struct rlimit limit;

  memset(objects, 0, sizeof(*objects));
  uv_mutex_init(&objects->lock);
  common_tally_init(&objects->keys, sizeof(uint64_t));
  objects->max_open = MAX_OPEN;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < MAX_OPEN)
    objects->max_open = (size_t)limit.rlim_cur / 4 + 1;
  objects->open = common_calloc(objects->max_open, sizeof(*objects->open));
}

static void close_file(symbols_object_t *object) {
  if (object->fd >= 0)
    close(object->fd);
  if (object->debug >= 0)
    close(object->debug);
  if (object->process >= 0)
    close(object->process);
  object->fd = object->debug = object->process = -1;
  object->has_looked_for_debug = 0;
}

void symbols_objects_free(symbols_objects_t *objects) {
  size_t i;

  for (i = 0; i < objects->nr; i++) {
    close_file(objects->objects[i]);
    free(objects->objects[i]->path);
    free(objects->objects[i]);
  }
  free(objects->objects);
  common_tally_free(&objects->keys);
  free(objects->open);
  uv_mutex_destroy(&objects->lock);
}

/* -- on the loop ----------------------------------------------------------- */

/* A key: what makes a mapping one of the same object. */
typedef struct key_s {
  uint32_t kind, is_recorded;
  uint64_t device, inode, generation;
  uint64_t build_id_bytes;
  unsigned char build_id[24];
  char path[4096];
} object_key_t;

/* A process of 32 bits has another vdso. A JIT is one program of a process. */
static const common_entry_t *find_entry(symbols_objects_t *objects,
                                        const symbols_mapping_t *mapping) {
  size_t bytes = 0;
  object_key_t key;

  memset(&key, 0, offsetof(object_key_t, path));
  key.kind = mapping->kind;
  key.build_id_bytes = mapping->build_id_bytes;
  memcpy(key.build_id, mapping->build_id, mapping->build_id_bytes);
  if (mapping->kind == SYMBOLS_JIT) {
    key.device = (uint64_t)mapping->image << 32 | mapping->pid;
  } else if (mapping->kind == SYMBOLS_VDSO) {
    key.device = mapping->end <= UINT64_C(1) << 32;
  } else {
    key.is_recorded = mapping->is_recorded != 0;
    key.device = (uint64_t)mapping->major << 32 | mapping->minor;
    key.inode = mapping->inode;
    key.generation = mapping->generation;
    bytes = strnlen(mapping->path, sizeof(key.path) - 1);
    memset(key.path + bytes / 8 * 8, 0, 8);
    memcpy(key.path, mapping->path, bytes);
    bytes = bytes / 8 * 8 + 8;
  }
  return common_tally_get(&objects->keys, 0, &key,
                          (offsetof(object_key_t, path) + bytes) / 8);
}

static void objects_add(symbols_objects_t *objects,
                        const symbols_mapping_t *mapping) {
  symbols_object_t *object = common_calloc(1, sizeof(*object));

  *COMMON_ADD(objects->objects, objects->nr, objects->capacity) = object;
  object->id = (uint32_t)objects->nr;
  object->path = strdup(mapping->path);
  object->mapping = *mapping;
  object->mapping.path = object->path;
  object->fd = object->debug = object->process = -1;
}

symbols_object_t *symbols_objects_get(symbols_objects_t *objects,
                                      const symbols_mapping_t *mapping,
                                      int *must_open) {
  symbols_mapping_t copy = *mapping;
  const common_entry_t *entry;
  symbols_object_t *object;

  if (copy.path == NULL)
    copy.path = "";
  if (copy.build_id_bytes > sizeof(copy.build_id))
    copy.build_id_bytes = sizeof(copy.build_id);
  entry = find_entry(objects, &copy);
  if (entry == NULL || entry->index >= MAX_OBJECTS)
    return NULL;
  if (entry->index == objects->nr)
    objects_add(objects, &copy);
  object = objects->objects[entry->index];
  uv_mutex_lock(&objects->lock);
  /* Another process has mapped the file. The file could not be opened through
   * the first process. */
  *must_open = !object->was_added ||
               (object->has_failed && object->mapping.pid != copy.pid);
  object->was_added = 1;
  if (*must_open && !object->is_to_open) {
    object->mapping.pid = copy.pid;
    object->mapping.start = copy.start;
    object->mapping.end = copy.end;
    object->has_failed = 0;
    object->is_to_open = 1;
    object->next_to_open = objects->to_open;
    objects->to_open = object;
  }
  uv_mutex_unlock(&objects->lock);
  return object;
}

int symbols_objects_must_open(symbols_objects_t *objects) {
  int must_open;

  uv_mutex_lock(&objects->lock);
  must_open = objects->to_open != NULL;
  uv_mutex_unlock(&objects->lock);
  return must_open;
}

/* -- on the pool ----------------------------------------------------------- */

static void keep_open(symbols_objects_t *objects, symbols_object_t *object) {
  size_t i, oldest = 0;

  if (objects->nr_open < objects->max_open) {
    objects->open[objects->nr_open++] = object;
    return;
  }
  for (i = 1; i < objects->nr_open; i++) {
    if (objects->open[i]->used < objects->open[oldest]->used)
      oldest = i;
  }
  close_file(objects->open[oldest]);
  objects->open[oldest] = object;
}

static void open_file(symbols_objects_t *objects, symbols_object_t *object,
                      const symbols_mapping_t *mapping) {
  int had_one = object->fd >= 0 || object->process >= 0, fd;

  object->used = ++objects->clock;
  if (mapping->kind == SYMBOLS_JIT) {
    /* A map file may be written late or replaced. When the process has ended,
     * the last map file stays open. */
    if (object->process < 0 && !object->was_tried && !mapping->is_recorded)
      object->process = symbols_open_process(mapping->pid);
    fd = mapping->is_recorded
             ? symbols_open_recorded_map(mapping->pid, object->open_reason)
             : symbols_open_perf_map(object->process, object->open_reason);
    object->is_complete = mapping->is_recorded || fd < 0;
    if (fd >= 0 && object->fd >= 0)
      close(object->fd);
    if (fd >= 0)
      object->fd = fd;
  } else if (object->fd < 0) {
    object->fd = mapping->kind == SYMBOLS_VDSO
                     ? symbols_open_vdso(mapping, object->open_reason)
                     : symbols_open_file(mapping, object->open_reason);
    if (object->changed == 0 && object->fd >= 0)
      object->changed = symbols_open_change(object->fd, NULL);
  }
  object->was_tried = 1;
  if (!had_one && (object->fd >= 0 || object->process >= 0))
    keep_open(objects, object);
}

static symbols_mapping_t mapping_of(symbols_objects_t *objects,
                                    symbols_object_t *object) {
  symbols_mapping_t mapping;

  uv_mutex_lock(&objects->lock);
  mapping = object->mapping;
  uv_mutex_unlock(&objects->lock);
  return mapping;
}

int symbols_objects_file(symbols_objects_t *objects, symbols_object_t *object) {
  symbols_mapping_t mapping = mapping_of(objects, object);

  open_file(objects, object, &mapping);
  uv_mutex_lock(&objects->lock);
  object->has_failed = object->fd < 0;
  uv_mutex_unlock(&objects->lock);
  return object->fd;
}

static symbols_object_t *next_to_open(symbols_objects_t *objects) {
  symbols_object_t *object;

  uv_mutex_lock(&objects->lock);
  object = objects->to_open;
  if (object != NULL) {
    objects->to_open = object->next_to_open;
    object->is_to_open = 0;
  }
  uv_mutex_unlock(&objects->lock);
  return object;
}

void symbols_objects_open(symbols_objects_t *objects) {
  symbols_object_t *object;

  while ((object = next_to_open(objects)) != NULL)
    symbols_objects_file(objects, object);
}
