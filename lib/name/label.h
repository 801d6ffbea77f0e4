/* SPDX-License-Identifier: MIT */
/* An attr to the name of its event, in perf(1)'s language. */
#ifndef UVPERF_LIB_NAME_LABEL_H
#define UVPERF_LIB_NAME_LABEL_H

#include <stddef.h>
#include <stdint.h>

#include "name/name.h"
#include "uvperf/attr.h"

/* uvperf_attr_label with the system's files under a root ("" is the real
 * one). */
int uvperf__attr_label(const char *root, const struct perf_event_attr *attr,
                       char *label, size_t *size);

/* Room for the "category:name" of a tracepoint. */
#define UVPERF__TRACEPOINT_BYTES 512

/* The same if it is known which tracepoint has the id in attr->config: its
 * "category:name", or "" for none. tracefs is not searched then. */
int uvperf__attr_label_known(const char *root,
                             const struct perf_event_attr *attr,
                             const char *tracepoint, char *label, size_t *size);

/* Room for a label: a path of a uprobe, and more than all terms take. */
#define UVPERF__LABEL_BYTES 6144

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

/* Ways to name an event. 0; -ENOENT: not this one. */
int uvperf__label_probe(uvperf__label_t *label);
int uvperf__label_pmu_event(uvperf__label_t *label);
int uvperf__label_pmu_terms(uvperf__label_t *label);

/* Says a config by terms of a PMU's format. 0; -ENOENT: they cannot. */
int uvperf__label_pmu_config(uvperf__label_t *label, const char *pmu,
                             enum uvperf_attr_field field);

#endif
