/* SPDX-License-Identifier: MIT */
/* An entry loads the function's address from a slot of the global offset table.
 * A relocation fills that slot. The relocation has the name of the function,
 * however the linker arranged the sections (.plt, .plt.sec, .plt.got). */
#include "profile/symbols/plt.h"

#include <endian.h>
#include <string.h>

/* The instructions of a section. */
typedef struct code_s {
  const unsigned char *bytes;
  uint64_t start; /* address of the first byte */
  uint64_t size;
} code_t;

/* An entry has 8 or 16 bytes and contains "jmp *offset(%rip)". Other bytes may
 * come before the jump. */
static int find_x86_64(const code_t *code, uint64_t address, uint64_t entry,
                       uint64_t *start, uint64_t *slot) {
  uint64_t at = (address - code->start) / entry * entry, end = at + entry;
  int32_t offset;

  *start = code->start + at;
  for (; at + 6 <= end && at + 6 <= code->size; at++) {
    if (code->bytes[at] != 0xff || code->bytes[at + 1] != 0x25)
      continue;
    memcpy(&offset, code->bytes + at + 2, sizeof(offset));
    *slot = code->start + at + 6 + (uint64_t)(int64_t)offset;
    return 0;
  }
  return -1;
}

static uint32_t instruction(const code_t *code, uint64_t at) {
  uint32_t word;

  memcpy(&word, code->bytes + at, sizeof(word));
  return le32toh(word);
}

/* An entry is "adrp x16, page; ldr x17, [x16, offset]" and two more
 * instructions. `address` is the address of one of these four instructions. */
static int find_aarch64(const code_t *code, uint64_t address, uint64_t *start,
                        uint64_t *slot) {
  uint64_t at = (address - code->start) & ~(uint64_t)3, page;
  uint32_t word, next;
  int back;

  for (back = 0; back < 4; back++) {
    if (at < 4 * (uint64_t)back || at - 4 * (uint64_t)back + 8 > code->size)
      continue;
    *start = at - 4 * (uint64_t)back;
    word = instruction(code, *start);
    next = instruction(code, *start + 4);
    *start += code->start;
    if ((word & 0x9f00001f) != 0x90000010 || (next & 0xffc003ff) != 0xf9400211)
      continue;
    page = ((uint64_t)(word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3)) << 12;
    if ((page & (UINT64_C(1) << 32)) != 0)
      page |= UINT64_MAX << 33;
    *slot = (*start & ~(uint64_t)0xfff) + page + ((next >> 10 & 0xfff) << 3);
    return 0;
  }
  return -1;
}

/* Returns the name of the symbol that a relocation puts into the slot. */
static const char *name_of(Elf *elf, uint64_t slot) {
  Elf_Scn *section = NULL, *symbols;
  GElf_Shdr header, symbol_header;
  Elf_Data *data, *symbol_data;
  GElf_Sym symbol;
  GElf_Rela rela;
  int i, nr;

  while ((section = elf_nextscn(elf, section)) != NULL) {
    if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_RELA ||
        (header.sh_flags & SHF_ALLOC) == 0 || header.sh_entsize == 0)
      continue;
    symbols = elf_getscn(elf, header.sh_link);
    data = elf_getdata(section, NULL);
    symbol_data = elf_getdata(symbols, NULL);
    if (data == NULL || symbol_data == NULL ||
        gelf_getshdr(symbols, &symbol_header) == NULL)
      continue;
    nr = (int)(data->d_size / header.sh_entsize);
    for (i = 0; i < nr; i++) {
      if (gelf_getrela(data, i, &rela) != NULL && rela.r_offset == slot &&
          gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol) !=
              NULL)
        return elf_strptr(elf, symbol_header.sh_link, symbol.st_name);
    }
  }
  return NULL;
}

void symbols_plt_find(const symbols_elf_file_t *file, uint64_t address,
                      symbols_function_t *function) {
  uint64_t start, slot;
  GElf_Shdr header;
  Elf_Scn *section;
  GElf_Ehdr elf;
  Elf_Data *data;
  const char *name;
  size_t names;
  code_t code;
  int rc = -1;

  memset(function, 0, sizeof(*function));
  if (gelf_getehdr(file->elf, &elf) == NULL ||
      elf_getshdrstrndx(file->elf, &names) != 0 ||
      symbols_elf_section(file, address, &section, &header) != 0)
    return;
  name = elf_strptr(file->elf, names, header.sh_name);
  data = elf_getdata(section, NULL);
  if (name == NULL || strncmp(name, ".plt", 4) != 0 || data == NULL ||
      data->d_buf == NULL)
    return;
  code.bytes = data->d_buf;
  code.start = header.sh_addr;
  code.size = data->d_size;
  if (address - code.start >= code.size)
    return;
  function->end = 16;
  if (elf.e_machine == EM_X86_64) {
    if (header.sh_entsize == 8)
      function->end = 8;
    rc = find_x86_64(&code, address, function->end, &start, &slot);
  } else if (elf.e_machine == EM_AARCH64) {
    rc = find_aarch64(&code, address, &start, &slot);
  }
  if (rc != 0)
    return;
  function->start = start;
  function->end += start;
  function->is_plt = 1;
  function->name = name_of(file->elf, slot);
  if (function->name != NULL && function->name[0] == '\0')
    function->name = NULL;
}
