/* SPDX-License-Identifier: MIT */
/* What the steps of scripted_evlist.c and scripted_evlist_set.c share. */
#ifndef UVPERF_TEST_SCRIPTED_EVLIST_RUN_H
#define UVPERF_TEST_SCRIPTED_EVLIST_RUN_H

#include "make_evlist.h"
#include "scripted_row.h"
#include "set/internal.h"

typedef struct evlist_run_s {
  evlist_make_t make;
  struct perf_event_attr sample;
  uvperf_event_list_t *list;
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading, *marked, *delta;
  const char *labels[COUNTERS_MOST];
  /* Targets that are opened in lists of their own. */
  uvperf__evlist_t *made[2];
  uvperf__adding_t adding[2];
  /* The same as a handle, on a loop. */
  uvperf_set_t set;
  int has_set;
  int is_closed;
  uvperf_meter_t *meter;
} evlist_run_t;

extern evlist_run_t evlist_run;
extern const scripted_verb_t evlist_set_verbs[];

void evlist_set_begin(void);

/* Closes the set, if it is not closed. */
void evlist_set_close(void);

/* A failure ends with its attr and target. */
void evlist_returned(int rc);

/* Fills a target from the words from `at` on. */
uvperf_target_t evlist_target(const step_t *step, size_t at);

void evlist_say_totals(const uvperf_reading_t *reading);

#endif
