/* SPDX-License-Identifier: MIT */
/* The sources of a decoder: how the records of each are read, and by which ids
 * they are told apart. */
#include "decode/decoder.h"

#include <errno.h>

#include "attr/attr.h"
#include "util/alloc.h"
#include "util/options.h"

/* -- readers --------------------------------------------------------------- */

#define FLAGS_KNOWN UVPERF_SOURCE_OLD_MMAP2

/* 0 of a source that is older than its flags. */
static uint64_t flags_of(const uvperf_source_t *source) {
  size_t least = offsetof(uvperf_source_t, flags) + sizeof(source->flags);

  return source->size < least ? 0 : source->flags;
}

/* An attr is aligned, so that the flags fit into its address. */
static uint64_t key_of(const uvperf_source_t *source) {
  return (uint64_t)(uintptr_t)source->attr | flags_of(source);
}

/* Of one source more. A source may go before its records have, so that what was
 * once not at one place never is. */
static void place_time(uvperf_decoder_t *decoder,
                       const uvperf__reader_t *reader) {
  size_t least = uvperf__sample_front_size(&reader->plan);
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

static uvperf__reader_t *make_reader(uvperf_decoder_t *decoder,
                                     const uvperf_source_t *source) {
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
  place_time(decoder, reader);
  return reader;
}

/* NULL if no source has the attr. */
static uvperf__reader_t *find_reader(const uvperf_decoder_t *decoder,
                                     const uvperf_source_t *source) {
  return uvperf__id_table_find(&decoder->attrs, key_of(source))->reader;
}

static uvperf__reader_t *add_reader(uvperf_decoder_t *decoder,
                                    const uvperf_source_t *source) {
  uvperf__reader_t *reader;

  if (uvperf__id_table_reserve(&decoder->attrs, 1) != 0)
    return NULL;
  reader = make_reader(decoder, source);
  if (reader != NULL)
    uvperf__id_table_put(&decoder->attrs, reader->key, reader, NULL);
  return reader;
}

/* Of a reader without sources. Its sample can be in the user's hands only if it
 * was given last, so there is never more than one to keep; another attr at the
 * same address gets a reader of its own. */
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

/* Records can be told apart only where the id is at one place in all. */
static int place_id(uvperf_decoder_t *decoder,
                    const struct perf_event_attr *attr) {
  uvperf__layout_t layout;
  size_t front, back;

  uvperf__layout_read(&layout, attr);
  front = uvperf__layout_id_front(&layout);
  back = uvperf__layout_id_back(&layout);
  if (front == 0 || back == 0)
    return -EINVAL;
  if (decoder->nr_sources > 0 &&
      (front != decoder->id_front || back != decoder->id_back))
    return -EINVAL;
  decoder->id_front = front;
  decoder->id_back = back;
  return 0;
}

static int check_ids(const uvperf_decoder_t *decoder,
                     const uvperf_source_t *source) {
  size_t i;

  for (i = 0; i < source->nr_ids; i++)
    if (uvperf__decoder_source(decoder, source->ids[i]) != NULL)
      return -EEXIST;
  return 0;
}

/* Whether a source can be added; makes room for its ids. Where its attr is
 * known, so is the place of its ids. */
static int prepare(uvperf_decoder_t *decoder, const uvperf_source_t *source,
                   const uvperf__reader_t *reader) {
  int rc = 0;

  if (source->nr_ids == 0)
    return -EINVAL;
  if (reader == NULL)
    rc = place_id(decoder, source->attr);
  if (rc == 0)
    rc = check_ids(decoder, source);
  if (rc == 0)
    rc = uvperf__id_table_reserve(&decoder->ids, source->nr_ids);
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
  rc = prepare(decoder, source, reader);
  if (rc != 0)
    return rc;
  if (reader == NULL)
    reader = add_reader(decoder, source);
  if (reader == NULL)
    return -ENOMEM;
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
  made->only.reader = make_reader(made, source);
  if (made->only.reader == NULL) {
    uvperf_decoder_free(made);
    return -ENOMEM;
  }
  made->only.reader->sample.source = source;
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
