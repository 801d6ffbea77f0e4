/* SPDX-License-Identifier: MIT */
/* Finds where a function without a symbol begins and ends. A stripped file
 * still has .eh_frame. */
#ifndef SYMBOLS_UNNAMED_H
#define SYMBOLS_UNNAMED_H

#include "common/symbols/functions.h"

/* Sets the start and the end of the function at an address, and leaves its name
 * NULL. Changes nothing if start and end are not known. */
void symbols_unnamed_find(const symbols_elf_file_t *file, uint64_t address,
                          symbols_function_t *function);

#endif
