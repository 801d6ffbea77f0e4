/* SPDX-License-Identifier: MIT */
/* Reads the text of a list: events, commas and groups, in one pass. What an
 * event's name means is in event_name.c. */
#include "name/list.h"

#include <errno.h>
#include <string.h>

#include "util/error.h"

typedef struct reader_s {
  uvperf__parse_t parse;
  uvperf_event_list_t *list;
  const char *at;
} reader_t;

static void skip_space(reader_t *reader) {
  reader->at = uvperf__skip_space(reader->at, reader->parse.end);
}

static int is_at(const reader_t *reader, char c) {
  return reader->at < reader->parse.end && *reader->at == c;
}

static int add_event(const uvperf__named_event_t *event, void *data) {
  reader_t *reader = data;
  int rc = uvperf__event_list_add(&reader->parse, reader->list, event);

  reader->parse.event = (uint32_t)uvperf_event_list_count(reader->list);
  return rc;
}

static int read_event(reader_t *reader) {
  uvperf__parse_t parse = reader->parse;
  uvperf__event_text_t text;
  int rc = uvperf__event_text_scan(&parse, reader->at, &text);

  if (rc != 0)
    return rc;
  reader->at = text.whole.end;
  return uvperf__event_name_each(&parse, &text, add_event, reader);
}

/* Whether a group begins here, with its name if it has one. */
static int is_group(const reader_t *reader, uvperf__span_t *name) {
  *name = uvperf__scan_word(reader->at, reader->parse.end);
  return name->end < reader->parse.end && *name->end == '{';
}

/* After an event there must be one of these, 0 being the end: 0 or -EINVAL. */
static int need_end(const reader_t *reader, char end) {
  char shown[UVPERF__SHOW_BYTES];
  uvperf__span_t rest = {reader->at, reader->parse.end};

  if (is_at(reader, ',') || (end != '\0' && is_at(reader, end)) ||
      (end == '\0' && reader->at == reader->parse.end))
    return 0;
  return uvperf__parse_bad(&reader->parse, reader->at,
                           "',' is missing before '%s'",
                           uvperf__span_show(rest, shown));
}

static int read_members(reader_t *reader, const char *begin) {
  uvperf__span_t name;
  int rc;

  for (;;) {
    skip_space(reader);
    if (is_group(reader, &name))
      return uvperf__parse_bad(&reader->parse, name.end,
                               "a group cannot be in a group");
    rc = read_event(reader);
    if (rc != 0)
      return rc;
    skip_space(reader);
    if (reader->at == reader->parse.end)
      return uvperf__parse_bad(&reader->parse, begin,
                               "this '{' has no '}' that ends the group");
    rc = need_end(reader, '}');
    if (rc != 0 || is_at(reader, '}'))
      return rc;
    reader->at += 1;
  }
}

static int read_group_modifiers(reader_t *reader,
                                uvperf__modifiers_t *modifiers) {
  uvperf__span_t word = {reader->at, reader->at};

  if (is_at(reader, ':')) {
    word = uvperf__scan_word(reader->at + 1, reader->parse.end);
    if (word.at == word.end)
      return uvperf__parse_bad(&reader->parse, word.at,
                               "modifiers are missing behind ':'");
    reader->at = word.end;
  }
  return uvperf__modifiers_parse(&reader->parse, word, modifiers);
}

static int read_group(reader_t *reader, uvperf__span_t name) {
  size_t first = uvperf_event_list_count(reader->list);
  uvperf__modifiers_t modifiers;
  int rc;

  reader->at = name.end + 1;
  skip_space(reader);
  if (is_at(reader, '}'))
    return uvperf__parse_bad(&reader->parse, name.end, "the group is empty");
  rc = read_members(reader, name.end);
  if (rc != 0)
    return rc;
  reader->at += 1;
  rc = read_group_modifiers(reader, &modifiers);
  if (rc != 0)
    return rc;
  reader->parse.event = (uint32_t)first;
  if (name.at == name.end)
    name.at = NULL;
  rc = uvperf__event_list_group(&reader->parse, reader->list, first, name,
                                &modifiers);
  reader->parse.event = (uint32_t)uvperf_event_list_count(reader->list);
  return rc;
}

static int read_all(reader_t *reader) {
  uvperf__span_t name;
  int rc;

  for (;;) {
    skip_space(reader);
    if (is_group(reader, &name))
      rc = read_group(reader, name);
    else
      rc = read_event(reader);
    if (rc != 0)
      return rc;
    skip_space(reader);
    rc = need_end(reader, '\0');
    if (rc != 0 || reader->at == reader->parse.end)
      return rc;
    reader->at += 1;
  }
}

int uvperf__event_list_parse(const char *root, uvperf_event_list_t **list,
                             const char *names, uvperf_error_t *error) {
  reader_t reader;
  int rc;

  if (list != NULL)
    *list = NULL;
  if (list == NULL || names == NULL)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "uvperf_event_list_parse needs a list and names");
  uvperf__parse_init(&reader.parse, root, names, error);
  reader.at = names;
  reader.list = uvperf__event_list_new();
  if (reader.list == NULL)
    return uvperf__parse_fail(&reader.parse, names, -ENOMEM,
                              UVPERF_CAUSE_MEMORY, "no memory for the events");
  rc = read_all(&reader);
  if (rc != 0) {
    uvperf_event_list_free(reader.list);
    return rc;
  }
  *list = reader.list;
  return 0;
}

int uvperf_event_list_parse(uvperf_event_list_t **list, const char *names,
                            uvperf_error_t *error) {
  return uvperf__event_list_parse("", list, names, error);
}
