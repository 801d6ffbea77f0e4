/* SPDX-License-Identifier: MIT */
/* Source: elf(5), "Notes"; ld(1), --build-id. */
#include "common/elf_note.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/memory.h"

/* A file that exceeds these limits was not made by a linker. */
#define MOST_HEADERS    256
#define MOST_NOTE_BYTES ((uint64_t)64 << 10)

/* The headers that ELFCLASS32 and ELFCLASS64 have in common. */
typedef struct headers_s {
  uint64_t offset;
  size_t size;
  size_t nr;
  int is_64;
} headers_t;

static size_t padded(size_t size) {
  return (size + 3) / 4 * 4;
}

size_t common_elf_note_find(const void *notes, size_t size,
                            unsigned char id[COMMON_BUILD_ID_BYTES]) {
  const unsigned char *at = notes;
  const unsigned char *end = at + size;
  size_t rest, nr;
  Elf32_Nhdr note; /* Elf64_Nhdr is the same */

  while ((size_t)(end - at) >= sizeof(note)) {
    memcpy(&note, at, sizeof(note));
    at += sizeof(note);
    rest = (size_t)(end - at);
    if (note.n_namesz > rest || padded(note.n_namesz) > rest ||
        note.n_descsz > rest - padded(note.n_namesz))
      break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        memcmp(at, "GNU", 4) == 0 && note.n_descsz > 0) {
      nr = note.n_descsz < COMMON_BUILD_ID_BYTES ? note.n_descsz
                                                 : COMMON_BUILD_ID_BYTES;
      memcpy(id, at + padded(note.n_namesz), nr);
      return nr;
    }
    at += padded(note.n_namesz);
    rest = (size_t)(end - at);
    at += padded(note.n_descsz) < rest ? padded(note.n_descsz) : rest;
  }
  return 0;
}

/* Returns 1 if the bytes are the start of an ELF file of this byte order, and
 * finds its program headers. */
static int find_headers(const unsigned char *bytes, size_t size,
                        headers_t *headers) {
  const uint16_t one = 1;
  unsigned char order =
      *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
  Elf32_Ehdr elf32;
  Elf64_Ehdr elf64;

  if (size < sizeof(elf64) || memcmp(bytes, ELFMAG, SELFMAG) != 0 ||
      bytes[EI_DATA] != order)
    return 0;
  memcpy(&elf32, bytes, sizeof(elf32));
  memcpy(&elf64, bytes, sizeof(elf64));
  headers->is_64 = bytes[EI_CLASS] == ELFCLASS64;
  headers->offset = headers->is_64 ? elf64.e_phoff : elf32.e_phoff;
  headers->nr = headers->is_64 ? elf64.e_phnum : elf32.e_phnum;
  headers->size = headers->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  return headers->nr <= MOST_HEADERS &&
         (headers->is_64 ? elf64.e_phentsize : elf32.e_phentsize) ==
             headers->size;
}

/* Returns 1 for a segment of notes, and its place in the file and in memory. */
static int is_notes(const headers_t *headers, const unsigned char *bytes,
                    uint64_t *offset, uint64_t *address, uint64_t *size) {
  Elf32_Phdr header32;
  Elf64_Phdr header64;

  if (headers->is_64) {
    memcpy(&header64, bytes, sizeof(header64));
    *offset = header64.p_offset;
    *address = header64.p_vaddr;
    *size = header64.p_filesz;
    return header64.p_type == PT_NOTE && *size <= MOST_NOTE_BYTES;
  }
  memcpy(&header32, bytes, sizeof(header32));
  *offset = header32.p_offset;
  *address = header32.p_vaddr;
  *size = header32.p_filesz;
  return header32.p_type == PT_NOTE && *size <= MOST_NOTE_BYTES;
}

static size_t read_notes(int fd, uint64_t offset, uint64_t size,
                         unsigned char id[COMMON_BUILD_ID_BYTES]) {
  unsigned char *notes = common_calloc(1, (size_t)size + 1);
  ssize_t nr = pread(fd, notes, (size_t)size, (off_t)offset);
  size_t found;

  found = nr <= 0 ? 0 : common_elf_note_find(notes, (size_t)nr, id);
  free(notes);
  return found;
}

size_t common_elf_note_of_file(int fd,
                               unsigned char id[COMMON_BUILD_ID_BYTES]) {
  unsigned char start[sizeof(Elf64_Ehdr)];
  unsigned char table[MOST_HEADERS * sizeof(Elf64_Phdr)];
  uint64_t offset, address, size;
  headers_t headers;
  size_t i, found = 0;
  ssize_t nr;

  nr = pread(fd, start, sizeof(start), 0);
  if (nr < 0 || !find_headers(start, (size_t)nr, &headers))
    return 0;
  nr = pread(fd, table, headers.nr * headers.size, (off_t)headers.offset);
  if (nr < 0 || (size_t)nr != headers.nr * headers.size)
    return 0;
  for (i = 0; i < headers.nr && found == 0; i++) {
    if (is_notes(&headers, table + i * headers.size, &offset, &address, &size))
      found = read_notes(fd, offset, size, id);
  }
  return found;
}

size_t common_elf_note_of_vdso(unsigned char id[COMMON_BUILD_ID_BYTES]) {
  const unsigned char *base;
  uint64_t offset, address, size;
  headers_t headers;
  size_t i, found = 0;

  base = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
  if (base == NULL || !find_headers(base, sizeof(Elf64_Ehdr), &headers))
    return 0;
  for (i = 0; i < headers.nr && found == 0; i++) {
    if (is_notes(&headers, base + headers.offset + i * headers.size, &offset,
                 &address, &size))
      found = common_elf_note_find(base + offset, (size_t)size, id);
  }
  return found;
}
