/* SPDX-License-Identifier: MIT */
/* Reads ELF files in small pieces. The meaning of symbols is not known here. */
#define _GNU_SOURCE 1
#include "host/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"
#include "util/bytes.h"
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

/* The size of a struct, and the value of a field: Elf64_Sym or Elf32_Sym for
 * the type Sym. */
#define BYTES_OF(elf, type)                                                    \
  ((elf)->is_64 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))
#define VALUE_OF(elf, bytes, type, field)                                      \
  number_at((const uint8_t *)(bytes) + ((elf)->is_64                           \
                                            ? offsetof(Elf64_##type, field)    \
                                            : offsetof(Elf32_##type, field)),  \
            (elf)->is_64 ? sizeof(((Elf64_##type *)0)->field)                  \
                         : sizeof(((Elf32_##type *)0)->field))

static inline uint64_t number_at(const uint8_t *at, size_t bytes) {
  switch (bytes) {
    case 1:
      return uvperf__u8(at);
    case 2:
      return uvperf__u16(at);
    case 4:
      return uvperf__u32(at);
    default:
      return uvperf__u64(at);
  }
}

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
  size_t row_bytes = BYTES_OF(elf, Sym);

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
  const uvperf__elf_t *elf = rows->elf;
  const char *bytes;
  int rc = uvperf__elf_rows_next(rows, &bytes);
  uint64_t info;

  if (rc != 1)
    return rc;
  info = VALUE_OF(elf, bytes, Sym, st_info);
  row->name = (uint32_t)VALUE_OF(elf, bytes, Sym, st_name);
  row->type = ELF64_ST_TYPE(info);
  row->bind = (uint8_t)ELF64_ST_BIND(info);
  row->other = (uint8_t)VALUE_OF(elf, bytes, Sym, st_other);
  row->section = (uint16_t)VALUE_OF(elf, bytes, Sym, st_shndx);
  row->value = VALUE_OF(elf, bytes, Sym, st_value);
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

static void decode_section(const uvperf__elf_t *elf, const char *bytes,
                           uvperf__elf_section_t *section) {
  section->type = (uint32_t)VALUE_OF(elf, bytes, Shdr, sh_type);
  section->link = (uint32_t)VALUE_OF(elf, bytes, Shdr, sh_link);
  section->flags = VALUE_OF(elf, bytes, Shdr, sh_flags);
  section->address = VALUE_OF(elf, bytes, Shdr, sh_addr);
  section->offset = VALUE_OF(elf, bytes, Shdr, sh_offset);
  section->size = VALUE_OF(elf, bytes, Shdr, sh_size);
  section->row_bytes = VALUE_OF(elf, bytes, Shdr, sh_entsize);
}

int uvperf__elf_section(uvperf__elf_t *elf, uint32_t index,
                        uvperf__elf_section_t *section) {
  char bytes[sizeof(Elf64_Shdr)];
  int rc;

  if (index >= elf->sections ||
      elf->sections_at > UINT64_MAX - (uint64_t)index * sizeof(bytes))
    return -EBADMSG;
  rc = uvperf__elf_read(elf, bytes, BYTES_OF(elf, Shdr),
                        elf->sections_at +
                            (uint64_t)index * BYTES_OF(elf, Shdr));
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
                   BYTES_OF(elf, Shdr));
  while ((rc = uvperf__elf_rows_next(&rows, &bytes)) == 1) {
    decode_section(elf, bytes, &section);
    place = place_of(elf, section.type);
    if (place != NULL && place->type == SHT_NULL)
      *place = section;
  }
  return rc;
}

/* -- segments ------------------------------------------------------------- */

static int read_segments(uvperf__elf_t *elf) {
  size_t row_bytes = BYTES_OF(elf, Phdr);
  uvperf__elf_segment_t *segment;
  uvperf__elf_rows_t rows;
  const char *bytes;
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
    if (VALUE_OF(elf, bytes, Phdr, p_type) != PT_LOAD ||
        (VALUE_OF(elf, bytes, Phdr, p_flags) & PF_X) == 0)
      continue;
    segment = &elf->segments[elf->nr_segments++];
    segment->address = VALUE_OF(elf, bytes, Phdr, p_vaddr);
    segment->offset = VALUE_OF(elf, bytes, Phdr, p_offset);
    segment->size = VALUE_OF(elf, bytes, Phdr, p_filesz);
    if (segment->offset > INT64_MAX ||
        segment->size > INT64_MAX - segment->offset)
      return -EBADMSG;
  }
  return rc;
}

/* -- the header ----------------------------------------------------------- */

static int read_header_bytes(uvperf__elf_t *elf, void *bytes, size_t size) {
  int rc = uvperf__elf_read(elf, bytes, size, 0);

  return rc == -EBADMSG ? -ENOEXEC : rc;
}

static int read_header(uvperf__elf_t *elf, char bytes[sizeof(Elf64_Ehdr)]) {
  int rc = read_header_bytes(elf, bytes, EI_NIDENT);
  uint64_t type;

  if (rc != 0)
    return rc;
  if (memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_DATA] != NATIVE_ORDER ||
      bytes[EI_VERSION] != EV_CURRENT ||
      (bytes[EI_CLASS] != ELFCLASS32 && bytes[EI_CLASS] != ELFCLASS64))
    return -ENOEXEC;
  elf->is_64 = bytes[EI_CLASS] == ELFCLASS64;
  rc = read_header_bytes(elf, bytes, BYTES_OF(elf, Ehdr));
  if (rc != 0)
    return rc;
  type = VALUE_OF(elf, bytes, Ehdr, e_type);
  return VALUE_OF(elf, bytes, Ehdr, e_version) == EV_CURRENT &&
                 (type == ET_EXEC || type == ET_DYN)
             ? 0
             : -ENOEXEC;
}

/* If the header cannot hold the numbers of sections and segments, they are in
 * the first section: "e_shnum" and "e_phnum" in elf(5). For segments this is
 * ignored, because Linux cannot load that many. */
static int count_sections(uvperf__elf_t *elf, const char *header) {
  uvperf__elf_section_t first;
  int rc;

  elf->sections_at = VALUE_OF(elf, header, Ehdr, e_shoff);
  if (elf->sections_at == 0)
    return 0;
  if (VALUE_OF(elf, header, Ehdr, e_shentsize) != BYTES_OF(elf, Shdr))
    return -EBADMSG;
  elf->sections = VALUE_OF(elf, header, Ehdr, e_shnum);
  if (elf->sections != 0)
    return 0;
  elf->sections = 1;
  rc = uvperf__elf_section(elf, 0, &first);
  if (rc != 0)
    return rc;
  elf->sections = first.size;
  return elf->sections <= UVPERF__ELF_SECTIONS_MAX ? 0 : -EFBIG;
}

static int read_tables(uvperf__elf_t *elf) {
  char header[sizeof(Elf64_Ehdr)];
  int rc = read_header(elf, header);

  if (rc != 0)
    return rc;
  elf->machine = (uint16_t)VALUE_OF(elf, header, Ehdr, e_machine);
  elf->flags = (uint32_t)VALUE_OF(elf, header, Ehdr, e_flags);
  elf->segments_at = VALUE_OF(elf, header, Ehdr, e_phoff);
  elf->nr_segments = (uint32_t)VALUE_OF(elf, header, Ehdr, e_phnum);
  rc = count_sections(elf, header);
  if (rc == 0 && elf->nr_segments != 0 &&
      VALUE_OF(elf, header, Ehdr, e_phentsize) != BYTES_OF(elf, Phdr))
    rc = -EBADMSG;
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
