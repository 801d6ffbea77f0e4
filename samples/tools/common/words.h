/* SPDX-License-Identifier: MIT */
/* Words for people, in lines no longer than a terminal. */
#ifndef COMMON_WORDS_H
#define COMMON_WORDS_H

#include <stddef.h>
#include <stdio.h>

/* Writes words where `column` is reached already, and ends the line; where it
 * is full they go on at the column `indent` of another. */
void common_words_put(FILE *file, size_t column, size_t indent,
                      const char *words);

#endif
