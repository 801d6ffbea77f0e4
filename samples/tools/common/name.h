/* SPDX-License-Identifier: MIT */
/* Names that other processes chose, in lines of text and of JSON. */
#ifndef COMMON_NAME_H
#define COMMON_NAME_H

#include "common/buffer.h"

/* Adds a name. Escapes the backslash and everything that a terminal could take
 * for a command: \n, \t, \\, \xNN. */
void common_name_text(common_buffer_t *buffer, const char *name);

/* Adds a name in quotation marks. Quotation marks in the name are escaped
 * too. */
void common_name_quoted(common_buffer_t *buffer, const char *name);

/* Adds a JSON string. Returns 1 if the whole name was UTF-8, otherwise 0. */
int common_name_json_string(common_buffer_t *buffer, const char *name);

/* Adds a member to a JSON object that already has one: ,"key":"name". If the
 * name is not UTF-8, it is also added in hex: ,"key_hex":"…". */
void common_name_json(common_buffer_t *buffer, const char *key,
                      const char *name);

#endif
