/* SPDX-License-Identifier: MIT */
/* The worker process unwinds the stacks of samples while sampling continues. A
 * sample's registers and stack are copied. Its frames come back later on the
 * loop. The samples of a process come back in the order in which they were
 * added.
 *
 * The worker is not trusted. It only returns addresses. These addresses are
 * looked up here, in the mappings that were valid when the sample was added. */
#ifndef SYMBOLS_UNWIND_QUEUE_H
#define SYMBOLS_UNWIND_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "profile/symbols/jobs.h"
#include "profile/symbols/symbols.h"
#include "profile/symbols/unwind.h"

#define UNWIND_NO_OBJECT UINT32_MAX

/* The place of a frame. For a return address, this is the place of the byte
 * before it. */
typedef struct unwind_place_s {
  uint32_t object; /* UNWIND_NO_OBJECT: in no mapping */
  uint64_t offset; /* as in symbols.h for this kind of object */
} unwind_place_t;

typedef struct unwind_queue_options_s {
  int machine;      /* of unwind_machine() */
  size_t max_bytes; /* of waiting samples; 0: 64 MiB */
  /* For a batch of samples; 0: 5,000. When failed batches have taken twice this
   * time, only processes whose batches did not fail are unwound further, with a
   * tenth of this time for a batch. */
  uint64_t timeout_ms;
  /* Opens a file of a process, on a thread of libuv's pool. Returns an fd or
   * -1. NULL: opens only the mapped file (open.h). */
  int (*open)(const symbols_mapping_t *mapping);
  /* Called with the frames of a sample, the innermost first, and the context
   * that was added with it. If the worker ended or took too long, there are no
   * frames, and `end` is UNWIND_DROPPED. */
  void (*on_stack)(void *arg, const void *context, unwind_end_t end,
                   const unwind_place_t *places, size_t nr);
  void *arg;
} unwind_queue_options_t;

typedef struct unwind_stats_s {
  uint64_t ends[UNWIND_NO_FILE + 1]; /* stacks by how they ended */
  uint64_t full;                     /* samples that did not fit */
} unwind_stats_t;

typedef struct unwind_queue_s unwind_queue_t;

unwind_queue_t *unwind_queue_new(symbols_jobs_t *jobs,
                                 const unwind_queue_options_t *options);
/* Call it after symbols_jobs_end, which answers all samples. */
void unwind_queue_free(unwind_queue_t *queue);

/* An executable mapping. */
typedef struct unwind_range_s {
  uint64_t start, end, pgoff;
  uint32_t object; /* the caller's number, at most some thousands */
} unwind_range_t;

/* Describes an object, once for each number. The mapping is copied. */
void unwind_queue_object(unwind_queue_t *queue, uint32_t object,
                         const symbols_mapping_t *mapping);

/* Sets the mappings that a process has from now on. */
void unwind_queue_map(unwind_queue_t *queue, uint32_t pid,
                      const unwind_range_t *ranges, size_t nr);

/* Adds a sample of a process whose mappings are set. `context` is copied.
 * Returns 0. If the queue is full or the process is not known, returns -1, and
 * there is no callback for the sample. */
int unwind_queue_add(unwind_queue_t *queue, uint32_t pid,
                     const uvperf_sample_t *sample, const void *context,
                     size_t context_bytes);

/* Call it when a process has ended: its mappings may be forgotten. */
void unwind_queue_forget(unwind_queue_t *queue, uint32_t pid);

/* Sends samples that wait until their batch is full. Call it about once a
 * second. */
void unwind_queue_flush(unwind_queue_t *queue);

/* Sends all samples. Calls back on the loop, never inside this call, when all
 * samples are answered. */
void unwind_queue_wait(unwind_queue_t *queue, void (*cb)(void *arg), void *arg);

const unwind_stats_t *unwind_queue_stats(const unwind_queue_t *queue);

#endif
