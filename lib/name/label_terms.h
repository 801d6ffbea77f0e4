/* SPDX-License-Identifier: MIT */
/* A label while it is composed, and the terms and modifiers of any event. */
#ifndef UVPERF_LIB_NAME_LABEL_TERMS_H
#define UVPERF_LIB_NAME_LABEL_TERMS_H

#include <stddef.h>

#include "name/label.h"
#include "name/parse.h"
#include "uvperf/attr.h"

/* A label while it is composed. `said` is the attr that the text means. A label
 * is true if it names the event and if parsing the text results in `said`. */
typedef struct uvperf__label_s {
  const struct perf_event_attr *attr; /* the event to name */
  const char *tracepoint; /* "category:name"; "": none; NULL: unknown */
  uvperf__wide_attr_t said;
  enum {
    UVPERF__LABEL_NAME,   /* name, name:modifiers, name/terms/modifiers */
    UVPERF__LABEL_SLASH,  /* pmu/terms/modifiers */
    UVPERF__LABEL_NUMBERS /* type=…,terms, type=…,terms:modifiers */
  } form;
  int nr_terms;
  size_t length;
  char text[UVPERF__LABEL_BYTES];
} uvperf__label_t;

/* Begins an empty label; `said` has only the type. */
void uvperf__label_begin(uvperf__label_t *label,
                         const struct perf_event_attr *attr,
                         const char *tracepoint);

/* Adds text. A label that becomes too long is cut, and is no longer true. */
void uvperf__label_put(uvperf__label_t *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the separator before a term, and the term. */
void uvperf__label_put_term(uvperf__label_t *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets a field of `said` to the event's value, because the text contains it. */
void uvperf__label_say(uvperf__label_t *label, enum uvperf_attr_field field);

/* Adds the terms and the modifiers that any event can have. Adds the terms of
 * sample_type only if has_sample_type is set. */
void uvperf__label_end(uvperf__label_t *label, int has_sample_type);

/* Whether the label is true: it names this event and no other. */
int uvperf__label_is_true(const uvperf__label_t *label);

#endif
