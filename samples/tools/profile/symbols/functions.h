/* SPDX-License-Identifier: MIT */
/* Finds the function that holds each of many addresses. Passes once over all
 * symbols of a file, and keeps only the symbols that hold an address. */
#ifndef SYMBOLS_FUNCTIONS_H
#define SYMBOLS_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/symbols/elf_file.h"

typedef struct symbols_function_s {
  const char *name;    /* in the file's memory; NULL: none was found */
  uint64_t start, end; /* one symbol holds all addresses between */
  int is_plt;          /* an entry of the PLT that jumps to it */
  int has_no_size;     /* the end is where another symbol begins */
} symbols_function_t;

/* Fills functions[i] for each address. The addresses must be in ascending
 * order. Returns how many function symbols the file has. */
size_t symbols_functions_find(symbols_elf_file_t *file,
                              const uint64_t *addresses, size_t nr,
                              symbols_function_t *functions);

#endif
