/* SPDX-License-Identifier: MIT */
/* The decoder. It keeps the sources and their ids. For each record it checks
 * the header, finds the source by the id, and passes the body on to sample.c or
 * record.c. */
#include "decode/decoder.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "decode/record.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/options.h"

#define HEADER_SIZE sizeof(struct perf_event_header)

_Static_assert(offsetof(uvperf_record_t, type) ==
                       offsetof(struct perf_event_header, type) &&
                   offsetof(uvperf_record_t, misc) ==
                       offsetof(struct perf_event_header, misc) &&
                   offsetof(uvperf_record_t, size) ==
                       offsetof(struct perf_event_header, size),
               "the header of a sample is copied as one word");

/* -- readers --------------------------------------------------------------- */

#define FLAGS_KNOWN UVPERF_SOURCE_OLD_MMAP2

/* Returns 0 if the caller's struct is older than the field. */
static uint64_t flags_of(const uvperf_source_t *source) {
  size_t least = offsetof(uvperf_source_t, flags) + sizeof(source->flags);

  return source->size < least ? 0 : source->flags;
}

/* An attr is aligned, so its address has low bits that are 0. The flags fit
 * into these bits. */
static uint64_t key_of(const uvperf_source_t *source) {
  return (uint64_t)(uintptr_t)source->attr | flags_of(source);
}

/* Notes where the samples of one more source have their time. A source may be
 * removed before its records are read. So if the times have been at two places
 * once, the decoder assumes for ever that they are. */
static void place_time(uvperf_decoder_t *decoder,
                       const uvperf__reader_t *reader) {
  size_t least = reader->plan.front_size;
  int is_first = decoder->time_front == 0;

  if (reader->time_front == 0 ||
      (!is_first && reader->time_front != decoder->time_front)) {
    decoder->time_front = SIZE_MAX;
    decoder->time_least = SIZE_MAX;
    return;
  }
  decoder->time_front = reader->time_front;
  if (is_first || decoder->time_least < least)
    decoder->time_least = least;
}

static uvperf__reader_t *make_reader(const uvperf_source_t *source) {
  uvperf__reader_t *reader = uvperf__calloc(1, sizeof(*reader));
  uvperf__layout_t layout;

  if (reader == NULL)
    return NULL;
  uvperf__layout_read(&layout, source->attr);
  layout.has_old_mmap2 = (flags_of(source) & UVPERF_SOURCE_OLD_MMAP2) != 0;
  uvperf__sample_plan(&reader->plan, &layout, &reader->sample);
  reader->time_front = uvperf__layout_time_front(&layout);
  reader->time_back = uvperf__layout_time_back(&layout);
  reader->key = key_of(source);
  reader->writes_samples = uvperf__attr_writes_samples(source->attr);
  return reader;
}

/* NULL if no source has the attr. */
static uvperf__reader_t *find_reader(const uvperf_decoder_t *decoder,
                                     const uvperf_source_t *source) {
  return uvperf__id_table_find(&decoder->attrs, key_of(source))->reader;
}

/* Drops a reader without sources. The user can still have the reader's sample
 * only if this sample was delivered last, so there is never more than one
 * reader to keep. Another attr at the same address gets a new reader. */
static void drop_reader(uvperf_decoder_t *decoder, uvperf__reader_t *reader) {
  uvperf__id_table_remove(&decoder->attrs, reader->key);
  if (reader != decoder->last) {
    uvperf__free(reader);
    return;
  }
  uvperf__free(decoder->kept);
  decoder->kept = reader;
}

/* -- sources --------------------------------------------------------------- */

static int check_source(const uvperf_source_t *source) {
  uvperf_source_t known = {0};
  int rc;

  if (source == NULL)
    return -EINVAL;
  rc = uvperf__options_copy(&known, sizeof(known),
                            offsetof(uvperf_source_t, attr_index), source);
  if (rc != 0)
    return rc;
  if (source->attr == NULL || (known.flags & ~(uint64_t)FLAGS_KNOWN) ||
      uvperf__attr_size(source->attr) < PERF_ATTR_SIZE_VER0)
    return -EINVAL;
  return source->nr_ids != 0 && source->ids == NULL ? -EINVAL : 0;
}

