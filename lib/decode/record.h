/* SPDX-License-Identifier: MIT */
/* Decodes all record types except PERF_RECORD_SAMPLE: their bodies and their
 * trailer. */
#ifndef UVPERF_LIB_DECODE_RECORD_H
#define UVPERF_LIB_DECODE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "decode/layout.h"

/* Whether the library knows the type. It knows PERF_RECORD_SAMPLE too. */
int uvperf__record_is_known(uint32_t type);

/* Decodes the body of a known type other than SAMPLE: `room` bytes between
 * header and trailer. record->type and ->misc must be set. Writes every field
 * of the type's member of the union. Returns 0, or -EPROTO. */
int uvperf__record_decode(const uvperf__layout_t *layout, const uint8_t *body,
                          size_t room, uvperf_record_t *record);

/* Returns where the trailer of a KSYMBOL, BPF_EVENT or TEXT_POKE begins, in
 * bytes from the record's start, or 0 for other types and damaged records. If
 * several events record the same one, the kernel adds the trailers of all
 * events before to the size in the header, and the trailer is followed by bytes
 * that were not written. `size` is that size.
 * Source: perf_event_ksymbol_output() in kernel/events/core.c. */
size_t uvperf__record_trailer_front(uint32_t type, const uint8_t *bytes,
                                    size_t size);

/* Decodes struct sample_id, the trailer that attr.sample_id_all appends to
 * every record except samples. `type` has the trailer's PERF_SAMPLE_* bits.
 * These bits become the record's `present`. The fields that the trailer lacks
 * become 0. */
void uvperf__record_decode_trailer(uint64_t type, const uint8_t *trailer,
                                   uvperf_record_t *record);

#endif
