/* SPDX-License-Identifier: MIT */
/* The syntax of one event's name: which piece of the text is what.
 * Looks nothing up. */
#ifndef UVPERF_LIB_NAME_TEXT_H
#define UVPERF_LIB_NAME_TEXT_H

#include "name/scan.h"

enum uvperf__event_form {
  UVPERF__FORM_WORD,       /* cycles, r1a8, tsc, cpu/…/ */
  UVPERF__FORM_TRACEPOINT, /* sched:sched_switch */
  UVPERF__FORM_NUMBERS,    /* 1:2 */
  UVPERF__FORM_BREAKPOINT, /* mem:0x1000/8:rw */
  UVPERF__FORM_TYPE        /* type=9,config=0 */
};

typedef struct uvperf__event_text_s {
  enum uvperf__event_form form;
  uvperf__span_t whole;
  uvperf__span_t head;
  uvperf__span_t tail;   /* behind the ':' of tracepoints and numbers */
  uvperf__span_t length; /* of breakpoints */
  uvperf__span_t access; /* of breakpoints */
  uvperf__span_t terms;  /* between the slashes; all of type=… */
  uvperf__span_t modifiers;
} uvperf__event_text_t;

/* Reads the event that begins at `at`, of which whole.end is the end. 0 or
 * -EINVAL, explained. "x:u" is a word with modifiers, though it might be a
 * tracepoint too. */
int uvperf__event_text_scan(const uvperf__parse_t *parse, const char *at,
                            uvperf__event_text_t *text);

/* key, key=value, key='value' */
typedef struct uvperf__term_s {
  uvperf__span_t key;
  uvperf__span_t value; /* without the quotation marks */
  int is_quoted;
} uvperf__term_t;

/* A walk over terms. Private. */
typedef struct uvperf__terms_s {
  const char *at;
  const char *end;
  int has_path; /* of uprobes: the term path= may have slashes */
  int is_last;
} uvperf__terms_t;

void uvperf__terms_init(uvperf__terms_t *terms, uvperf__span_t span,
                        uvperf__span_t pmu);

/* 1 and the next term; 0 behind the last one; -EINVAL, explained. */
int uvperf__terms_next(const uvperf__parse_t *parse, uvperf__terms_t *terms,
                       uvperf__term_t *term);

#endif
