/* SPDX-License-Identifier: MIT */
/* Finds where a function without a symbol begins and ends. A stripped file
 * still has .eh_frame. */
#ifndef SYMBOLS_UNNAMED_H
#define SYMBOLS_UNNAMED_H

#include "profile/symbols/functions.h"

/* For each address whose function has no name, sets the start and the end of
 * the function. Changes nothing if the address is outside of every function
 * that the file describes. A name of a symbol without a size ends where such a
 * function begins. */
void symbols_unnamed_find(const symbols_elf_file_t *file,
                          const uint64_t *addresses, size_t nr,
                          symbols_function_t *functions);

#endif
