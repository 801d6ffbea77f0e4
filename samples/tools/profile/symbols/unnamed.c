/* SPDX-License-Identifier: MIT */
/* .eh_frame_hdr has a sorted table of the starts of functions. Programs use it
 * to handle exceptions. Each start has an FDE, the unwind entry of a function,
 * with its size. (libdw finds the FDE of an address by reading all of them, and
 * does not say where it begins.) Source: Linux Standard Base, Core, "DWARF
 * Extensions". */
#include "profile/symbols/unnamed.h"

#include <dwarf.h>
#include <string.h>

/* The table: pairs of 32-bit words. The first is the start of a function, the
 * second its FDE. */
typedef struct table_s {
  const uint32_t *words;
  size_t nr;     /* pairs */
  uint64_t base; /* address to which they are relative */
  /* The loaded bytes that hold the FDEs, and their address. */
  const Elf_Data *bytes;
  uint64_t address;
  const unsigned char *ident; /* e_ident of the file */
} table_t;

static int find_segment(Elf *elf, GElf_Phdr *segment) {
  size_t i, nr;

  if (elf_getphdrnum(elf, &nr) != 0)
    return -1;
  for (i = 0; i < nr; i++) {
    if (gelf_getphdr(elf, (int)i, segment) != NULL &&
        segment->p_type == PT_GNU_EH_FRAME)
      return 0;
  }
  return -1;
}

/* The section has a version, three encodings, a pointer, the number of pairs,
 * and the pairs. Only the encodings that linkers use are accepted. */
static int find_table(const symbols_elf_file_t *file, table_t *table) {
  const unsigned char *bytes;
  Elf_Data *head, *rest;
  GElf_Phdr segment;

  if (find_segment(file->elf, &segment) != 0 || segment.p_filesz < 12)
    return -1;
  head =
      elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset, 4, ELF_T_BYTE);
  if (head == NULL)
    return -1; /* not in the file */
  rest = elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset + 8,
                              (size_t)(segment.p_filesz - 8) & ~(size_t)3,
                              ELF_T_WORD);
  if (rest == NULL)
    return -1;
  bytes = head->d_buf;
  if (bytes[0] != 1 || (bytes[1] & 7) != DW_EH_PE_udata4 ||
      bytes[2] != DW_EH_PE_udata4 ||
      bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
    return -1;
  table->words = (const uint32_t *)rest->d_buf + 1;
  table->nr = ((const uint32_t *)rest->d_buf)[0];
  table->base = segment.p_vaddr;
  return table->nr > 0 && table->nr <= (rest->d_size - 4) / 8 ? 0 : -1;
}

static uint64_t word_of(const table_t *table, size_t word) {
  return table->base + (uint64_t)(int64_t)(int32_t)table->words[word];
}

static uint64_t start_of(const table_t *table, size_t i) {
  return word_of(table, 2 * i);
}

/* Finds the last function that starts at or before an address. Returns 0 or
 * -1. */
static int find_entry(const table_t *table, uint64_t address, size_t *entry) {
  size_t low = 0, high = table->nr, middle;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (start_of(table, middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  *entry = low - 1;
  return low > 0 ? 0 : -1;
}

/* A symbol without a size ends where another function begins. If that is before
 * the address, the name is given up. */
static void limit_name(const table_t *table, uint64_t address,
                       symbols_function_t *function) {
  int has_entry;
  size_t entry;

  has_entry = find_entry(table, function->start, &entry) == 0;
  entry = has_entry ? entry + 1 : 0;
  if (entry == table->nr || start_of(table, entry) >= function->end)
    return;
  function->end = start_of(table, entry);
  if (address >= function->end)
    memset(function, 0, sizeof(*function));
}

/* Reads the size of a function from its FDE: after two words follow the start
 * and the size, as numbers of 4 or 8 bytes. The start, relative to its own
 * place or not, shows which. Returns 0 or -1. */
static int read_size(const table_t *table, size_t i, uint64_t *size) {
  const uint64_t place = word_of(table, 2 * i + 1) + 8;
  const uint64_t at = place - table->address, start = start_of(table, i);
  const unsigned char *bytes;
  uint64_t value;
  size_t width;

  for (width = 4; width <= 8; width += 4) {
    if (at > table->bytes->d_size || 2 * width > table->bytes->d_size - at)
      return -1;
    bytes = (const unsigned char *)table->bytes->d_buf + at;
    value = symbols_elf_number(table->ident, bytes, width);
    if (width == 4)
      value = (uint64_t)(int64_t)(int32_t)value;
    if (place + value == start || value == start) {
      *size = symbols_elf_number(table->ident, bytes + width, width);
      return 0;
    }
  }
  return -1;
}

void symbols_unnamed_find(const symbols_elf_file_t *file,
                          const uint64_t *addresses, size_t nr,
                          symbols_function_t *functions) {
  uint64_t start, size;
  GElf_Phdr segment;
  table_t table;
  size_t i, entry;

  if (find_table(file, &table) != 0 ||
      symbols_elf_segment(file, word_of(&table, 1), &segment) != 0)
    return;
  table.address = segment.p_vaddr;
  table.ident = (const unsigned char *)elf_getident(file->elf, NULL);
  table.bytes = elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset,
                                     (size_t)segment.p_filesz, ELF_T_BYTE);
  for (i = 0; i < nr && table.bytes != NULL; i++) {
    if (functions[i].name != NULL && functions[i].has_no_size)
      limit_name(&table, addresses[i], &functions[i]);
    if (functions[i].name != NULL ||
        find_entry(&table, addresses[i], &entry) != 0 ||
        read_size(&table, entry, &size) != 0)
      continue;
    start = start_of(&table, entry);
    if (addresses[i] - start < size) {
      functions[i].start = start;
      functions[i].end = start + size;
    }
  }
}
