/* SPDX-License-Identifier: MIT */
/* An event while its name is being read. parse.c selects one of these functions
 * by the form of the name. */
#ifndef UVPERF_LIB_NAME_BUILD_H
#define UVPERF_LIB_NAME_BUILD_H

#include "name/parse.h"
#include "util/near_miss.h"

enum uvperf__chain {
  UVPERF__CHAIN_UNSAID,
  UVPERF__CHAIN_NO,
  UVPERF__CHAIN_FP,
  UVPERF__CHAIN_DWARF,
  UVPERF__CHAIN_LBR
};

/* The values of the terms of a probe; `at` is NULL for a missing term. */
typedef struct uvperf__probe_s {
  uvperf__span_t path;   /* uprobe */
  uvperf__span_t symbol; /* uprobe */
  uvperf__span_t func;   /* kprobe */
  uvperf__span_t addr;   /* kprobe */
  uvperf__span_t offset; /* both */
} uvperf__probe_t;

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

/* -- terms that any event can have: term.c --------------------------------- */

/* Applies one term. Returns 0, or fills the error and returns -errno. The error
 * is not filled for -ENOENT, which means that the term is unknown. */
int uvperf__term_apply(uvperf__event_build_t *build,
                       const uvperf__term_t *term);

typedef int (*uvperf__term_fn)(uvperf__event_build_t *build,
                               const uvperf__term_t *term);

/* Applies all terms of a text with `apply`, which returns 0 or fills the error
 * and returns -errno. If it is NULL, the text must contain only terms that any
 * event can have. Returns 0, or fills the error and returns -errno. */
int uvperf__terms_apply(uvperf__event_build_t *build, uvperf__span_t span,
                        uvperf__term_fn apply);

/* Returns the value of branch_type= that sets these bits, as a static text, or
 * NULL if there is no such value. */
const char *uvperf__branch_type_name(uint64_t bits);

/* Adds the names of the terms of any event to the search. */
void uvperf__term_near_miss(uvperf__near_miss_t *miss);

/* Reads the number of a term. A term without a value means 1. Returns 0, or
 * fills the error and returns -EINVAL. */
int uvperf__term_number(const uvperf__parse_t *parse,
                        const uvperf__term_t *term, uint64_t most,
                        uint64_t *value);

/* -- the places of uprobes and kprobes: probe.c ---------------------------- */

/* Whether a PMU is "uprobe" or "kprobe". */
int uvperf__probe_is_pmu(const char *pmu);

/* Stores the value of a term of the event if it is a term of probes. Returns 1
 * if so, 0 if it is another term. On failure fills the error and returns
 * -EINVAL. */
int uvperf__probe_take(uvperf__event_build_t *build,
                       const uvperf__term_t *term);

/* Adds the names of the terms of probes to the search. */
void uvperf__probe_near_miss(const char *pmu, uvperf__near_miss_t *miss);

/* Call it after all terms of a probe. Writes config2, after finding a symbol in
 * its file if the terms name one. If config1 must point to a text, the event's
 * `string` receives this text. If a symbol was found, the event's `file`
 * receives an fd of its file. Returns 0, or fills the error and returns
 * -errno. */
int uvperf__probe_finish(uvperf__event_build_t *build);

#endif
