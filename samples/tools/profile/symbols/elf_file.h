/* SPDX-License-Identifier: MIT */
/* An ELF file that the worker has open, with its separate debug file if one is
 * found. */
#ifndef SYMBOLS_ELF_FILE_H
#define SYMBOLS_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

typedef struct symbols_cu_range_s {
  uint64_t start, end; /* as in the DWARF */
  uint64_t die;        /* offset of the compilation unit's DIE */
} symbols_cu_range_t;

typedef struct symbols_elf_file_s {
  uint64_t key; /* chosen by the program; 0: not open */
  uint64_t used;
  Dwfl_Callbacks callbacks;
  char *debug_path;
  Dwfl *dwfl;
  Dwfl_Module *module;
  Elf *elf;
  /* Set by inlined.c at the first request. */
  Dwarf *dwarf;
  uint64_t dwarf_bias;
  int debug_fd;    /* the debug file that was sent; or -1 */
  int had_debug;   /* debug_fd was given */
  int lacks_debug; /* its debug file was looked for and not found */
  int has_symtab;  /* it is not stripped */
  int has_unnamed; /* set by names.c: some function has no name */
  int has_looked_for_dwarf;
  symbols_cu_range_t *ranges; /* by start */
  size_t nr_ranges, range_capacity;
} symbols_elf_file_t;

/* Opens a file by its fd, and owns the fds afterwards. Looks for a debug file
 * beside `path` and in `debug_path` (like -debuginfo-path of elfutils; "": the
 * usual places). If it finds no debug file, uses debug_fd, unless that is -1.
 * Returns 0, or -1 with the reason. Keep `file` where it is until it is
 * closed. */
int symbols_elf_open(symbols_elf_file_t *file, int fd, int debug_fd,
                     const char *path, const char *debug_path, char *reason,
                     size_t size);
void symbols_elf_close(symbols_elf_file_t *file);

/* Converts an offset in the file to an address of the symbol table. Returns 0,
 * or -1 if no segment has the offset. */
int symbols_elf_address(const symbols_elf_file_t *file, uint64_t offset,
                        uint64_t *address);

/* Callers are looked up one byte before the place to which a function returns.
 * But a signal handler returns to the start of code that nothing has called.
 * Returns 1 if the address is one byte before such code, on x86-64. */
int symbols_elf_is_before_sigreturn(const symbols_elf_file_t *file,
                                    uint64_t address);

/* Finds the loaded segment of an address. Returns 0 or -1. */
int symbols_elf_segment(const symbols_elf_file_t *file, uint64_t address,
                        GElf_Phdr *segment);

/* Finds the section of instructions that contains an address. Returns 0 or
 * -1. */
int symbols_elf_section(const symbols_elf_file_t *file, uint64_t address,
                        Elf_Scn **section, GElf_Shdr *header);

/* Reads a number in the byte order of a file, which is in its e_ident. */
uint64_t symbols_elf_number(const unsigned char *ident, const unsigned char *at,
                            size_t width);

#endif
