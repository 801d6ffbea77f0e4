/* SPDX-License-Identifier: MIT */
/* The build id that the linker put into a program. */
#ifndef COMMON_ELF_NOTE_H
#define COMMON_ELF_NOTE_H

#include <stddef.h>

/* The most that perf.data has room for, SHA-1's. */
#define COMMON_BUILD_ID_BYTES 20

/* Each gives the bytes of the id, cut to that many, or 0 if there is none. */

/* Of a file of the machine's own byte order. */
size_t common_elf_note_of_file(int fd, unsigned char id[COMMON_BUILD_ID_BYTES]);

/* Of the library that the kernel has mapped into this process: [vdso]. */
size_t common_elf_note_of_vdso(unsigned char id[COMMON_BUILD_ID_BYTES]);

/* Of notes by themselves, as /sys/kernel/notes has them. */
size_t common_elf_note_find(const void *notes, size_t size,
                            unsigned char id[COMMON_BUILD_ID_BYTES]);

#endif
