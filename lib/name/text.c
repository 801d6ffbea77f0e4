/* SPDX-License-Identifier: MIT */
/* The text of an event's name. The first part handles pieces of the text, which
 * need not be terminated, and errors that point at them. The second part
 * handles the syntax of parse-events.l and .y of perf(1), in one pass over the
 * text and without recursion. The meaning of the pieces is not known here. */
#include "name/text.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attr/generic_name.h"
#include "util/ascii.h"
#include "util/error.h"

/* -- errors at a place of the text ----------------------------------------- */

void uvperf__parse_init(uvperf__parse_t *parse, const char *text,
                        uvperf_error_t *error) {
  memset(parse, 0, sizeof(*parse));
  parse->text = text;
  parse->end = text + strlen(text);
  parse->error = error;
}

/* Writes the event's index and the column into the error. */
static void text_locate(const uvperf__parse_t *parse, const char *at) {
  const char *place = parse->outer != NULL ? parse->outer : at;
  size_t offset = (size_t)(place - parse->text);

  if (parse->error == NULL)
    return;
  parse->error->column =
      offset < UINT32_MAX ? (uint32_t)offset + 1 : UINT32_MAX;
  parse->error->attr_index = parse->event;
}

int uvperf__parse_fail(const uvperf__parse_t *parse, const char *at, int code,
                       int cause, const char *format, ...) {
  char reason[sizeof(parse->error->reason)];
  va_list args;

  va_start(args, format);
  vsnprintf(reason, sizeof(reason), format, args);
  va_end(args);
  uvperf__error_set(parse->error, code, cause, "%s", reason);
  text_locate(parse, at);
  return code;
}

int uvperf__parse_bad_piece(const uvperf__parse_t *parse, uvperf__span_t span,
                            const char *format) {
  char shown[UVPERF__SHOW_BYTES];

  uvperf__span_show(span, shown);
  return uvperf__parse_bad(parse, span.at, format, shown, shown);
}

int uvperf__parse_shortage(const uvperf__parse_t *parse, const char *at,
                           int code) {
  uvperf__error_shortage(parse->error, code, "cannot read the event's files");
  text_locate(parse, at);
  return code;
}

/* The name may come from a file that another user wrote. */
const char *uvperf__parse_meant(const char *best,
                                char text[UVPERF__MEANT_BYTES]) {
  char *at;

  text[0] = '\0';
  if (best[0] != '\0')
    snprintf(text, UVPERF__MEANT_BYTES, "; did you mean '%s'?", best);
  for (at = text; *at != '\0'; at++)
    *at = uvperf__visible(*at);
  return text;
}

int uvperf__parse_unknown(const uvperf__parse_t *parse, uvperf__span_t span,
                          const char *format, const char *best) {
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];

  return uvperf__parse_fail(parse, span.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                            format, uvperf__span_show(span, shown),
                            uvperf__parse_meant(best, meant));
}

/* -- pieces ---------------------------------------------------------------- */

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

int uvperf__parse_raw(const uvperf__parse_t *parse, uvperf__span_t span,
                      uint64_t *value) {
  int rc = read_raw(span, value);

  return rc == -ERANGE ? uvperf__parse_bad_piece(parse, span,
                                                 "'%s' has more than 64 bits")
                       : rc == 0;
}

int uvperf__parse_number(const uvperf__parse_t *parse, uvperf__span_t span,
                         uint64_t most, uint64_t *value) {
  char shown[UVPERF__SHOW_BYTES];
  uint64_t number = 0;
  int rc = uvperf__span_number(span, &number);

  if (rc == -EINVAL)
    return uvperf__parse_bad_piece(
        parse, span, "'%s' is not a number; write it as in 10 or 0xa");
  if (rc == -ERANGE || number > most) {
    uvperf__parse_bad(parse, span.at, "%s is too large; the limit is %#llx",
                      uvperf__span_show(span, shown), (unsigned long long)most);
    return uvperf__error_limit(parse->error, -EINVAL, most,
                               rc == 0 ? number : UINT64_MAX);
  }
  *value = number;
  return 0;
}

/* Whether the piece consists of one or more letters of UVPERF__MODIFIERS. */
static int is_modifiers(uvperf__span_t span) {
  const char *at;

  for (at = span.at; at < span.end; at++)
    if (memchr(UVPERF__MODIFIERS, *at, sizeof(UVPERF__MODIFIERS) - 1) == NULL)
      return 0;
  return span.at < span.end;
}

static int is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

const char *uvperf__skip_space(const char *at, const char *end) {
  while (at < end && is_space(*at))
    at++;
  return at;
}

uvperf__span_t uvperf__scan_word(const char *at, const char *end) {
  uvperf__span_t word = {at, at};

  while (word.end < end && !is_space(*word.end) &&
         strchr(",{}/:='\"", *word.end) == NULL)
    word.end++;
  return word;
}

/* -- terms ----------------------------------------------------------------- */

static int is_at(const uvperf__parse_t *parse, const char *at, char c) {
  return at < parse->end && *at == c;
}

