/* SPDX-License-Identifier: MIT */
/* .eh_frame_hdr has a sorted table of the starts of functions. Programs use it
 * to handle exceptions. Source: Linux Standard Base, Core, "DWARF
 * Extensions". */
#include "common/symbols/unnamed.h"

#include <dwarf.h>

/* The table: pairs of 32-bit words. The first is the start of a function. */
typedef struct table_s {
  const uint32_t *words;
  size_t nr;     /* pairs */
  uint64_t base; /* address to which they are relative */
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
  rest = elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset + 8,
                              (size_t)(segment.p_filesz - 8) & ~(size_t)3,
                              ELF_T_WORD);
  if (head == NULL || rest == NULL)
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

static uint64_t start_of(const table_t *table, size_t i) {
  return table->base + (uint64_t)(int64_t)(int32_t)table->words[2 * i];
}

void symbols_unnamed_find(const symbols_elf_file_t *file, uint64_t address,
                          symbols_function_t *function) {
  size_t low = 0, high, middle;
  GElf_Shdr section;
  Elf_Scn *scn;
  table_t table;

  if (find_table(file, &table) != 0)
    return;
  high = table.nr;
  while (low < high) {
    middle = low + (high - low) / 2;
    if (start_of(&table, middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return;
  function->start = start_of(&table, low - 1);
  function->end = low < table.nr ? start_of(&table, low) : address + 1;
  if (symbols_elf_section(file, address, &scn, &section) == 0 &&
      function->start < section.sh_addr)
    function->start = function->end = 0;
}
