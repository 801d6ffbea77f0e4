/* SPDX-License-Identifier: MIT */
/* Entries of the procedure linkage table, which have no symbols of their
 * own. */
#ifndef SYMBOLS_PLT_H
#define SYMBOLS_PLT_H

#include "profile/symbols/functions.h"

/* Finds the function to which the entry at an address jumps. Also finds where
 * the entry starts and ends. Works on x86-64 and aarch64. On other machines the
 * name is NULL. */
void symbols_plt_find(const symbols_elf_file_t *file, uint64_t address,
                      symbols_function_t *function);

#endif
