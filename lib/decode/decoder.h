/* SPDX-License-Identifier: MIT */
/* The decoder: finds the source of a record by its id, and decodes the record.
 * This header has the struct of uvperf_decoder_t, the functions of a decoder
 * whose sources come and go, and the inline code that decodes each sample. */
#ifndef UVPERF_LIB_DECODE_DECODER_H
#define UVPERF_LIB_DECODE_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "decode/id_table.h"
#include "decode/sample.h"
#include "util/bytes.h"

/* How to read the records of all sources with one attr, and their sample
 * record. Each reader is allocated separately, so that a record never moves
 * while the user has it. */
typedef struct uvperf__reader_s {
  /* Each sample writes all fields that were requested. The other fields are 0
   * from the start, so nothing is cleared for each sample. */
  uvperf_record_t sample;
  uint64_t key;      /* see key_of: the attr's address and the source's flags */
  size_t nr_sources; /* with this attr */
  int writes_samples;
  uvperf__sample_plan_t plan;
  /* uvperf__layout_time_front and _back. */
  size_t time_front;
  size_t time_back;
} uvperf__reader_t;

struct uvperf_decoder_s {
  /* A decoder that was made for one source accepts every id. `only` is that
   * source. In other decoders only.reader is NULL, and the following fields are
   * used. */
  uvperf__id_slot_t only;
  /* Maps each id to its source. Then come the places of the id in the records
   * of all sources (uvperf__layout_id_front and _back). */
  uvperf__id_table_t ids;
  size_t id_front;
  size_t id_back;
  size_t nr_sources;
  /* Where the time is in the samples of all sources that were ever added, and
   * the size from which on a sample certainly has a time. Both are SIZE_MAX if
   * the time is not at the same place in all samples. */
  size_t time_front;
  size_t time_least;
  /* Maps the key of each attr to its reader. */
  uvperf__id_table_t attrs;
  /* The reader whose sample was delivered last: the user may still have it. */
  uvperf__reader_t *last;
  /* A reader whose last source was removed while the user might still have its
   * sample. NULL if there was no such reader. */
  uvperf__reader_t *kept;
  /* For the owner: the next older decoder in a list. */
  struct uvperf_decoder_s *older;
  /* The record for all other types, and for damaged records. */
  uvperf_record_t other;
};

/* Makes a decoder whose sources come and go. The decoder finds the source of
 * each record by the id, even while there is only one source, or none. Free it
 * by uvperf_decoder_free. Returns 0 or -ENOMEM. */
int uvperf__decoder_make(uvperf_decoder_t **decoder);

/* Adds a source with its ids to a decoder of uvperf__decoder_make. Sources with
 * the same attr (the same pointer) share a reader, so thousands of events need
 * only one table entry each. The source and its ids must stay unchanged until
 * uvperf__decoder_remove. If the user still has a record, this record does not
 * change. Returns 0, -ENOMEM, -EEXIST if another source has one of the ids, or
 * -EINVAL and -E2BIG as uvperf_decoder_new does for several sources. After a
 * failure nothing has changed. */
int uvperf__decoder_add(uvperf_decoder_t *decoder,
                        const uvperf_source_t *source);

/* Removes a source and its ids. If the source was the last with its attr, also
 * removes the attr's reader, so that the attr may be freed. A record that the
 * user has stays valid until the next uvperf_decode. Its `source` becomes
 * invalid earlier if the caller frees the source. */
void uvperf__decoder_remove(uvperf_decoder_t *decoder,
                            const uvperf_source_t *source);

/* Returns the source that has this id, or NULL. Only for a decoder of
 * uvperf__decoder_make. */
const uvperf_source_t *uvperf__decoder_source(const uvperf_decoder_t *decoder,
                                              uint64_t id);

/* Decodes a record of a ring. The caller has checked `size`. The size is not
 * read from the header again, because another process's record can be written
 * over the header. The result is always a record. Returns 0, or -EPROTO if the
 * record is raw. `alone` is NULL, or the only source of this decoder that
 * writes samples into the record's ring. A sample with an unknown id then
 * belongs to `alone`. If `alone` is not NULL, the decoder must come from
 * uvperf__decoder_make. */