/* Records can be assigned to sources only if the id is at the same place in all
 * records. */
static int place_id(uvperf_decoder_t *decoder, const uvperf__layout_t *layout) {
  size_t front = uvperf__layout_id_front(layout);
  size_t back = uvperf__layout_id_back(layout);

  if (front == 0 || back == 0)
    return -EINVAL;
  if (decoder->nr_sources > 0 &&
      (front != decoder->id_front || back != decoder->id_back))
    return -EINVAL;
  decoder->id_front = front;
  decoder->id_back = back;
  return 0;
}

/* Whether a source can be added with its reader. A reader that has no sources
 * yet is new. Makes room for the ids and the reader. */
static int decoder_prepare(uvperf_decoder_t *decoder,
                           const uvperf_source_t *source,
                           const uvperf__reader_t *reader) {
  int rc = 0;
  size_t i;

  if (source->nr_ids == 0)
    return -EINVAL;
  if (reader->nr_sources == 0)
    rc = place_id(decoder, &reader->plan.layout);
  for (i = 0; i < source->nr_ids && rc == 0; i++)
    if (uvperf__decoder_source(decoder, source->ids[i]) != NULL)
      rc = -EEXIST;
  if (rc == 0)
    rc = uvperf__id_table_reserve(&decoder->ids, source->nr_ids);
  if (rc == 0 && reader->nr_sources == 0)
    rc = uvperf__id_table_reserve(&decoder->attrs, 1);
  return rc;
}

int uvperf__decoder_add(uvperf_decoder_t *decoder,
                        const uvperf_source_t *source) {
  uvperf__reader_t *reader;
  size_t i;
  int rc;

  rc = check_source(source);
  if (rc != 0)
    return rc;
  reader = find_reader(decoder, source);
  if (reader == NULL)
    reader = make_reader(source);
  if (reader == NULL)
    return -ENOMEM;
  rc = decoder_prepare(decoder, source, reader);
  if (rc != 0) {
    if (reader->nr_sources == 0)
      uvperf__free(reader);
    return rc;
  }
  if (reader->nr_sources == 0) {
    uvperf__id_table_put(&decoder->attrs, reader->key, reader, NULL);
    place_time(decoder, reader);
  }
  for (i = 0; i < source->nr_ids; i++)
    uvperf__id_table_put(&decoder->ids, source->ids[i], reader, source);
  reader->nr_sources += 1;
  decoder->nr_sources += 1;
  return 0;
}

void uvperf__decoder_remove(uvperf_decoder_t *decoder,
                            const uvperf_source_t *source) {
  uvperf__reader_t *reader =
      uvperf__id_table_find(&decoder->ids, source->ids[0])->reader;
  size_t i;

  for (i = 0; i < source->nr_ids; i++)
    uvperf__id_table_remove(&decoder->ids, source->ids[i]);
  decoder->nr_sources -= 1;
  reader->nr_sources -= 1;
  if (reader->nr_sources == 0)
    drop_reader(decoder, reader);
}

const uvperf_source_t *uvperf__decoder_source(const uvperf_decoder_t *decoder,
                                              uint64_t id) {
  const uvperf__id_slot_t *slot = uvperf__id_table_find(&decoder->ids, id);

  return slot->reader != NULL ? slot->source : NULL;
}

/* -- decoders -------------------------------------------------------------- */

int uvperf__decoder_make(uvperf_decoder_t **decoder) {
  uvperf_decoder_t *made = uvperf__calloc(1, sizeof(*made));

  *decoder = NULL;
  if (made == NULL)
    return -ENOMEM;
  made->time_least = SIZE_MAX;
  if (uvperf__id_table_make(&made->ids) != 0 ||
      uvperf__id_table_make(&made->attrs) != 0) {
    uvperf_decoder_free(made);
    return -ENOMEM;
  }
  *decoder = made;
  return 0;
}

