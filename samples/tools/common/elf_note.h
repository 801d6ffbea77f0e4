/* SPDX-License-Identifier: MIT */
/* The build id that the linker put into a program. */
#ifndef COMMON_ELF_NOTE_H
#define COMMON_ELF_NOTE_H

#include <stddef.h>

/* The space in perf.data, which fits SHA-1. */
#define COMMON_BUILD_ID_BYTES 20

/* Each function returns the size of the id, or 0 if there is no id. Longer ids
 * are cut to COMMON_BUILD_ID_BYTES. */

/* Finds the id of a file that has this machine's byte order. */
size_t common_elf_note_of_file(int fd, unsigned char id[COMMON_BUILD_ID_BYTES]);

/* Finds the id of [vdso], the library that the kernel has mapped into this
 * process. */
size_t common_elf_note_of_vdso(unsigned char id[COMMON_BUILD_ID_BYTES]);

/* Finds the id in notes without an ELF header, such as /sys/kernel/notes. */
size_t common_elf_note_find(const void *notes, size_t size,
                            unsigned char id[COMMON_BUILD_ID_BYTES]);

#endif
