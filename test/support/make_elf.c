/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "make_elf.h"

#include "host/elf_symbol.h"
#include "util/file.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_ORDER ELFDATA2LSB
#else
#define NATIVE_ORDER ELFDATA2MSB
#endif

static size_t symbol_bytes(const make_elf_t *image) {
  return image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

static void make_header(make_elf_t *image) {
  Elf64_Ehdr *header = &image->header;

  memcpy(header->e_ident, ELFMAG, SELFMAG);
  header->e_ident[EI_CLASS] = image->is_64 ? ELFCLASS64 : ELFCLASS32;
  header->e_ident[EI_DATA] = NATIVE_ORDER;
  header->e_ident[EI_VERSION] = EV_CURRENT;
  header->e_type = ET_DYN;
  header->e_machine = image->is_64 ? EM_X86_64 : EM_386;
  header->e_version = EV_CURRENT;
  header->e_phoff = MAKE_ELF_SEGMENTS_AT;
  header->e_phentsize = image->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  header->e_phnum = 3;
  header->e_shoff = MAKE_ELF_DATA_AT + MAKE_ELF_DATA_BYTES;
  header->e_shentsize = image->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  header->e_shnum = MAKE_ELF_SECTIONS;
}

static void make_segment(Elf64_Phdr *segment, uint32_t flags, uint64_t offset,
                         uint64_t address, uint64_t bytes) {
  segment->p_type = PT_LOAD;
  segment->p_flags = flags;
  segment->p_offset = offset;
  segment->p_vaddr = address;
  segment->p_filesz = bytes;
  segment->p_memsz = bytes + 0x1000;
}

static Elf64_Shdr *make_section(make_elf_t *image, int section, uint32_t type,
                                uint64_t offset, uint64_t bytes) {
  Elf64_Shdr *header = &image->sections[section];

  header->sh_type = type;
  header->sh_offset = offset;
  header->sh_size = bytes;
  return header;
}

static void make_table(make_elf_t *image, int section, uint32_t type, int link,
                       uint64_t bytes, uint64_t row_bytes) {
  Elf64_Shdr *header = make_section(
      image, section, type,
      MAKE_ELF_TABLES_AT + 0x200u * (unsigned)(section - MAKE_ELF_SYMTAB),
      bytes);

  header->sh_link = (uint32_t)link;
  header->sh_entsize = row_bytes;
}

void make_elf_make(make_elf_t *image, int is_64) {
  Elf64_Shdr *text, *data;

  memset(image, 0, sizeof(*image));
  image->is_64 = is_64;
  make_header(image);
  make_segment(&image->segments[0], PF_R, 0, 0x400000, MAKE_ELF_TEXT_AT);
  make_segment(&image->segments[1], PF_R | PF_X, MAKE_ELF_TEXT_AT,
               MAKE_ELF_TEXT, MAKE_ELF_TEXT_BYTES);
  make_segment(&image->segments[2], PF_R | PF_W, MAKE_ELF_DATA_AT,
               MAKE_ELF_DATA, MAKE_ELF_DATA_BYTES);
  text = make_section(image, MAKE_ELF_TEXT_SECTION, SHT_PROGBITS,
                      MAKE_ELF_TEXT_AT, MAKE_ELF_TEXT_BYTES);
  text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
  text->sh_addr = MAKE_ELF_TEXT;
  data = make_section(image, MAKE_ELF_DATA_SECTION, SHT_PROGBITS,
                      MAKE_ELF_DATA_AT, MAKE_ELF_DATA_BYTES);
  data->sh_flags = SHF_ALLOC | SHF_WRITE;
  data->sh_addr = MAKE_ELF_DATA;
  make_table(image, MAKE_ELF_SYMTAB, SHT_SYMTAB, MAKE_ELF_STRTAB,
             symbol_bytes(image), symbol_bytes(image));
  make_table(image, MAKE_ELF_STRTAB, SHT_STRTAB, 0, 1, 0);
  make_table(image, MAKE_ELF_DYNSYM, SHT_DYNSYM, MAKE_ELF_DYNSTR,
             symbol_bytes(image), symbol_bytes(image));
  make_table(image, MAKE_ELF_DYNSTR, SHT_STRTAB, 0, 1, 0);
  make_table(image, MAKE_ELF_VERSYM, SHT_GNU_versym, MAKE_ELF_DYNSYM, 2, 2);
  make_table(image, MAKE_ELF_VERDEF, SHT_GNU_verdef, MAKE_ELF_DYNSTR, 0, 0);
}

/* Adds bytes to a table and returns their offset in it. */
static size_t append(make_elf_t *image, int section, const void *bytes,
                     size_t size) {
  size_t at = (size_t)image->sections[section].sh_size;

  assert_true(at + size <= sizeof(image->tables[section]));
  memcpy(image->tables[section] + at, bytes, size);
  image->sections[section].sh_size += size;
  return at;
}

static void put_symbol(make_elf_t *image, int table, size_t at,
                       const Elf64_Sym *symbol) {
  Elf32_Sym narrow;

  if (image->is_64) {
    memcpy(image->tables[table] + at, symbol, sizeof(*symbol));
    return;
  }
  narrow.st_name = symbol->st_name;
  narrow.st_info = symbol->st_info;
  narrow.st_other = symbol->st_other;
  narrow.st_shndx = symbol->st_shndx;
  narrow.st_value = (uint32_t)symbol->st_value;
  narrow.st_size = (uint32_t)symbol->st_size;
  memcpy(image->tables[table] + at, &narrow, sizeof(narrow));
}

static size_t last_at(const make_elf_t *image, int table) {
  return (size_t)image->sections[table].sh_size - symbol_bytes(image);
}

Elf64_Sym make_elf_last(const make_elf_t *image, int table) {
  const uint8_t *bytes = image->tables[table] + last_at(image, table);
  Elf64_Sym symbol;
  Elf32_Sym narrow;

  if (image->is_64) {
    memcpy(&symbol, bytes, sizeof(symbol));
    return symbol;
  }
  memcpy(&narrow, bytes, sizeof(narrow));
  symbol.st_name = narrow.st_name;
  symbol.st_info = narrow.st_info;
  symbol.st_other = narrow.st_other;
  symbol.st_shndx = narrow.st_shndx;
  symbol.st_value = narrow.st_value;
  symbol.st_size = narrow.st_size;
  return symbol;
}

void make_elf_put_last(make_elf_t *image, int table, const Elf64_Sym *symbol) {
  put_symbol(image, table, last_at(image, table), symbol);
}

void make_elf_add(make_elf_t *image, int table, const char *name, int bind,
                  int type, uint64_t at) {
  static const uint8_t nothing[sizeof(Elf64_Sym)];
  const uint16_t version = 1;
  Elf64_Sym symbol;

  memset(&symbol, 0, sizeof(symbol));
  symbol.st_name = (uint32_t)append(image, table + 1, name, strlen(name) + 1);
  symbol.st_info = (unsigned char)ELF64_ST_INFO(bind, type);
  symbol.st_shndx = MAKE_ELF_TEXT_SECTION;
  symbol.st_value = MAKE_ELF_TEXT + at;
  symbol.st_size = 16;
  append(image, table, nothing, symbol_bytes(image));
  make_elf_put_last(image, table, &symbol);
  if (table == MAKE_ELF_DYNSYM)
    append(image, MAKE_ELF_VERSYM, &version, sizeof(version));
}

void make_elf_set_version(make_elf_t *image, unsigned int version) {
  uint16_t number = (uint16_t)version;

  memcpy(image->tables[MAKE_ELF_VERSYM] +
             image->sections[MAKE_ELF_VERSYM].sh_size - sizeof(number),
         &number, sizeof(number));
}

void make_elf_define(make_elf_t *image, unsigned int number, const char *name) {
  uint64_t *size = &image->sections[MAKE_ELF_VERDEF].sh_size;
  Elf64_Verdef definition;
  Elf64_Verdaux first;

  memset(&definition, 0, sizeof(definition));
  memset(&first, 0, sizeof(first));
  /* Links the previous one to this one. */
  if (*size > 0) {
    size_t before = (size_t)*size - sizeof(definition) - sizeof(first);

    memcpy(&definition, image->tables[MAKE_ELF_VERDEF] + before,
           sizeof(definition));
    definition.vd_next = sizeof(definition) + sizeof(first);
    memcpy(image->tables[MAKE_ELF_VERDEF] + before, &definition,
           sizeof(definition));
  }
  definition.vd_version = 1;
  definition.vd_flags = number == 1 ? VER_FLG_BASE : 0;
  definition.vd_ndx = (Elf64_Half)number;
  definition.vd_cnt = 1;
  definition.vd_aux = sizeof(definition);
  definition.vd_next = 0;
  first.vda_name =
      (uint32_t)append(image, MAKE_ELF_DYNSTR, name, strlen(name) + 1);
  append(image, MAKE_ELF_VERDEF, &definition, sizeof(definition));
  append(image, MAKE_ELF_VERDEF, &first, sizeof(first));
}

void make_elf_drop(make_elf_t *image, int section) {
  image->sections[section].sh_type = SHT_NULL;
}

static void put_header(make_elf_t *image) {
  const Elf64_Ehdr *wide = &image->header;
  Elf32_Ehdr narrow;

  if (image->is_64) {
    memcpy(image->bytes, wide, sizeof(*wide));
    return;
  }
  memset(&narrow, 0, sizeof(narrow));
  memcpy(narrow.e_ident, wide->e_ident, EI_NIDENT);
  narrow.e_type = wide->e_type;
  narrow.e_machine = wide->e_machine;
  narrow.e_version = wide->e_version;
  narrow.e_phoff = (uint32_t)wide->e_phoff;
  narrow.e_shoff = (uint32_t)wide->e_shoff;
  narrow.e_flags = wide->e_flags;
  narrow.e_phentsize = wide->e_phentsize;
  narrow.e_phnum = wide->e_phnum;
  narrow.e_shentsize = wide->e_shentsize;
  narrow.e_shnum = wide->e_shnum;
  narrow.e_shstrndx = wide->e_shstrndx;
  memcpy(image->bytes, &narrow, sizeof(narrow));
}

static void put_segment(make_elf_t *image, int i) {
  const Elf64_Phdr *wide = &image->segments[i];
  uint8_t *bytes = image->bytes + MAKE_ELF_SEGMENTS_AT;
  Elf32_Phdr narrow;

  if (image->is_64) {
    memcpy(bytes + (size_t)i * sizeof(*wide), wide, sizeof(*wide));
    return;
  }
  narrow.p_type = wide->p_type;
  narrow.p_offset = (uint32_t)wide->p_offset;
  narrow.p_vaddr = (uint32_t)wide->p_vaddr;
  narrow.p_paddr = 0;
  narrow.p_filesz = (uint32_t)wide->p_filesz;
  narrow.p_memsz = (uint32_t)wide->p_memsz;
  narrow.p_flags = wide->p_flags;
  narrow.p_align = 0x1000;
  memcpy(bytes + (size_t)i * sizeof(narrow), &narrow, sizeof(narrow));
}

static void put_section(make_elf_t *image, int i) {
  const Elf64_Shdr *wide = &image->sections[i];
  uint8_t *bytes = image->bytes + MAKE_ELF_DATA_AT + MAKE_ELF_DATA_BYTES;
  Elf32_Shdr narrow;

  if (image->is_64) {
    memcpy(bytes + (size_t)i * sizeof(*wide), wide, sizeof(*wide));
    return;
  }
  memset(&narrow, 0, sizeof(narrow));
  narrow.sh_type = wide->sh_type;
  narrow.sh_flags = (uint32_t)wide->sh_flags;
  narrow.sh_addr = (uint32_t)wide->sh_addr;
  narrow.sh_offset = (uint32_t)wide->sh_offset;
  narrow.sh_size = (uint32_t)wide->sh_size;
  narrow.sh_link = wide->sh_link;
  narrow.sh_info = wide->sh_info;
  narrow.sh_entsize = (uint32_t)wide->sh_entsize;
  memcpy(bytes + (size_t)i * sizeof(narrow), &narrow, sizeof(narrow));
}

void make_elf_write(make_elf_t *image, const char *path) {
  int i;

  memset(image->bytes, 0, sizeof(image->bytes));
  put_header(image);
  for (i = 0; i < 3; i++)
    put_segment(image, i);
  for (i = 0; i < MAKE_ELF_SECTIONS; i++) {
    put_section(image, i);
    if (i >= MAKE_ELF_SYMTAB)
      memcpy(image->bytes + MAKE_ELF_TABLES_AT +
                 0x200u * (unsigned)(i - MAKE_ELF_SYMTAB),
             image->tables[i], sizeof(image->tables[i]));
  }
  make_elf_write_bytes(path, image->bytes, sizeof(image->bytes));
}

void make_elf_write_bytes(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "we");

  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

void make_elf_make_usual(make_elf_t *image, int is_64) {
  make_elf_make(image, is_64);
  make_elf_add(image, MAKE_ELF_SYMTAB, "one", STB_GLOBAL, STT_FUNC, 0x10);
  make_elf_add(image, MAKE_ELF_SYMTAB, "label", STB_GLOBAL, STT_NOTYPE, 0x18);
  make_elf_define(image, 1, "libimage.so");
  make_elf_define(image, 2, "V_1");
  make_elf_define(image, 3, "V_2");
  make_elf_add(image, MAKE_ELF_DYNSYM, "two", STB_GLOBAL, STT_FUNC, 0x20);
  make_elf_set_version(image, 2);
  make_elf_add(image, MAKE_ELF_DYNSYM, "two", STB_GLOBAL, STT_FUNC, 0x30);
  make_elf_set_version(image, 3 | 0x8000);
}

int elf_path_symbol(const char *path, const char *name, uint64_t *offset) {
  int fd = uvperf__file_open_regular(path);
  int rc;

  if (fd < 0)
    return fd;
  rc = uvperf__elf_symbol(fd, name, offset);
  uvperf__file_close(fd);
  return rc;
}

int elf_path_each(const char *path, uvperf__name_fn each, void *data) {
  int fd = uvperf__file_open_regular(path);
  int rc;

  if (fd < 0)
    return fd;
  rc = uvperf__elf_each_symbol(fd, each, data);
  uvperf__file_close(fd);
  return rc;
}

static int read_name(const char *symbol, void *data) {
  size_t *bytes = data;

  *bytes += strlen(symbol);
  return 0;
}

int make_elf_walk(const char *path) {
  size_t bytes = 0;

  return elf_path_each(path, read_name, &bytes);
}

int make_elf_search(const char *path, const char *name) {
  uint64_t place;

  make_elf_walk(path);
  return elf_path_symbol(path, name, &place);
}
