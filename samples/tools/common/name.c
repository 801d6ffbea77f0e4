/* SPDX-License-Identifier: MIT */
/* Escapes bytes that are not text. */
#include "common/name.h"

#include <string.h>

#include "common/text.h"

/* Returns the number of bytes at the start of a name that are the same in text
 * and in JSON, quoted or not. Nearly all bytes are the same. */
static size_t plain_bytes(const char *name) {
  size_t nr = 0;

  while (name[nr] >= ' ' && name[nr] < 0x7f && name[nr] != '"' &&
         name[nr] != '\\')
    nr++;
  return nr;
}

/* Adds one character, or one byte that is not a character. Returns the size. */
static size_t put_character(common_buffer_t *buffer, const char *name) {
  size_t nr = common_text_printable(name);

  if (*name == '\n')
    common_buffer_text(buffer, "\\n");
  else if (*name == '\t')
    common_buffer_text(buffer, "\\t");
  else if (*name == '\\')
    common_buffer_text(buffer, "\\\\");
  else if (nr == 0)
    common_buffer_print(buffer, "\\x%02x", (unsigned char)*name);
  else
    common_buffer_add(buffer, name, nr);
  return nr == 0 ? 1 : nr;
}

static void put_text(common_buffer_t *buffer, const char *name, int is_quoted) {
  size_t nr;

  for (;;) {
    nr = plain_bytes(name);
    common_buffer_add(buffer, name, nr);
    name += nr;
    if (*name == '\0')
      return;
    if (*name == '"' && is_quoted)
      common_buffer_text(buffer, "\\");
    name += put_character(buffer, name);
  }
}

void common_name_text(common_buffer_t *buffer, const char *name) {
  put_text(buffer, name, 0);
}

void common_name_quoted(common_buffer_t *buffer, const char *name) {
  common_buffer_text(buffer, "\"");
  put_text(buffer, name, 1);
  common_buffer_text(buffer, "\"");
}

/* Returns 1 if the whole name was UTF-8. */
static int put_json(common_buffer_t *buffer, const char *name) {
  char json[COMMON_TEXT_JSON_BYTES];
  int is_utf8 = 1;
  size_t nr;

  for (;;) {
    nr = plain_bytes(name);
    common_buffer_add(buffer, name, nr);
    name += nr;
    if (*name == '\0')
      return is_utf8;
    is_utf8 &= common_text_utf8(name) > 0;
    name += common_text_json(json, name);
    common_buffer_text(buffer, json);
  }
}

int common_name_json_string(common_buffer_t *buffer, const char *name) {
  int is_utf8;

  common_buffer_text(buffer, "\"");
  is_utf8 = put_json(buffer, name);
  common_buffer_text(buffer, "\"");
  return is_utf8;
}

void common_name_json(common_buffer_t *buffer, const char *key,
                      const char *name) {
  common_buffer_text(buffer, ",\"");
  common_buffer_text(buffer, key);
  common_buffer_text(buffer, "\":");
  if (common_name_json_string(buffer, name))
    return;
  common_buffer_print(buffer, ",\"%s_hex\":\"", key);
  common_buffer_bytes(buffer, name, strlen(name));
  common_buffer_text(buffer, "\"");
}
