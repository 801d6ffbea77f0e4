/* SPDX-License-Identifier: MIT */
/* Names of kernel functions. */
#ifndef SYMBOLS_KALLSYMS_H
#define SYMBOLS_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

typedef struct symbols_kallsym_s {
  uint64_t address;
  uint64_t end;  /* the first address after the function */
  size_t name;   /* offset in text */
  size_t module; /* offset in text of "[module]"; 0: the kernel's own */
} symbols_kallsym_t;

typedef struct symbols_kallsyms_s {
  symbols_kallsym_t *symbols; /* by address */
  size_t nr;
  size_t capacity;
  char *text;
  uint64_t text_end; /* _etext; 0: not known */
  char reason[128];  /* why there are no symbols; empty if there are */
} symbols_kallsyms_t;

/* Reads /proc/kallsyms, or another file like it. */
void symbols_kallsyms_load(symbols_kallsyms_t *symbols, const char *path);
void symbols_kallsyms_free(symbols_kallsyms_t *symbols);

/* Returns the function that holds an address, or NULL. */
const symbols_kallsym_t *
symbols_kallsyms_find(const symbols_kallsyms_t *symbols, uint64_t address);

const char *symbols_kallsyms_name(const symbols_kallsyms_t *symbols,
                                  const symbols_kallsym_t *symbol);

/* Reads the file until the addresses of all these symbols are found. Does not
 * keep the other symbols. If a symbol is hidden or missing, its address is
 * 0. */
void symbols_kallsyms_addresses(const char *path, const char *const *names,
                                uint64_t *addresses, size_t nr);

#endif
