/* SPDX-License-Identifier: MIT */
/* Walks the DIEs of each compilation unit that has an address, once for all
 * addresses in the unit. Compilation units are found by their own ranges,
 * because not every compiler writes .debug_aranges. */
#include "profile/symbols/inlined.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/sorted.h"

/* Damaged DWARF can contain circles, or many ways to the same DIEs. */
#define MAX_DIES  20000000u
#define MAX_DEPTH 200

/* The DIEs of the function at an address and of functions inlined there, the
 * outermost first. */
typedef struct chain_s {
  Dwarf_Die dies[SYMBOLS_MAX_INLINED];
  size_t nr;
} chain_t;

typedef struct walk_s {
  const uint64_t *addresses; /* as in the DWARF */
  chain_t *chains;
  size_t dies;
  int enters_types; /* types may contain functions: not in C and C++ */
} walk_t;

static void add_ranges(symbols_elf_file_t *file, Dwarf_Die *unit) {
  Dwarf_Addr base, start, end;
  ptrdiff_t offset = 0;

  while ((offset = dwarf_ranges(unit, offset, &base, &start, &end)) > 0) {
    *COMMON_ADD(file->ranges, file->nr_ranges, file->range_capacity) =
        (symbols_cu_range_t){start, end, dwarf_dieoffset(unit)};
  }
}

static void look_for_dwarf(symbols_elf_file_t *file) {
  Dwarf_CU *unit = NULL;
  Dwarf_Addr bias = 0;
  Dwarf_Die die;
  uint8_t type;

  file->has_looked_for_dwarf = 1;
  file->dwarf = dwfl_module_getdwarf(file->module, &bias);
  file->dwarf_bias = bias;
  if (file->dwarf == NULL)
    return;
  while (dwarf_get_units(file->dwarf, unit, &unit, NULL, &type, &die, NULL) ==
         0) {
    if (type == DW_UT_compile)
      add_ranges(file, &die);
  }
  if (file->nr_ranges > 0)
    qsort(file->ranges, file->nr_ranges, sizeof(*file->ranges),
          common_sorted_compare);
}

/* Finds the unit with an address. Returns 0 or -1. */
static int find_unit(const symbols_elf_file_t *file, uint64_t address,
                     uint64_t *unit) {
  const symbols_cu_range_t *range = common_sorted_last(
      file->ranges, file->nr_ranges, sizeof(*range), address);

  if (range == NULL || range->end <= address)
    return -1;
  *unit = range->die;
  return 0;
}

/* Copies the members of `set` whose addresses are in a DIE. If the ranges of
 * the DIE overlap, some members are copied twice. */
static size_t die_pick(const walk_t *walk, Dwarf_Die *die, const uint64_t *set,
                       size_t nr, uint64_t *picked) {
  Dwarf_Addr base, start, end;
  ptrdiff_t offset = 0;
  size_t low, high, middle, count = 0;

  while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
    for (low = 0, high = nr; low < high;) {
      middle = low + (high - low) / 2;
      if (walk->addresses[set[middle]] < start)
        low = middle + 1;
      else
        high = middle;
    }
    for (; low < nr && walk->addresses[set[low]] < end && count < nr; low++)
      picked[count++] = set[low];
  }
  return count;
}

static size_t sort_picked(uint64_t *picked, size_t nr) {
  size_t i, kept = 0;

  if (nr > 1)
    qsort(picked, nr, sizeof(*picked), common_sorted_compare);
  for (i = 0; i < nr; i++) {
    if (kept == 0 || picked[kept - 1] != picked[i])
      picked[kept++] = picked[i];
  }
  return kept;
}

static void walk_note(walk_t *walk, Dwarf_Die *die, int tag, uint64_t address) {
  chain_t *chain = &walk->chains[address];

  if (tag == DW_TAG_subprogram)
    chain->nr = 0;
  else if (tag != DW_TAG_inlined_subroutine || chain->nr == 0)
    return;
  if (chain->nr < SYMBOLS_MAX_INLINED)
    chain->dies[chain->nr++] = *die;
}

static void walk_children(walk_t *walk, Dwarf_Die *parent, const uint64_t *set,
                          size_t nr, int depth);

static void walk_code(walk_t *walk, Dwarf_Die *die, int tag,
                      const uint64_t *set, size_t nr, int depth) {
  uint64_t *picked = common_calloc(nr, sizeof(*picked));
  size_t i, count;

  count = sort_picked(picked, die_pick(walk, die, set, nr, picked));
  for (i = 0; i < count; i++)
    walk_note(walk, die, tag, picked[i]);
  if (count > 0)
    walk_children(walk, die, picked, count, depth);
  free(picked);
}

static void walk_die(walk_t *walk, Dwarf_Die *die, const uint64_t *set,
                     size_t nr, int depth) {
  int tag = dwarf_tag(die);

  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
      walk_code(walk, die, tag, set, nr, depth);
      break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
      if (!walk->enters_types)
        break;
      walk_children(walk, die, set, nr, depth);
      break;
    case DW_TAG_namespace:
    case DW_TAG_module:
      walk_children(walk, die, set, nr, depth);
      break;
    default:
      break;
  }
}

