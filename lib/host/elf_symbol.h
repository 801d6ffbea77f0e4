/* SPDX-License-Identifier: MIT */
/* Functions of ELF files, for uprobes: where in the file a function
 * begins, which is what the kernel's uprobe PMU wants. Reads the symbol tables
 * .symtab and .dynsym of 32- and 64-bit files of this machine's byte order;
 * safe on hostile files, within the bounds of elf_file.h; no memory kept. The
 * fd of the file, which is a regular one, stays the caller's. Not looked into:
 * separate files of debug information, .gnu_debugdata, and a dynamic segment
 * without sections. */
#ifndef UVPERF_LIB_HOST_ELF_SYMBOL_H
#define UVPERF_LIB_HOST_ELF_SYMBOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct uvperf__elf_symbol_s {
  const char *name; /* valid during the call of each */
  uint64_t offset;  /* bytes from the start of the file */
  uint64_t size;    /* bytes; 0: not known */
} uvperf__elf_symbol_t;

/* Finds a function; symbol->name is `name`. A function is a defined symbol of
 * type STT_FUNC, or one without a type (as of assembler) that is not local and
 * in a section of code; it lies in a segment of code. "name@VERSION" and
 * "name@@VERSION" are that version of it, "name" is the default one, else one
 * without a version, else any. Of several a typed one comes first, then a
 * global, then a weak, then a local one. Of 64-bit PowerPC the offset is where
 * callers of the same module enter (the local entry), as both ways in come by
 * there. Names of 4096 bytes and more are not found.
 *
 * 0; -ENOENT: no such function; -ENOEXEC: no program or shared library, or of
 * another byte order; -EBADMSG: damaged; -ENODATA: it has no symbol table, or
 * only one of what it takes from others (stripped); -ENOTUNIQ: several
 * functions of that name at different places; -ENOTSUP: an indirect function
 * (STT_GNU_IFUNC), whose code is elsewhere, or any of 64-bit PowerPC's first
 * ABI, whose symbols are descriptors; -EILSEQ: Thumb code of 32-bit ARM, which
 * the kernel cannot probe; -EFBIG: beyond the bounds; -ENOMEM; or
 * what read(2) says. On failure *symbol is left as it was. */
int uvperf__elf_symbol(int fd, const char *name, uvperf__elf_symbol_t *symbol);

/* Each function that can be found, by its name without a version, and more than
 * once if it is in both tables or in several versions; what `each` returns
 * other than 0 ends the walk and is returned. For near misses. Errors as
 * above. */
int uvperf__elf_each_symbol(int fd,
                            int (*each)(const uvperf__elf_symbol_t *, void *),
                            void *data);

#endif
