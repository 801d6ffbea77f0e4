/* SPDX-License-Identifier: MIT */
/* Reads the kernel's symbols. The file has no sizes, so a function ends where
 * the next one begins. The last function of the kernel ends at _etext, the last
 * function of a module at the end of its page: pages are not shared by modules.
 * BPF programs share pages and come and go, so their lines are not used: the
 * kernel reports them in KSYMBOL records, with sizes. Does not depend on user
 * space. */
#include "profile/symbols/kallsyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/small_file.h"
#include "common/sorted.h"

/* The smallest page of any kernel. */
#define PAGE_BYTES 4096

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
  if (tab != NULL && strcmp(tab + 1, "[bpf]") == 0)
    return;
  if (tab == NULL && strcmp(end + 3, "_etext") == 0)
    symbols->text_end = address;
  if (tab != NULL)
    *tab = ' ';
  symbol = COMMON_ADD(symbols->symbols, symbols->nr, symbols->capacity);
  symbol->address = address;
  symbol->name = (size_t)(end + 3 - symbols->text);
  symbol->module = tab == NULL ? 0 : (size_t)(tab + 1 - symbols->text);
}

/* Symbols with the same address stay in the order of the file. */
static int compare(const void *a, const void *b) {
  const symbols_kallsym_t *left = a, *right = b;

  if (left->address != right->address)
    return left->address < right->address ? -1 : 1;
  return (left->name > right->name) - (left->name < right->name);
}

/* -- ends ------------------------------------------------------------------ */

static const char *module_of(const symbols_kallsyms_t *symbols,
                             const symbols_kallsym_t *symbol) {
  return symbol->module == 0 ? "" : symbols->text + symbol->module;
}

/* Returns where a function ends at the latest. The kernel frees its functions
 * after _etext when it has booted, so they end at once. "[__builtin__ftrace]"
 * and the like are pages anywhere, and not one module. */
static uint64_t limit_of(const symbols_kallsyms_t *symbols,
                         const symbols_kallsym_t *symbol,
                         const symbols_kallsym_t *next) {
  const char *module = module_of(symbols, symbol);

  if (symbol->module == 0 && symbols->text_end != 0)
    return symbol->address < symbols->text_end ? symbols->text_end
                                               : symbol->address;
  if (next != NULL && strcmp(module, module_of(symbols, next)) == 0 &&
      strncmp(module, "[__builtin__", 12) != 0)
    return next->address;
  return (symbol->address | (PAGE_BYTES - 1)) + 1;
}

/* `next` is the first symbol with a higher address. */
static void find_ends(symbols_kallsyms_t *symbols) {
  symbols_kallsym_t *symbol, *next = NULL;
  size_t i;

  for (i = symbols->nr; i > 0; i--) {
    symbol = &symbols->symbols[i - 1];
    if (i < symbols->nr && symbol[1].address != symbol->address)
      next = symbol + 1;
    symbol->end = limit_of(symbols, symbol, next);
    if (next != NULL && next->address < symbol->end)
      symbol->end = next->address;
  }
}

/* -- the file -------------------------------------------------------------- */

/* Most lines of /proc/kallsyms are in order already, and without modules all of
 * them are. */
static void sort(symbols_kallsyms_t *symbols) {
  size_t i;

  for (i = 1; i < symbols->nr; i++) {
    if (compare(&symbols->symbols[i - 1], &symbols->symbols[i]) > 0) {
      qsort(symbols->symbols, symbols->nr, sizeof(*symbols->symbols), compare);
      return;
    }
  }
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
  sort(symbols);
  find_ends(symbols);
  if (symbols->nr == 0)
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
  const symbols_kallsym_t *symbol = common_sorted_last(
      symbols->symbols, symbols->nr, sizeof(*symbol), address);

  return symbol == NULL || address >= symbol->end ? NULL : symbol;
}

const char *symbols_kallsyms_name(const symbols_kallsyms_t *symbols,
                                  const symbols_kallsym_t *symbol) {
  return symbols->text + symbol->name;
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
