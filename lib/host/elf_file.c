/* SPDX-License-Identifier: MIT */
/* Reads ELF files in small pieces. The meaning of symbols is not known here. */
#define _GNU_SOURCE 1
#include "host/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"
#include "util/file.h"

/* load_elf_phdrs in fs/binfmt_elf.c executes no file with more bytes of program
 * headers. */
#define SEGMENT_BYTES_MAX 65536

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_ORDER ELFDATA2LSB
#else
#define NATIVE_ORDER ELFDATA2MSB
#endif

/* A read of a few bytes takes as long as a read of one page. */
#define READ_BYTES_MIN 4096

int uvperf__elf_read(uvperf__elf_t *elf, void *bytes, size_t size,
                     uint64_t offset) {
  uint64_t cost = size > READ_BYTES_MIN ? size : READ_BYTES_MIN;
  size_t done = 0;

  if (offset > INT64_MAX || size > INT64_MAX - offset)
    return -EBADMSG;
  if (cost > elf->bytes_left)
    return -EFBIG;
  elf->bytes_left -= cost;
  while (done < size) {
    ssize_t rc = uvperf__file_read_at(elf->fd, (char *)bytes + done,
                                      size - done, offset + done);

    if (rc <= 0)
      return rc == 0 || rc == -EOVERFLOW ? -EBADMSG : (int)rc;
    done += (size_t)rc;
  }
  return 0;
}

/* -- tables --------------------------------------------------------------- */

void uvperf__elf_rows(uvperf__elf_rows_t *rows, uvperf__elf_t *elf,
                      uint64_t offset, uint64_t nr, size_t row_bytes) {
  rows->elf = elf;
  rows->offset = offset;
  rows->left = nr;
  rows->row_bytes = row_bytes;
  rows->at = 0;
  rows->end = 0;
}

int uvperf__elf_rows_next(uvperf__elf_rows_t *rows, const char **row) {
  /* gcc does not see that the caller uses *row only if the result is 1. */
  *row = NULL;
  if (rows->at == rows->end) {
    size_t nr = sizeof(rows->bytes) / rows->row_bytes;
    int rc;

    if (rows->left == 0)
      return 0;
    if (nr > rows->left)
      nr = (size_t)rows->left;
    rows->at = 0;
    rows->end = nr * rows->row_bytes;
    rc = uvperf__elf_read(rows->elf, rows->bytes, rows->end, rows->offset);
    if (rc != 0)
      return rc;
    rows->left -= nr;
    rows->offset += rows->end;
  }
  *row = rows->bytes + rows->at;
  rows->at += rows->row_bytes;
  return 1;
}

int uvperf__elf_symbol_rows(uvperf__elf_rows_t *rows, uvperf__elf_t *elf,
                            const uvperf__elf_section_t *section) {
  size_t row_bytes = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

  if (section->row_bytes != row_bytes)
    return -EBADMSG;
  if (section->size / row_bytes > UVPERF__ELF_SYMBOLS_MAX)
    return -EFBIG;
  uvperf__elf_rows(rows, elf, section->offset, section->size / row_bytes,
                   row_bytes);
  return 0;
}

int uvperf__elf_symbol_rows_next(uvperf__elf_rows_t *rows,
                                 uvperf__elf_row_t *row) {
  const char *bytes;
  Elf64_Sym wide;
  Elf32_Sym narrow;
  int rc = uvperf__elf_rows_next(rows, &bytes);

  if (rc != 1)
    return rc;
  if (rows->elf->is_64) {
    memcpy(&wide, bytes, sizeof(wide));
  } else {
    memcpy(&narrow, bytes, sizeof(narrow));
    wide.st_name = narrow.st_name;
    wide.st_info = narrow.st_info;
    wide.st_other = narrow.st_other;
    wide.st_shndx = narrow.st_shndx;
    wide.st_value = narrow.st_value;
  }
  row->name = wide.st_name;
  row->type = ELF64_ST_TYPE(wide.st_info);
  row->bind = ELF64_ST_BIND(wide.st_info);
  row->other = wide.st_other;
  row->section = wide.st_shndx;
  row->value = wide.st_value;
  return 1;
}

/* -- strings -------------------------------------------------------------- */

