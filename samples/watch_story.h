/* SPDX-License-Identifier: MIT */
/* Turns records into what happened to processes, in the order of time. */
#ifndef WATCH_STORY_H
#define WATCH_STORY_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf.h"

#include "shared_order.h"
#include "shared_buffer.h"
#include "watch_line.h"
#include "watch_tasks.h"

typedef struct watch_counts_s {
  uint64_t forks, execs, exits, maps; /* of processes, as told */
  uint64_t lost;                      /* told by the kernel in the rings */
  uint64_t late;                      /* told after something that is younger */
  uint64_t hidden; /* tasks of other pid namespaces, which have no id here */
} watch_counts_t;

typedef struct watch_story_s {
  watch_tasks_t tasks;
  watch_counts_t counts;
  int json;
  int threads; /* tell of threads too */
  /* Whether a process that records say may live on does: asked where records
   * cannot be trusted, as some were lost. It may change the threads. */
  int (*is_alive)(watch_process_t *process);
  shared_buffer_t *buffer; /* where the lines go */
  /* private */
  shared_order_t order;
  uvperf_decoder_t *decoder;
  uvperf_source_t source;
  watch_event_t *first, *last; /* told, but for an exec without its path */
  uint64_t told;               /* time of the youngest */
  uint64_t now;                /* time of what is followed */
  uint64_t *newest;            /* by CPU: time of what was taken in last */
  size_t nr_newest;
} watch_story_t;

/* The attr is that of all records; it and the buffer must live as long as the
 * story, which must be zeroed. 0, or a negative errno. */
int watch_story_init(watch_story_t *story, const struct perf_event_attr *attr,
                     shared_buffer_t *buffer);
void watch_story_free(watch_story_t *story);

/* Takes in a record as a ring delivers it. */
void watch_story_record(watch_story_t *story, const uvperf_record_t *record);

/* Bytes of records that wait. */
size_t watch_story_waiting(const watch_story_t *story);

/* Forgets processes that are gone though no record says so, as it was lost. To
 * be called so rarely that what was written before one call has been told by
 * the next. */
void watch_story_sweep(watch_story_t *story);

/* Tells what happened up to a time: all that was written before it must have
 * been taken in. Goes on until the buffer holds so many bytes. UINT64_MAX tells
 * all that is left. */
void watch_story_until(watch_story_t *story, uint64_t time, size_t buffer_max);

#endif
