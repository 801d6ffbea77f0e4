/* SPDX-License-Identifier: MIT */
/* Where a function begins and ends that no symbol names: .eh_frame stays in a
 * stripped file. */
#ifndef SYMBOLS_UNNAMED_H
#define SYMBOLS_UNNAMED_H

#include "common/symbols/functions.h"

/* Sets start and end of the function at an address, and leaves its name NULL;
 * or leaves all as it is. */
void symbols_unnamed_find(const symbols_elf_file_t *file, uint64_t address,
                          symbols_function_t *function);

#endif