static int make_of_one(uvperf_decoder_t **decoder,
                       const uvperf_source_t *source) {
  uvperf_decoder_t *made = uvperf__calloc(1, sizeof(*made));

  if (made == NULL)
    return -ENOMEM;
  made->only.source = source;
  made->only.reader = make_reader(source);
  if (made->only.reader == NULL) {
    uvperf_decoder_free(made);
    return -ENOMEM;
  }
  made->only.reader->sample.source = source;
  place_time(made, made->only.reader);
  *decoder = made;
  return 0;
}

/* perf(1) writes the id 0 into records that it makes itself. */
static int take_id_0(uvperf_decoder_t *decoder, const uvperf_source_t *first) {
  if (uvperf__decoder_source(decoder, 0) != NULL)
    return 0;
  if (uvperf__id_table_reserve(&decoder->ids, 1) != 0)
    return -ENOMEM;
  uvperf__id_table_put(&decoder->ids, 0, find_reader(decoder, first), first);
  return 0;
}

static int make_of_several(uvperf_decoder_t **decoder,
                           const uvperf_source_t *const *sources, size_t nr) {
  uvperf_decoder_t *made;
  size_t i;
  int rc;

  rc = uvperf__decoder_make(&made);
  for (i = 0; i < nr && rc == 0; i++)
    rc = uvperf__decoder_add(made, sources[i]);
  if (rc == 0)
    rc = take_id_0(made, sources[0]);
  if (rc != 0) {
    uvperf_decoder_free(made);
    return rc == -EEXIST ? -EINVAL : rc;
  }
  *decoder = made;
  return 0;
}

int uvperf_decoder_new(uvperf_decoder_t **decoder,
                       const uvperf_source_t *const *sources, size_t nr) {
  size_t i;
  int rc;

  *decoder = NULL;
  if (sources == NULL || nr == 0)
    return -EINVAL;
  for (i = 0; i < nr; i++) {
    rc = check_source(sources[i]);
    if (rc != 0)
      return rc;
  }
  return nr == 1 ? make_of_one(decoder, sources[0])
                 : make_of_several(decoder, sources, nr);
}

void uvperf_decoder_free(uvperf_decoder_t *decoder) {
  size_t i;

  if (decoder == NULL)
    return;
  if (decoder->attrs.slots != NULL)
    for (i = 0; i < decoder->attrs.nr_slots; i++)
      uvperf__free(decoder->attrs.slots[i].reader);
  uvperf__id_table_free(&decoder->attrs);
  uvperf__id_table_free(&decoder->ids);
  uvperf__free(decoder->only.reader);
  uvperf__free(decoder->kept);
  uvperf__free(decoder);
}

/* -- decoding -------------------------------------------------------------- */

/* Whether the first `end` bytes of a record end with a trailer that has an id
 * of the reader's sources, or no id that could be checked. */
static int has_id(const uvperf_decoder_t *decoder,
                  const uvperf__reader_t *reader, const uint8_t *bytes,
                  size_t end) {
  const uvperf_source_t *only = decoder->only.source;
  size_t back = uvperf__layout_id_back(&reader->plan.layout);
  uint64_t id;
  size_t i;

  if (only != NULL && (back == 0 || only->nr_ids == 0))
    return 1;
  id = uvperf__u64(bytes + end - back);
  if (only == NULL) /* perf(1) makes no record with id 0 too large */
    return id != 0 &&
           uvperf__id_table_find(&decoder->ids, id)->reader == reader;
  for (i = 0; i < only->nr_ids; i++)
    if (only->ids[i] == id)
      return 1;
  return 0;
}

/* Returns the size of a side-band record up to the end of its trailer. This is
 * the size in the header, or less if the kernel made the record too large: then
 * the trailer is where the body ends. */
