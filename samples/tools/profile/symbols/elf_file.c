/* SPDX-License-Identifier: MIT */
#include "profile/symbols/elf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libdwfl need not find a file: the file is always open already. */
static int find_no_elf(Dwfl_Module *module, void **data, const char *name,
                       Dwarf_Addr base, char **path, Elf **elf) {
  (void)module;
  (void)data;
  (void)name;
  (void)base;
  (void)path;
  (void)elf;
  return -1;
}

/* The link to a supplementary file has a name, and 0 as the checksum. Such a
 * file is not sent. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name,
                          Dwarf_Addr base, const char *path, const char *link,
                          GElf_Word checksum, char **found) {
  symbols_elf_file_t *file = *data;
  int fd = dwfl_standard_find_debuginfo(module, data, name, base, path, link,
                                        checksum, found);

  if (fd >= 0 || (link != NULL && checksum == 0))
    return fd;
  fd = file->debug_fd;
  file->debug_fd = -1;
  file->lacks_debug = fd < 0;
  return fd;
}

static int fail(symbols_elf_file_t *file, char *reason, size_t size,
                const char *text) {
  snprintf(reason, size, "%s", text);
  symbols_elf_close(file);
  return -1;
}

static int has_symtab(Elf *elf) {
  Elf_Scn *section = NULL;
  GElf_Shdr header;

  while ((section = elf_nextscn(elf, section)) != NULL) {
    if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_SYMTAB)
      return 1;
  }
  return 0;
}

int symbols_elf_open(symbols_elf_file_t *file, int fd, int debug_fd,
                     const char *path, const char *debug_path, char *reason,
                     size_t size) {
  GElf_Addr bias;
  GElf_Ehdr header;
  void **data;

  memset(file, 0, sizeof(*file));
  file->debug_fd = debug_fd;
  file->had_debug = debug_fd >= 0;
  file->callbacks.find_elf = find_no_elf;
  file->callbacks.find_debuginfo = find_debuginfo;
  if (debug_path[0] != '\0')
    file->debug_path = strdup(debug_path);
  file->callbacks.debuginfo_path = &file->debug_path;
  file->dwfl = dwfl_begin(&file->callbacks);
  if (file->dwfl == NULL) {
    close(fd);
    return fail(file, reason, size, dwfl_errmsg(-1));
  }
  dwfl_report_begin(file->dwfl);
  /* Report the file at 0, so that addresses stay as they are in the file. */
  file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
  if (file->module == NULL) {
    close(fd);
    return fail(file, reason, size, "not an ELF file");
  }
  dwfl_module_info(file->module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
  *data = file;
  dwfl_report_end(file->dwfl, NULL, NULL);
  file->elf = dwfl_module_getelf(file->module, &bias);
  if (file->elf == NULL || gelf_getehdr(file->elf, &header) == NULL ||
      bias != 0 || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
    return fail(file, reason, size, "not a program or a shared library");
  file->has_symtab = has_symtab(file->elf);
  return 0;
}

void symbols_elf_close(symbols_elf_file_t *file) {
  if (file->dwfl != NULL)
    dwfl_end(file->dwfl);
  if (file->had_debug && file->debug_fd >= 0)
    close(file->debug_fd);
  free(file->debug_path);
  free(file->ranges);
  memset(file, 0, sizeof(*file));
}

/* Finds the segment that has a byte or an address. Prefers a segment of
 * code. */
static int find_segment(const symbols_elf_file_t *file, uint64_t at,
                        int is_address, GElf_Phdr *found) {
  GElf_Phdr header;
  uint64_t start;
  size_t i, nr;
  int rc = -1;

  if (elf_getphdrnum(file->elf, &nr) != 0)
    return -1;
  for (i = 0; i < nr; i++) {
    if (gelf_getphdr(file->elf, (int)i, &header) == NULL ||
        header.p_type != PT_LOAD)
      continue;
    start = is_address ? header.p_vaddr : header.p_offset;
    if (at < start || at - start >= header.p_filesz)
      continue;
    *found = header;
    rc = 0;
    if ((header.p_flags & PF_X) != 0)
      break;
  }
  return rc;
}

int symbols_elf_address(const symbols_elf_file_t *file, uint64_t offset,
                        uint64_t *address) {
  GElf_Phdr segment;

  if (find_segment(file, offset, 0, &segment) != 0)
    return -1;
  *address = offset - segment.p_offset + segment.p_vaddr;
  return 0;
}

int symbols_elf_segment(const symbols_elf_file_t *file, uint64_t address,
                        GElf_Phdr *segment) {
  return find_segment(file, address, 1, segment);
}

int symbols_elf_is_before_sigreturn(const symbols_elf_file_t *file,
                                    uint64_t address) {
  /* mov $__NR_rt_sigreturn, %rax; syscall */
  static const unsigned char sigreturn[] = {0x48, 0xc7, 0xc0, 15,  0,
                                            0,    0,    0x0f, 0x05};
  const unsigned char ret = 0xc3, *at;
  GElf_Phdr segment;
  Elf_Data *data;

  /* The C library and Go align it. */
  if (address % 16 != 15 || symbols_elf_segment(file, address, &segment) != 0)
    return 0;
  data = elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset,
                              (size_t)segment.p_filesz, ELF_T_BYTE);
  address -= segment.p_vaddr;
  if (data == NULL || data->d_size - address <= sizeof(sigreturn))
    return 0;
  at = (const unsigned char *)data->d_buf + address;
  return at[0] != ret && memcmp(at + 1, sigreturn, sizeof(sigreturn)) == 0;
}

int symbols_elf_section(const symbols_elf_file_t *file, uint64_t address,
                        Elf_Scn **section, GElf_Shdr *header) {
  Elf_Scn *at = NULL;

  while ((at = elf_nextscn(file->elf, at)) != NULL) {
    if (gelf_getshdr(at, header) != NULL &&
        (header->sh_flags & SHF_EXECINSTR) != 0 && address >= header->sh_addr &&
        address - header->sh_addr < header->sh_size) {
      *section = at;
      return 0;
    }
  }
  return -1;
}

uint64_t symbols_elf_number(const unsigned char *ident, const unsigned char *at,
                            size_t width) {
  int is_big = ident[EI_DATA] == ELFDATA2MSB;
  uint64_t number = 0;
  size_t i;

  for (i = 0; i < width; i++)
    number = number << 8 | at[is_big ? i : width - 1 - i];
  return number;
}
