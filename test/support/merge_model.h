/* SPDX-License-Identifier: MIT */
/* Rings that are made by hand, a merge of them, and a model of what it must
 * give: after each look at the rings all first records are searched for the
 * oldest one. */
#ifndef UVPERF_TEST_MERGE_MODEL_H
#define UVPERF_TEST_MERGE_MODEL_H

#include <linux/perf_event.h>

#include "support.h"

#include "decode/decoder.h"
#include "decode/merge.h"

#define MERGE_RINGS   512
#define MERGE_RECORDS 4096 /* of a ring */

/* The least that merge_write makes. */
#define MERGE_LEAST_BYTES 48

enum merge_kind {
  MERGE_SAMPLE,   /* with a time at a fixed place */
  MERGE_SIDEBAND, /* with one in its trailer */
  MERGE_TIMELESS, /* of nobody */
  MERGE_BROKEN    /* its header cannot be right */
};

typedef struct merge_record_s {
  enum merge_kind kind;
  uint64_t time; /* none of MERGE_TIMELESS */
  size_t size;
} merge_record_t;

typedef struct merge_ring_s {
  uvperf__ring_t ring;
  size_t index;
  merge_record_t records[MERGE_RECORDS];
  size_t written;
  size_t seen; /* by the last begin */
  size_t consumed;
  uint64_t before; /* the time of what was consumed last */
  uint64_t tail;
  uint64_t published;
  int is_in;     /* takes part in what is between begin and end */
  int is_spoilt; /* its head cannot be right, */
  int is_found;  /* and begin has seen that */
  int is_dropped;
} merge_ring_t;

typedef struct merge_model_s {
  /* The second writes nothing, and has another trailer, so that a record of
   * nobody tells no time. */
  struct perf_event_attr attrs[2];
  uint64_t ids[2];
  uvperf_source_t sources[2];
  uvperf_decoder_t *decoder;
  uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
  uvperf__merge_t *merge;
  merge_ring_t *rings[MERGE_RINGS];
  size_t nr_rings;
  uvperf__merged_t merged;
  merge_ring_t *given; /* whose record that is, which next gave last */
  uint64_t newest;     /* of the records that were consumed */
  uint64_t late;       /* as counted here */
  uint64_t bad;        /* the same */
  uint64_t earliest;   /* for begin: the times that are possible */
  uint64_t latest;
  /* Of merge_run. */
  uint64_t horizon;
  int (*inside)(void);
  size_t nr_run;
  uint64_t run_bytes;
  int is_ended; /* by a callback */
} merge_model_t;

/* On a fake kernel of its own, which must be clean when the model is freed. */
void merge_model_init(merge_model_t *model);
void merge_model_free(merge_model_t *model);

/* Makes a ring of so many bytes, a power of two, and adds it. */
merge_ring_t *merge_model_add(merge_model_t *model, size_t bytes);

/* Writes a record of a multiple of 8 bytes into a ring, as the kernel does:
 * only where what was published leaves room for it, else 0. */
int merge_write(merge_ring_t *ring, enum merge_kind kind, uint64_t time,
                size_t size);
/* The same of a sample of MERGE_LEAST_BYTES for which there must be room. */
void merge_put(merge_ring_t *ring, uint64_t time);

void merge_spoil(merge_ring_t *ring);
/* Writes another header over that of the record at the tail, and gives the old
 * one. */
uint64_t merge_overwrite(merge_ring_t *ring, uint64_t header);
void merge_drop(merge_model_t *model, merge_ring_t *ring);
/* heads and begin, with the bounds of the model. */
void merge_begin(merge_model_t *model);
void merge_rewind(merge_model_t *model);

/* Calls next and asserts that it gives what the model says, whatever that
 * is. */
int merge_next(merge_model_t *model, uint64_t horizon);

/* The same, and that it gives nothing. */
void merge_expect_nothing(merge_model_t *model, uint64_t horizon);

/* As merge_next, and that it is a record of this ring, which has or takes this
 * time; and consumes it. */
void merge_expect(merge_model_t *model, size_t ring, uint64_t time);

/* Consumes what it gave; asserts whether that was late, and what the kernel
 * sees of it. */
void merge_consume(merge_model_t *model);
void merge_end(merge_model_t *model);

/* Gives and consumes up to `most` records; how many that were. */
size_t merge_take(merge_model_t *model, uint64_t horizon, size_t most);

/* Calls run and asserts that it gives what the model says, and keeps its
 * bounds; how many. `inside` is called for each record, and gives what its
 * callback would (1, 0 or -1); NULL: 1. It may drop the ring that is given, or
 * add one. When it has given 0 only merge_end may follow. */
size_t merge_run(merge_model_t *model, uint64_t horizon, size_t most,
                 uint64_t max_bytes, int (*inside)(void));

#endif
