/* SPDX-License-Identifier: MIT */
/* Finds the characters of a name that may be printed. */
#include "common/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"

/* Returns 1 for characters that are valid UTF-8 but hide the real text on a
 * terminal. These are the marks, embeddings and isolates that change the
 * direction of writing, and the separators of lines and paragraphs. */
static int is_misleading(const unsigned char *text, size_t nr) {
  uint32_t code;

  if (nr != 3 || text[0] != 0xe2)
    return 0;
  code = (uint32_t)(text[1] & 0x3f) << 6 | (text[2] & 0x3f);
  code |= 0x2000;
  return (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

size_t common_text_utf8(const char *name) {
  const unsigned char *text = (const unsigned char *)name;
  size_t i, nr;

  if (text[0] < 0x80)
    return text[0] != '\0';
  if (text[0] < 0xc2 || text[0] > 0xf4)
    return 0;
  if ((text[0] == 0xe0 && text[1] < 0xa0) ||
      (text[0] == 0xed && text[1] > 0x9f) ||
      (text[0] == 0xf0 && text[1] < 0x90) ||
      (text[0] == 0xf4 && text[1] > 0x8f))
    return 0;
  nr = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
  for (i = 1; i < nr; i++) {
    if ((text[i] & 0xc0) != 0x80)
      return 0;
  }
  return nr;
}

size_t common_text_printable(const char *name) {
  const unsigned char *text = (const unsigned char *)name;
  size_t nr = common_text_utf8(name);

  if (nr == 1 && (text[0] < 0x20 || text[0] == 0x7f))
    return 0;
  if (nr == 2 && text[0] == 0xc2 && text[1] < 0xa0)
    return 0;
  return is_misleading(text, nr) ? 0 : nr;
}

const char *common_text_copy(char *copy, size_t room, const char *text,
                             size_t size) {
  if (size >= room)
    size = room - 1;
  memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

void common_text_clean(char *clean, size_t size, const char *name) {
  size_t used = 0, nr;

  while (*name != '\0') {
    nr = common_text_printable(name);
    if (used + (nr == 0 ? 1 : nr) >= size)
      break;
    if (nr == 0) {
      clean[used++] = '?';
      name++;
      continue;
    }
    memcpy(clean + used, name, nr);
    used += nr;
    name += nr;
  }
  clean[used] = '\0';
}

char *common_text_cleaned(const char *name) {
  size_t size = strlen(name) + 1;
  char *clean = common_calloc(size, 1);

  common_text_clean(clean, size, name);
  return clean;
}

size_t common_text_json(char json[COMMON_TEXT_JSON_BYTES], const char *name) {
  size_t nr = common_text_utf8(name);

  if (nr == 0)
    snprintf(json, COMMON_TEXT_JSON_BYTES, "\\ufffd");
  else if (*name == '"' || *name == '\\')
    snprintf(json, COMMON_TEXT_JSON_BYTES, "\\%c", *name);
  else if (nr == 1 && ((unsigned char)*name < 0x20 || *name == 0x7f))
    snprintf(json, COMMON_TEXT_JSON_BYTES, "\\u%04x", (unsigned char)*name);
  else
    snprintf(json, COMMON_TEXT_JSON_BYTES, "%.*s", (int)nr, name);
  return nr == 0 ? 1 : nr;
}

void common_text_put_json(FILE *file, const char *name) {
  char json[COMMON_TEXT_JSON_BYTES];

  fputc('"', file);
  while (*name != '\0') {
    name += common_text_json(json, name);
    fputs(json, file);
  }
  fputc('"', file);
}

void common_text_put_member(FILE *file, const char *key, const char *name) {
  fprintf(file, ",\"%s\":", key);
  if (name == NULL)
    fputs("null", file);
  else
    common_text_put_json(file, name);
}

/* -- lines ----------------------------------------------------------------- */

#define LINE_COLUMNS 79

void common_words_put(FILE *file, size_t column, size_t indent,
                      const char *words) {
  int is_first = 1;
  size_t size;

  for (; *words != '\0'; words += size + strspn(words + size, " ")) {
    size = strcspn(words, " ");
    if (!is_first && column + 1 + size > LINE_COLUMNS) {
      fprintf(file, "\n%*s", (int)indent, "");
      column = indent;
    } else if (!is_first) {
      fputc(' ', file);
      column++;
    }
    fprintf(file, "%.*s", (int)size, words);
    column += size;
    is_first = 0;
  }
  fputc('\n', file);
}
