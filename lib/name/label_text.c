/* SPDX-License-Identifier: MIT */
/* The text of a label as it grows, with what it says, and the proof that it
 * says so: it is parsed. */
#include "name/label.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "name/name.h"

/* A label that was cut has this length, which none other has. */
#define CUT UVPERF__LABEL_BYTES

void uvperf__label_begin(uvperf__label_t *label, const char *root,
                         const struct perf_event_attr *attr,
                         const char *tracepoint) {
  label->root = root;
  label->attr = attr;
  label->tracepoint = tracepoint;
  label->form = UVPERF__LABEL_NAME;
  label->nr_terms = 0;
  label->length = 0;
  label->text[0] = '\0';
  uvperf_attr_init_sized(&label->said.attr, sizeof(label->said), attr->type, 0);
}

static void put(uvperf__label_t *label, const char *format, va_list values) {
  size_t room = sizeof(label->text) - label->length;
  int length;

  if (label->length == CUT)
    return;
  length = vsnprintf(label->text + label->length, room, format, values);
  if (length < 0 || (size_t)length >= room)
    label->length = CUT;
  else
    label->length += (size_t)length;
}

void uvperf__label_put(uvperf__label_t *label, const char *format, ...) {
  va_list values;

  va_start(values, format);
  put(label, format, values);
  va_end(values);
}

void uvperf__label_put_term(uvperf__label_t *label, const char *format, ...) {
  int is_first = label->nr_terms++ == 0;
  va_list values;

  if (!is_first || label->form == UVPERF__LABEL_NUMBERS)
    uvperf__label_put(label, ",");
  else if (label->form == UVPERF__LABEL_NAME)
    uvperf__label_put(label, "/");
  va_start(values, format);
  put(label, format, values);
  va_end(values);
}

void uvperf__label_say(uvperf__label_t *label, enum uvperf_attr_field field) {
  uvperf_attr_set(&label->said.attr, field,
                  uvperf__attr_value(label->attr, field));
}

/* What makes an event this one; all else is how it is measured. */
static int is_same_event(const struct perf_event_attr *one,
                         const struct perf_event_attr *other) {
  static const enum uvperf_attr_field fields[] = {
      UVPERF_ATTR_TYPE,    UVPERF_ATTR_CONFIG,  UVPERF_ATTR_CONFIG1,
      UVPERF_ATTR_CONFIG2, UVPERF_ATTR_CONFIG3, UVPERF_ATTR_CONFIG4,
      UVPERF_ATTR_BP_TYPE,
  };
  size_t i;

  for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
    if (uvperf__attr_value(one, fields[i]) !=
        uvperf__attr_value(other, fields[i]))
      return 0;
  return 1;
}

/* Whether what was parsed is what the text says. */
typedef struct truth_s {
  const uvperf__wide_attr_t *said;
  int nr; /* events that the text gave */
  int is_true;
} truth_t;

/* The config1 of probes is a pointer to a string, of which the text has a
 * copy. */
static int judge(const uvperf__named_event_t *event, void *data) {
  truth_t *truth = data;
  uvperf__wide_attr_t parsed = event->wide;
  const char *string = (const char *)(uintptr_t)truth->said->attr.config1;
  size_t length = uvperf__span_length(event->string);

  truth->nr++;
  truth->is_true = !event->is_pattern;
  truth->is_true &= event->string.at == NULL ||
                    (string != NULL && strlen(string) == length &&
                     memcmp(string, event->string.at, length) == 0);
  if (event->string.at != NULL)
    parsed.attr.config1 = truth->said->attr.config1;
  truth->is_true &= memcmp(&parsed, truth->said, sizeof(parsed)) == 0;
  return 0;
}

int uvperf__label_is_true(const uvperf__label_t *label) {
  truth_t truth = {&label->said, 0, 0};
  uvperf__event_text_t text;
  uvperf__parse_t parse;

  if (label->length == CUT || !is_same_event(&label->said.attr, label->attr))
    return 0;
  uvperf__parse_init(&parse, label->root, label->text, NULL);
  return uvperf__event_text_scan(&parse, parse.text, &text) == 0 &&
         text.whole.end == parse.end &&
         uvperf__event_name_each(&parse, &text, judge, &truth) == 0 &&
         truth.nr == 1 && truth.is_true;
}
