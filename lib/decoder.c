/* SPDX-License-Identifier: MIT */
/* The decoder: checks a header, finds the event that wrote the record and hands
 * the body on. What bodies look like is for sample.c and record.c. */
#include "decoder.h"

#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "record.h"
#include "sample_id.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

_Static_assert(offsetof(uvperf_record_t, type) ==
                       offsetof(struct perf_event_header, type) &&
                   offsetof(uvperf_record_t, misc) ==
                       offsetof(struct perf_event_header, misc) &&
                   offsetof(uvperf_record_t, size) ==
                       offsetof(struct perf_event_header, size),
               "the header of a sample is copied as one word");

/* Whose record it is; NULL where the id is missing or nobody's. The id is never
 * that of STREAM_ID: inherited events have their own there. */
static const uvperf__id_slot_t *
find_writer(const uvperf_decoder_t *decoder,
            const struct perf_event_header *header, const uint8_t *bytes) {
  const uvperf__id_slot_t *slot;

  if (decoder->only.reader != NULL)
    return &decoder->only;
  if (header->type == PERF_RECORD_SAMPLE)
    return uvperf__decoder_find(decoder, bytes, header->size);
  if (header->size < HEADER_SIZE + decoder->id_back ||
      decoder->id_back < sizeof(uint64_t))
    return NULL;
  slot = uvperf__id_table_find(
      &decoder->ids, uvperf__u64(bytes + header->size - decoder->id_back));
  return slot->reader != NULL ? slot : NULL;
}

static void set_header(uvperf_record_t *record,
                       const struct perf_event_header *header,
                       const uint8_t *bytes) {
  record->type = header->type;
  record->misc = header->misc;
  record->size = header->size;
  record->bytes = bytes;
}

/* Of unknown types and broken records: its union is 0. */
static const uvperf_record_t *raw_record(uvperf_decoder_t *decoder,
                                         const uvperf__id_slot_t *writer,
                                         const struct perf_event_header *header,
                                         const uint8_t *bytes) {
  uvperf_record_t *raw = &decoder->other;

  memset(raw, 0, sizeof(*raw));
  set_header(raw, header, bytes);
  raw->source = writer != NULL ? writer->source : NULL;
  uvperf__sample_id_decode(0, bytes, raw);
  return raw;
}

/* The trailer is found from the record's end, as the kernel pads strings before
 * it. */
static int decode_side_band(uvperf_decoder_t *decoder,
                            const uvperf__id_slot_t *writer,
                            const struct perf_event_header *header,
                            const uint8_t *bytes) {
  const uvperf__layout_t *layout = &writer->reader->plan.layout;
  uvperf_record_t *record = &decoder->other;
  size_t end;

  if (header->size < HEADER_SIZE + layout->trailer_size)
    return -EPROTO;
  end = header->size - layout->trailer_size;
  set_header(record, header, bytes);
  record->source = writer->source;
  uvperf__sample_id_decode(layout->trailer_type, bytes + end, record);
  return uvperf__record_decode(layout, bytes + HEADER_SIZE, end - HEADER_SIZE,
                               record);
}

/* A type that is newer than the library: raw, with the trailer that every
 * record but a sample has had so far, if there is room for one. */
static const uvperf_record_t *
decode_unknown(uvperf_decoder_t *decoder, const uvperf__id_slot_t *writer,
               const struct perf_event_header *header, const uint8_t *bytes) {
  const uvperf__layout_t *layout;

  raw_record(decoder, writer, header, bytes);
  if (writer == NULL)
    return &decoder->other;
  layout = &writer->reader->plan.layout;
  if (header->size >= HEADER_SIZE + layout->trailer_size)
    uvperf__sample_id_decode(layout->trailer_type,
                             bytes + header->size - layout->trailer_size,
                             &decoder->other);
  return &decoder->other;
}

/* Of a record whose header is sound, and that is no sample or a broken one. */
static int decode_other(uvperf_decoder_t *decoder,
                        const struct perf_event_header *header,
                        const uint8_t *bytes, const uvperf_record_t **record) {
  const uvperf__id_slot_t *writer = find_writer(decoder, header, bytes);
  int rc = -EPROTO;

  if (!uvperf__record_is_known(header->type)) {
    *record = decode_unknown(decoder, writer, header, bytes);
    return 0;
  }
  if (writer != NULL && header->type != PERF_RECORD_SAMPLE) {
    *record = &decoder->other;
    rc = decode_side_band(decoder, writer, header, bytes);
  }
  if (rc != 0)
    *record = raw_record(decoder, writer, header, bytes);
  return rc;
}

int uvperf_decode(uvperf_decoder_t *decoder, const void *bytes, size_t size,
                  const uvperf_record_t **record) {
  struct perf_event_header header;

  *record = NULL;
  if (bytes == NULL || (uintptr_t)bytes % sizeof(uint64_t) != 0)
    return -EINVAL;
  if (size < HEADER_SIZE)
    return -EPROTO;
  memcpy(&header, bytes, sizeof(header));
  if (header.size < HEADER_SIZE || header.size % sizeof(uint64_t) != 0 ||
      header.size > size)
    return -EPROTO;
  *record = uvperf__decode_sample(decoder, bytes, uvperf__u64(bytes));
  if (*record != NULL)
    return 0;
  return decode_other(decoder, &header, bytes, record);
}

int uvperf__decoder_find_time(const uvperf_decoder_t *decoder,
                              const void *bytes, size_t size, uint64_t *time) {
  const uvperf__id_slot_t *writer;
  const uvperf__reader_t *reader;
  struct perf_event_header header;
  size_t at;

  memcpy(&header, bytes, sizeof(header));
  writer = header.size <= size ? find_writer(decoder, &header, bytes) : NULL;
  if (writer == NULL)
    return 0;
  reader = writer->reader;
  if (header.type == PERF_RECORD_SAMPLE) {
    if (reader->time_front == 0 ||
        header.size < uvperf__sample_front_size(&reader->plan))
      return 0;
    at = reader->time_front;
  } else {
    if (reader->time_back == 0 ||
        header.size < HEADER_SIZE + reader->plan.layout.trailer_size)
      return 0;
    at = header.size - reader->time_back;
  }
  *time = uvperf__u64((const uint8_t *)bytes + at);
  return 1;
}
