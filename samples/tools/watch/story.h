/* SPDX-License-Identifier: MIT */
/* Turns records into what happened to processes, in the order of time. */
#ifndef WATCH_STORY_H
#define WATCH_STORY_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "common/buffer.h"
#include "watch/line.h"
#include "watch/tasks.h"

typedef struct watch_counts_s {
  uint64_t forks, execs, exits, maps; /* of processes, as told */
  uint64_t lost;                      /* told by the kernel in the rings */
  uint64_t late;                      /* told after something that is younger */
  uint64_t unknown; /* exits of which the status was asked, and did not come */
  uint64_t hidden;  /* tasks of other pid namespaces, which have no id here */
} watch_counts_t;

typedef struct watch_story_s {
  watch_tasks_t tasks;
  watch_counts_t counts;
  int json;
  uint32_t kinds; /* of the lines: WATCH_BIT()s */
  /* Whether a process that records say may live on does: asked where records
   * cannot be trusted, as some were lost. It may change the threads. */
  int (*is_alive)(watch_process_t *process);
  /* Adds the arguments to an exec, and the status to an exit: 0 if that is not
   * known yet. Either may be NULL; the argument is of both. */
  void (*add_args)(void *arg, watch_event_t *event);
  int (*add_status)(void *arg, watch_event_t *event);
  void *arg;
  common_buffer_t *buffer; /* where the lines go */
  /* private */
  watch_event_t *first, *last; /* told, but for an exec without its path */
  uint64_t told;               /* time of the youngest */
  uint64_t now;                /* time of what is followed */
} watch_story_t;

/* All zero at first, but for what is not private. */
void watch_story_free(watch_story_t *story);

/* Takes in a record, in the order of time, and writes down what happened. */
void watch_story_record(watch_story_t *story, const uvperf_record_t *record);

/* Forgets processes that are gone though no record says so, as it was lost. To
 * be called so rarely that what was written before one call has been taken in
 * by the next. */
void watch_story_sweep(watch_story_t *story);

/* Writes down what has waited in vain: nothing older than the time will be
 * taken in. UINT64_MAX writes all that is left. */
void watch_story_until(watch_story_t *story, uint64_t time);

#endif
