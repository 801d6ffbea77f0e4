/* SPDX-License-Identifier: MIT */
/* All record types except PERF_RECORD_SAMPLE: their bodies and their
 * trailer. */
#ifndef UVPERF_LIB_DECODE_RECORD_H
#define UVPERF_LIB_DECODE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "decode/layout.h"

/* Whether the library knows the type; PERF_RECORD_SAMPLE is known too. */
int uvperf__record_is_known(uint32_t type);

/* Decodes the body of a known type other than SAMPLE: `room` bytes between
 * header and trailer. record->type and ->misc are set. Writes every field of
 * the type's member of the union. Returns 0, or -EPROTO. */
int uvperf__record_decode(const uvperf__layout_t *layout, const uint8_t *body,
                          size_t room, uvperf_record_t *record);

/* Decodes struct sample_id, the trailer that attr.sample_id_all appends to
 * every record except samples. `type` has its PERF_SAMPLE_* bits: they are the
 * record's `present`, and the fields that are not in it become 0. */
void uvperf__record_decode_trailer(uint64_t type, const uint8_t *trailer,
                                   uvperf_record_t *record);

#endif
