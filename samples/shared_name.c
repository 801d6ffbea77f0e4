/* SPDX-License-Identifier: MIT */
/* Escapes what is no text. Knows nothing of what is named. */
#include "shared_name.h"

#include <string.h>

#include "shared_text.h"

/* One character, or one byte that is none: how many bytes it takes. */
static size_t put_character(shared_buffer_t *buffer, const char *name) {
  size_t nr = shared_text_printable(name);

  if (*name == '\n')
    shared_buffer_print(buffer, "\\n");
  else if (*name == '\t')
    shared_buffer_print(buffer, "\\t");
  else if (*name == '\\')
    shared_buffer_print(buffer, "\\\\");
  else if (nr == 0)
    shared_buffer_print(buffer, "\\x%02x", (unsigned char)*name);
  else
    shared_buffer_add(buffer, name, nr);
  return nr == 0 ? 1 : nr;
}

void shared_name_text(shared_buffer_t *buffer, const char *name) {
  while (*name != '\0')
    name += put_character(buffer, name);
}

void shared_name_quoted(shared_buffer_t *buffer, const char *name) {
  shared_buffer_add(buffer, "\"", 1);
  while (*name != '\0') {
    if (*name == '"')
      shared_buffer_add(buffer, "\\", 1);
    name += put_character(buffer, name);
  }
  shared_buffer_add(buffer, "\"", 1);
}

static int is_utf8(const char *name) {
  size_t nr;

  while ((nr = shared_text_utf8(name)) > 0)
    name += nr;
  return *name == '\0';
}

void shared_name_json(shared_buffer_t *buffer, const char *key,
                      const char *name) {
  char json[SHARED_TEXT_JSON_BYTES];
  const char *at = name;

  shared_buffer_print(buffer, ",\"%s\":\"", key);
  while (*at != '\0') {
    at += shared_text_json(json, at);
    shared_buffer_add(buffer, json, strlen(json));
  }
  shared_buffer_add(buffer, "\"", 1);
  if (is_utf8(name))
    return;
  shared_buffer_print(buffer, ",\"%s_hex\":\"", key);
  for (; *name != '\0'; name++)
    shared_buffer_print(buffer, "%02x", (unsigned char)*name);
  shared_buffer_add(buffer, "\"", 1);
}
