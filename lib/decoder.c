/* SPDX-License-Identifier: MIT */
/* The decoder: checks a header, finds the event that wrote the record and hands
 * the body on. What bodies look like is for sample.c and record.c. */
#include "decoder.h"

#include <errno.h>

#include "alloc.h"
#include "attr.h"
#include "bytes.h"
#include "record.h"
#include "sample_id.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

/* Fibonacci hashing: ids are small and dense, the high bits are the good
 * ones. */
static size_t slot_of(const uvperf_decoder_t *decoder, uint64_t id) {
  uint64_t hash = id * UINT64_C(0x9E3779B97F4A7C15);

  return (size_t)(hash >> 32) & (decoder->nr_slots - 1);
}

static uvperf__slot_t *find_slot(const uvperf_decoder_t *decoder, uint64_t id) {
  size_t i = slot_of(decoder, id);

  while (decoder->slots[i].reader != NULL && decoder->slots[i].id != id)
    i = (i + 1) & (decoder->nr_slots - 1);
  return &decoder->slots[i];
}

static int check_source(const uvperf_source_t *source) {
  if (source == NULL || source->size != sizeof(*source) || source->attr == NULL)
    return -EINVAL;
  if (uvperf__attr_size(source->attr) < PERF_ATTR_SIZE_VER0)
    return -EINVAL;
  return source->nr_ids != 0 && source->ids == NULL ? -EINVAL : 0;
}

static int add_readers(uvperf_decoder_t *decoder,
                       const uvperf_source_t *const *sources, size_t nr) {
  uvperf__layout_t layout;
  size_t i;

  decoder->readers = uvperf__calloc(nr, sizeof(*decoder->readers));
  if (decoder->readers == NULL)
    return -ENOMEM;
  decoder->nr_readers = nr;
  for (i = 0; i < nr; i++) {
    uvperf__reader_t *reader = &decoder->readers[i];

    uvperf__layout_read(&layout, sources[i]->attr);
    uvperf__sample_plan(&reader->plan, &layout, &reader->sample);
    reader->sample.source = sources[i];
    reader->source = sources[i];
  }
  return 0;
}

/* Records can be told apart only where the id is at one place in all. */
static int place_id(uvperf_decoder_t *decoder) {
  size_t i;

  for (i = 0; i < decoder->nr_readers; i++) {
    const uvperf__layout_t *layout = &decoder->readers[i].plan.layout;
    size_t front = uvperf__layout_id_front(layout);
    size_t back = uvperf__layout_id_back(layout);

    if (front == 0 || back == 0 || decoder->readers[i].source->nr_ids == 0)
      return -EINVAL;
    if (i > 0 && (front != decoder->id_front || back != decoder->id_back))
      return -EINVAL;
    decoder->id_front = front;
    decoder->id_back = back;
  }
  return 0;
}

static int make_slots(uvperf_decoder_t *decoder) {
  size_t nr_ids = 0, i;

  for (i = 0; i < decoder->nr_readers; i++)
    nr_ids += decoder->readers[i].source->nr_ids;
  decoder->nr_slots = 4;
  while (decoder->nr_slots / 2 < nr_ids)
    decoder->nr_slots *= 2;
  decoder->slots = uvperf__calloc(decoder->nr_slots, sizeof(*decoder->slots));
  return decoder->slots == NULL ? -ENOMEM : 0;
}

static int add_ids(uvperf_decoder_t *decoder, uvperf__reader_t *reader) {
  size_t i;

  for (i = 0; i < reader->source->nr_ids; i++) {
    uvperf__slot_t *slot = find_slot(decoder, reader->source->ids[i]);

    if (slot->reader != NULL && slot->reader != reader)
      return -EINVAL;
    slot->id = reader->source->ids[i];
    slot->reader = reader;
  }
  return 0;
}

static int index_ids(uvperf_decoder_t *decoder) {
  size_t i;
  int rc;

  rc = place_id(decoder);
  if (rc == 0)
    rc = make_slots(decoder);
  for (i = 0; i < decoder->nr_readers && rc == 0; i++)
    rc = add_ids(decoder, &decoder->readers[i]);
  return rc;
}

int uvperf_decoder_new(uvperf_decoder_t **decoder,
                       const uvperf_source_t *const *sources, size_t nr) {
  uvperf_decoder_t *made;
  size_t i;
  int rc;

  *decoder = NULL;
  if (sources == NULL || nr == 0)
    return -EINVAL;
  for (i = 0; i < nr; i++)
    if (check_source(sources[i]) != 0)
      return -EINVAL;
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL)
    return -ENOMEM;
  rc = add_readers(made, sources, nr);
  if (rc == 0 && nr > 1)
    rc = index_ids(made);
  if (rc != 0) {
    uvperf_decoder_free(made);
    return rc;
  }
  *decoder = made;
  return 0;
}

