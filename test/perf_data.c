/* SPDX-License-Identifier: MIT */
#include "perf_data.h"

#include "support.h"

#define HEADER_EVENT_DESC 12
#define FIRST_USER_TYPE   64
#define HEADER_BYTES      104

typedef struct section_s {
  uint64_t offset, size;
} section_t;

static uint64_t get64(const perf_data_t *data, uint64_t offset) {
  uint64_t value;

  assert_true(offset + sizeof(value) <= data->size);
  memcpy(&value, data->bytes + offset, sizeof(value));
  return value;
}

static uint32_t get32(const perf_data_t *data, uint64_t offset) {
  uint32_t value;

  assert_true(offset + sizeof(value) <= data->size);
  memcpy(&value, data->bytes + offset, sizeof(value));
  return value;
}

static section_t get_section(const perf_data_t *data, uint64_t offset) {
  section_t section = {get64(data, offset), get64(data, offset + 8)};

  assert_true(section.offset <= data->size);
  assert_true(section.size <= data->size - section.offset);
  return section;
}

static void read_bytes(perf_data_t *data, const char *path) {
  FILE *file = fopen(path, "re");
  long size;

  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  size = ftell(file);
  assert_true(size >= HEADER_BYTES);
  rewind(file);
  data->size = (size_t)size;
  data->bytes = malloc(data->size);
  assert_non_null(data->bytes);
  assert_int_equal(fread(data->bytes, 1, data->size, file), data->size);
  fclose(file);
}

static void read_event(perf_data_t *data, size_t index, uint64_t offset,
                       uint64_t attr_size) {
  perf_data_event_t *event = &data->events[index];
  uvperf_source_t *source = &data->sources[index];
  uint64_t size = attr_size - sizeof(section_t);
  section_t ids = get_section(data, offset + size);

  assert_true(size <= sizeof(event->bytes));
  memcpy(event->bytes, data->bytes + offset, size);
  source->size = sizeof(*source);
  source->attr = &event->attr;
  source->attr_index = (uint32_t)index;
  source->nr_ids = ids.size / sizeof(uint64_t);
  source->ids = malloc(ids.size + 1);
  assert_non_null(source->ids);
  memcpy((void *)(uintptr_t)source->ids, data->bytes + ids.offset, ids.size);
}

static void read_events(perf_data_t *data) {
  uint64_t attr_size = get64(data, 16);
  section_t attrs = get_section(data, 24);
  size_t i;

  assert_true(attr_size > sizeof(section_t));
  assert_int_equal(attrs.size % attr_size, 0);
  data->nr = attrs.size / attr_size;
  assert_true(data->nr > 0);
  data->events = calloc(data->nr, sizeof(*data->events));
  data->sources = calloc(data->nr, sizeof(*data->sources));
  assert_non_null(data->events);
  assert_non_null(data->sources);
  for (i = 0; i < data->nr; i++)
    read_event(data, i, attrs.offset + i * attr_size, attr_size);
}

int perf_data_has(const perf_data_t *data, unsigned feature) {
  return (data->features >> feature & 1) != 0;
}

/* nr, the size of an attr, and of each event the attr, the number of ids, the
 * name with its size, the ids. */
static void read_names(perf_data_t *data) {
  uint64_t offset = data->data_offset + data->data_size, ids, length;
  uint32_t nr, attr_size, i;
  unsigned feature;
  section_t section;

  for (feature = 0; feature < HEADER_EVENT_DESC; feature++)
    offset += perf_data_has(data, feature) ? sizeof(section_t) : 0;
  section = get_section(data, offset);
  nr = get32(data, section.offset);
  attr_size = get32(data, section.offset + 4);
  assert_int_equal(nr, data->nr);
  offset = section.offset + 8;
  for (i = 0; i < nr; i++) {
    ids = get32(data, offset + attr_size);
    length = get32(data, offset + attr_size + 4);
    offset += attr_size + 8;
    assert_true(offset + length <= section.offset + section.size);
    snprintf(data->events[i].name, sizeof(data->events[i].name), "%.*s",
             (int)length, (const char *)data->bytes + offset);
    offset += length + ids * sizeof(uint64_t);
  }
}

static void make_decoders(perf_data_t *data) {
  const uvperf_source_t **sources = calloc(data->nr, sizeof(*sources));
  size_t i;

  assert_non_null(sources);
  for (i = 0; i < data->nr; i++)
    sources[i] = &data->sources[i];
  assert_int_equal(uvperf_decoder_new(&data->decoder, sources, data->nr), 0);
  assert_int_equal(uvperf_decoder_new(&data->synthesized, sources, 1), 0);
  free(sources);
}

void perf_data_open(perf_data_t *data, const char *path) {
  section_t section;

  memset(data, 0, sizeof(*data));
  read_bytes(data, path);
  assert_memory_equal(data->bytes, "PERFILE2", 8);
  assert_true(get64(data, 8) == HEADER_BYTES);
  section = get_section(data, 40);
  data->data_offset = section.offset;
  data->data_size = section.size;
  data->features = get64(data, 72);
  read_events(data);
  if (perf_data_has(data, HEADER_EVENT_DESC))
    read_names(data);
  make_decoders(data);
}

void perf_data_close(perf_data_t *data) {
  size_t i;

  for (i = 0; i < data->nr; i++)
    free((void *)(uintptr_t)data->sources[i].ids);
  uvperf_decoder_free(data->decoder);
  uvperf_decoder_free(data->synthesized);
  free(data->sources);
  free(data->events);
  free(data->bytes);
}

/* Whether the trailer of a record that is no sample ends in an id of 0: that is
 * nobody's but of who made the record himself. */
static int is_synthesized(const perf_data_t *data,
                          const perf_data_record_t *record) {
  return record->type != PERF_RECORD_SAMPLE && record->size >= 16 &&
         get64(data, record->offset + record->size - 8) == 0;
}

/* In a copy of its own size, so that a read behind it is seen. */
static void decode(const perf_data_t *data, perf_data_record_t *record,
                   void *copy) {
  int rc;

  memcpy(copy, data->bytes + record->offset, record->size);
  rc = uvperf_decode(data->decoder, copy, record->size, &record->record);
  if (rc == -EPROTO && is_synthesized(data, record))
    rc = uvperf_decode(data->synthesized, copy, record->size, &record->record);
  if (rc != 0)
    print_error("record of type %u, %u bytes, at %#llx\n", record->type,
                record->size, (unsigned long long)record->offset);
  assert_int_equal(rc, 0);
}

size_t perf_data_walk(const perf_data_t *data,
                      void (*cb)(void *arg, const perf_data_record_t *record),
                      void *arg) {
  uint64_t offset = data->data_offset, end = offset + data->data_size;
  struct perf_event_header header;
  perf_data_record_t record;
  size_t nr;
  void *copy;

  for (nr = 0; offset < end; nr++) {
    assert_true(end - offset >= sizeof(header));
    memcpy(&header, data->bytes + offset, sizeof(header));
    assert_true(header.size >= sizeof(header) && header.size <= end - offset);
    memset(&record, 0, sizeof(record));
    record.offset = offset;
    record.type = header.type;
    record.size = header.size;
    copy = malloc(header.size);
    assert_non_null(copy);
    if (header.type < FIRST_USER_TYPE)
      decode(data, &record, copy);
    cb(arg, &record);
    free(copy);
    offset += header.size;
  }
  return nr;
}

const char *perf_data_event_name(const perf_data_t *data,
                                 const uvperf_record_t *record) {
  return record->source == NULL ? ""
                                : data->events[record->source->attr_index].name;
}
