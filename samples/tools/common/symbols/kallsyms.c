/* SPDX-License-Identifier: MIT */
/* Reads the kernel's symbols once. Functions of modules and BPF programs that
 * are loaded later get the name of the function before them, or an address.
 * Does not depend on user space. */
#include "common/symbols/kallsyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/small_file.h"

/* A line is "ffffffff81000000 T name". For a module, "\t[module]" follows. */
static void add_line(symbols_kallsyms_t *symbols, char *line) {
  symbols_kallsym_t *symbol;
  uint64_t address;
  char *end, *tab;

  address = strtoull(line, &end, 16);
  if (address == 0 || end == line || end[0] != ' ' || end[1] == '\0' ||
      strchr("tTwW", end[1]) == NULL || end[2] != ' ')
    return;
  tab = strchr(end + 3, '\t');
  if (tab != NULL)
    *tab = ' ';
  if (symbols->nr == symbols->capacity)
    symbols->symbols = common_grow(symbols->symbols, &symbols->capacity,
                                   sizeof(*symbols->symbols));
  symbol = &symbols->symbols[symbols->nr++];
  symbol->address = address;
  symbol->name = (size_t)(end + 3 - symbols->text);
}

/* Symbols with the same address stay in the order of the file. */
static int compare(const void *a, const void *b) {
  const symbols_kallsym_t *left = a, *right = b;

  if (left->address != right->address)
    return left->address < right->address ? -1 : 1;
  return (left->name > right->name) - (left->name < right->name);
}

void symbols_kallsyms_load(symbols_kallsyms_t *symbols, const char *path) {
  char *line, *next;
  size_t size;

  memset(symbols, 0, sizeof(*symbols));
  symbols->text = common_file_read(path, &size);
  if (symbols->text == NULL) {
    snprintf(symbols->reason, sizeof(symbols->reason), "%s: %s", path,
             strerror(errno));
    return;
  }
  for (line = symbols->text; *line != '\0'; line = next) {
    next = strchr(line, '\n');
    if (next == NULL)
      next = line + strlen(line);
    else
      *next++ = '\0';
    add_line(symbols, line);
  }
  if (symbols->nr > 0)
    qsort(symbols->symbols, symbols->nr, sizeof(*symbols->symbols), compare);
  else
    snprintf(symbols->reason, sizeof(symbols->reason),
             "%s hides the addresses (kernel.kptr_restrict, or no CAP_SYSLOG)",
             path);
}

void symbols_kallsyms_free(symbols_kallsyms_t *symbols) {
  free(symbols->symbols);
  free(symbols->text);
  memset(symbols, 0, sizeof(*symbols));
}

/* If several names have one address, perf(1) shows the last name. For a system
 * call this is __x64_sys_NAME. */
const symbols_kallsym_t *
symbols_kallsyms_find(const symbols_kallsyms_t *symbols, uint64_t address) {
  size_t low = 0, high = symbols->nr, middle;

  /* low becomes the first symbol above the address. */
  while (low < high) {
    middle = low + (high - low) / 2;
    if (symbols->symbols[middle].address <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NULL : &symbols->symbols[low - 1];
}

const char *symbols_kallsyms_name(const symbols_kallsyms_t *symbols,
                                  const symbols_kallsym_t *symbol) {
  return symbols->text + symbol->name;
}

uint64_t symbols_kallsyms_end(const symbols_kallsyms_t *symbols,
                              const symbols_kallsym_t *symbol) {
  const symbols_kallsym_t *next = symbol + 1;

  while (next < symbols->symbols + symbols->nr &&
         next->address == symbol->address)
    next++;
  return next < symbols->symbols + symbols->nr ? next->address : UINT64_MAX;
}

void symbols_kallsyms_addresses(const char *path, const char *const *names,
                                uint64_t *addresses, size_t nr) {
  FILE *file = fopen(path, "re");
  char line[1024], name[32];
  uint64_t address;
  size_t i, found = 0;

  memset(addresses, 0, nr * sizeof(*addresses));
  if (file == NULL)
    return;
  while (found < nr && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%" SCNx64 " %*c %31s", &address, name) != 2)
      continue;
    for (i = 0; i < nr; i++) {
      if (addresses[i] != 0 || address == 0 || strcmp(name, names[i]) != 0)
        continue;
      addresses[i] = address;
      found++;
    }
  }
  fclose(file);
}
