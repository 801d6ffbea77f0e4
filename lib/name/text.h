/* SPDX-License-Identifier: MIT */
/* The text of an event's name: its pieces, errors that point at a piece, and
 * the syntax, which decides what each piece is. This code looks nothing up and
 * allocates no memory. */
#ifndef UVPERF_LIB_NAME_TEXT_H
#define UVPERF_LIB_NAME_TEXT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"

/* A piece of text; `at` is NULL if it is missing. */
typedef struct uvperf__span_s {
  const char *at;
  const char *end;
} uvperf__span_t;

/* A text that is being read. */
typedef struct uvperf__parse_s {
  const char *text; /* columns are counted from here */
  const char *end;
  uvperf_error_t *error; /* may be NULL */
  uint32_t event;        /* index of the event in the text, from 0 */
  /* The kinds of cores, if a name means one event for each kind. NULL if a name
   * means one event, for which the kernel chooses the PMU. */
  struct uvperf__core_pmus_s *cores;
  /* Set while a file of a PMU is read: errors get this place, because the text
   * of the file is not the user's text. If it is NULL, errors have their own
   * place. */
  const char *outer;
} uvperf__parse_t;

void uvperf__parse_init(uvperf__parse_t *parse, const char *text,
                        uvperf_error_t *error);

/* Explains a failure at a place of the text, and returns its code. */
int uvperf__parse_fail(const uvperf__parse_t *parse, const char *at, int code,
                       int cause, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Does the same for a fault that does not depend on the machine. Returns
 * -EINVAL. */
#define uvperf__parse_bad(parse, at, ...)                                      \
  uvperf__parse_fail(parse, at, -EINVAL, UVPERF_CAUSE_ARGUMENT, __VA_ARGS__)

/* Does the same for a fault of a piece of the text. The format has a %s, or
 * two, for the piece. */
int uvperf__parse_bad_piece(const uvperf__parse_t *parse, uvperf__span_t span,
                            const char *format);

/* Does the same for a shortage of fds or memory, which does not depend on the
 * event. Returns the code. */
int uvperf__parse_shortage(const uvperf__parse_t *parse, const char *at,
                           int code);

/* Explains that there is no event or term of this name. The format has a %s for
 * the piece, and a %s for the nearest name. Returns -ENOENT. */
int uvperf__parse_unknown(const uvperf__parse_t *parse, uvperf__span_t span,
                          const char *format, const char *best);

/* Returns "; did you mean 'x'?", or "" if `best` is "". */
#define UVPERF__MEANT_BYTES 96
const char *uvperf__parse_meant(const char *best,
                                char text[UVPERF__MEANT_BYTES]);

size_t uvperf__span_length(uvperf__span_t span);

/* Whether the piece is this word, in upper or lower case. */
int uvperf__span_is(uvperf__span_t span, const char *word);

/* Copies the piece and adds a NUL. Returns 0, or -ENAMETOOLONG if the piece
 * does not fit. */
int uvperf__span_copy(uvperf__span_t span, char *to, size_t size);

/* Writes the piece for use in a reason. A long piece is cut. Control characters
 * are replaced, because a terminal might obey them. */
#define UVPERF__SHOW_BYTES 52
const char *uvperf__span_show(uvperf__span_t span,
                              char text[UVPERF__SHOW_BYTES]);

/* Whether the piece may be the name of a file: it is not empty, has no '/' and
 * no '.' in front, and has at most NAME_MAX bytes. */
int uvperf__span_is_file_name(uvperf__span_t span);

/* Reads "10" or "0xa". Returns 0, -EINVAL if the piece is not a number, or
 * -ERANGE for more than 64 bits. */
int uvperf__span_number(uvperf__span_t span, uint64_t *value);

/* Reads the number of a raw event such as "r1a8" or "r0x1a8". Returns 1, or 0
 * if the piece is not a raw event. Explains a number of more than 64 bits, and
 * returns -EINVAL. */
int uvperf__parse_raw(const uvperf__parse_t *parse, uvperf__span_t span,
                      uint64_t *value);

/* Reads a piece that must be a number up to `most`. Explains a fault. */
int uvperf__parse_number(const uvperf__parse_t *parse, uvperf__span_t span,
                         uint64_t most, uint64_t *value);

/* The letters of modifiers. The letters set the counted modes, the exclusions,
 * the precision of the sampled address, the samples, and the groups. */
#define UVPERF__MODIFIERS "ukhGHIpPSDeW"

const char *uvperf__skip_space(const char *at, const char *end);

/* Reads a word, up to the next separator of events, terms or modifiers, a
 * space, a quotation mark or the end. It may be empty. */
uvperf__span_t uvperf__scan_word(const char *at, const char *end);

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
  uvperf__span_t tail;   /* after the ':' of tracepoints and numbers */
  uvperf__span_t length; /* of breakpoints */
  uvperf__span_t access; /* of breakpoints */
  uvperf__span_t terms;  /* between the slashes; all of type=… */
  uvperf__span_t modifiers;
} uvperf__event_text_t;

/* Reads the event that begins at `at`, and stores its end in whole.end. Returns
 * 0, or fills the error and returns -EINVAL. "x:u" is read as a word with
 * modifiers, although it may be a tracepoint too. */
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

/* Returns 1 and the next term, or 0 after the last term. On failure fills the
 * error and returns -EINVAL. */
int uvperf__terms_next(const uvperf__parse_t *parse, uvperf__terms_t *terms,
                       uvperf__term_t *term);

#endif
