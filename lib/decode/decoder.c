/* SPDX-License-Identifier: MIT */
/* The decoder: checks a header, finds the event that wrote the record and hands
 * the body on. What bodies look like is for sample.c and record.c. */
#include "decode/decoder.h"

#include <errno.h>
#include <string.h>

#include "decode/record.h"
#include "util/bytes.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

_Static_assert(offsetof(uvperf_record_t, type) ==
                       offsetof(struct perf_event_header, type) &&
                   offsetof(uvperf_record_t, misc) ==
                       offsetof(struct perf_event_header, misc) &&
                   offsetof(uvperf_record_t, size) ==
                       offsetof(struct perf_event_header, size),
               "the header of a sample is copied as one word");

/* Where the id of a record is, or NULL. It is never that of STREAM_ID:
 * inherited events have their own there. */
static const uint8_t *find_id(const uvperf_decoder_t *decoder, uint32_t type,
                              size_t size, const uint8_t *bytes) {
  if (type == PERF_RECORD_SAMPLE)
    return size >= decoder->id_front + sizeof(uint64_t)
               ? bytes + decoder->id_front
               : NULL;
  if (size < HEADER_SIZE + decoder->id_back ||
      decoder->id_back < sizeof(uint64_t))
    return NULL;
  return bytes + size - decoder->id_back;
}

/* A reader for records of a type, if those of all sources look the same; or
 * NULL. */
static uvperf__reader_t *find_common(const uvperf_decoder_t *decoder,
                                     uint32_t type) {
  uvperf__reader_t *common = NULL;
  uvperf__reader_t *reader;
  size_t i;

  for (i = 0; i < decoder->attrs.nr_slots; i++) {
    reader = decoder->attrs.slots[i].reader;
    if (reader == NULL ||
        (type == PERF_RECORD_SAMPLE && !reader->writes_samples))
      continue;
    if (common != NULL && !uvperf__layout_is_same(&common->plan.layout,
                                                  &reader->plan.layout, type))
      return NULL;
    common = reader;
  }
  return common;
}

/* Whose record it is, and how to read it; the source is NULL if it is unknown,
 * the reader as well if it cannot be read. The id of a sample can be another
 * process's: `alone` is the only source that writes samples there, or NULL.
 * Whether a type that is unknown here has an id is unknown too. */
static uvperf__id_slot_t find_writer(const uvperf_decoder_t *decoder,
                                     const uvperf_source_t *alone,
                                     const struct perf_event_header *header,
                                     const uint8_t *bytes) {
  uvperf__id_slot_t writer = {0, NULL, NULL};
  const uint8_t *id;

  if (decoder->only.reader != NULL)
    return decoder->only;
  id = find_id(decoder, header->type, header->size, bytes);
  if (id == NULL)
    return writer;
  writer = *uvperf__id_table_find(&decoder->ids, uvperf__u64(id));
  if (writer.reader == NULL && header->type == PERF_RECORD_SAMPLE &&
      alone != NULL)
    writer = *uvperf__id_table_find(&decoder->ids, alone->ids[0]);
  if (writer.reader != NULL)
    return writer;
  writer.source = NULL;
  if (uvperf__record_is_known(header->type))
    writer.reader = find_common(decoder, header->type);
  return writer;
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
static void raw_record(uvperf_decoder_t *decoder,
                       const uvperf__id_slot_t *writer,
                       const struct perf_event_header *header,
                       const uint8_t *bytes) {
  uvperf_record_t *raw = &decoder->other;

  memset(raw, 0, sizeof(*raw));
  set_header(raw, header, bytes);
  raw->source = writer->source;
  uvperf__record_decode_trailer(0, bytes, raw);
}

/* What the run of samples does not take: a sample that is longer than its
 * fields, or whose id is unknown. In a record of its own, as the reader's has
 * no surplus. */
static int decode_longer(uvperf_decoder_t *decoder,
                         const uvperf__id_slot_t *writer,
                         const struct perf_event_header *header,
                         const uint8_t *bytes) {
  uvperf_record_t *record = &decoder->other;

  *record = writer->reader->sample;
  set_header(record, header, bytes);
  record->source = writer->source;
  return uvperf__sample_decode_longer(&writer->reader->plan, bytes,
                                      header->size, record);
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
  uvperf__record_decode_trailer(layout->trailer_type, bytes + end, record);
  return uvperf__record_decode(layout, bytes + HEADER_SIZE, end - HEADER_SIZE,
                               record);
}

/* A type that is newer than the library: raw, with the trailer that every
 * record but a sample has had so far, if there is room for one. */
static void decode_unknown(uvperf_decoder_t *decoder,
                           const uvperf__id_slot_t *writer,
                           const struct perf_event_header *header,
                           const uint8_t *bytes) {
  const uvperf__layout_t *layout;

  raw_record(decoder, writer, header, bytes);
  if (writer->reader == NULL)
    return;
  layout = &writer->reader->plan.layout;
  if (header->size >= HEADER_SIZE + layout->trailer_size)
    uvperf__record_decode_trailer(layout->trailer_type,
                                  bytes + header->size - layout->trailer_size,
                                  &decoder->other);
}

/* Of a record whose header is sound, and that uvperf__decode_sample did not
 * take. Inlined, it would slow down the samples that it takes. */
__attribute__((noinline)) static int
decode_other(uvperf_decoder_t *decoder, const uvperf_source_t *alone,
             const struct perf_event_header *header, const uint8_t *bytes,
             const uvperf_record_t **record) {
  const uvperf__id_slot_t writer = find_writer(decoder, alone, header, bytes);
  int rc = -EPROTO;

  *record = &decoder->other;
  if (!uvperf__record_is_known(header->type)) {
    decode_unknown(decoder, &writer, header, bytes);
    return 0;
  }
  if (writer.reader != NULL && header->type == PERF_RECORD_SAMPLE)
    rc = decode_longer(decoder, &writer, header, bytes);
  else if (writer.reader != NULL)
    rc = decode_side_band(decoder, &writer, header, bytes);
  if (rc != 0)
    raw_record(decoder, &writer, header, bytes);
  return rc;
}

int uvperf__decode(uvperf_decoder_t *decoder, const uvperf_source_t *alone,
                   const void *bytes, size_t size,
                   const uvperf_record_t **record) {
  uint64_t word = uvperf__header_of_size(uvperf__u64(bytes), size);
  struct perf_event_header header;

  *record = uvperf__decode_sample(decoder, bytes, word);
  if (*record != NULL)
    return 0;
  memcpy(&header, &word, sizeof(header));
  return decode_other(decoder, alone, &header, bytes, record);
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
  return uvperf__decode(decoder, NULL, bytes, header.size, record);
}

int uvperf__decoder_find_time(const uvperf_decoder_t *decoder,
                              const void *bytes, size_t size, uint64_t *time) {
  const uvperf__reader_t *reader;
  struct perf_event_header header;
  size_t at;

  memcpy(&header, bytes, sizeof(header));
  if (header.size > size)
    return 0;
  reader = find_writer(decoder, NULL, &header, bytes).reader;
  if (reader == NULL)
    return 0;
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
