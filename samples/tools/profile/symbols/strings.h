/* SPDX-License-Identifier: MIT */
/* Names. Each name is stored once, is safe to print, and never moves. */
#ifndef SYMBOLS_STRINGS_H
#define SYMBOLS_STRINGS_H

#include <stddef.h>
#include <stdint.h>

/* The most memory that names may take. */
#define SYMBOLS_MAX_STRING_BYTES ((size_t)256 << 20)

typedef struct symbols_strings_s {
  const char **strings; /* by hash */
  size_t nr, size;
  char **blocks;
  size_t nr_blocks, block_capacity;
  size_t used; /* of the last block */
  size_t bytes;
} symbols_strings_t;

void symbols_strings_free(symbols_strings_t *strings);

/* Returns the name, made safe to print, or "" if there is no room. */
const char *symbols_strings_add(symbols_strings_t *strings, const char *name);

/* Returns zeroed memory that lives as long as the names, or NULL if there is no
 * room. */
void *symbols_strings_memory(symbols_strings_t *strings, size_t size);

#endif
