/* SPDX-License-Identifier: MIT */
/* What is behind a uvperf_decoder_t, and a decoder whose sources come
 * and go. */
#ifndef UVPERF_LIB_DECODE_DECODER_H
#define UVPERF_LIB_DECODE_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "decode/id_table.h"
#include "decode/sample.h"
#include "util/bytes.h"

/* How to read the records of all sources with one attr, and their sample
 * record. Each is allocated by itself, so that a record in the user's hands
 * never moves. */
typedef struct uvperf__reader_s {
  /* Of the fields that were asked for each sample writes all, the others are 0
   * from the start, so that nothing is cleared per sample. */
  uvperf_record_t sample;
  uint64_t key;      /* of the attr; each attr of the decoder has its own */
  size_t nr_sources; /* that have this attr */
  int writes_samples;
  uvperf__sample_plan_t plan;
  /* Where the time is, as layout.h has it. */
  size_t time_front;
  size_t time_back;
} uvperf__reader_t;

struct uvperf_decoder_s {
  /* The one source of a decoder that takes every id; reader is NULL where there
   * are several, or may be. */
  uvperf__id_slot_t only;
  /* Where there may be several: from each id to its source, and where the id
   * is, as layout.h has it, in all of them. */
  uvperf__id_table_t ids;
  size_t id_front;
  size_t id_back;
  size_t nr_sources;
  /* Where the time is in the samples of all sources that there ever were, and
   * how long those are at least that have all of their fixed fields; SIZE_MAX
   * if it is not at one place. */
  size_t time_front;
  size_t time_least;
  /* From the address of each attr to its reader. */
  uvperf__id_table_t attrs;
  /* Where there may be several: the reader whose sample was given last, as the
   * user may have it still. */
  uvperf__reader_t *last;
  /* That one, if it has lost its last source. */
  uvperf__reader_t *kept;
  /* The owner's: the one before it in a list. */
  struct uvperf_decoder_s *older;
  /* The record of all other types, and of broken ones. */
  uvperf_record_t other;
};

/* Makes a decoder whose sources come and go: each record is told by its id,
 * also while there is one source, or none (then every record is of nobody). To
 * be freed by uvperf_decoder_free. 0 or -ENOMEM. */
int uvperf__decoder_make(uvperf_decoder_t **decoder);

/* Adds a source with its ids to a decoder of uvperf__decoder_make. Sources with
 * one attr (the same pointer) share how that is read, which is found out when
 * the first of them is added, so that thousands of events take little: a table
 * entry each. The source, and its ids as they are, must stay until
 * uvperf__decoder_remove; a record that is in the user's hands stays as it is.
 * 0; -EINVAL and -E2BIG as uvperf_decoder_new says for several sources; -EEXIST
 * for an id that another has; -ENOMEM. Nothing is changed then. */
int uvperf__decoder_add(uvperf_decoder_t *decoder,
                        const uvperf_source_t *source);

/* Forgets a source that was added, and its ids; and, with the last one of an
 * attr, how that is read, so that the attr may go. A record that is in the
 * user's hands stays as it is until the next uvperf_decode, but for its
 * `source`, if that is freed. */
void uvperf__decoder_remove(uvperf_decoder_t *decoder,
                            const uvperf_source_t *source);

/* The source that has an id, of a decoder of uvperf__decoder_make; or NULL. */
const uvperf_source_t *uvperf__decoder_source(const uvperf_decoder_t *decoder,
                                              uint64_t id);

/* Decodes a record of a ring, whose size was found to be sound: the header is
 * not asked for it again, because another process's record can be written over
 * it. There is always a record: 0, or -EPROTO if it is raw. `alone` is the only
 * source that writes samples into the ring of the record, of a decoder of
 * uvperf__decoder_make; or NULL. If it is given, a sample whose id is unknown
 * belongs to it. */
int uvperf__decode(uvperf_decoder_t *decoder, const uvperf_source_t *alone,
                   const void *bytes, size_t size,
                   const uvperf_record_t **record);

/* The same as the following, from the id. */
int uvperf__decoder_find_time(const uvperf_decoder_t *decoder,
                              const void *bytes, size_t size, uint64_t *time);

/* Finds when a record was written, without decoding it: 1 and *time; or 0 where
 * it does not tell (its id is nobody's, or its source has no PERF_SAMPLE_TIME
 * or, unless it is a sample, no sample_id_all, or it is too short). What
 * uvperf_decode makes of the same record has the same time, if it has any. A
 * sample of nobody, as of a source that was removed, does tell it if the time
 * is at one place in the samples of all sources that there were: then nobody
 * asks for the id. `size` is its header.size, which the caller has checked: a
 * multiple of 8, and there are as many bytes. The decoder's record is left
 * alone. Here, as it is done for each record in the order of time. */
static inline int uvperf__decoder_time(const uvperf_decoder_t *decoder,
                                       const void *bytes, size_t size,
                                       uint64_t *time) {
  if (uvperf__u32(bytes) != PERF_RECORD_SAMPLE || size < decoder->time_least)
    return uvperf__decoder_find_time(decoder, bytes, size, time);
  *time = uvperf__u64((const uint8_t *)bytes + decoder->time_front);
  return 1;
}

/* The slot of a sample's writer, found by its id. */
static inline const uvperf__id_slot_t *
uvperf__decoder_find(const uvperf_decoder_t *decoder, const uint8_t *bytes,
                     size_t size) {
  const uvperf__id_slot_t *slot;

  if (size < decoder->id_front + sizeof(uint64_t))
    return NULL;
  slot = uvperf__id_table_find(&decoder->ids,
                               uvperf__u64(bytes + decoder->id_front));
  return slot->reader != NULL ? slot : NULL;
}

/* Decodes a record whose header, already loaded, is sound, if it is a sample
 * that can be: else NULL, and uvperf_decode tells what it is. The record is
 * valid as that of uvperf_decode is. Here, as it is done for each record. */
static inline const uvperf_record_t *
uvperf__decode_sample(uvperf_decoder_t *decoder, const uint8_t *bytes,
                      uint64_t header) {
  uvperf__reader_t *reader = decoder->only.reader;
  const uvperf__id_slot_t *slot;

  if (uvperf__header_type(header) != PERF_RECORD_SAMPLE)
    return NULL;
  if (__builtin_expect(reader == NULL, 0)) {
    slot = uvperf__decoder_find(decoder, bytes, uvperf__header_size(header));
    if (slot == NULL)
      return NULL;
    reader = slot->reader;
    reader->sample.source = slot->source;
    decoder->last = reader;
  }
  /* Type, misc and size lie in a record as they do in the header. */
  memcpy(&reader->sample, &header, sizeof(header));
  reader->sample.bytes = bytes;
  if (uvperf__sample_decode(&reader->plan, bytes, uvperf__header_size(header),
                            &reader->sample) != 0)
    return NULL;
  return &reader->sample;
}

#endif
