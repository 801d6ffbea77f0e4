/* SPDX-License-Identifier: MIT */
/* Small ELF files made by hand, which no linker would make: 32 and 64 bits, any
 * symbols, and access to every byte to spoil it. */
#ifndef UVPERF_TEST_ELF_IMAGE_H
#define UVPERF_TEST_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "host/elf_symbol.h"

/* Offsets in the file. */
#define ELF_IMAGE_SEGMENTS_AT 0x100
#define ELF_IMAGE_TABLES_AT   0x200 /* 0x200 bytes for each of the tables */
#define ELF_IMAGE_TEXT_AT     0x1000
#define ELF_IMAGE_TEXT_BYTES  0x800
#define ELF_IMAGE_DATA_AT     0x1800
#define ELF_IMAGE_DATA_BYTES  0x100
#define ELF_IMAGE_BYTES       0x2000

/* Addresses in memory. They differ from the file offsets so that code that
 * ignores p_offset or p_vaddr, or treats them as equal, fails. */
#define ELF_IMAGE_TEXT 0x405000
#define ELF_IMAGE_DATA 0x40a800

/* The file offset of a function `at` bytes after the start of the text. */
#define ELF_IMAGE_OFFSET(at) (ELF_IMAGE_TEXT_AT + (at))

/* The sections. */
enum elf_image_section {
  ELF_IMAGE_NONE,
  ELF_IMAGE_TEXT_SECTION,
  ELF_IMAGE_DATA_SECTION,
  ELF_IMAGE_SYMTAB,
  ELF_IMAGE_STRTAB,
  ELF_IMAGE_DYNSYM,
  ELF_IMAGE_DYNSTR,
  ELF_IMAGE_VERSYM,
  ELF_IMAGE_VERDEF,
  ELF_IMAGE_SECTIONS
};

typedef struct elf_image_s {
  int is_64;
  Elf64_Ehdr header;
  Elf64_Phdr segments[3]; /* the whole file, the text, the data */
  Elf64_Shdr sections[ELF_IMAGE_SECTIONS];
  /* The tables before they are written. */
  uint8_t tables[ELF_IMAGE_SECTIONS][0x200];
  uint8_t bytes[ELF_IMAGE_BYTES]; /* filled by elf_image_write */
} elf_image_t;

/* Makes a file whose tables have one null symbol each. */
void elf_image_make(elf_image_t *image, int is_64);

/* Makes a file with the function "one" in .symtab, and "two" in .dynsym in the
 * versions "V_1" (the default) and "V_2"; and with a label. */
void elf_image_make_usual(elf_image_t *image, int is_64);

/* Adds a symbol to ELF_IMAGE_SYMTAB or ELF_IMAGE_DYNSYM; in the latter its
 * .gnu.version entry is 1. It is in the text section, its value is `at` bytes
 * from the start of that, and its size is 16. */
void elf_image_add(elf_image_t *image, int table, const char *name, int bind,
                   int type, uint64_t at);

/* The last symbol of a table, in the 64-bit format. After changing it, put it
 * back. */
Elf64_Sym elf_image_last(const elf_image_t *image, int table);
void elf_image_put_last(elf_image_t *image, int table, const Elf64_Sym *symbol);

/* Sets the version of the last symbol of .dynsym; it may contain
 * VERSYM_HIDDEN. */
void elf_image_set_version(elf_image_t *image, unsigned int version);

/* Adds the definition of a version: its number and name. */
void elf_image_define(elf_image_t *image, unsigned int number,
                      const char *name);

/* Drops a section: its type becomes SHT_NULL. */
void elf_image_drop(elf_image_t *image, int section);

/* Lays the file out in `bytes`, and writes them to path. */
void elf_image_write(elf_image_t *image, const char *path);

/* Writes size bytes to a file. */
void elf_image_write_bytes(const char *path, const void *bytes, size_t size);

/* Returns what a walk over all functions of a file returns, after reading their
 * names. */
int elf_image_walk(const char *path);

/* Returns what the search for a function in a file returns, after such a
 * walk. */
int elf_image_search(const char *path, const char *name);

/* uvperf__elf_symbol and uvperf__elf_each_symbol for a path: return their
 * result, or uvperf__file_open_regular's error. */
int elf_path_symbol(const char *path, const char *name,
                    uvperf__elf_symbol_t *symbol);
int elf_path_each(const char *path,
                  int (*each)(const uvperf__elf_symbol_t *, void *),
                  void *data);

#endif
