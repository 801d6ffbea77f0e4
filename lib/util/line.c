/* SPDX-License-Identifier: MIT */
/* A line of text in the caller's memory. The text is cut and never overrun, but
 * its whole length is counted. */
#include "util/line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/bytes.h"

#define NS 1000000000u

void uvperf__line_begin(uvperf__line_t *line, char *text, size_t size) {
  line->text = text;
  line->size = size;
  line->length = 0;
  if (size != 0)
    text[0] = '\0';
}

void uvperf__line_put(uvperf__line_t *line, const char *format, ...) {
  int has_room = line->length < line->size;
  va_list values;
  int length;

  va_start(values, format);
  length = vsnprintf(has_room ? line->text + line->length : NULL,
                     has_room ? line->size - line->length : 0, format, values);
  va_end(values);
  if (length > 0)
    line->length += (size_t)length;
}

static void put_char(uvperf__line_t *line, char c) {
  if (line->size > 1 && line->length < line->size - 1) {
    line->text[line->length] = c;
    line->text[line->length + 1] = '\0';
  }
  line->length++;
}

/* Bytes of UTF-8 are left as they are. Each byte is read once, because the text
 * of a record may change meanwhile. */
void uvperf__line_put_text(uvperf__line_t *line, const char *text,
                           size_t size) {
  uint8_t c;
  size_t i;

  for (i = 0; i < size; i++) {
    c = uvperf__u8((const uint8_t *)text + i);
    put_char(line, c < ' ' || c == 0x7f ? '?' : (char)c);
  }
}

void uvperf__line_put_hex(uvperf__line_t *line, const void *bytes,
                          size_t size) {
  static const char digits[] = "0123456789abcdef";
  const unsigned char *at = bytes;
  size_t i;

  for (i = 0; i < size; i++) {
    put_char(line, digits[at[i] >> 4]);
    put_char(line, digits[at[i] & 15]);
  }
}

int uvperf__line_give(const char *text, char *room, size_t *size) {
  size_t had = *size;

  *size = strlen(text) + 1;
  if (had < *size)
    return -ENOBUFS;
  memcpy(room, text, *size);
  return 0;
}

void uvperf__line_put_time(uvperf__line_t *line, uint64_t ns) {
  uvperf__line_put(line, "%llu.%09u", (unsigned long long)(ns / NS),
                   (unsigned int)(ns % NS));
}
