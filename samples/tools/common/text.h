/* SPDX-License-Identifier: MIT */
/* Names that other processes chose, made safe to print. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at the start of a name; 0 at its end, or if what
 * stands there is not UTF-8 (overlong forms and surrogates are not). */
size_t common_text_utf8(const char *name);

/* The same, but 0 also for a character that a terminal could take for a command
 * (control characters, also those beyond ASCII) or that would make it show
 * other text than there is (those that turn the direction of writing). */
size_t common_text_printable(const char *name);

/* Copies a name, cut to fit, with each byte that may not be printed replaced by
 * a question mark. */
void common_text_clean(char *clean, size_t size, const char *name);

/* Room for any character in a string of JSON, and its end. */
#define COMMON_TEXT_JSON_BYTES 8

/* Writes the character at the start of a name, which has not ended, as it is in
 * a string of JSON; a byte that is not UTF-8 as U+FFFD. How many bytes of the
 * name that was. */
size_t common_text_json(char json[COMMON_TEXT_JSON_BYTES], const char *name);

/* Writes a name as a string of JSON, with its quotation marks. */
void common_text_put_json(FILE *file, const char *name);

#endif