void uvperf__terms_init(uvperf__terms_t *terms, uvperf__span_t span,
                        uvperf__span_t pmu) {
  terms->at = span.at;
  terms->end = span.end;
  terms->has_path = uvperf__span_is(pmu, "uprobe");
  terms->is_last = 0;
}

static int read_quoted(const uvperf__parse_t *parse, uvperf__terms_t *terms,
                       uvperf__term_t *term) {
  const char *end =
      memchr(terms->at + 1, *terms->at, (size_t)(terms->end - terms->at - 1));

  if (end == NULL)
    return uvperf__parse_bad(parse, terms->at,
                             "the quotation mark %c is not closed", *terms->at);
  term->is_quoted = 1;
  term->value.at = terms->at + 1;
  term->value.end = end;
  terms->at = end + 1;
  return 0;
}

static int read_value(const uvperf__parse_t *parse, uvperf__terms_t *terms,
                      uvperf__term_t *term) {
  int is_path = terms->has_path && uvperf__span_is(term->key, "path");
  const char *end;

  if (terms->at < terms->end && (*terms->at == '\'' || *terms->at == '"'))
    return read_quoted(parse, terms, term);
  for (end = terms->at; end < terms->end; end++)
    if (*end == ',' || (*end == '/' && !is_path))
      break;
  term->value.at = terms->at;
  terms->at = end;
  while (end > term->value.at && is_space(end[-1]))
    end--;
  term->value.end = end;
  if (term->value.at == end)
    return uvperf__parse_bad(parse, end,
                             is_at(parse, end, '/')
                                 ? "a value is missing after '='; put one with "
                                   "'/' into quotation marks"
                                 : "a value is missing after '='");
  if (is_path && terms->at == terms->end && terms->end == parse->end)
    return uvperf__parse_bad(
        parse, term->value.at,
        "the path ends at ','; add another term, or write path=\"...\"");
  return 0;
}

int uvperf__terms_next(const uvperf__parse_t *parse, uvperf__terms_t *terms,
                       uvperf__term_t *term) {
  uvperf__span_t rest;
  int rc = 0;

  if (terms->is_last)
    return 0;
  memset(term, 0, sizeof(*term));
  terms->at = uvperf__skip_space(terms->at, terms->end);
  term->key.at = term->key.end = terms->at;
  while (term->key.end < terms->end && !is_space(*term->key.end) &&
         strchr(",/='\"", *term->key.end) == NULL)
    term->key.end++;
  if (term->key.at == term->key.end)
    return uvperf__parse_bad(parse, terms->at, "the name of a term is missing");
  terms->at = uvperf__skip_space(term->key.end, terms->end);
  if (terms->at < terms->end && *terms->at == '=') {
    terms->at = uvperf__skip_space(terms->at + 1, terms->end);
    rc = read_value(parse, terms, term);
    terms->at = uvperf__skip_space(terms->at, terms->end);
  }
  if (rc != 0)
    return rc;
  terms->is_last = terms->at == terms->end || *terms->at == '/';
  if (!terms->is_last && *terms->at != ',') {
    rest.at = terms->at;
    rest.end = terms->end;
    return uvperf__parse_bad_piece(parse, rest,
                                   "',' or '/' is missing before '%s'");
  }
  terms->at += !terms->is_last;
  return 1;
}

/* Reads the terms from the first '/' to the second '/'. *at becomes the byte
 * after the second '/'. */
static int scan_terms(const uvperf__parse_t *parse, const char **at,
                      uvperf__event_text_t *text) {
  uvperf__span_t rest = {*at + 1, parse->end};
  uvperf__terms_t terms;
  uvperf__term_t term;
  int rc = 1;

  rest.at = uvperf__skip_space(rest.at, rest.end);
  uvperf__terms_init(&terms, rest, text->head);
  if (rest.at < rest.end && *rest.at != '/')
    while (rc > 0)
      rc = uvperf__terms_next(parse, &terms, &term);
  if (rc < 0)
    return rc;
  if (terms.at == parse->end)
    return uvperf__parse_bad(parse, *at,
                             "the terms are not closed; write '/' after them");
  text->terms.at = rest.at;
  text->terms.end = terms.at;
  *at = terms.at + 1;
  return 0;
}

/* -- events ---------------------------------------------------------------- */

/* Returns the beginning of the next item of a type=…, or NULL after the last
 * item. */
static const char *next_item(const uvperf__parse_t *parse, const char *at) {
  uvperf__span_t key;

  at = uvperf__skip_space(at, parse->end);
  if (!is_at(parse, at, ','))
    return NULL;
  at = uvperf__skip_space(at + 1, parse->end);
  key = uvperf__scan_word(at, parse->end);
  if (uvperf__span_is(key, "type") ||
      !is_at(parse, uvperf__skip_space(key.end, parse->end), '='))
    return NULL;
  return at;
}

/* A name such as type=9,config=0x0 has no slashes. The name continues as long
 * as items with '=' follow. */
