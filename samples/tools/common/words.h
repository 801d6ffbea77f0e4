/* SPDX-License-Identifier: MIT */
/* Text in lines that fit into a terminal. */
#ifndef COMMON_WORDS_H
#define COMMON_WORDS_H

#include <stddef.h>
#include <stdio.h>

/* Writes words from `column` on, and ends the line. If a line is full, the
 * words continue on the next line at column `indent`. */
void common_words_put(FILE *file, size_t column, size_t indent,
                      const char *words);

#endif
