/* SPDX-License-Identifier: MIT */
#include "profile/symbols/strings.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "profile/symbols/answer.h"

#define BLOCK_BYTES ((size_t)64 << 10)

/* FNV-1a. */
static uint32_t hash(const char *name) {
  uint32_t value = 2166136261u;

  for (; *name != '\0'; name++)
    value = (value ^ (unsigned char)*name) * 16777619u;
  return value;
}

static const char **find_slot(const symbols_strings_t *strings,
                              const char *name) {
  size_t i = hash(name) & (strings->size - 1);

  while (strings->strings[i] != NULL && strcmp(strings->strings[i], name) != 0)
    i = (i + 1) & (strings->size - 1);
  return &strings->strings[i];
}

static void grow(symbols_strings_t *strings) {
  const char **old = strings->strings;
  size_t i, size = strings->size;

  strings->size = size == 0 ? 1024 : size * 2;
  strings->strings = common_calloc(strings->size, sizeof(*strings->strings));
  for (i = 0; i < size; i++) {
    if (old[i] != NULL)
      *find_slot(strings, old[i]) = old[i];
  }
  free(old);
}

void *symbols_strings_memory(symbols_strings_t *strings, size_t size) {
  char *memory;

  size = (size + 7) & ~(size_t)7;
  if (size > BLOCK_BYTES ||
      strings->bytes + BLOCK_BYTES > SYMBOLS_MAX_STRING_BYTES)
    return NULL;
  if (strings->nr_blocks == 0 || strings->used + size > BLOCK_BYTES) {
    if (strings->nr_blocks == strings->block_capacity)
      strings->blocks = common_grow(strings->blocks, &strings->block_capacity,
                                    sizeof(*strings->blocks));
    strings->blocks[strings->nr_blocks++] = common_calloc(1, BLOCK_BYTES);
    strings->bytes += BLOCK_BYTES;
    strings->used = 0;
  }
  memory = strings->blocks[strings->nr_blocks - 1] + strings->used;
  strings->used += size;
  return memory;
}

const char *symbols_strings_add(symbols_strings_t *strings, const char *name) {
  char clean[SYMBOLS_NAME_BYTES];
  const char **slot;
  size_t size;
  char *copy;

  common_text_clean(clean, sizeof(clean), name);
  if (strings->nr * 2 >= strings->size)
    grow(strings);
  slot = find_slot(strings, clean);
  if (*slot != NULL)
    return *slot;
  size = strlen(clean) + 1;
  copy = symbols_strings_memory(strings, size);
  if (copy == NULL)
    return "";
  memcpy(copy, clean, size);
  strings->nr++;
  *slot = copy;
  return copy;
}

void symbols_strings_free(symbols_strings_t *strings) {
  size_t i;

  for (i = 0; i < strings->nr_blocks; i++)
    free(strings->blocks[i]);
  free(strings->blocks);
  free(strings->strings);
  memset(strings, 0, sizeof(*strings));
}