/* DIEs follow each other in the file. A step back means that the file is
 * damaged. */
static void walk_children(walk_t *walk, Dwarf_Die *parent, const uint64_t *set,
                          size_t nr, int depth) {
  uint64_t before = dwarf_dieoffset(parent);
  Dwarf_Die die;

  if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
    return;
  do {
    if (dwarf_dieoffset(&die) <= before || ++walk->dies > MAX_DIES)
      return;
    before = dwarf_dieoffset(&die);
    walk_die(walk, &die, set, nr, depth + 1);
  } while (dwarf_siblingof(&die, &die) == 0);
}

static const char *name_of(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  const char *name = NULL;

  if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL ||
      dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) != NULL)
    name = dwarf_formstring(&attribute);
  return name != NULL ? name : dwarf_diename(die);
}

/* Returns 0, or -1 if the DIE has no such attribute. */
static int number_of(Dwarf_Die *die, unsigned int which, uint64_t *number) {
  Dwarf_Attribute attribute;
  Dwarf_Word value;

  if (dwarf_attr(die, which, &attribute) == NULL ||
      dwarf_formudata(&attribute, &value) != 0)
    return -1;
  *number = value;
  return 0;
}

/* Sets the place where an inlined function was called. */
static void place_call(Dwarf_Die *die, Dwarf_Files *files,
                       symbols_frame_t *frame) {
  uint64_t file, line;

  if (number_of(die, DW_AT_call_line, &line) == 0)
    frame->line = (uint32_t)line;
  if (files != NULL && number_of(die, DW_AT_call_file, &file) == 0)
    frame->file = dwarf_filesrc(files, (size_t)file, NULL, NULL);
}

static void place_line(Dwarf_Die *unit, uint64_t address,
                       symbols_frame_t *frame) {
  Dwarf_Line *line = dwarf_getsrc_die(unit, address);
  int number = 0;

  if (line == NULL)
    return;
  frame->file = dwarf_linesrc(line, NULL, NULL);
  if (dwarf_lineno(line, &number) == 0 && number > 0)
    frame->line = (uint32_t)number;
}

static void fill(Dwarf_Die *unit, uint64_t address, chain_t *chain,
                 symbols_frames_t *frames) {
  Dwarf_Files *files = NULL;
  size_t i, nr_files;

  if (chain->nr == 0)
    return;
  if (chain->nr > 1 && dwarf_getsrcfiles(unit, &files, &nr_files) != 0)
    files = NULL;
  frames->nr = chain->nr;
  frames->frames = common_calloc(chain->nr, sizeof(*frames->frames));
  for (i = 0; i < chain->nr; i++) {
    frames->frames[i].name = name_of(&chain->dies[chain->nr - 1 - i]);
    if (i == 0)
      place_line(unit, address, &frames->frames[i]);
    else
      place_call(&chain->dies[chain->nr - i], files, &frames->frames[i]);
  }
}

static int has_functions_in_types(Dwarf_Die *unit) {
  switch (dwarf_srclang(unit)) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
      return 0;
    default:
      return 1;
  }
}

/* Finds the functions at addresses of one unit. */
static void find_in_unit(symbols_elf_file_t *file, uint64_t offset,
                         const uint64_t *addresses, size_t nr,
                         symbols_frames_t *frames) {
  walk_t walk = {0};
  Dwarf_Die unit;
  uint64_t *set;
  size_t i;

  if (dwarf_offdie(file->dwarf, offset, &unit) == NULL)
    return;
  walk.addresses = addresses;
  walk.chains = common_calloc(nr, sizeof(*walk.chains));
  walk.enters_types = has_functions_in_types(&unit);
  set = common_calloc(nr, sizeof(*set));
  for (i = 0; i < nr; i++)
    set[i] = i;
  walk_children(&walk, &unit, set, nr, 0);
  for (i = 0; i < nr; i++)
    fill(&unit, addresses[i], &walk.chains[i], &frames[i]);
  free(set);
  free(walk.chains);
}

void symbols_inlined_find(symbols_elf_file_t *file, const uint64_t *addresses,
                          size_t nr, symbols_frames_t *frames) {
  uint64_t *at, unit, next;
  size_t i, end;

  memset(frames, 0, nr * sizeof(*frames));
  if (!file->has_looked_for_dwarf)
    look_for_dwarf(file);
  if (file->nr_ranges == 0)
    return;
  at = common_calloc(nr, sizeof(*at));
  for (i = 0; i < nr; i++)
    at[i] = addresses[i] - file->dwarf_bias;
  for (i = 0; i < nr; i = end) {
    end = i + 1;
    if (find_unit(file, at[i], &unit) != 0)
      continue;
    while (end < nr && end - i < 256 && find_unit(file, at[end], &next) == 0 &&
           next == unit)
      end++;
    find_in_unit(file, unit, at + i, end - i, frames + i);
  }
  free(at);
}

void symbols_inlined_free(symbols_frames_t *frames, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    free(frames[i].frames);
}
