/* SPDX-License-Identifier: MIT */
/* Names of kernel functions. */
#ifndef PROFILE_SYMBOLS_H
#define PROFILE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

typedef struct profile_symbol_s {
  uint64_t address;
  size_t name; /* offset in text */
} profile_symbol_t;

typedef struct profile_symbols_s {
  profile_symbol_t *symbols; /* by address */
  size_t nr;
  size_t capacity;
  char *text;
  char reason[128]; /* why there are none; empty if there are */
} profile_symbols_t;

/* Reads /proc/kallsyms, or another file like it. */
void profile_symbols_load(profile_symbols_t *symbols, const char *path);
void profile_symbols_free(profile_symbols_t *symbols);

/* The function that holds an address, or NULL. */
const profile_symbol_t *profile_symbols_find(const profile_symbols_t *symbols,
                                             uint64_t address);

const char *profile_symbols_name(const profile_symbols_t *symbols,
                                 const profile_symbol_t *symbol);

#endif
