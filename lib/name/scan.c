/* SPDX-License-Identifier: MIT */
/* Pieces of a text, which need not be terminated, and errors about them. What
 * the pieces mean is not known here. */
#include "name/scan.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/ascii.h"
#include "util/error.h"

void uvperf__parse_init(uvperf__parse_t *parse, const char *root,
                        const char *text, uvperf_error_t *error) {
  memset(parse, 0, sizeof(*parse));
  parse->root = root;
  parse->text = text;
  parse->end = text + strlen(text);
  parse->error = error;
}

static uint32_t column(const uvperf__parse_t *parse, const char *at) {
  size_t offset =
      (size_t)((parse->outer != NULL ? parse->outer : at) - parse->text);

  return offset < UINT32_MAX ? (uint32_t)offset + 1 : UINT32_MAX;
}

/* Tells in the error which event and where. */
static void locate(const uvperf__parse_t *parse, const char *at) {
  if (parse->error == NULL)
    return;
  parse->error->column = column(parse, at);
  parse->error->attr_index = parse->event;
}

static int fail_at(const uvperf__parse_t *parse, const char *at, int code,
                   int cause, const char *format, va_list args)
    __attribute__((format(printf, 5, 0)));

static int fail_at(const uvperf__parse_t *parse, const char *at, int code,
                   int cause, const char *format, va_list args) {
  char reason[sizeof(parse->error->reason)];

  if (parse->error == NULL)
    return code;
  vsnprintf(reason, sizeof(reason), format, args);
  uvperf__error_set(parse->error, code, cause, "%s", reason);
  locate(parse, at);
  return code;
}

int uvperf__parse_fail(const uvperf__parse_t *parse, const char *at, int code,
                       int cause, const char *format, ...) {
  va_list args;

  va_start(args, format);
  code = fail_at(parse, at, code, cause, format, args);
  va_end(args);
  return code;
}

int uvperf__parse_bad(const uvperf__parse_t *parse, const char *at,
                      const char *format, ...) {
  va_list args;
  int code;

  va_start(args, format);
  code = fail_at(parse, at, -EINVAL, UVPERF_CAUSE_ARGUMENT, format, args);
  va_end(args);
  return code;
}

int uvperf__parse_shortage(const uvperf__parse_t *parse, const char *at,
                           int code) {
  uvperf__error_shortage(parse->error, code, "files cannot be read");
  locate(parse, at);
  return code;
}

/* The name may come from a file that another user wrote. */
const char *uvperf__parse_meant(const char *best,
                                char text[UVPERF__MEANT_BYTES]) {
  char *at;

  text[0] = '\0';
  if (best[0] != '\0')
    snprintf(text, UVPERF__MEANT_BYTES, " (did you mean '%s'?)", best);
  for (at = text; *at != '\0'; at++)
    *at = uvperf__visible(*at);
  return text;
}

size_t uvperf__span_length(uvperf__span_t span) {
  return (size_t)(span.end - span.at);
}

int uvperf__span_is(uvperf__span_t span, const char *word) {
  const char *at;

  for (at = span.at; at < span.end; at++, word++)
    if (*word == '\0' || uvperf__lower(*at) != uvperf__lower(*word))
      return 0;
  return *word == '\0';
}

int uvperf__span_copy(uvperf__span_t span, char *to, size_t size) {
  size_t length = uvperf__span_length(span);

  if (length >= size)
    return -ENAMETOOLONG;
  memcpy(to, span.at, length);
  to[length] = '\0';
  return 0;
}

const char *uvperf__span_show(uvperf__span_t span,
                              char text[UVPERF__SHOW_BYTES]) {
  size_t length = uvperf__span_length(span);
  size_t i;

  for (i = 0; i < length && i < UVPERF__SHOW_BYTES - 4; i++)
    text[i] = uvperf__visible(span.at[i]);
  strcpy(text + i, i < length ? "..." : "");
  return text;
}

int uvperf__span_is_file_name(uvperf__span_t span) {
  size_t length = uvperf__span_length(span);

  return length > 0 && length <= NAME_MAX && span.at[0] != '.' &&
         memchr(span.at, '/', length) == NULL;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = uvperf__lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static int has_hex_mark(uvperf__span_t span) {
  return uvperf__span_length(span) > 2 && span.at[0] == '0' &&
         uvperf__lower(span.at[1]) == 'x';
}

static int read_digits(uvperf__span_t span, uint64_t base, uint64_t *value) {
  uint64_t sum = 0;
  int is_over = 0;

  if (span.at == span.end)
    return -EINVAL;
  for (; span.at < span.end; span.at++) {
    uint64_t digit = (uint64_t)digit_of(*span.at);

    if (digit >= base)
      return -EINVAL;
    is_over |= sum > (UINT64_MAX - digit) / base;
    sum = sum * base + digit;
  }
  if (is_over)
    return -ERANGE;
  *value = sum;
  return 0;
}

int uvperf__span_number(uvperf__span_t span, uint64_t *value) {
  if (!has_hex_mark(span))
    return read_digits(span, 10, value);
  span.at += 2;
  return read_digits(span, 16, value);
}

static int read_raw(uvperf__span_t span, uint64_t *value) {
  if (span.at == span.end || *span.at != 'r')
    return -EINVAL;
  span.at += 1;
  if (has_hex_mark(span))
    span.at += 2;
  return read_digits(span, 16, value);
}

int uvperf__span_is_raw(uvperf__span_t span) {
  uint64_t value;

  return read_raw(span, &value) != -EINVAL;
}

int uvperf__parse_raw(const uvperf__parse_t *parse, uvperf__span_t span,
                      uint64_t *value) {
  char shown[UVPERF__SHOW_BYTES];

  if (read_raw(span, value) == 0)
    return 0;
  return uvperf__parse_bad(parse, span.at, "'%s' has more than 64 bits",
                           uvperf__span_show(span, shown));
}

int uvperf__parse_number(const uvperf__parse_t *parse, uvperf__span_t span,
                         uint64_t most, uint64_t *value) {
  char shown[UVPERF__SHOW_BYTES];
  uint64_t number = 0;
  int rc = uvperf__span_number(span, &number);

  if (rc == -EINVAL)
    return uvperf__parse_bad(parse, span.at,
                             "'%s' is not a number such as 10 or 0xa",
                             uvperf__span_show(span, shown));
  if (rc == -ERANGE || number > most) {
    uvperf__parse_bad(parse, span.at, "%s is too large: the most is %#llx",
                      uvperf__span_show(span, shown), (unsigned long long)most);
    if (parse->error != NULL) {
      parse->error->limit = most;
      parse->error->needed = rc == 0 ? number : UINT64_MAX;
    }
    return -EINVAL;
  }
  *value = number;
  return 0;
}

int uvperf__is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *uvperf__skip_space(const char *at, const char *end) {
  while (at < end && uvperf__is_space(*at))
    at++;
  return at;
}

uvperf__span_t uvperf__scan_word(const char *at, const char *end) {
  uvperf__span_t word = {at, at};

  while (word.end < end && !uvperf__is_space(*word.end) &&
         strchr(",{}/:='\"", *word.end) == NULL)
    word.end++;
  return word;
}
