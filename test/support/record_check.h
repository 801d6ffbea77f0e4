/* SPDX-License-Identifier: MIT */
/* Compares decoded records with what record_builder.h put in. */
#ifndef UVPERF_TEST_RECORD_CHECK_H
#define UVPERF_TEST_RECORD_CHECK_H

#include "record_builder.h"
#include "uvperf/record.h"

/* Asserts every field of a record of any type, those too that the attr did not
 * ask for: they must be 0. `bytes` is where the record was decoded from. */
void record_check(const uvperf_record_t *record, uint32_t type,
                  const struct perf_event_attr *attr,
                  const record_values_t *values, const void *bytes);

/* Asserts that all that a record points to lies inside of its bytes, and
 * reads it. */
void record_check_bounds(const uvperf_record_t *record);

/* Asserts that a record is the raw one of these bytes: no body, no trailer. */
void record_check_raw(const uvperf_record_t *record, const void *bytes,
                      const uvperf_source_t *source);

/* A decoder of one source with this attr; asserts that it could be made. The
 * source is the caller's. */
uvperf_decoder_t *record_decoder(uvperf_source_t *source,
                                 const struct perf_event_attr *attr);

/* Decodes one record of whole words, the header not among them, from a heap
 * copy of its size, and asserts that what comes lies inside of it, or is raw.
 * Gives what uvperf_decode gave. */
int record_check_words(const struct perf_event_attr *attr, uint32_t type,
                       uint16_t misc, const uint64_t *words, size_t nr);

#endif
