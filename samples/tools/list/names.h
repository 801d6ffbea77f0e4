/* SPDX-License-Identifier: MIT */
/* The names of events that match the command line. */
#ifndef LIST_NAMES_H
#define LIST_NAMES_H

#include "uvperf.h"

#include "list/options.h"

typedef struct list_name_s {
  uvperf_event_name_t event; /* its strings are in `bytes` */
  char *bytes;
  struct perf_event_attr attr;
  int has_attr;  /* 0: the name cannot be parsed, perhaps for lack of a value */
  int is_absent; /* this machine does not have the event */
  char *reason;  /* why; NULL if it is not absent */
} list_name_t;

typedef struct list_names_s {
  const list_options_t *options;
  list_name_t *names;
  size_t nr;
  size_t capacity;
  size_t *nr_of; /* the number of matches of each pattern */
} list_names_t;

/* Finds the wanted names and sorts them by kind and name. Prints on stderr
 * which kinds could not be read. */
void list_names_find(list_names_t *names, const list_options_t *options);

/* Prints on stderr the patterns without matches, and similar names. */
void list_names_say_unmatched(const list_names_t *names);

/* Opens hardware and cache events, to find those that this machine does not
 * have. Returns 0, or 1 after a message. */
int list_names_try(list_names_t *names);

/* Returns 1 if the text output shows this name. */
int list_names_has(const list_names_t *names, const list_name_t *name);

void list_names_free(list_names_t *names);

#endif
