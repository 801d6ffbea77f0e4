/* SPDX-License-Identifier: MIT */
/* Reads the lines of a format file as f_show() in kernel/trace/trace_events.c
 * writes them, up to the "print fmt", which print.c reads. */
#include "tracepoint/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracepoint/declaration.h"

static const char field_begin[] = "\tfield:";

typedef struct cursor_s {
  const char *text;
  size_t at;
  size_t end;
  const char *wanted; /* the last text that was not found */
} cursor_t;

static int is_next(const cursor_t *cursor, const char *literal) {
  size_t length = strlen(literal);

  return cursor->end - cursor->at >= length &&
         memcmp(cursor->text + cursor->at, literal, length) == 0;
}

static int cursor_take(cursor_t *cursor, const char *literal) {
  if (!is_next(cursor, literal)) {
    cursor->wanted = literal;
    return 0;
  }
  cursor->at += strlen(literal);
  return 1;
}

/* Reads a number of at most nine digits, so that the sum of two numbers fits
 * into 32 bits. */
static int take_number(cursor_t *cursor, uint32_t *number) {
  size_t begin = cursor->at;

  *number = 0;
  while (cursor->at < cursor->end && cursor->at - begin < 9 &&
         cursor->text[cursor->at] >= '0' && cursor->text[cursor->at] <= '9') {
    *number = *number * 10 + (uint32_t)(cursor->text[cursor->at] - '0');
    cursor->at += 1;
  }
  cursor->wanted = "a number";
  return cursor->at > begin;
}

/* Takes one or more printable bytes before `stop`. */
static int take_until(cursor_t *cursor, char stop, uvperf__text_t *span) {
  size_t begin = cursor->at;

  while (cursor->at < cursor->end && cursor->text[cursor->at] != stop &&
         cursor->text[cursor->at] >= ' ' && cursor->text[cursor->at] <= '~')
    cursor->at += 1;
  span->text = cursor->text + begin;
  span->length = cursor->at - begin;
  cursor->wanted = "a name";
  return span->length > 0;
}

/* Copies two texts into `room`, where allocate() has made room for them. */
static char *format_keep(char **room, uvperf__text_t first,
                         uvperf__text_t second) {
  char *text = *room;

  memcpy(text, first.text, first.length);
  memcpy(text + first.length, second.text, second.length);
  text[first.length + second.length] = '\0';
  *room += first.length + second.length + 1;
  return text;
}

/* Takes a line such as "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
 * ". The part "signed:" is new in Linux 2.6.33. */
static int take_field(cursor_t *cursor, uvperf_field_t *field,
                      uvperf__declaration_t *declaration) {
  uint32_t is_signed = 0;
  uvperf__text_t span;
  size_t begin;

  if (!cursor_take(cursor, field_begin))
    return 0;
  begin = cursor->at;
  if (!take_until(cursor, ';', &span) || !cursor_take(cursor, ";\toffset:") ||
      !take_number(cursor, &field->offset) ||
      !cursor_take(cursor, ";\tsize:") || !take_number(cursor, &field->size) ||
      !cursor_take(cursor, ";"))
    return 0;
  if (is_next(cursor, "\tsigned:") &&
      (!cursor_take(cursor, "\tsigned:") || !take_number(cursor, &is_signed) ||
       !cursor_take(cursor, ";")))
    return 0;
  if (!cursor_take(cursor, "\n"))
    return 0;
  if (is_signed != 0)
    field->flags |= UVPERF_FIELD_SIGNED;
  if (!uvperf__declaration_split(declaration, span.text, span.length)) {
    cursor->at = begin;
    cursor->wanted = "a type and a name";
    return 0;
  }
  uvperf__declaration_apply(declaration, field);
  if ((field->flags & UVPERF_FIELD_DYNAMIC) != 0 && field->size != 4) {
    cursor->at = begin;
    cursor->wanted = "a dynamic field of 4 bytes";
    return 0;
  }
  return 1;
}

static int take_fields(cursor_t *cursor, uvperf__format_t *format, char **room,
                       uint32_t flags) {
  static const uvperf__text_t nothing = {"", 0};
  uvperf__declaration_t declaration;

  while (is_next(cursor, field_begin)) {
    uvperf_field_t *field = &format->fields[format->nr_fields];

    field->flags = flags;
    if (!take_field(cursor, field, &declaration))
      return 0;
    field->name = format_keep(room, declaration.name, nothing);
    field->type = format_keep(room, declaration.type, declaration.brackets);
    if (format->size < (size_t)field->offset + field->size)
      format->size = (size_t)field->offset + field->size;
    format->nr_fields += 1;
  }
  /* The empty line after the last field may be missing at the end. */
  return cursor->at == cursor->end || cursor_take(cursor, "\n");
}

static int take_format(cursor_t *cursor, uvperf__format_t *format) {
  static const uvperf__text_t nothing = {"", 0};
  char *room = format->texts;
  uvperf__text_t name;
  uint32_t id;

  if (!cursor_take(cursor, "name: ") || !take_until(cursor, ' ', &name) ||
      !cursor_take(cursor, "\n") || !cursor_take(cursor, "ID: ") ||
      !take_number(cursor, &id) || !cursor_take(cursor, "\nformat:\n"))
    return 0;
  format->name = format_keep(&room, name, nothing);
  format->id = id;
  return take_fields(cursor, format, &room, UVPERF_FIELD_COMMON) &&
         take_fields(cursor, format, &room, 0);
}

static size_t count_fields(const char *text, size_t bytes) {
  cursor_t cursor = {text, 0, bytes, NULL};
  size_t nr = 0;

  for (; cursor.at < bytes; cursor.at++)
    if (text[cursor.at] == '\t' && is_next(&cursor, field_begin))
      nr += 1;
  return nr;
}

/* In the file, the words before a name or a declaration take more bytes than
 * the two NULs that we add. So all texts together are not longer than the
 * file. */
static int format_allocate(uvperf__format_t *format, const char *text,
                           size_t bytes) {
  size_t nr = count_fields(text, bytes);

  memset(format, 0, sizeof(*format));
  format->texts = malloc(bytes + 1);
  format->fields = calloc(nr + 1, sizeof(*format->fields));
  if (format->texts != NULL && format->fields != NULL)
    return 0;
  uvperf__format_free(format);
  return -ENOMEM;
}

int uvperf__format_parse(uvperf__format_t *format, const char *text,
                         size_t bytes, uvperf__format_fault_t *fault) {
  cursor_t cursor = {text, 0, bytes, ""};
  int rc;

  memset(format, 0, sizeof(*format));
  if (bytes > UVPERF__FORMAT_BYTES)
    return -EFBIG;
  rc = format_allocate(format, text, bytes);
  if (rc != 0)
    return rc;
  if (take_format(&cursor, format)) {
    format->end = cursor.at;
    return 0;
  }
  fault->at = cursor.at;
  fault->wanted = cursor.wanted;
  uvperf__format_free(format);
  return -EPROTO;
}

void uvperf__format_free(uvperf__format_t *format) {
  free(format->texts);
  free(format->fields);
  memset(format, 0, sizeof(*format));
}
