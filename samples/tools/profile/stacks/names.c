/* SPDX-License-Identifier: MIT */
/* Stores each name once, so that a frame is only a few numbers. Other processes
 * choose the names. So names are cleaned when they are added, and their number
 * is bounded. */
#include "profile/stacks/names.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"

#define MAX_NAMES      (1u << 18)
#define MAX_NAME_BYTES 1001

/* FNV-1a. */
static uint32_t hash_name(const char *name) {
  uint32_t hash = 2166136261u;

  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash;
}

static uint32_t *find_bucket(const stacks_names_t *names, const char *name) {
  size_t i = hash_name(name) & (names->nr_buckets - 1);

  while (names->buckets[i] != 0 &&
         strcmp(names->names[names->buckets[i] - 1], name) != 0)
    i = (i + 1) & (names->nr_buckets - 1);
  return &names->buckets[i];
}

static void grow_buckets(stacks_names_t *names) {
  size_t id;

  names->nr_buckets *= 2;
  free(names->buckets);
  names->buckets = common_calloc(names->nr_buckets, sizeof(uint32_t));
  for (id = 0; id < names->nr; id++)
    *find_bucket(names, names->names[id]) = (uint32_t)id + 1;
}

void stacks_names_init(stacks_names_t *names) {
  memset(names, 0, sizeof(*names));
  names->nr_buckets = 1024;
  names->buckets = common_calloc(names->nr_buckets, sizeof(uint32_t));
  stacks_names_add(names, "[other]");
}

void stacks_names_free(stacks_names_t *names) {
  size_t id;

  for (id = 0; id < names->nr; id++)
    free(names->names[id]);
  free(names->names);
  free(names->buckets);
  memset(names, 0, sizeof(*names));
}

uint32_t stacks_names_add(stacks_names_t *names, const char *name) {
  char clean[MAX_NAME_BYTES];
  uint32_t *bucket;
  size_t size;

  common_text_clean(clean, sizeof(clean), name);
  bucket = find_bucket(names, clean);
  if (*bucket != 0)
    return *bucket - 1;
  if (names->nr == MAX_NAMES)
    return STACKS_NAMES_OTHER;
  if (names->nr == names->capacity)
    names->names =
        common_grow(names->names, &names->capacity, sizeof(*names->names));
  size = strlen(clean) + 1;
  names->names[names->nr] = common_calloc(size, 1);
  memcpy(names->names[names->nr], clean, size);
  *bucket = (uint32_t)++names->nr;
  if (names->nr > names->nr_buckets / 2)
    grow_buckets(names);
  return (uint32_t)names->nr - 1;
}

const char *stacks_names_get(const stacks_names_t *names, uint32_t id) {
  return names->names[id];
}
