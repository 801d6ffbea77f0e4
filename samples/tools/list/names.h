/* SPDX-License-Identifier: MIT */
/* The names that were asked for. */
#ifndef LIST_NAMES_H
#define LIST_NAMES_H

#include "uvperf.h"

#include "list/options.h"

typedef enum list_answer_e {
  LIST_YES,
  LIST_USER, /* the user side only */
  LIST_NO,
  LIST_UNKNOWN /* it could not be tried */
} list_answer_t;

typedef struct list_name_s {
  uvperf_event_name_t event; /* its strings are in `bytes` */
  char *bytes;
  struct perf_event_attr attr;
  int has_attr; /* 0: the name cannot be parsed, as one that needs a value */
  /* By trying it, which without --available is only done for hardware and cache
   * events; else LIST_YES. */
  list_answer_t answer;
  int code;
  char *reason; /* NULL for a yes */
} list_name_t;

typedef struct list_names_s {
  const list_options_t *options;
  list_name_t *names;
  size_t nr;
  size_t capacity;
  size_t *nr_of; /* how many fit each pattern */
} list_names_t;

/* Finds what was asked for, sorted by kind and name. Says on stderr which kind
 * could not be read. */
void list_names_find(list_names_t *names, const list_options_t *options);

/* Says on stderr which patterns nothing fits, and what was probably meant. */
void list_names_tell_unfit(const list_names_t *names);

/* With --available tries to open each, else hardware and cache events: those
 * that may be on another machine are a LIST_NO. 0, or 1 after a message. */
int list_names_try(list_names_t *names);

/* Whether people are to see it. */
int list_names_has(const list_names_t *names, const list_name_t *name);

void list_names_free(list_names_t *names);

#endif
