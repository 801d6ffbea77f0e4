/* SPDX-License-Identifier: MIT */
/* The timeline: turns records into events of processes, in the order of
 * time. */
#ifndef WATCH_TIMELINE_H
#define WATCH_TIMELINE_H

#include <stdint.h>

#include "uvperf.h"

#include "common/buffer.h"
#include "watch/line.h"
#include "watch/tasks.h"

typedef struct watch_counts_s {
  uint64_t forks, execs, exits, maps; /* of processes that are shown */
  uint64_t lost;                      /* records, from the LOST records */
  uint64_t late;                      /* lines after a later event */
  uint64_t unknown; /* exits without the status that was wanted */
  uint64_t hidden;  /* forks in other pid namespaces, which have no id here */
} watch_counts_t;

typedef struct watch_timeline_s {
  watch_tasks_t tasks;
  watch_counts_t counts;
  int json;
  uint32_t kinds; /* WATCH_BIT()s of the lines to print */
  /* Returns 1 if a process is alive. This function is called if records were
   * lost, because then the records do not show this for certain. The function
   * may change the threads. */
  int (*is_alive)(watch_process_t *process);
  /* These two functions add the arguments to an exec, and the status to an
   * exit. add_status returns 0 if the status is not known yet. Each function
   * may be NULL. Both receive `arg`. */
  void (*add_args)(void *arg, watch_event_t *event);
  int (*add_status)(void *arg, watch_event_t *event);
  void *arg;
  common_buffer_t *buffer; /* receives the lines */
  /* private */
  watch_event_t *first, *last; /* events that are not written yet */
  uint64_t written;            /* the latest time that was written */
  uint64_t now;                /* the time of the current record */
} watch_timeline_t;

/* Frees events and tasks. A new timeline is all zero, apart from the members
 * that the caller sets. */
void watch_timeline_free(watch_timeline_t *timeline);

/* Processes the next record, in time order, and writes the lines that are
 * complete. */
void watch_timeline_record(watch_timeline_t *timeline,
                           const uvperf_record_t *record);

/* Forgets processes that have ended but whose EXIT record was lost. Between two
 * calls, all records that were written before the first call must be processed.
 * So call it rarely. */
void watch_timeline_sweep(watch_timeline_t *timeline);

/* Writes events that have waited too long. Later records must not be older than
 * `time`. With UINT64_MAX writes all events. */
void watch_timeline_until(watch_timeline_t *timeline, uint64_t time);

#endif
