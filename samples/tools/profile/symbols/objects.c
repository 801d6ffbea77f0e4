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

void symbols_objects_init(symbols_objects_t *objects) {
  struct rlimit limit;

  memset(objects, 0, sizeof(*objects));
  uv_mutex_init(&objects->lock);
  objects->nr_buckets = 256;
  objects->buckets = common_calloc(objects->nr_buckets, sizeof(uint32_t));
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
  free(objects->buckets);
  free(objects->open);
  uv_mutex_destroy(&objects->lock);
}

/* -- on the loop ----------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;

  for (; size > 0; size--)
    hash = (hash ^ *at++) * UINT64_C(1099511628211);
  return hash;
}

static int is_low(const symbols_mapping_t *mapping) {
  return mapping->end <= UINT64_C(1) << 32;
}

/* Hashes the fields that same_object compares. */
static uint64_t hash_mapping(const symbols_mapping_t *mapping) {
  uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)mapping->kind;

  hash = mix(hash, mapping->build_id, mapping->build_id_bytes);
  if (mapping->kind == SYMBOLS_JIT)
    return mix(hash ^ mapping->image, &mapping->pid, sizeof(mapping->pid));
  if (mapping->kind == SYMBOLS_VDSO)
    return hash ^ (uint64_t)is_low(mapping);
  hash = mix(hash, &mapping->inode, sizeof(mapping->inode));
  hash = mix(hash, &mapping->generation, sizeof(mapping->generation));
  return mix(hash, mapping->path, strlen(mapping->path));
}

static int same_object(const symbols_mapping_t *a, const symbols_mapping_t *b) {
  if (a->kind != b->kind || a->build_id_bytes != b->build_id_bytes ||
      memcmp(a->build_id, b->build_id, a->build_id_bytes) != 0)
    return 0;
  if (a->kind == SYMBOLS_JIT)
    return a->pid == b->pid && a->image == b->image;
  if (a->kind == SYMBOLS_VDSO)
    return is_low(a) == is_low(b);
  return a->inode == b->inode && a->generation == b->generation &&
         a->major == b->major && a->minor == b->minor &&
         a->is_recorded == b->is_recorded && strcmp(a->path, b->path) == 0;
}

static uint32_t *find_bucket(const symbols_objects_t *objects,
                             const symbols_mapping_t *mapping) {
  size_t i = (size_t)hash_mapping(mapping) & (objects->nr_buckets - 1);

  while (objects->buckets[i] != 0 &&
         !same_object(&objects->objects[objects->buckets[i] - 1]->mapping,
                      mapping))
    i = (i + 1) & (objects->nr_buckets - 1);
  return &objects->buckets[i];
}

static void grow_buckets(symbols_objects_t *objects) {
  size_t i;

  objects->nr_buckets *= 2;
  free(objects->buckets);
  objects->buckets = common_calloc(objects->nr_buckets, sizeof(uint32_t));
  for (i = 0; i < objects->nr; i++)
    *find_bucket(objects, &objects->objects[i]->mapping) = (uint32_t)i + 1;
}

static symbols_object_t *add(symbols_objects_t *objects,
                             const symbols_mapping_t *mapping) {
  symbols_object_t *object = common_calloc(1, sizeof(*object));

  if (objects->nr == objects->capacity)
    objects->objects = common_grow(objects->objects, &objects->capacity,
                                   sizeof(*objects->objects));
  objects->objects[objects->nr++] = object;
  object->id = (uint32_t)objects->nr;
  object->path = strdup(mapping->path);
  object->mapping = *mapping;
  object->mapping.path = object->path;
  object->fd = object->debug = object->process = -1;
  return object;
}

symbols_object_t *symbols_objects_get(symbols_objects_t *objects,
                                      const symbols_mapping_t *mapping,
                                      int *must_open) {
  symbols_mapping_t copy = *mapping;
  symbols_object_t *object;
  uint32_t *bucket;

  if (copy.path == NULL)
    copy.path = "";
  if (copy.build_id_bytes > sizeof(copy.build_id))
    copy.build_id_bytes = sizeof(copy.build_id);
  bucket = find_bucket(objects, &copy);
  if (*bucket == 0 && objects->nr == SYMBOLS_MAX_OBJECTS)
    return NULL;
  object = *bucket == 0 ? add(objects, &copy) : objects->objects[*bucket - 1];
  *bucket = object->id;
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
  if (objects->nr > objects->nr_buckets / 2)
    grow_buckets(objects);
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
