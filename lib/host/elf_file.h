/* SPDX-License-Identifier: MIT */
/* Programs and shared libraries as ELF files, see elf(5): reads the header, the
 * tables to which the header points (row by row), and strings. Reads 32-bit and
 * 64-bit files of this machine's byte order. The file is not trusted: a part
 * that lies outside the file is -EBADMSG. A sparse file can have any size, so
 * there are bounds (see below). If a file exceeds them, the result is
 * -EFBIG. */
#ifndef UVPERF_LIB_HOST_ELF_FILE_H
#define UVPERF_LIB_HOST_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Bounds on the sections of a file, on the symbols of a table, and on the bytes
 * that are read between open and close. Each read counts as at least one page.
 * The largest programs known to us have 60 sections, 2 million symbols and 250
 * MB of names. */
#define UVPERF__ELF_SECTIONS_MAX 65536
#define UVPERF__ELF_SYMBOLS_MAX  4194304
#define UVPERF__ELF_BYTES_MAX    (UINT64_C(512) << 20)

typedef struct uvperf__elf_section_s {
  uint32_t type; /* SHT_NULL: the section does not exist */
  uint32_t link;
  uint64_t flags;
  uint64_t address;
  uint64_t offset; /* in the file, bytes */
  uint64_t size;   /* bytes */
  uint64_t row_bytes;
} uvperf__elf_section_t;

/* The part of a code segment (PT_LOAD) that comes from the file. */
typedef struct uvperf__elf_segment_s {
  uint64_t address;
  uint64_t offset; /* in the file, bytes */
  uint64_t size;   /* bytes; offset + size fits */
} uvperf__elf_segment_t;

/* Elf64_Sym, or Elf32_Sym. */
typedef struct uvperf__elf_row_s {
  uint32_t name; /* an offset in the strings */
  uint8_t type;  /* STT_* */
  uint8_t bind;  /* STB_* */
  uint8_t other;
  uint16_t section; /* an index, or SHN_* */
  uint64_t value;
} uvperf__elf_row_t;

typedef struct uvperf__elf_s {
  int fd;              /* the caller's */
  uint64_t bytes_left; /* the rest of the bound on reading */
  int is_64;
  uint16_t machine; /* EM_* */
  uint32_t flags;
  uint64_t sections_at;
  uint64_t sections;
  uint64_t segments_at;
  uint32_t nr_segments;
  uvperf__elf_segment_t *segments;
  /* The first section of each type. */
  uvperf__elf_section_t symbols;
  uvperf__elf_section_t dynamic_symbols;
  uvperf__elf_section_t versions;    /* .gnu.version */
  uvperf__elf_section_t definitions; /* .gnu.version_d */
} uvperf__elf_t;

/* Opens a file. `fd` belongs to the caller and must stay open until
 * uvperf__elf_close. Returns 0, -ENOEXEC, -EBADMSG, -EFBIG, -ENOMEM, or the
 * code of read(2). -ENOEXEC means that the file is not a program or shared
 * library, or has another byte order. Call uvperf__elf_close only after
 * success. */
int uvperf__elf_open(uvperf__elf_t *elf, int fd);

void uvperf__elf_close(uvperf__elf_t *elf);

/* Reads exactly `size` bytes. Returns 0, -EBADMSG if the file ends before that,
 * -EFBIG, or the code of read(2). */
int uvperf__elf_read(uvperf__elf_t *elf, void *bytes, size_t size,
                     uint64_t offset);

/* Reads one section header. Returns 0 or a code, as uvperf__elf_read does.
 * -EBADMSG also means that there is no such section. */
int uvperf__elf_section(uvperf__elf_t *elf, uint32_t index,
                        uvperf__elf_section_t *section);

/* -- the rows of a table, in order ---------------------------------------- */

typedef struct uvperf__elf_rows_s {
  uvperf__elf_t *elf;
  uint64_t offset; /* of the first row that is not in `bytes` */
  uint64_t left;   /* number of rows from there */
  size_t row_bytes;
  size_t at; /* in `bytes` */
  size_t end;
  char bytes[4096];
} uvperf__elf_rows_t;

void uvperf__elf_rows(uvperf__elf_rows_t *rows, uvperf__elf_t *elf,
                      uint64_t offset, uint64_t nr, size_t row_bytes);

/* Returns 1 and the next row, or 0 after the last row. Returns -EBADMSG if the
 * file ends before the last row's end, or the code of read(2). The row is not
 * aligned and is valid until the next call. */
int uvperf__elf_rows_next(uvperf__elf_rows_t *rows, const char **row);

/* Does the same for a table of symbols. Returns 0, -EBADMSG or -EFBIG. */
int uvperf__elf_symbol_rows(uvperf__elf_rows_t *rows, uvperf__elf_t *elf,
                            const uvperf__elf_section_t *section);
int uvperf__elf_symbol_rows_next(uvperf__elf_rows_t *rows,
                                 uvperf__elf_row_t *row);

/* -- the strings of a section --------------------------------------------- */

/* Names of this length or longer are not read. */
#define UVPERF__ELF_NAME_MAX 4096

/* Neighbouring symbols often have neighbouring names, so a few pieces of the
 * strings are kept. Each piece also holds the UVPERF__ELF_NAME_MAX bytes that
 * follow it, so that a name that begins in a piece also ends in it. */
#define UVPERF__ELF_PLACES      8
#define UVPERF__ELF_PLACE_BYTES 4096

typedef struct uvperf__elf_strings_s {
  uvperf__elf_t *elf;
  uint64_t offset;
  uint64_t size;
  struct {
    uint64_t number; /* counted from 1; 0: empty */
    size_t size;
    char bytes[UVPERF__ELF_PLACE_BYTES + UVPERF__ELF_NAME_MAX];
  } places[UVPERF__ELF_PLACES];
} uvperf__elf_strings_t;

/* Begins to read the strings of the section with this index. Returns 0 or a
 * code, as uvperf__elf_section does. */
int uvperf__elf_strings(uvperf__elf_strings_t *strings, uvperf__elf_t *elf,
                        uint32_t index);

/* Returns 1 and a string with its length, valid until the next call. Returns 0
 * if the string is too long, -EBADMSG if the string is not in the section or
 * does not end in the section, or the code of read(2). */
int uvperf__elf_string(uvperf__elf_strings_t *strings, uint32_t at,
                       const char **text, size_t *length);

/* A set of places in the strings, as a Bloom filter. The filter contains every
 * place that was added, and sometimes also other places. */
#define UVPERF__ELF_FILTER_BITS (1 << 20)

typedef struct uvperf__elf_filter_s {
  uint64_t words[UVPERF__ELF_FILTER_BITS / 64];
} uvperf__elf_filter_t;

int uvperf__elf_filter_has(const uvperf__elf_filter_t *filter, uint32_t at);

/* Finds the places of a text that ends with a NUL or an '@', by reading the
 * strings once, in order. Reading the name of each symbol of a big table would
 * need a system call for each symbol, because the linker orders names in its
 * own way. Reading the strings in order needs few system calls. Returns 0 or a
 * code, as uvperf__elf_read does. */
int uvperf__elf_strings_find(uvperf__elf_strings_t *strings, const char *text,
                             size_t length, uvperf__elf_filter_t *filter);

#endif
