/* SPDX-License-Identifier: MIT */
/* Small ELF files made by hand, for what no linker makes: 32 and 64 bits, any
 * symbols, and every byte within reach for faults. */
#ifndef UVPERF_TEST_ELF_IMAGE_H
#define UVPERF_TEST_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "host/elf_symbol.h"

/* Where things are in the file. */
#define ELF_IMAGE_SEGMENTS_AT 0x100
#define ELF_IMAGE_TABLES_AT   0x200 /* 0x200 bytes for each of the tables */
#define ELF_IMAGE_TEXT_AT     0x1000
#define ELF_IMAGE_TEXT_BYTES  0x800
#define ELF_IMAGE_DATA_AT     0x1800
#define ELF_IMAGE_DATA_BYTES  0x100
#define ELF_IMAGE_BYTES       0x2000

/* Where they are in memory: not where one who forgets p_offset or p_vaddr, or
 * takes them for equal, would have them. */
#define ELF_IMAGE_TEXT 0x405000
#define ELF_IMAGE_DATA 0x40a800

/* Of a function so many bytes from the start of the text. */
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
  Elf64_Phdr segments[3]; /* all of it, the text, the data */
  Elf64_Shdr sections[ELF_IMAGE_SECTIONS];
  /* The tables as they will be. */
  uint8_t tables[ELF_IMAGE_SECTIONS][0x200];
  uint8_t bytes[ELF_IMAGE_BYTES]; /* filled by elf_image_write */
} elf_image_t;

/* A file with tables of one null symbol. */
void elf_image_make(elf_image_t *image, int is_64);

/* A file with the functions "one" in .symtab and "two" in .dynsym, that one in
 * the versions "V_1", the default, and "V_2"; and with a label. */
void elf_image_make_usual(elf_image_t *image, int is_64);

/* Adds a symbol to ELF_IMAGE_SYMTAB or ELF_IMAGE_DYNSYM; there its entry of
 * .gnu.version is 1. Its section is that of the text, its value is `at` bytes
 * from there, its size 16. */
void elf_image_add(elf_image_t *image, int table, const char *name, int bind,
                   int type, uint64_t at);

/* The last symbol of a table, as it would be in 64 bits: after a change put it
 * back. */
Elf64_Sym elf_image_last(const elf_image_t *image, int table);
void elf_image_put_last(elf_image_t *image, int table, const Elf64_Sym *symbol);

/* The version of the last symbol of .dynsym, VERSYM_HIDDEN in it too. */
void elf_image_set_version(elf_image_t *image, unsigned int version);

/* Adds a definition of a version: its number and its name. */
void elf_image_define(elf_image_t *image, unsigned int number,
                      const char *name);

/* Takes a section away: its type is SHT_NULL then. */
void elf_image_drop(elf_image_t *image, int section);

/* Lays it out in `bytes`, and writes that to a file. */
void elf_image_write(elf_image_t *image, const char *path);

/* Writes so many bytes to a file. */
void elf_image_write_bytes(const char *path, const void *bytes, size_t size);

/* What a walk over all functions of a file gives that reads their names. */
int elf_image_walk(const char *path);

/* What the search for a function gives in a file, after such a walk. */
int elf_image_search(const char *path, const char *name);

/* uvperf__elf_symbol and uvperf__elf_each_symbol of what has a path: what they
 * return, or what uvperf__file_open_regular does. */
int elf_path_symbol(const char *path, const char *name,
                    uvperf__elf_symbol_t *symbol);
int elf_path_each(const char *path,
                  int (*each)(const uvperf__elf_symbol_t *, void *),
                  void *data);

#endif
