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
