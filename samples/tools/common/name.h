/* SPDX-License-Identifier: MIT */
/* Names that other processes chose as they liked, in lines of text and of
 * JSON. */
#ifndef COMMON_NAME_H
#define COMMON_NAME_H

#include "common/buffer.h"

/* Adds a name with all that a terminal could take for a command, and the
 * backslash, escaped: \n, \t, \\, \xNN. */
void common_name_text(common_buffer_t *buffer, const char *name);

/* The same between quotation marks, with those in it escaped too. */
void common_name_quoted(common_buffer_t *buffer, const char *name);

/* Adds a string of JSON: 1 if all of the name was UTF-8, else 0. */
int common_name_json_string(common_buffer_t *buffer, const char *name);

/* Adds a member to an object of JSON that has one already: ,"key":"name". A
 * string of JSON has characters, a name has bytes: where they are no characters
 * they are told in hex as well, as ,"key_hex":"…". */
void common_name_json(common_buffer_t *buffer, const char *key,
                      const char *name);

#endif
