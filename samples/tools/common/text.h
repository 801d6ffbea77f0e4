/* SPDX-License-Identifier: MIT */
/* Names that other processes chose, made safe to print. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Returns the size of the UTF-8 character at the start of a name; 0 at its end,
 * or if the bytes are not UTF-8 (overlong forms and surrogates are not). */
size_t common_text_utf8(const char *name);

/* The same, but also 0 for a character that a terminal could take for a command
 * (control characters, also outside ASCII) or that would hide the real text
 * (those that change the direction of writing). */
size_t common_text_printable(const char *name);

/* Copies a name, cut to fit. Each byte that may not be printed becomes a
 * question mark. */
void common_text_clean(char *clean, size_t size, const char *name);

/* Room for any character of a JSON string, and a NUL. */
#define COMMON_TEXT_JSON_BYTES 8

/* Writes the first character of a name that is not empty as in a JSON string; a
 * byte that is not UTF-8 becomes U+FFFD. Returns the bytes that it took from
 * the name. */
size_t common_text_json(char json[COMMON_TEXT_JSON_BYTES], const char *name);

/* Writes a name as a JSON string, with its quotation marks. */
void common_text_put_json(FILE *file, const char *name);

#endif
