/* SPDX-License-Identifier: MIT */
/* Rings written by hand, a merge of them, and a model of what the merge must
 * return: after each check of the rings, the model searches all first records
 * for the oldest one. */
#ifndef UVPERF_TEST_MODEL_MERGE_H
#define UVPERF_TEST_MODEL_MERGE_H

#include <linux/perf_event.h>

#include "support.h"

#include "decode/decoder.h"
#include "decode/merge.h"

#define MERGE_RINGS   512
#define MERGE_RECORDS 4096 /* in a ring */

/* The smallest record of merge_write. */
#define MERGE_LEAST_BYTES 48

enum merge_kind {
  MERGE_SAMPLE,   /* with a time at a fixed place */
  MERGE_SIDEBAND, /* with a time in its trailer */
  MERGE_TIMELESS, /* of no known event */
  MERGE_BROKEN    /* its header is invalid */
};

typedef struct merge_record_s {
  enum merge_kind kind;
  uint64_t time; /* not for MERGE_TIMELESS */
  size_t size;
} merge_record_t;

typedef struct merge_ring_s {
  uvperf__ring_t ring;
  size_t index;
  merge_record_t records[MERGE_RECORDS];
  size_t written;
  size_t seen; /* by the last begin */
  size_t consumed;
  uint64_t before; /* the time of the last consumed record */
  uint64_t tail;
  uint64_t published;
  int is_in;     /* takes part between begin and end */
  int is_spoilt; /* its head is invalid, */
  int is_found;  /* and begin has found that */
  int is_dropped;
} merge_ring_t;

typedef struct merge_model_s {
  /* The second writes nothing and has another trailer, so that the time of a
   * record without a known event cannot be found. */
  struct perf_event_attr attrs[2];
  uint64_t ids[2];
  uvperf_source_t sources[2];
  uvperf_decoder_t *decoder;
  uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
  uvperf__merge_t *merge;
  merge_ring_t *rings[MERGE_RINGS];
  size_t nr_rings;
  uvperf__merged_t merged;
  merge_ring_t *given; /* the ring of the record that next returned last */
  uint64_t newest;     /* of the consumed records */
  uint64_t late;       /* counted by the model */
  uint64_t bad;        /* likewise */
  uint64_t earliest;   /* for begin: the earliest and latest possible time */
  uint64_t latest;
  /* For merge_run. */
  uint64_t horizon;
  int (*inside)(void);
  size_t nr_run;
  uint64_t run_bytes;
  int is_ended;   /* by a callback */
  const char *at; /* what merge_play still has to do */
} merge_model_t;

/* Uses a fake kernel of its own, which must be clean when the model is
 * freed. */
void merge_model_init(merge_model_t *model);
void merge_model_free(merge_model_t *model);

/* Makes a ring of `bytes`, a power of two, and adds it. */
merge_ring_t *merge_model_add(merge_model_t *model, size_t bytes);

/* Writes a record into a ring as the kernel does; its size is a multiple of 8.
 * Returns 0 if the published tail leaves no room. */
int merge_write(merge_ring_t *ring, enum merge_kind kind, uint64_t time,
                size_t size);
/* The same for a sample of MERGE_LEAST_BYTES; there must be room. */
void merge_put(merge_ring_t *ring, uint64_t time);

void merge_spoil(merge_ring_t *ring);
/* Overwrites the header of the record at the tail, and returns the old one. */
uint64_t merge_overwrite(merge_ring_t *ring, uint64_t header);
void merge_drop(merge_model_t *model, merge_ring_t *ring);
/* Calls heads and begin, with the bounds of the model. */
void merge_begin(merge_model_t *model);
void merge_rewind(merge_model_t *model);

/* Calls next and asserts that it returns what the model expects. */
int merge_next(merge_model_t *model, uint64_t horizon);

/* The same, and asserts that it returns nothing. */
void merge_expect_nothing(merge_model_t *model, uint64_t horizon);

/* As merge_next, and asserts that it returns a record of this ring that has or
 * inherits this time; then consumes it. */
void merge_expect(merge_model_t *model, size_t ring, uint64_t time);

/* Consumes the returned record. Asserts whether it was late, and which tail the
 * kernel sees. */
void merge_consume(merge_model_t *model);
void merge_end(merge_model_t *model);

/* Returns and consumes up to `most` records; returns their number. */
size_t merge_take(merge_model_t *model, uint64_t horizon, size_t most);

/* Calls run, and asserts that it delivers what the model expects and keeps its
 * bounds. Returns the number of records. `inside` is called for each record,
 * and returns what its callback would (1, 0 or -1); NULL: 1. It may drop the
 * ring of the record, or add one. After it has returned 0 only merge_end may
 * follow. */
size_t merge_run(merge_model_t *model, uint64_t horizon, size_t most,
                 uint64_t max_bytes, int (*inside)(void));

/* Calls run until it delivers nothing. Returns the number of records. */
size_t merge_run_all(merge_model_t *model);

/* Adds rings 0 and 1, and does the steps of a line of text. They are separated
 * by spaces; N is a ring, T a time, K a number of records, and "<T" a horizon,
 * which may be missing:
 *
 *   N+T N~T N? N! N*  the kernel writes: a sample, a sideband record, a record
 *                     without time, a broken one; the head becomes invalid
 *   min=T max=T       the bounds for begin
 *   ( )               heads and begin; end
 *   N=T               next returns this, and it is consumed
 *   none<T            next returns nothing
 *   peek              next returns a record, which is not consumed
 *   broken            next returns -EPROTO, whatever the horizon
 *   take=K<T          next and consume return so many
 *   run=K<T           one run delivers so many
 *   runs=K            runs deliver so many until one delivers nothing
 *   ring              another ring is added
 *   drop=N rewind     as the functions
 *   late=K bad=K      how many were so far
 *   more=K            whether there is more
 *
 * After a failure merge_model_free prints the steps from the failed one on. */
void merge_play(merge_model_t *model, const char *steps);

#endif
