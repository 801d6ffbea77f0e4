/* SPDX-License-Identifier: MIT */
/* Layer 3: what is behind a uvperf_decoder_t. */
#ifndef UVPERF_LIB_DECODER_H
#define UVPERF_LIB_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "sample.h"

/* How to read the records of one source, and its sample record. */
typedef struct uvperf__reader_s {
  const uvperf_source_t *source;
  uvperf__sample_plan_t plan;
  /* Of the fields that were asked for each sample writes all, the others are 0
   * from the start, so that nothing is cleared per sample. */
  uvperf_record_t sample;
} uvperf__reader_t;

/* One place of the table from id to reader. */
typedef struct uvperf__slot_s {
  uint64_t id;
  uvperf__reader_t *reader; /* NULL: free */
} uvperf__slot_t;

struct uvperf_decoder_s {
  uvperf__reader_t *readers;
  size_t nr_readers;
  /* With several readers only: a table of nr_slots places, a power of two and
   * at most half full, and where the id is, as layout.h has it. */
  uvperf__slot_t *slots;
  size_t nr_slots;
  size_t id_front;
  size_t id_back;
  /* The record of all other known types. */
  uvperf_record_t side_band;
  /* That of unknown types and broken records; its union stays 0. */
  uvperf_record_t raw;
};

#endif
