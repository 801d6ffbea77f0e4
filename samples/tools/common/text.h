/* SPDX-License-Identifier: MIT */
/* Names that other processes chose, made safe to print. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Returns the size of the UTF-8 character at the start of a name. Returns 0 at
 * the end of the name, or if the bytes are not UTF-8. Overlong forms and
 * surrogates are not UTF-8. */
size_t common_text_utf8(const char *name);

/* Returns the same size, but 0 also for two kinds of characters. A terminal
 * could take control characters, also those outside ASCII, for a command.
 * Characters that change the direction of writing would hide the real text. */
size_t common_text_printable(const char *name);

/* Copies a name, cut to fit. Each byte that may not be printed becomes a
 * question mark. */
void common_text_clean(char *clean, size_t size, const char *name);

/* Returns a whole name with such question marks. Free it with free(). */
char *common_text_cleaned(const char *name);

/* Copies a text of a record, cut to fit, and returns the copy. The text ends
 * where the record says, because its NUL in the ring can be overwritten. */
const char *common_text_copy(char *copy, size_t room, const char *text,
                             size_t size);

/* Room for any character of a JSON string, and a NUL. */
#define COMMON_TEXT_JSON_BYTES 8

/* Writes the first character of a name as in a JSON string. The name must not
 * be empty. A byte that is not UTF-8 becomes U+FFFD. Returns the number of
 * bytes that it took from the name. */
size_t common_text_json(char json[COMMON_TEXT_JSON_BYTES], const char *name);

/* Writes a name as a JSON string, with its quotation marks. */
void common_text_put_json(FILE *file, const char *name);

/* Writes a member of a JSON object: ,"key":"name". NULL becomes null. */
void common_text_put_member(FILE *file, const char *key, const char *name);

/* Writes words from `column` on, and ends the line. If a line is full, the
 * words continue on the next line at column `indent`. */
void common_words_put(FILE *file, size_t column, size_t indent,
                      const char *words);

#endif
