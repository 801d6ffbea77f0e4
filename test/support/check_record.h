/* SPDX-License-Identifier: MIT */
/* Compares decoded records with what make_record.h wrote. */
#ifndef UVPERF_TEST_CHECK_RECORD_H
#define UVPERF_TEST_CHECK_RECORD_H

#include "make_record.h"
#include "uvperf/record.h"

/* Asserts every field of a record of any type; fields that the attr did not ask
 * for must be 0. `bytes` is where the record was decoded from. */
void check_record_fields(const uvperf_record_t *record, uint32_t type,
                         const struct perf_event_attr *attr,
                         const record_values_t *values, const void *bytes);

/* Asserts that everything a record points to lies within its bytes, and reads
 * it. */
void check_record_bounds(const uvperf_record_t *record);

/* Asserts that a record is the raw one of these bytes: no body, no trailer. */
void check_record_raw(const uvperf_record_t *record, const void *bytes,
                      const uvperf_source_t *source);

/* One event, its decoder and a record of it. A test sets fields of the attr and
 * the values after record_one_begin. The decoder is made with the attr when a
 * record is decoded first. */
typedef struct record_one_s {
  struct perf_event_attr attr;
  record_values_t values;
  record_builder_t builder;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  const uvperf_record_t *record; /* the last one */
  void *bytes;                   /* from which it was decoded */
} record_one_t;

/* Begins with this attr and the values of record_values_init. What the last
 * test left is freed here. */
void record_one_begin(record_one_t *one, uint64_t sample_type);

/* Makes another decoder, with the attr of now. */
void record_one_open(record_one_t *one);

/* Builds a record of the attr and the values. */
void record_one_build(record_one_t *one, uint32_t type);

/* Decodes what was built, or the first bytes of it, from memory of exactly the
 * size. Returns what uvperf_decode returned. */
int record_one_decode(record_one_t *one);
int record_one_decode_cut(record_one_t *one, size_t size);

/* The same, and asserts that the record is as the values say; or that it is
 * refused, as a raw record of the source. */
void record_one_check(record_one_t *one, uint32_t type);
void record_one_refused(record_one_t *one, size_t size);

/* Builds it and checks it. */
void record_one_roundtrip(record_one_t *one, uint32_t type);

/* Makes a decoder of one source with this attr, which must succeed. The caller
 * owns the source. */
uvperf_decoder_t *record_decoder(uvperf_source_t *source,
                                 const struct perf_event_attr *attr);

/* Decodes one record of whole words, without counting the header, from a heap
 * copy of its size. Asserts that the result lies within it, or is raw. Returns
 * what uvperf_decode returned. */
int check_record_words(const struct perf_event_attr *attr, uint32_t type,
                       uint16_t misc, const uint64_t *words, size_t nr);

#endif
