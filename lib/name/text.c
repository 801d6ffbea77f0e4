/* SPDX-License-Identifier: MIT */
/* Cuts the name of an event into its pieces, as parse-events.l and .y of
 * perf(1) do. One pass over the text, without recursion. */
#include "name/text.h"

#include <errno.h>
#include <string.h>

#include "attr/generic_name.h"
#include "name/modifier.h"

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
                             "%c has no other %c that ends it", *terms->at,
                             *terms->at);
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
  while (end > term->value.at && uvperf__is_space(end[-1]))
    end--;
  term->value.end = end;
  if (term->value.at == end)
    return uvperf__parse_bad(parse, end,
                             is_at(parse, end, '/')
                                 ? "a value is missing behind '=': one with "
                                   "'/' needs quotation marks"
                                 : "a value is missing behind '='");
  if (is_path && terms->at == terms->end && terms->end == parse->end)
    return uvperf__parse_bad(
        parse, term->value.at,
        "a path ends at ',': another term must follow, or write path=\"...\"");
  return 0;
}

int uvperf__terms_next(const uvperf__parse_t *parse, uvperf__terms_t *terms,
                       uvperf__term_t *term) {
  char shown[UVPERF__SHOW_BYTES];
  uvperf__span_t rest;
  int rc = 0;

  if (terms->is_last)
    return 0;
  memset(term, 0, sizeof(*term));
  terms->at = uvperf__skip_space(terms->at, terms->end);
  term->key.at = term->key.end = terms->at;
  while (term->key.end < terms->end && !uvperf__is_space(*term->key.end) &&
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
    return uvperf__parse_bad(parse, terms->at,
                             "',' or '/' is missing before "
                             "'%s'",
                             uvperf__span_show(rest, shown));
  }
  terms->at += !terms->is_last;
  return 1;
}

/* From behind the first '/' to behind the second. */
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
                             "this '/' has no other '/' that ends "
                             "the terms");
  text->terms.at = rest.at;
  text->terms.end = terms.at;
  *at = terms.at + 1;
  return 0;
}

/* Where the next item of a type=… begins, NULL: there is none. */
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

/* type=9,config=0x0: no slashes, and as far as there are items with '='. */
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
      return uvperf__parse_bad(parse, word.at, "a value is missing behind '='");
    text->terms.end = *at = word.end;
  }
  return 0;
}

/* mem:addr[/len][:access], as far as the access. */
static int scan_breakpoint(const uvperf__parse_t *parse, const char **at,
                           uvperf__event_text_t *text) {
  const char *next = text->head.end;

  text->form = UVPERF__FORM_BREAKPOINT;
  text->tail = uvperf__scan_word(next + 1, parse->end);
  next = text->tail.end;
  /* A '/' before anything else begins terms, as in perf(1). */
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

/* What a ':' behind the first word begins: the name of a tracepoint, a number,
 * or modifiers, which are left for later. */
static void scan_pair(const uvperf__parse_t *parse, const char **at,
                      uvperf__event_text_t *text) {
  uvperf__span_t tail = uvperf__scan_word(*at + 1, parse->end);
  uint64_t number;
  uint32_t type;

  if (uvperf__span_number(text->head, &number) != -EINVAL)
    text->form = UVPERF__FORM_NUMBERS;
  else if (uvperf__span_is_raw(text->head) ||
           uvperf__generic_find(text->head.at, uvperf__span_length(text->head),
                                &type, &number) != -ENOENT ||
           (!is_at(parse, tail.end, ':') && !is_at(parse, tail.end, '/') &&
            uvperf__modifiers_are(tail)))
    return;
  else
    text->form = UVPERF__FORM_TRACEPOINT;
  text->tail = tail;
  *at = tail.end;
}

/* Everything before terms and modifiers. */
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
    return uvperf__parse_bad(parse, behind,
                             "'%s=' is no event: terms are between slashes, "
                             "pmu/%s=.../",
                             uvperf__span_show(text->head, shown), shown);
  }
  if (!is_at(parse, *at, ':'))
    return 0;
  if (uvperf__span_is(text->head, "mem"))
    return scan_breakpoint(parse, at, text);
  scan_pair(parse, at, text);
  return 0;
}

/* Behind terms they need no ':', and need not be there. */
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
      return uvperf__parse_bad(parse, *at, "modifiers are missing behind ':'");
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
