/* SPDX-License-Identifier: MIT */
/* A strict reader of JSON. It shares no code with what it checks, and decodes
 * nothing. */
#include "json_check.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Reads one character of UTF-8: where the next starts, or NULL. */
static const char *skip_character(const char *text) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  unsigned char lead = (unsigned char)*text;
  uint32_t code;
  size_t i, nr;

  if (lead < 0x80)
    return lead >= 0x20 ? text + 1 : NULL;
  nr = (lead & 0xe0) == 0xc0   ? 2
       : (lead & 0xf0) == 0xe0 ? 3
       : (lead & 0xf8) == 0xf0 ? 4
                               : 0;
  if (nr == 0)
    return NULL;
  code = lead & (0x7fu >> nr);
  for (i = 1; i < nr; i++) {
    if (((unsigned char)text[i] & 0xc0) != 0x80)
      return NULL;
    code = code << 6 | ((unsigned char)text[i] & 0x3f);
  }
  if (code < least[nr] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    return NULL;
  return text + nr;
}

static const char *skip_escape(const char *text) {
  size_t i;

  if (*text == '\0')
    return NULL;
  if (strchr("\"\\/bfnrt", *text) != NULL)
    return text + 1;
  if (*text != 'u')
    return NULL;
  for (i = 1; i <= 4; i++) {
    if (!isxdigit((unsigned char)text[i]))
      return NULL;
  }
  /* Surrogates are never needed: what is beyond can be written as it is. */
  if (tolower((unsigned char)text[1]) == 'd' && text[2] >= '8')
    return NULL;
  return text + 5;
}

static const char *skip_string(const char *text) {
  if (*text++ != '"')
    return NULL;
  while (text != NULL && *text != '"')
    text = *text == '\\' ? skip_escape(text + 1) : skip_character(text);
  return text == NULL ? NULL : text + 1;
}

static const char *skip_exponent(const char *text) {
  size_t nr;

  if (*text != 'e' && *text != 'E')
    return text;
  text += text[1] == '-' || text[1] == '+' ? 2 : 1;
  nr = strspn(text, "0123456789");
  return nr == 0 ? NULL : text + nr;
}

static const char *skip_number(const char *text) {
  size_t nr;

  if (*text == '-')
    text++;
  nr = strspn(text, "0123456789");
  if (nr == 0 || (nr > 1 && *text == '0'))
    return NULL;
  text += nr;
  if (*text == '.') {
    nr = strspn(text + 1, "0123456789");
    text = nr == 0 ? NULL : text + 1 + nr;
  }
  return text == NULL ? NULL : skip_exponent(text);
}

/* Deep enough for what there is, and a bound for what is wrong. */
#define MAX_DEPTH 8

static const char *skip_object(const char *text, int depth);
static const char *skip_value(const char *text, int depth);

static const char *skip_array(const char *text, int depth) {
  if (text[1] == ']')
    return text + 2;
  do {
    text = skip_value(text + 1, depth);
    if (text == NULL)
      return NULL;
  } while (*text == ',');
  return *text == ']' ? text + 1 : NULL;
}

static const char *skip_value(const char *text, int depth) {
  static const char *const words[] = {"null", "true", "false"};
  size_t i;

  if (*text == '"')
    return skip_string(text);
  if (depth > 0 && *text == '{')
    return skip_object(text, depth - 1);
  if (depth > 0 && *text == '[')
    return skip_array(text, depth - 1);
  for (i = 0; depth > 0 && i < sizeof(words) / sizeof(words[0]); i++) {
    if (strncmp(text, words[i], strlen(words[i])) == 0)
      return text + strlen(words[i]);
  }
  return skip_number(text);
}

/* Reads an object in which objects and arrays may be, to a depth, and null,
 * true and false above that. */
static const char *skip_object(const char *text, int depth) {
  if (*text++ != '{')
    return NULL;
  if (depth < MAX_DEPTH && *text == '}')
    return text + 1;
  do {
    text = skip_string(text);
    if (text == NULL || *text++ != ':')
      return NULL;
    text = skip_value(text, depth);
    if (text == NULL)
      return NULL;
  } while (*text++ == ',');
  return text[-1] == '}' ? text : NULL;
}

static int ends(const char *text) {
  return text != NULL && (*text == '\0' || strcmp(text, "\n") == 0);
}

int json_is_object(const char *line) {
  return ends(skip_object(line, 0));
}

int json_is_tree(const char *line) {
  return ends(skip_object(line, MAX_DEPTH));
}

int json_is_list(const char *text) {
  const char *separator = "[\n";

  if (strcmp(text, "[]\n") == 0)
    return 1;
  while (text != NULL && strncmp(text, separator, 2) == 0) {
    text = skip_object(text + 2, MAX_DEPTH);
    if (text != NULL && *text == ',')
      separator = ",\n";
    else
      return text != NULL && strcmp(text, "\n]\n") == 0;
  }
  return 0;
}
