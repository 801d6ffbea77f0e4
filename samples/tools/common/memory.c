/* SPDX-License-Identifier: MIT */
/* Allocation that does not fail. */
#include "common/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/say.h"

static void out_of_memory(void) {
  common_say("out of memory\n");
  exit(1);
}

void *common_calloc(size_t nr, size_t size) {
  void *memory = calloc(nr, size);

  if (memory == NULL)
    out_of_memory();
  return memory;
}

void *common_copy(const void *bytes, size_t size) {
  char *copy = common_calloc(1, size + 1);

  if (size > 0)
    memcpy(copy, bytes, size);
  return copy;
}

char *common_copy_text(const char *text) {
  return common_copy(text, strlen(text));
}

FILE *common_memory_open(char **text, size_t *size) {
  FILE *file = open_memstream(text, size);

  if (file == NULL)
    out_of_memory();
  return file;
}

void common_memory_close(FILE *file) {
  if (fclose(file) != 0)
    out_of_memory();
}

void *common_grow(void *array, size_t *capacity, size_t item_size) {
  size_t nr = *capacity == 0 ? 16 : *capacity * 2;
  void *grown;

  if (nr > SIZE_MAX / item_size)
    out_of_memory();
  grown = realloc(array, nr * item_size);
  if (grown == NULL)
    out_of_memory();
  memset((char *)grown + *capacity * item_size, 0,
         (nr - *capacity) * item_size);
  *capacity = nr;
  return grown;
}
