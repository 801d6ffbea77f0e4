/* SPDX-License-Identifier: MIT */
/* Names of functions of a Go program, from the table that Go's runtime uses for
 * stack traces. strip(1) and the linker's -s leave it in the program. */
#ifndef SYMBOLS_GOPCLNTAB_H
#define SYMBOLS_GOPCLNTAB_H

#include <stddef.h>
#include <stdint.h>

#include "profile/symbols/functions.h"

/* Fills functions[i] for each address that has no name yet. Changes nothing if
 * the table does not have it. Returns how many functions the table has; 0 if
 * there is no table, or no address without a name. */
size_t symbols_gopclntab_find(const symbols_elf_file_t *file,
                              const uint64_t *addresses, size_t nr,
                              symbols_function_t *functions);

#endif
