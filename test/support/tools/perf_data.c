/* SPDX-License-Identifier: MIT */
#include "perf_data.h"

#include "support.h"

#define HEADER_EVENT_DESC 12
#define FIRST_USER_TYPE   64

static void read_events(perf_data_t *data) {
  uvperf_source_t *source;
  size_t i;

  data->nr = data_file_nr_attrs(&data->file);
  assert_true(data->nr > 0);
  data->names = calloc(data->nr, sizeof(*data->names));
  data->sources = calloc(data->nr, sizeof(*data->sources));
  assert_non_null(data->names);
  assert_non_null(data->sources);
  for (i = 0; i < data->nr; i++) {
    source = &data->sources[i];
    source->size = sizeof(*source);
    source->attr = data_file_attr_at(&data->file, i);
    source->attr_index = (uint32_t)i;
    source->ids = data_file_ids(&data->file, i, &source->nr_ids);
  }
}

int perf_data_has(const perf_data_t *data, unsigned feature) {
  size_t size;

  return data_file_feature(&data->file, feature, &size) != NULL;
}

/* nr, the size of an attr, and of each event the attr, the number of ids, the
 * name with its size, the ids. */
static void read_names(perf_data_t *data) {
  const unsigned char *at;
  uint32_t head[2], nr_ids;
  size_t size, i;

  at = data_file_feature(&data->file, HEADER_EVENT_DESC, &size);
  if (at == NULL)
    return;
  memcpy(head, at, sizeof(head));
  assert_int_equal(head[0], data->nr);
  at += sizeof(head);
  for (i = 0; i < data->nr; i++) {
    at += head[1];
    memcpy(&nr_ids, at, sizeof(nr_ids));
    data->names[i] = data_file_string(at + sizeof(nr_ids), &at);
    at += nr_ids * sizeof(uint64_t);
  }
}

static void make_decoder(perf_data_t *data) {
  const uvperf_source_t **sources = calloc(data->nr, sizeof(*sources));
  size_t i;

  assert_non_null(sources);
  for (i = 0; i < data->nr; i++)
    sources[i] = &data->sources[i];
  assert_int_equal(uvperf_decoder_new(&data->decoder, sources, data->nr), 0);
  free(sources);
}

void perf_data_open(perf_data_t *data, const char *path) {
  memset(data, 0, sizeof(*data));
  data_file_read(&data->file, path);
  read_events(data);
  read_names(data);
  make_decoder(data);
}

void perf_data_close(perf_data_t *data) {
  uvperf_decoder_free(data->decoder);
  free(data->sources);
  free(data->names);
  data_file_free(&data->file);
}

/* In a copy of its own size, so that a read behind it is seen. */
static void decode(const perf_data_t *data,
                   const struct perf_event_header *header,
                   perf_data_record_t *record, void *copy) {
  int rc;

  memcpy(copy, header, header->size);
  rc = uvperf_decode(data->decoder, copy, header->size, &record->record);
  if (rc != 0)
    print_error("record of type %u, %u bytes, at %#llx\n", record->type,
                record->size, (unsigned long long)record->offset);
  assert_int_equal(rc, 0);
}

size_t perf_data_walk(const perf_data_t *data,
                      void (*cb)(void *arg, const perf_data_record_t *record),
                      void *arg) {
  const struct perf_event_header *header = NULL;
  perf_data_record_t record;
  size_t nr = 0;
  void *copy;

  while ((header = data_file_next(&data->file, header)) != NULL) {
    memset(&record, 0, sizeof(record));
    record.offset =
        (uint64_t)((const unsigned char *)header - data->file.bytes);
    record.type = header->type;
    record.size = header->size;
    copy = malloc(header->size);
    assert_non_null(copy);
    if (header->type < FIRST_USER_TYPE)
      decode(data, header, &record, copy);
    cb(arg, &record);
    free(copy);
    nr++;
  }
  return nr;
}

const char *perf_data_event_name(const perf_data_t *data,
                                 const uvperf_record_t *record) {
  const char *name = NULL;

  if (record->source != NULL)
    name = data->names[record->source->attr_index];
  return name == NULL ? "" : name;
}
