/* SPDX-License-Identifier: MIT */
/* The words of a step of a row: scripted_row.h says how a step is written. What
 * makes no sense fails the test. */
#ifndef UVPERF_TEST_SCRIPTED_STEP_H
#define UVPERF_TEST_SCRIPTED_STEP_H

#include "support.h"

#include "uvperf.h"

#define STEP_WORDS 24

/* More than there are attr fields. */
#define STEP_FIELDS 128

typedef struct step_s {
  const char *text;
  char *words[STEP_WORDS];
  size_t nr;
} step_t;

typedef struct step_name_s {
  const char *name;
  long value;
} step_name_t;

/* Splits a text into words, in place. A text in '' is one word. */
void step_split(char *text, step_t *step);

void step_fail(const char *text, const char *what);

/* A word by its position, which must exist; and as a number, an index or a
 * size. */
const char *step_word(const step_t *step, size_t nr);
int step_is(const step_t *step, size_t nr, const char *text);
uint64_t step_value(const step_t *step, size_t nr);
size_t step_nth(const step_t *step, size_t nr);

/* What a word means. */
uint64_t step_number(const char *text);
long step_meaning(const step_name_t *names, size_t nr, const char *word);
int step_code(const char *name); /* a -errno, by its name; and back */
const char *step_code_name(int code);
enum uvperf_attr_field step_field(const char *name);

/* Splits "NAME=VALUE". */
uint64_t step_split_value(char *text);

/* The bits that the words after the first mean, or numbers. */
uint64_t step_bits(const step_t *step, const step_name_t *names, size_t nr);
uint32_t step_fallbacks(const step_t *step);

/* Sets the fields of the words "NAME=VALUE" from `at` on. */
void step_set_fields(const step_t *step, size_t at,
                     struct perf_event_attr *attr);

#endif