int uvperf__elf_strings(uvperf__elf_strings_t *strings, uvperf__elf_t *elf,
                        uint32_t index) {
  uvperf__elf_section_t section;
  int rc = uvperf__elf_section(elf, index, &section);
  size_t i;

  if (rc != 0)
    return rc;
  if (section.type != SHT_STRTAB)
    return -EBADMSG;
  strings->elf = elf;
  strings->offset = section.offset;
  strings->size = section.size;
  for (i = 0; i < UVPERF__ELF_PLACES; i++)
    strings->places[i].number = 0;
  return 0;
}

/* Reads a piece of the strings. */
static int read_strings(const uvperf__elf_strings_t *strings, char *bytes,
                        size_t size, uint64_t at) {
  return strings->offset > UINT64_MAX - at
             ? -EBADMSG
             : uvperf__elf_read(strings->elf, bytes, size,
                                strings->offset + at);
}

int uvperf__elf_string(uvperf__elf_strings_t *strings, uint32_t at,
                       const char **text, size_t *length) {
  uint64_t begin = at / UVPERF__ELF_PLACE_BYTES * UVPERF__ELF_PLACE_BYTES;
  uint64_t number = begin / UVPERF__ELF_PLACE_BYTES + 1;
  size_t i = number % UVPERF__ELF_PLACES;
  size_t size = sizeof(strings->places[i].bytes);
  const char *from = strings->places[i].bytes + (at - begin);
  const char *end;
  int rc;

  if (at >= strings->size)
    return -EBADMSG;
  if (strings->places[i].number != number) {
    if (size > strings->size - begin)
      size = (size_t)(strings->size - begin);
    strings->places[i].number = 0;
    rc = read_strings(strings, strings->places[i].bytes, size, begin);
    if (rc != 0)
      return rc;
    strings->places[i].number = number;
    strings->places[i].size = size;
  }
  size = strings->places[i].size - (size_t)(at - begin);
  end = memchr(from, '\0',
               size < UVPERF__ELF_NAME_MAX ? size : UVPERF__ELF_NAME_MAX);
  if (end == NULL)
    return size < UVPERF__ELF_NAME_MAX ? -EBADMSG : 0;
  *text = from;
  *length = (size_t)(end - from);
  return 1;
}

/* Two places within 2^20 bytes never share a bit, because the factor is odd. */
static uint32_t filter_bit(uint32_t at) {
  return (at * UINT32_C(0x9E3779B9)) % UVPERF__ELF_FILTER_BITS;
}

int uvperf__elf_filter_has(const uvperf__elf_filter_t *filter, uint32_t at) {
  uint32_t bit = filter_bit(at);

  return (filter->words[bit / 64] >> bit % 64 & 1) != 0;
}

/* Adds the places of a text to the filter. `offset` is where the bytes begin in
 * the strings. */
