/* SPDX-License-Identifier: MIT */
/* Turns the name of one event, in perf(1)'s language, into an attr. */
#ifndef UVPERF_LIB_NAME_PARSE_H
#define UVPERF_LIB_NAME_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "host/pmu.h"
#include "name/text.h"
#include "uvperf/attr.h"
#include "uvperf/error.h"

/* An attr that has every field up to config4, even if the struct in our header
 * does not. */
typedef union uvperf__wide_attr_u {
  struct perf_event_attr attr;
  uint64_t words[18];
} uvperf__wide_attr_t;

/* One event that a name means. It is valid only during the call of the function
 * that receives it. Its pieces point into the text. */
typedef struct uvperf__named_event_s {
  const uvperf__event_text_t *text;
  uvperf__wide_attr_t wide;
  uvperf__span_t name;   /* name=, if given */
  uvperf__span_t string; /* config1 must point to this, if set */
  int file;              /* an fd of that path, if a symbol was found; or -1 */
  int is_precise_max;    /* modifier P, which does not set precise_ip */
  int is_count;          /* period=0 or freq=0 */
  /* If the text means several events: the name of this event, such as
   * "sched:sched_switch". It replaces the text before `rest`. Otherwise
   * NULL. */
  const char *expanded;
  const char *rest;
  int is_pattern; /* because of *, ? or [ */
  /* If the event has one part for each core PMU: the index of this part, and
   * the number of parts. For a whole event the index is 0 and the number is
   * 1. */
  size_t part;
  size_t nr_parts;
  /* Set for a PMU's own events. Other events have NULL and a scale of 1. */
  const char *pmu;
  uvperf__pmu_measure_t measure;
} uvperf__named_event_t;

/* If the function returns a value other than 0, uvperf__event_name_each ends
 * and returns that value. */
typedef int (*uvperf__named_event_fn)(const uvperf__named_event_t *event,
                                      void *data);

/* Calls `each` with each event that a text of uvperf__event_text_scan means.
 * Usually this is one event. A pattern, or a name that fits several PMUs, can
 * mean more. Returns 0 or the result of `each`. On failure fills the error and
 * returns -errno. */
int uvperf__event_name_each(const uvperf__parse_t *parse,
                            const uvperf__event_text_t *text,
                            uvperf__named_event_fn each, void *data);

/* Returns the precise_ip that modifier P means for an event of this type and
 * this PMU. `pmu` is NULL if no PMU is named. */
uint32_t uvperf__precise_max(const char *pmu, uint32_t type);

#endif
