/* SPDX-License-Identifier: MIT */
/* Small ELF files made by hand, which no linker would make: 32 and 64 bits, any
 * symbols, and access to every byte to spoil it. */
#ifndef UVPERF_TEST_MAKE_ELF_H
#define UVPERF_TEST_MAKE_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "host/elf_symbol.h"

/* Offsets in the file. */
#define MAKE_ELF_SEGMENTS_AT 0x100
#define MAKE_ELF_TABLES_AT   0x200 /* 0x200 bytes for each of the tables */
#define MAKE_ELF_TEXT_AT     0x1000
#define MAKE_ELF_TEXT_BYTES  0x800
#define MAKE_ELF_DATA_AT     0x1800
#define MAKE_ELF_DATA_BYTES  0x100
#define MAKE_ELF_BYTES       0x2000

/* Addresses in memory. They differ from the file offsets so that code that
 * ignores p_offset or p_vaddr, or treats them as equal, fails. */
#define MAKE_ELF_TEXT 0x405000
#define MAKE_ELF_DATA 0x40a800

/* The file offset of a function `at` bytes after the start of the text. */
#define MAKE_ELF_OFFSET(at) (MAKE_ELF_TEXT_AT + (at))

/* The sections. */
enum make_elf_section {
  MAKE_ELF_NONE,
  MAKE_ELF_TEXT_SECTION,
  MAKE_ELF_DATA_SECTION,
  MAKE_ELF_SYMTAB,
  MAKE_ELF_STRTAB,
  MAKE_ELF_DYNSYM,
  MAKE_ELF_DYNSTR,
  MAKE_ELF_VERSYM,
  MAKE_ELF_VERDEF,
  MAKE_ELF_SECTIONS
};

typedef struct make_elf_s {
  int is_64;
  Elf64_Ehdr header;
  Elf64_Phdr segments[3]; /* the whole file, the text, the data */
  Elf64_Shdr sections[MAKE_ELF_SECTIONS];
  /* The tables before they are written. */
  uint8_t tables[MAKE_ELF_SECTIONS][0x200];
  uint8_t bytes[MAKE_ELF_BYTES]; /* filled by make_elf_write */
} make_elf_t;

/* Makes a file whose tables have one null symbol each. */
void make_elf_make(make_elf_t *image, int is_64);

/* Makes a file with the function "one" in .symtab, and "two" in .dynsym in the
 * versions "V_1" (the default) and "V_2"; and with a label. */
void make_elf_make_usual(make_elf_t *image, int is_64);

/* Adds a symbol to MAKE_ELF_SYMTAB or MAKE_ELF_DYNSYM; in the latter its
 * .gnu.version entry is 1. It is in the text section, its value is `at` bytes
 * from the start of that, and its size is 16. */
void make_elf_add(make_elf_t *image, int table, const char *name, int bind,
                  int type, uint64_t at);

/* The last symbol of a table, in the 64-bit format. After changing it, put it
 * back. */
Elf64_Sym make_elf_last(const make_elf_t *image, int table);
void make_elf_put_last(make_elf_t *image, int table, const Elf64_Sym *symbol);

/* Sets the version of the last symbol of .dynsym; it may contain
 * VERSYM_HIDDEN. */
void make_elf_set_version(make_elf_t *image, unsigned int version);

/* Adds the definition of a version: its number and name. */
void make_elf_define(make_elf_t *image, unsigned int number, const char *name);

/* Drops a section: its type becomes SHT_NULL. */
void make_elf_drop(make_elf_t *image, int section);

/* Lays the file out in `bytes`, and writes them to path. */
void make_elf_write(make_elf_t *image, const char *path);

/* Writes size bytes to a file. */
void make_elf_write_bytes(const char *path, const void *bytes, size_t size);

/* Returns what a walk over all functions of a file returns, after reading their
 * names. */
int make_elf_walk(const char *path);

/* Returns what the search for a function in a file returns, after such a
 * walk. */
int make_elf_search(const char *path, const char *name);

/* uvperf__elf_symbol and uvperf__elf_each_symbol for a path: return their
 * result, or uvperf__file_open_regular's error. */
int elf_path_symbol(const char *path, const char *name, uint64_t *offset);
int elf_path_each(const char *path, uvperf__name_fn each, void *data);

#endif
