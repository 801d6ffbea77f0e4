/* SPDX-License-Identifier: MIT */
/* Functions of ELF files, for uprobes: finds where in the file a function
 * begins, which the kernel's uprobe PMU needs.
 *
 * Reads the symbol tables .symtab and .dynsym of 32-bit and 64-bit files of
 * this machine's byte order. It is safe on hostile files, within the bounds of
 * elf_file.h, and keeps no memory. The fd belongs to the caller, and its file
 * must be a regular file. These are not read: separate files of debug
 * information, .gnu_debugdata, and a dynamic segment without sections. */
#ifndef UVPERF_LIB_HOST_ELF_SYMBOL_H
#define UVPERF_LIB_HOST_ELF_SYMBOL_H

#include <stdint.h>

#include "util/file.h"

/* Finds a function; *offset is in bytes from the start of the file. A function
 * is a defined symbol of type STT_FUNC. A symbol without a type (as in
 * assembler) is also a function if it is not local and is in a section of code.
 * In both cases the symbol must lie in a segment of code.
 *
 * "name@VERSION" and "name@@VERSION" mean this version. "name" means the
 * default version. Without a default version, "name" means a symbol without a
 * version. If there is none, it means any version. If several symbols match,
 * symbols with a type come first, then global, weak and local symbols. On
 * 64-bit PowerPC the offset is that of the local entry, because all calls pass
 * it, also those from other modules. Names of 4096 bytes and more are not
 * found.
 *
 * Returns 0, or
 *   -ENOENT    no such function;
 *   -ENOEXEC   not a program or shared library, or another byte order;
 *   -EBADMSG   the file is damaged;
 *   -ENODATA   no symbol table, or only one of imported symbols (stripped);
 *   -ENOTUNIQ  several functions of this name at different places;
 *   -ENOTSUP   an indirect function (STT_GNU_IFUNC), whose code is elsewhere;
 *              also the first ABI of 64-bit PowerPC, whose symbols are
 *              descriptors;
 *   -EILSEQ    Thumb code of 32-bit ARM, which the kernel cannot probe;
 *   -EFBIG     beyond the bounds;
 *   -ENOMEM, or the code of read(2).
 * On failure *offset is unchanged. */
int uvperf__elf_symbol(int fd, const char *name, uint64_t *offset);

/* Calls `each` with the name, without a version, of each function that can be
 * found. A function in both tables or in several versions is passed more than
 * once. If `each` returns a value other than 0, the walk ends and returns that
 * value. Callers use this to suggest similar names. The errors are those of
 * uvperf__elf_symbol. */
int uvperf__elf_each_symbol(int fd, uvperf__name_fn each, void *data);

#endif
