/* SPDX-License-Identifier: MIT */
/* Entries of the procedure linkage table: they have no symbols of their own. */
#ifndef SYMBOLS_PLT_H
#define SYMBOLS_PLT_H

#include "common/symbols/functions.h"

/* The function that the entry at an address jumps to, and where the entry
 * starts and ends. On x86-64 and aarch64; else its name is NULL. */
void symbols_plt_find(const symbols_elf_file_t *file, uint64_t address,
                      symbols_function_t *function);

#endif