void uvperf_decoder_free(uvperf_decoder_t *decoder) {
  if (decoder == NULL)
    return;
  uvperf__free(decoder->slots);
  uvperf__free(decoder->readers);
  uvperf__free(decoder);
}

/* Whose record it is; NULL where the id is missing or nobody's. The id is never
 * that of STREAM_ID: inherited events have their own there. */
static uvperf__reader_t *find_reader(const uvperf_decoder_t *decoder,
                                     const struct perf_event_header *header,
                                     const uint8_t *bytes) {
  size_t at = decoder->id_front;

  if (decoder->nr_readers == 1)
    return &decoder->readers[0];
  if (header->type != PERF_RECORD_SAMPLE) {
    if (header->size < HEADER_SIZE + decoder->id_back)
      return NULL;
    at = header->size - decoder->id_back;
  }
  if (header->size < at + sizeof(uint64_t))
    return NULL;
  return find_slot(decoder, uvperf__u64(bytes + at))->reader;
}

static void set_header(uvperf_record_t *record,
                       const struct perf_event_header *header,
                       const uint8_t *bytes) {
  record->type = header->type;
  record->misc = header->misc;
  record->size = header->size;
  record->bytes = bytes;
}

static const uvperf_record_t *raw_record(uvperf_decoder_t *decoder,
                                         const uvperf__reader_t *reader,
                                         const struct perf_event_header *header,
                                         const uint8_t *bytes) {
  uvperf_record_t *raw = &decoder->raw;

  set_header(raw, header, bytes);
  raw->source = reader != NULL ? reader->source : NULL;
  uvperf__sample_id_decode(0, bytes, raw);
  return raw;
}

static int decode_sample(uvperf__reader_t *reader,
                         const struct perf_event_header *header,
                         const uint8_t *bytes) {
  set_header(&reader->sample, header, bytes);
  return uvperf__sample_decode(&reader->plan, bytes, header->size,
                               &reader->sample);
}

/* The trailer is found from the record's end, as the kernel pads strings before
 * it. */
static int decode_side_band(uvperf_decoder_t *decoder,
                            const uvperf__reader_t *reader,
                            const struct perf_event_header *header,
                            const uint8_t *bytes) {
  const uvperf__layout_t *layout = &reader->plan.layout;
  uvperf_record_t *record = &decoder->side_band;
  size_t end;

  if (header->size < HEADER_SIZE + layout->trailer_size)
    return -EPROTO;
  end = header->size - layout->trailer_size;
  set_header(record, header, bytes);
  record->source = reader->source;
  uvperf__sample_id_decode(layout->trailer_type, bytes + end, record);
  return uvperf__record_decode(layout, bytes + HEADER_SIZE, end - HEADER_SIZE,
                               record);
}

/* A type that is newer than the library: raw, with the trailer that every
 * record but a sample has had so far, if there is room for one. */
static const uvperf_record_t *
decode_unknown(uvperf_decoder_t *decoder, const uvperf__reader_t *reader,
               const struct perf_event_header *header, const uint8_t *bytes) {
  const uvperf__layout_t *layout;

  raw_record(decoder, reader, header, bytes);
  if (reader == NULL)
    return &decoder->raw;
  layout = &reader->plan.layout;
  if (header->size >= HEADER_SIZE + layout->trailer_size)
    uvperf__sample_id_decode(layout->trailer_type,
                             bytes + header->size - layout->trailer_size,
                             &decoder->raw);
  return &decoder->raw;
}

/* Of a record whose header is sound. */
static int decode(uvperf_decoder_t *decoder,
                  const struct perf_event_header *header, const uint8_t *bytes,
                  const uvperf_record_t **record) {
  uvperf__reader_t *reader = find_reader(decoder, header, bytes);
  int rc = -EPROTO;

  if (reader != NULL && header->type == PERF_RECORD_SAMPLE) {
    *record = &reader->sample;
    rc = decode_sample(reader, header, bytes);
  } else if (!uvperf__record_is_known(header->type)) {
    *record = decode_unknown(decoder, reader, header, bytes);
    return 0;
  } else if (reader != NULL) {
    *record = &decoder->side_band;
    rc = decode_side_band(decoder, reader, header, bytes);
  }
  if (rc != 0)
    *record = raw_record(decoder, reader, header, bytes);
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
  return decode(decoder, &header, bytes, record);
}