static size_t find_end(const uvperf_decoder_t *decoder,
                       const struct perf_event_header *header,
                       const uint8_t *bytes) {
  size_t front =
      uvperf__record_trailer_front(header->type, bytes, header->size);
  const uvperf__reader_t *reader = decoder->only.reader;
  size_t end, i;

  for (i = 0; front != 0 && i < decoder->attrs.nr_slots + 1; i++) {
    if (i > 0)
      reader = decoder->attrs.slots[i - 1].reader;
    if (reader == NULL)
      continue;
    end = front + reader->plan.layout.trailer_size;
    if (end < header->size && has_id(decoder, reader, bytes, end))
      return end;
  }
  return header->size;
}

/* Returns the place of a record's id, or NULL. STREAM_ID is never used, because
 * inherited events have their own id there. */
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

/* Returns a reader for records of a type if they have the same layout in all
 * sources. Otherwise returns NULL. */
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

/* Finds the source of a record and its reader. The source is NULL if it is
 * unknown, and the reader is NULL if the record cannot be read. A sample can
 * have the id of another process's event. If `alone` is not NULL, such a sample
 * belongs to `alone`, the only source that writes samples into that ring.
 * Records of unknown types may have no id. `end` is that of find_end. */
static uvperf__id_slot_t find_writer(const uvperf_decoder_t *decoder,
                                     const uvperf_source_t *alone,
                                     const struct perf_event_header *header,
                                     const uint8_t *bytes, size_t end) {
  uvperf__id_slot_t writer = {0, NULL, NULL};
  const uint8_t *id;

  if (decoder->only.reader != NULL)
    return decoder->only;
  id = find_id(decoder, header->type, end, bytes);
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

/* Makes a record of an unknown type, or of damaged bytes. The union of the
 * record is 0. */
static void make_raw(uvperf_decoder_t *decoder, const uvperf__id_slot_t *writer,
                     const struct perf_event_header *header,
                     const uint8_t *bytes) {
  uvperf_record_t *raw = &decoder->other;

  memset(raw, 0, sizeof(*raw));
  set_header(raw, header, bytes);
  raw->source = writer->source;
  uvperf__record_decode_trailer(0, bytes, raw);
}

/* Decodes a sample that uvperf__decode_sample does not accept, because it is
 * longer than its fields or its id is unknown. The sample is decoded into a
 * separate record, because surplus_bytes must stay 0 in the reader's record. */
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

/* The trailer is found from the record's end, because the kernel pads strings
 * before it. `end` is that of find_end. */
static int decode_side_band(uvperf_decoder_t *decoder,
                            const uvperf__id_slot_t *writer,
                            const struct perf_event_header *header,
                            const uint8_t *bytes, size_t end) {
  const uvperf__layout_t *layout = &writer->reader->plan.layout;
  uvperf_record_t *record = &decoder->other;

  if (end < HEADER_SIZE + layout->trailer_size)
    return -EPROTO;
  end -= layout->trailer_size;
  set_header(record, header, bytes);
  record->source = writer->source;
  uvperf__record_decode_trailer(layout->trailer_type, bytes + end, record);
  return uvperf__record_decode(layout, bytes + HEADER_SIZE, end - HEADER_SIZE,
                               record);
}

/* Decodes a type that is newer than the library. The record is raw. If there is
 * room for a trailer, the record gets the trailer that all records except
 * samples have had so far. */
static void decode_unknown(uvperf_decoder_t *decoder,
                           const uvperf__id_slot_t *writer,
                           const struct perf_event_header *header,
                           const uint8_t *bytes) {
  const uvperf__layout_t *layout;

  make_raw(decoder, writer, header, bytes);
  if (writer->reader == NULL)
    return;
  layout = &writer->reader->plan.layout;
  if (header->size >= HEADER_SIZE + layout->trailer_size)
    uvperf__record_decode_trailer(layout->trailer_type,
                                  bytes + header->size - layout->trailer_size,
                                  &decoder->other);
}

/* Decodes a record with a sound header that uvperf__decode_sample did not
 * accept. Not inlined, because inlining would slow down the samples that
 * uvperf__decode_sample accepts. */
__attribute__((noinline)) static int
decode_other(uvperf_decoder_t *decoder, const uvperf_source_t *alone,
             const struct perf_event_header *header, const uint8_t *bytes,
             const uvperf_record_t **record) {
  const size_t end = find_end(decoder, header, bytes);
  const uvperf__id_slot_t writer =
      find_writer(decoder, alone, header, bytes, end);
  int rc = -EPROTO;

  *record = &decoder->other;
  if (!uvperf__record_is_known(header->type)) {
    decode_unknown(decoder, &writer, header, bytes);
    return 0;
  }
  if (writer.reader != NULL && header->type == PERF_RECORD_SAMPLE)
    rc = decode_longer(decoder, &writer, header, bytes);
  else if (writer.reader != NULL)
    rc = decode_side_band(decoder, &writer, header, bytes, end);
  if (rc != 0)
    make_raw(decoder, &writer, header, bytes);
  return rc;
}

/* The header is already loaded and is sound. */
static int decode_loaded(uvperf_decoder_t *decoder,
                         const uvperf_source_t *alone, const void *bytes,
                         uint64_t word, const uvperf_record_t **record) {
  struct perf_event_header header;

  *record = uvperf__decode_sample(decoder, bytes, word);
  if (*record != NULL)
    return 0;
  memcpy(&header, &word, sizeof(header));
  return decode_other(decoder, alone, &header, bytes, record);
}

int uvperf__decode(uvperf_decoder_t *decoder, const uvperf_source_t *alone,
                   const void *bytes, size_t size,
                   const uvperf_record_t **record) {
  uint64_t header = uvperf__header_of_size(uvperf__u64(bytes), size);

  return decode_loaded(decoder, alone, bytes, header, record);
}

const uvperf_record_t *uvperf__decode_none(uvperf_decoder_t *decoder, int cpu) {
  memset(&decoder->other, 0, sizeof(decoder->other));
  decoder->other.type = UVPERF_RECORD_NONE;
  decoder->other.cpu = (uint32_t)cpu;
  return &decoder->other;
}

int uvperf_decode(uvperf_decoder_t *decoder, const void *bytes, size_t size,
                  const uvperf_record_t **record) {
  uint64_t header;
  size_t whole;

  *record = NULL;
  if (bytes == NULL || (uintptr_t)bytes % sizeof(uint64_t) != 0)
    return -EINVAL;
  if (size < HEADER_SIZE)
    return -EPROTO;
  header = uvperf__u64(bytes);
  whole = uvperf__header_size(header);
  if (whole < HEADER_SIZE || whole % sizeof(uint64_t) != 0 || whole > size)
    return -EPROTO;
  return decode_loaded(decoder, NULL, bytes, header, record);
}

int uvperf__decoder_find_time(const uvperf_decoder_t *decoder,
                              const void *bytes, uint64_t word,
                              uint64_t *time) {
  const uvperf__reader_t *reader;
  struct perf_event_header header;
  size_t end, at;

  memcpy(&header, &word, sizeof(header));
  end = find_end(decoder, &header, bytes);
  reader = find_writer(decoder, NULL, &header, bytes, end).reader;
  if (reader == NULL)
    return 0;
  if (header.type == PERF_RECORD_SAMPLE) {
    if (reader->time_front == 0 || header.size < reader->plan.front_size)
      return 0;
    at = reader->time_front;
  } else {
    if (reader->time_back == 0 ||
        end < HEADER_SIZE + reader->plan.layout.trailer_size)
      return 0;
    at = end - reader->time_back;
  }
  *time = uvperf__u64((const uint8_t *)bytes + at);
  return 1;
}
