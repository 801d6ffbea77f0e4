/* SPDX-License-Identifier: MIT */
#include "profile/symbols/functions.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/sorted.h"
#include "profile/symbols/answer.h"
#include "profile/symbols/demangle.h"

typedef struct symbol_s {
  const char *name; /* NULL: none */
  unsigned char has_size, has_type, is_weak, is_global;
  uint64_t start;
  uint64_t end; /* start if its size is not known */
} symbol_t;

/* The symbols around an address. */
typedef struct slot_s {
  symbol_t nearest; /* the last symbol that starts before it */
  symbol_t holder;  /* the nearest symbol whose size covers it */
  uint64_t next;    /* where the next symbol starts */
} slot_t;

typedef struct search_s {
  const uint64_t *addresses;
  slot_t *slots;
  size_t nr;
} search_t;

static int is_better_name(const char *a, const char *b) {
  char a_text[SYMBOLS_NAME_BYTES], b_text[SYMBOLS_NAME_BYTES];
  size_t a_bytes, b_bytes;

  symbols_demangle(a_text, sizeof(a_text), a);
  symbols_demangle(b_text, sizeof(b_text), b);
  a_bytes = strspn(a_text, "_");
  b_bytes = strspn(b_text, "_");
  if (a_bytes != b_bytes)
    return a_bytes < b_bytes;
  return strlen(a_text) > strlen(b_text);
}

/* Returns 1 if `a`, which comes later in the file, is shown instead of `b` at
 * the same address, as by perf. Preferred are, in this order: a size, a type,
 * not weak, global, few underscores in front, a long name. The name is the one
 * that is shown: "operator new[]" is longer than "operator new". */
static int is_better(const symbol_t *a, const symbol_t *b) {
  if (a->has_size != b->has_size)
    return a->has_size;
  if (a->has_type != b->has_type)
    return a->has_type;
  if (a->is_weak != b->is_weak)
    return b->is_weak;
  if (a->is_global != b->is_global)
    return a->is_global;
  return is_better_name(a->name, b->name);
}

static void prefer(symbol_t *best, const symbol_t *symbol) {
  if (best->name == NULL || symbol->start > best->start ||
      (symbol->start == best->start && is_better(symbol, best)))
    *best = *symbol;
}

static void add(search_t *search, const symbol_t *symbol) {
  size_t low = common_sorted_below(search->addresses, search->nr,
                                   sizeof(*search->addresses), symbol->start);

  if (low > 0 && symbol->start < search->slots[low - 1].next)
    search->slots[low - 1].next = symbol->start;
  if (low < search->nr)
    prefer(&search->slots[low].nearest, symbol);
  for (; low < search->nr && search->addresses[low] < symbol->end; low++)
    prefer(&search->slots[low].holder, symbol);
}

/* Until now, each slot has only the symbols between its neighbours. */
static void spread(search_t *search) {
  slot_t *slots = search->slots;
  size_t i;

  for (i = 1; i < search->nr; i++) {
    if (slots[i].nearest.name == NULL)
      slots[i].nearest = slots[i - 1].nearest;
  }
  for (i = search->nr; i-- > 1;) {
    if (slots[i].next < slots[i - 1].next)
      slots[i - 1].next = slots[i].next;
  }
}

static int is_text(Elf *elf, GElf_Word section) {
  GElf_Shdr header;
  Elf_Scn *scn = elf_getscn(elf, section);

  return scn != NULL && gelf_getshdr(scn, &header) != NULL &&
         (header.sh_flags & SHF_EXECINSTR) != 0;
}

/* A label counts as a function if it is in code and not hidden. Labels that
 * mark where code and data begin ($x and $d on Arm) do not count. */
static int is_function(const GElf_Sym *symbol, const char *name,
                       GElf_Word section, Elf *elf) {
  unsigned char visibility = GELF_ST_VISIBILITY(symbol->st_other);

  if (name == NULL || name[0] == '\0' || section == SHN_UNDEF ||
      section == SHN_ABS || section == (GElf_Word)-1)
    return 0;
  switch (GELF_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return 1;
    case STT_NOTYPE:
      return name[0] != '$' && strncmp(name, ".L", 2) != 0 &&
             visibility != STV_HIDDEN && visibility != STV_INTERNAL &&
             is_text(elf, section);
    default:
      return 0;
  }
}

/* On 32-bit Arm the lowest bit of a function's address only says whether it is
 * Thumb code. */
static int has_thumb_bit(Elf *elf, const GElf_Sym *symbol) {
  GElf_Ehdr header;

  return gelf_getehdr(elf, &header) != NULL && header.e_machine == EM_ARM &&
         GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE;
}

static size_t add_all(search_t *search, Dwfl_Module *module) {
  GElf_Addr address;
  GElf_Word section;
  GElf_Sym info;
  symbol_t symbol;
  Dwarf_Addr bias;
  size_t found = 0;
  Elf *elf;
  int i, nr = dwfl_module_getsymtab(module);

  for (i = 0; i < nr; i++) {
    symbol.name = dwfl_module_getsym_info(module, i, &info, &address, &section,
                                          &elf, &bias);
    if (!is_function(&info, symbol.name, section, elf))
      continue;
    symbol.start = has_thumb_bit(elf, &info) ? address & ~UINT64_C(1) : address;
    symbol.end = symbol.start + info.st_size;
    if (symbol.end < symbol.start)
      continue;
    symbol.has_size = info.st_size > 0;
    symbol.has_type = GELF_ST_TYPE(info.st_info) != STT_NOTYPE;
    symbol.is_weak = GELF_ST_BIND(info.st_info) == STB_WEAK;
    symbol.is_global = GELF_ST_BIND(info.st_info) == STB_GLOBAL;
    add(search, &symbol);
    found++;
  }
  return found;
}

/* A symbol without a size reaches up to the next symbol, within its section. */
static void choose(const symbols_elf_file_t *file, const slot_t *slot,
                   uint64_t address, symbols_function_t *function) {
  const symbol_t *nearest = &slot->nearest;
  GElf_Shdr header;
  Elf_Scn *section;

  if (nearest->name == NULL)
    return;
  if (slot->holder.name != NULL) {
    function->name = slot->holder.name;
    function->start =
        slot->holder.start == nearest->start ? nearest->start : address;
    function->end =
        slot->holder.end < slot->next ? slot->holder.end : slot->next;
  } else if (nearest->end == nearest->start) {
    function->has_no_size = 1;
    function->start = nearest->start;
    function->end = slot->next;
    if (symbols_elf_section(file, nearest->start, &section, &header) == 0 &&
        header.sh_addr + header.sh_size < function->end)
      function->end = header.sh_addr + header.sh_size;
    if (address < function->end)
      function->name = nearest->name;
  }
}

size_t symbols_functions_find(symbols_elf_file_t *file,
                              const uint64_t *addresses, size_t nr,
                              symbols_function_t *functions) {
  search_t search = {addresses, common_calloc(nr + 1, sizeof(slot_t)), nr};
  size_t i, found;

  for (i = 0; i < nr; i++)
    search.slots[i].next = UINT64_MAX;
  memset(functions, 0, nr * sizeof(*functions));
  found = add_all(&search, file->module);
  spread(&search);
  for (i = 0; i < nr; i++)
    choose(file, &search.slots[i], addresses[i], &functions[i]);
  free(search.slots);
  return found;
}
