/* SPDX-License-Identifier: MIT */
/* An event while its name is being read. parse.c selects one of these functions
 * by the form of the name. */
#ifndef UVPERF_LIB_NAME_BUILD_H
#define UVPERF_LIB_NAME_BUILD_H

#include "name/parse.h"
#include "name/probe.h"

enum uvperf__chain {
  UVPERF__CHAIN_UNSAID,
  UVPERF__CHAIN_NO,
  UVPERF__CHAIN_FP,
  UVPERF__CHAIN_DWARF,
  UVPERF__CHAIN_LBR
};

typedef struct uvperf__event_build_s {
  const uvperf__parse_t *parse;
  const uvperf__event_text_t *text;
  uvperf__named_event_fn each;
  void *data;
  uvperf__named_event_t event;
  /* call-graph= and stack-size=, which are combined at the end. */
  enum uvperf__chain chain;
  uint64_t stack_bytes;
  const char *stack_at; /* NULL without stack-size= */
  uvperf__probe_t probe;
  int is_given; /* `each` has been called */
  /* Used while the files of a PMU's events are read: how deep the files are
   * nested, and how many were read. */
  unsigned int depth;
  unsigned int nr_files;
} uvperf__event_build_t;

/* Begins the next event of the text. */
void uvperf__event_build_begin(uvperf__event_build_t *build);

/* Call it after all terms. Adds the call chain and the modifiers, and passes
 * the event to `each`. Returns 0 or the result of `each`. On failure fills the
 * error and returns -errno. */
int uvperf__event_build_end(uvperf__event_build_t *build);

/* Does the same, but first applies the terms between slashes. Used for events
 * that have only the terms that any event can have. */
int uvperf__event_build_finish(uvperf__event_build_t *build);

/* Closes the file of a symbol, if one is open. */
void uvperf__event_build_close(uvperf__event_build_t *build);

/* Reads parse->cores, which must not be NULL, the first time it is called.
 * Returns 0. After a shortage fills the error and returns its code. */
int uvperf__event_build_cores(const uvperf__event_build_t *build);

/* Each function passes the events of one form to `each`. Returns 0 or the
 * result of `each`. On failure fills the error and returns -errno. */
int uvperf__event_build_tracepoint(uvperf__event_build_t *build);
int uvperf__event_build_pmu(uvperf__event_build_t *build);

/* The first function passes the events of PMUs that have this word as their
 * name. The second function passes a tracepoint if the word has modifiers that
 * may be the tracepoint's name, as in "x:u". If there is no such event, both
 * return 0 and do not change is_given. */
int uvperf__event_build_alias(uvperf__event_build_t *build);
int uvperf__event_build_perhaps_tracepoint(uvperf__event_build_t *build);

/* Explains that no event has this name, and returns -ENOENT. */
int uvperf__event_build_unknown(const uvperf__event_build_t *build);

#endif
