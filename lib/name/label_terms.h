/* SPDX-License-Identifier: MIT */
/* The text of a label on its way, and the terms and modifiers of any event. */
#ifndef UVPERF_LIB_NAME_LABEL_TERMS_H
#define UVPERF_LIB_NAME_LABEL_TERMS_H

#include <stddef.h>

#include "name/label.h"
#include "name/parse.h"
#include "uvperf/attr.h"

/* A label on its way. Beside the text there is what the text says, as an attr,
 * which parsing the text has to give again. */
typedef struct uvperf__label_s {
  const char *root;
  const struct perf_event_attr *attr; /* of the event to name */
  const char *tracepoint; /* "category:name", "": none; NULL: not known */
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

/* Begins anew: nothing is said but the type. */
void uvperf__label_begin(uvperf__label_t *label, const char *root,
                         const struct perf_event_attr *attr,
                         const char *tracepoint);

/* Adds text. What is too long for any label is cut, and not true then. */
void uvperf__label_put(uvperf__label_t *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds the separator before a term, and the term. */
void uvperf__label_put_term(uvperf__label_t *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text says the field as the event has it. */
void uvperf__label_say(uvperf__label_t *label, enum uvperf_attr_field field);

/* Adds the terms that the language has for any event, and the modifiers; those
 * of sample_type only if wanted. */
void uvperf__label_end(uvperf__label_t *label, int has_sample_type);

/* Whether the text names the event and no other, and parsing it gives what it
 * says. */
int uvperf__label_is_true(const uvperf__label_t *label);

#endif