static void note_places(const char *bytes, size_t size, uint64_t offset,
                        const char *text, size_t length,
                        uvperf__elf_filter_t *filter) {
  const char *end = bytes + size;
  const char *found = bytes;
  uint32_t bit;

  while ((found = memmem(found, (size_t)(end - found), text, length)) != NULL &&
         found + length < end) {
    if (found[length] == '\0' || found[length] == '@') {
      bit = filter_bit((uint32_t)(offset + (uint64_t)(found - bytes)));
      filter->words[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    found++;
  }
}

int uvperf__elf_strings_find(uvperf__elf_strings_t *strings, const char *text,
                             size_t length, uvperf__elf_filter_t *filter) {
  char *bytes = strings->places[0].bytes;
  uint64_t at = 0;
  /* A symbol's name is a 32-bit offset. */
  uint64_t end = strings->size <= UINT32_MAX ? strings->size : UINT32_MAX;

  memset(filter, 0, sizeof(*filter));
  if (length == 0 || length >= UVPERF__ELF_NAME_MAX)
    return 0;
  strings->places[0].number = 0;
  while (at < end) {
    size_t size = sizeof(strings->places[0].bytes);
    int rc;

    if (size > end - at)
      size = (size_t)(end - at);
    rc = read_strings(strings, bytes, size, at);
    if (rc != 0)
      return rc;
    note_places(bytes, size, at, text, length, filter);
    if (size == end - at)
      break;
    /* A text that begins in the last `length` bytes ends in the next piece. */
    at += size - length;
  }
  return 0;
}

/* -- sections ------------------------------------------------------------- */

static size_t section_bytes(const uvperf__elf_t *elf) {
  return elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

static void decode_section(const uvperf__elf_t *elf, const char *bytes,
                           uvperf__elf_section_t *section) {
  Elf64_Shdr wide;
  Elf32_Shdr narrow;

  if (elf->is_64) {
    memcpy(&wide, bytes, sizeof(wide));
  } else {
    memcpy(&narrow, bytes, sizeof(narrow));
    wide.sh_type = narrow.sh_type;
    wide.sh_link = narrow.sh_link;
    wide.sh_flags = narrow.sh_flags;
    wide.sh_addr = narrow.sh_addr;
    wide.sh_offset = narrow.sh_offset;
    wide.sh_size = narrow.sh_size;
    wide.sh_entsize = narrow.sh_entsize;
  }
  section->type = wide.sh_type;
  section->link = wide.sh_link;
  section->flags = wide.sh_flags;
  section->address = wide.sh_addr;
  section->offset = wide.sh_offset;
  section->size = wide.sh_size;
  section->row_bytes = wide.sh_entsize;
}

int uvperf__elf_section(uvperf__elf_t *elf, uint32_t index,
                        uvperf__elf_section_t *section) {
  char bytes[sizeof(Elf64_Shdr)];
  int rc;

  if (index >= elf->sections ||
      elf->sections_at > UINT64_MAX - (uint64_t)index * sizeof(bytes))
    return -EBADMSG;
  rc =
      uvperf__elf_read(elf, bytes, section_bytes(elf),
                       elf->sections_at + (uint64_t)index * section_bytes(elf));
  if (rc == 0)
    decode_section(elf, bytes, section);
  return rc;
}

static uvperf__elf_section_t *place_of(uvperf__elf_t *elf, uint32_t type) {
  switch (type) {
    case SHT_SYMTAB:
      return &elf->symbols;
    case SHT_DYNSYM:
      return &elf->dynamic_symbols;
    case SHT_GNU_versym:
      return &elf->versions;
    case SHT_GNU_verdef:
      return &elf->definitions;
    default:
      return NULL;
  }
}

static int read_sections(uvperf__elf_t *elf) {
  uvperf__elf_section_t section, *place;
  uvperf__elf_rows_t rows;
  const char *bytes;
  int rc;

  uvperf__elf_rows(&rows, elf, elf->sections_at, elf->sections,
                   section_bytes(elf));
  while ((rc = uvperf__elf_rows_next(&rows, &bytes)) == 1) {
    decode_section(elf, bytes, &section);
    place = place_of(elf, section.type);
    if (place != NULL && place->type == SHT_NULL)
      *place = section;
  }
  return rc;
}

/* -- segments ------------------------------------------------------------- */

static void decode_segment(const uvperf__elf_t *elf, const char *bytes,
                           Elf64_Phdr *wide) {
  Elf32_Phdr narrow;

  if (elf->is_64) {
    memcpy(wide, bytes, sizeof(*wide));
    return;
  }
  memcpy(&narrow, bytes, sizeof(narrow));
  wide->p_type = narrow.p_type;
  wide->p_flags = narrow.p_flags;
  wide->p_vaddr = narrow.p_vaddr;
  wide->p_offset = narrow.p_offset;
  wide->p_filesz = narrow.p_filesz;
}

static int read_segments(uvperf__elf_t *elf) {
  size_t row_bytes = elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  uvperf__elf_segment_t *segment;
  uvperf__elf_rows_t rows;
  const char *bytes;
  Elf64_Phdr header;
  int rc;

  if (elf->nr_segments == 0)
    return 0;
  if (elf->nr_segments > SEGMENT_BYTES_MAX / row_bytes)
    return -EBADMSG;
  elf->segments = uvperf__calloc(elf->nr_segments, sizeof(*elf->segments));
  if (elf->segments == NULL)
    return -ENOMEM;
  uvperf__elf_rows(&rows, elf, elf->segments_at, elf->nr_segments, row_bytes);
  elf->nr_segments = 0;
  while ((rc = uvperf__elf_rows_next(&rows, &bytes)) == 1) {
    decode_segment(elf, bytes, &header);
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0)
      continue;
    if (header.p_offset > INT64_MAX ||
        header.p_filesz > INT64_MAX - header.p_offset)
      return -EBADMSG;
    segment = &elf->segments[elf->nr_segments++];
    segment->address = header.p_vaddr;
    segment->offset = header.p_offset;
    segment->size = header.p_filesz;
  }
  return rc;
}

/* -- the header ----------------------------------------------------------- */

static int read_header_bytes(uvperf__elf_t *elf, void *bytes, size_t size) {
  int rc = uvperf__elf_read(elf, bytes, size, 0);

  return rc == -EBADMSG ? -ENOEXEC : rc;
}

static int read_header_32(uvperf__elf_t *elf, Elf64_Ehdr *header) {
  Elf32_Ehdr narrow;
  int rc = read_header_bytes(elf, &narrow, sizeof(narrow));

  if (rc != 0)
    return rc;
  header->e_type = narrow.e_type;
  header->e_machine = narrow.e_machine;
  header->e_version = narrow.e_version;
  header->e_phoff = narrow.e_phoff;
  header->e_shoff = narrow.e_shoff;
  header->e_flags = narrow.e_flags;
  header->e_phentsize = narrow.e_phentsize;
  header->e_phnum = narrow.e_phnum;
  header->e_shentsize = narrow.e_shentsize;
  header->e_shnum = narrow.e_shnum;
  return 0;
}

static int read_header(uvperf__elf_t *elf, Elf64_Ehdr *header) {
  unsigned char ident[EI_NIDENT];
  int rc = read_header_bytes(elf, ident, sizeof(ident));

  if (rc != 0)
    return rc;
  if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != NATIVE_ORDER ||
      ident[EI_VERSION] != EV_CURRENT)
    return -ENOEXEC;
  if (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64)
    return -ENOEXEC;
  elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
  rc = elf->is_64 ? read_header_bytes(elf, header, sizeof(*header))
                  : read_header_32(elf, header);
  if (rc != 0)
    return rc;
  return header->e_version == EV_CURRENT &&
                 (header->e_type == ET_EXEC || header->e_type == ET_DYN)
             ? 0
             : -ENOEXEC;
}

/* If the header cannot hold the numbers of sections and segments, they are in
 * the first section: "e_shnum" and "e_phnum" in elf(5). For segments this is
 * ignored, because Linux cannot load that many. */
static int count_sections(uvperf__elf_t *elf, const Elf64_Ehdr *header) {
  uvperf__elf_section_t first;
  int rc;

  elf->sections_at = header->e_shoff;
  if (header->e_shoff == 0)
    return 0;
  if (header->e_shentsize != section_bytes(elf))
    return -EBADMSG;
  elf->sections = header->e_shnum;
  if (header->e_shnum != 0)
    return 0;
  elf->sections = 1;
  rc = uvperf__elf_section(elf, 0, &first);
  if (rc != 0)
    return rc;
  elf->sections = first.size;
  return elf->sections <= UVPERF__ELF_SECTIONS_MAX ? 0 : -EFBIG;
}

static int count_segments(uvperf__elf_t *elf, const Elf64_Ehdr *header) {
  elf->segments_at = header->e_phoff;
  elf->nr_segments = header->e_phnum;
  if (header->e_phnum == 0)
    return 0;
  return header->e_phentsize ==
                 (elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))
             ? 0
             : -EBADMSG;
}

static int read_tables(uvperf__elf_t *elf) {
  Elf64_Ehdr header;
  int rc = read_header(elf, &header);

  if (rc != 0)
    return rc;
  elf->machine = header.e_machine;
  elf->flags = header.e_flags;
  rc = count_sections(elf, &header);
  if (rc == 0)
    rc = count_segments(elf, &header);
  if (rc == 0)
    rc = read_sections(elf);
  if (rc == 0)
    rc = read_segments(elf);
  return rc;
}

int uvperf__elf_open(uvperf__elf_t *elf, int fd) {
  int rc;

  memset(elf, 0, sizeof(*elf));
  elf->fd = fd;
  elf->bytes_left = UVPERF__ELF_BYTES_MAX;
  rc = read_tables(elf);
  if (rc != 0)
    uvperf__elf_close(elf);
  return rc;
}

void uvperf__elf_close(uvperf__elf_t *elf) {
  uvperf__free(elf->segments);
}
