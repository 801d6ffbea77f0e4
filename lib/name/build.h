/* SPDX-License-Identifier: MIT */
/* An event while its name is read. parse.c chooses one of these functions by
 * the form of the name. */
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
  /* call-graph= and stack-size=, which are known together at the end. */
  enum uvperf__chain chain;
  uint64_t stack_bytes;
  const char *stack_at; /* NULL: it is not there */
  uvperf__probe_t probe;
  int is_given; /* `each` has been called */
  /* While the files of a PMU's events are read: how deep, and how many. */
  unsigned int depth;
  unsigned int nr_files;
} uvperf__event_build_t;

/* Begins the next event of the text. */
void uvperf__event_build_begin(uvperf__event_build_t *build);

/* Behind all terms: adds call chain and modifiers, and gives the event to
 * `each`. 0; what that returned; or -errno, explained. */
int uvperf__event_build_end(uvperf__event_build_t *build);

/* The same, with the terms between slashes before it, where there are no others
 * than those that any event can have. */
int uvperf__event_build_finish(uvperf__event_build_t *build);

/* Closes the file of a symbol that nobody took. */
void uvperf__event_build_close(uvperf__event_build_t *build);

/* Reads parse->cores, which is not NULL, once: 0, or a shortage, explained. */
int uvperf__event_build_cores(const uvperf__event_build_t *build);

/* Each gives the events of one form. 0; what `each` returned; or -errno,
 * explained. */
int uvperf__event_build_tracepoint(uvperf__event_build_t *build);
int uvperf__event_build_pmu(uvperf__event_build_t *build);

/* The events that PMUs call by this word alone; then a tracepoint, if the word
 * has modifiers, as in "x:u", that might be its name. Where there is none they
 * return 0 and leave is_given alone. */
int uvperf__event_build_alias(uvperf__event_build_t *build);
int uvperf__event_build_perhaps_tracepoint(uvperf__event_build_t *build);

/* Explains that no event is called so: -ENOENT. */
int uvperf__event_build_unknown(const uvperf__event_build_t *build);

#endif
