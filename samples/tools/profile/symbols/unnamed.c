/* SPDX-License-Identifier: MIT */
/* .eh_frame_hdr has a sorted table of the starts of functions. Programs use it
 * to handle exceptions. Each start has an FDE, the unwind entry of a function,
 * with its size. Source: Linux Standard Base, Core, "DWARF Extensions". */
#include "profile/symbols/unnamed.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

/* The table: pairs of 32-bit words. The first is the start of a function, the
 * second its FDE. */
typedef struct table_s {
  const uint32_t *words;
  size_t nr;     /* pairs */
  uint64_t base; /* address to which they are relative */
  /* The loaded bytes that hold the FDEs, and their address. */
  Elf_Data *bytes;
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
  return table->nr <= (rest->d_size - 4) / 8 ? 0 : -1;
}

static uint64_t word_of(const table_t *table, size_t word) {
  return table->base + (uint64_t)(int64_t)(int32_t)table->words[word];
}

static uint64_t start_of(const table_t *table, size_t i) {
  return word_of(table, 2 * i);
}

/* -- the size of a function ------------------------------------------------ */

/* Finds the bytes that are loaded at an address. Returns 0 or -1. */
static int find_bytes(const symbols_elf_file_t *file, uint64_t address,
                      table_t *table) {
  GElf_Phdr segment;

  if (symbols_elf_segment(file, address, &segment) != 0)
    return -1;
  table->address = segment.p_vaddr;
  table->bytes = elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset,
                                      (size_t)segment.p_filesz, ELF_T_BYTE);
  return table->bytes != NULL ? 0 : -1;
}

/* Returns the bytes of an encoded number, or 0 if they vary. */
static size_t width_of(const table_t *table, int encoding) {
  switch (encoding & 7) {
    case DW_EH_PE_absptr:
      return table->ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
    case DW_EH_PE_udata2:
      return 2;
    case DW_EH_PE_udata4:
      return 4;
    case DW_EH_PE_udata8:
      return 8;
    default:
      return 0;
  }
}

/* Finds the encoding of an FDE's addresses (DW_EH_PE_*), in its CIE. The
 * augmentation is a text such as "zPLR", with a letter for each part of its
 * data. Returns 0 or -1. */
static int find_encoding(const table_t *table, const Dwarf_CIE *cie,
                         int *encoding) {
  const unsigned char *at = cie->augmentation_data;
  const unsigned char *end = at + cie->augmentation_data_size;
  const char *letter = cie->augmentation;

  *encoding = DW_EH_PE_absptr;
  if (letter[0] != 'z')
    return letter[0] == '\0' ? 0 : -1;
  for (letter++; *letter != '\0' && at < end; letter++) {
    if (*letter == 'R') {
      *encoding = *at;
      return 0;
    }
    if (*letter == 'L')
      at++;
    else if (*letter == 'P' && width_of(table, *at) > 0 &&
             1 + width_of(table, *at) <= (size_t)(end - at))
      at += 1 + width_of(table, *at);
    else if (*letter != 'S' && *letter != 'B')
      return -1;
  }
  return 0;
}

/* Reads the size of a function from its FDE, which has the start and the size
 * in the same encoding. Returns 0 or -1. */
static int read_size(const table_t *table, size_t i, uint64_t *size) {
  uint64_t offset = word_of(table, 2 * i + 1) - table->address;
  Dwarf_CFI_Entry fde, cie;
  Dwarf_Off next;
  size_t width;
  int encoding;

  if (offset >= table->bytes->d_size ||
      dwarf_next_cfi(table->ident, table->bytes, true, offset, &next, &fde) !=
          0 ||
      dwarf_cfi_cie_p(&fde) ||
      dwarf_next_cfi(table->ident, table->bytes, true, fde.fde.CIE_pointer,
                     &next, &cie) != 0 ||
      !dwarf_cfi_cie_p(&cie) || find_encoding(table, &cie.cie, &encoding) != 0)
    return -1;
  width = width_of(table, encoding);
  if (width == 0 || 2 * width > (size_t)(fde.fde.end - fde.fde.start))
    return -1;
  *size = symbols_elf_number(table->ident, fde.fde.start + width, width);
  return 0;
}

/* -- addresses ------------------------------------------------------------- */

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

void symbols_unnamed_find(const symbols_elf_file_t *file,
                          const uint64_t *addresses, size_t nr,
                          symbols_function_t *functions) {
  uint64_t start, size;
  table_t table;
  size_t i, entry;

  table.ident = (const unsigned char *)elf_getident(file->elf, NULL);
  if (find_table(file, &table) != 0 || table.nr == 0 ||
      find_bytes(file, word_of(&table, 1), &table) != 0)
    return;
  for (i = 0; i < nr; i++) {
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