int uvperf__decode(uvperf_decoder_t *decoder, const uvperf_source_t *alone,
                   const void *bytes, size_t size,
                   const uvperf_record_t **record);

/* Returns the record of the decoder for a callback without one, whose ring is
 * of this CPU. */
const uvperf_record_t *uvperf__decode_none(uvperf_decoder_t *decoder, int cpu);

/* Does the same as uvperf__decoder_time, but always finds the source by the id
 * first. */
int uvperf__decoder_find_time(const uvperf_decoder_t *decoder,
                              const void *bytes, uint64_t header,
                              uint64_t *time);

/* Finds when a record was written, without decoding it. Returns 1 and *time, or
 * 0 if the record has no time. A record has no time if its id is unknown, if it
 * is too short, or if its source lacks PERF_SAMPLE_TIME (or sample_id_all,
 * unless the record is a sample). If there is a time, uvperf_decode finds the
 * same time. The id is not needed if the time is at one place in the samples of
 * all sources that were ever added. In this case a sample of a removed source
 * has a time too. The header is already loaded. The caller has checked that its
 * size is a multiple of 8 and that all bytes are there. The decoder's record
 * does not change. The function is inline, because it is called for each record
 * in time order. */
static inline int uvperf__decoder_time(const uvperf_decoder_t *decoder,
                                       const void *bytes, uint64_t header,
                                       uint64_t *time) {
  if (uvperf__header_type(header) != PERF_RECORD_SAMPLE ||
      uvperf__header_size(header) < decoder->time_least)
    return uvperf__decoder_find_time(decoder, bytes, header, time);
  *time = uvperf__u64((const uint8_t *)bytes + decoder->time_front);
  return 1;
}

/* Finds the source of a sample by the id, and returns its slot. */
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

/* Decodes a record if it is a sample that has exactly the bytes of its fields.
 * Otherwise returns NULL, and the caller must call uvperf__decode. The header
 * is already loaded, and as many bytes are there as its size says. Form and
 * front_size come from the reader's plan. The record is valid until the next
 * call, like that of uvperf_decode. The function is inline, because it is
 * called for each sample. */
__attribute__((always_inline)) static inline const uvperf_record_t *
uvperf__decode_sample_of(uvperf__reader_t *reader, unsigned int form,
                         size_t front_size, const uint8_t *bytes,
                         uint64_t header) {
  if (uvperf__header_type(header) != PERF_RECORD_SAMPLE)
    return NULL;
  /* Type, misc and size lie in a record as they do in the header. */
  memcpy(&reader->sample, &header, sizeof(header));
  reader->sample.bytes = bytes;
  if (uvperf__sample_decode(&reader->plan, form, front_size, bytes,
                            uvperf__header_size(header), &reader->sample) != 0)
    return NULL;
  return &reader->sample;
}

/* Returns the reader of a sample, or NULL if its id is unknown or the record is
 * no sample. */
__attribute__((always_inline)) static inline uvperf__reader_t *
uvperf__decoder_reader(uvperf_decoder_t *decoder, const uint8_t *bytes,
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
  return reader;
}

/* Does the same as uvperf__decode_sample_of for a sample of any source. The
 * forms of a set's samples are tested first. */
__attribute__((always_inline)) static inline const uvperf_record_t *
uvperf__decode_sample(uvperf_decoder_t *decoder, const uint8_t *bytes,
                      uint64_t header) {
  uvperf__reader_t *reader = uvperf__decoder_reader(decoder, bytes, header);
  unsigned int form;

  if (reader == NULL)
    return NULL;
#define DECODE(one)                                                            \
  if (form == (one))                                                           \
    return uvperf__decode_sample_of(reader, one, uvperf__form_front_size(one), \
                                    bytes, header);
  form = reader->plan.form;
  UVPERF__FORMS_BY_ID(DECODE)
  return uvperf__decode_sample_of(reader, form, reader->plan.front_size, bytes,
                                  header);
#undef DECODE
}

#endif
