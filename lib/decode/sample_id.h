/* SPDX-License-Identifier: MIT */
/* Struct sample_id, the trailer that attr.sample_id_all puts behind
 * every record but the samples. */
#ifndef UVPERF_LIB_DECODE_SAMPLE_ID_H
#define UVPERF_LIB_DECODE_SAMPLE_ID_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

/* The bits of sample_type that are in the trailer too. */
#define UVPERF__SAMPLE_ID_BITS                                                 \
  ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |            \
              PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |                        \
              PERF_SAMPLE_IDENTIFIER))

/* Bytes of a trailer with these bits. */
size_t uvperf__sample_id_size(uint64_t type);

/* Sets the record's `present` and all of its who, where and when from a
 * trailer with these bits; 0 for what is not in it. */
void uvperf__sample_id_decode(uint64_t type, const uint8_t *trailer,
                              uvperf_record_t *record);

#endif