static int scan_type(const uvperf__parse_t *parse, const char **at,
                     uvperf__event_text_t *text) {
  const char *item = text->head.at;
  uvperf__span_t word;

  text->form = UVPERF__FORM_TYPE;
  text->terms.at = item;
  for (; item != NULL; item = next_item(parse, word.end)) {
    word = uvperf__scan_word(item, parse->end);
    word.at = uvperf__skip_space(word.end, parse->end) + 1; /* '=' */
    word.at = uvperf__skip_space(word.at, parse->end);
    word = uvperf__scan_word(word.at, parse->end);
    if (word.at == word.end)
      return uvperf__parse_bad(parse, word.at, "a value is missing after '='");
    text->terms.end = *at = word.end;
  }
  return 0;
}

/* Reads mem:addr[/len][:access], up to the access. */
static int scan_breakpoint(const uvperf__parse_t *parse, const char **at,
                           uvperf__event_text_t *text) {
  const char *next = text->head.end;

  text->form = UVPERF__FORM_BREAKPOINT;
  text->tail = uvperf__scan_word(next + 1, parse->end);
  next = text->tail.end;
  /* If no number follows the '/', it begins terms, as in perf(1). */
  if (is_at(parse, next, '/') && next + 1 < parse->end && next[1] >= '0' &&
      next[1] <= '9') {
    text->length = uvperf__scan_word(next + 1, parse->end);
    next = text->length.end;
  }
  if (is_at(parse, next, ':') && next + 1 < parse->end &&
      memchr("rwx", next[1], 3) != NULL) {
    text->access = uvperf__scan_word(next + 1, parse->end);
    next = text->access.end;
  }
  *at = next;
  return 0;
}

/* Reads the text after a ':' that follows the first word: the name of a
 * tracepoint or a number. Modifiers are left for later. */
static void scan_pair(const uvperf__parse_t *parse, const char **at,
                      uvperf__event_text_t *text) {
  uvperf__span_t tail = uvperf__scan_word(*at + 1, parse->end);
  uint64_t number;
  uint32_t type;

  if (uvperf__span_number(text->head, &number) != -EINVAL)
    text->form = UVPERF__FORM_NUMBERS;
  else if (read_raw(text->head, &number) != -EINVAL ||
           uvperf__generic_find(text->head.at, uvperf__span_length(text->head),
                                &type, &number) != -ENOENT ||
           (!is_at(parse, tail.end, ':') && !is_at(parse, tail.end, '/') &&
            is_modifiers(tail)))
    return;
  else
    text->form = UVPERF__FORM_TRACEPOINT;
  text->tail = tail;
  *at = tail.end;
}

/* Reads everything before terms and modifiers. */
static int scan_head(const uvperf__parse_t *parse, const char **at,
                     uvperf__event_text_t *text) {
  char shown[UVPERF__SHOW_BYTES];
  const char *behind;

  text->head = uvperf__scan_word(*at, parse->end);
  behind = uvperf__skip_space(text->head.end, parse->end);
  if (text->head.at == text->head.end)
    return uvperf__parse_bad(parse, *at, "the name of an event is missing");
  *at = text->head.end;
  if (is_at(parse, behind, '=')) {
    if (uvperf__span_is(text->head, "type"))
      return scan_type(parse, at, text);
    return uvperf__parse_bad(
        parse, behind,
        "'%s=' is not an event; write terms between slashes, pmu/%s=.../",
        uvperf__span_show(text->head, shown), shown);
  }
  if (!is_at(parse, *at, ':'))
    return 0;
  if (uvperf__span_is(text->head, "mem"))
    return scan_breakpoint(parse, at, text);
  scan_pair(parse, at, text);
  return 0;
}

/* Modifiers need no ':' after terms, and are optional. */
static int scan_modifiers(const uvperf__parse_t *parse, const char **at,
                          uvperf__event_text_t *text) {
  int has_colon = is_at(parse, *at, ':');

  if (!has_colon && (text->form == UVPERF__FORM_TYPE || text->terms.at == NULL))
    return 0;
  text->modifiers = uvperf__scan_word(*at + has_colon, parse->end);
  *at = text->modifiers.end;
  if (text->modifiers.at == text->modifiers.end) {
    text->modifiers.at = text->modifiers.end = NULL;
    if (has_colon)
      return uvperf__parse_bad(parse, *at, "modifiers are missing after ':'");
  }
  return 0;
}

int uvperf__event_text_scan(const uvperf__parse_t *parse, const char *at,
                            uvperf__event_text_t *text) {
  int rc;

  memset(text, 0, sizeof(*text));
  text->whole.at = at;
  rc = scan_head(parse, &at, text);
  if (rc == 0 && is_at(parse, at, '/') && text->form != UVPERF__FORM_TYPE)
    rc = scan_terms(parse, &at, text);
  if (rc == 0)
    rc = scan_modifiers(parse, &at, text);
  text->whole.end = at;
  return rc;
}
