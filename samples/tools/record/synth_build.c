/* SPDX-License-Identifier: MIT */
#include "record/synth_build.h"

#include <string.h>

/* Types from here on are perf(1)'s own. Records of these types have no
 * sample_id. */
#define FIRST_OF_PERF 64

void record_synth_begin(record_synth_build_t *build, uint32_t type,
                        uint16_t misc) {
  struct perf_event_header header = {type, misc, 0};

  build->size = 0;
  record_synth_put(build, &header, sizeof(header));
}

void record_synth_put(record_synth_build_t *build, const void *bytes,
                      size_t size) {
  memcpy((char *)build->words + build->size, bytes, size);
  build->size += size;
}

void record_synth_put_u32(record_synth_build_t *build, uint32_t value) {
  record_synth_put(build, &value, sizeof(value));
}

void record_synth_put_u64(record_synth_build_t *build, uint64_t value) {
  record_synth_put(build, &value, sizeof(value));
}

static void put_zeros(record_synth_build_t *build, size_t size) {
  memset((char *)build->words + build->size, 0, size);
  build->size += size;
}

static void align(record_synth_build_t *build) {
  put_zeros(build, (8 - build->size % 8) % 8);
}

void record_synth_put_text(record_synth_build_t *build, const char *text) {
  record_synth_put(build, text, strlen(text) + 1);
  align(build);
}

void record_synth_put_path(record_synth_build_t *build, const char *path) {
  record_synth_put_text(
      build, strlen(path) < RECORD_SYNTH_PATH_BYTES ? path : "//toolong");
}

/* perf_event_header__init_id of kernel/events/core.c; IDENTIFIER comes last. */
static size_t trailer_bytes(const struct perf_event_attr *attr) {
  static const uint64_t fields[] = {PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
                                    PERF_SAMPLE_ID,  PERF_SAMPLE_STREAM_ID,
                                    PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER};
  size_t i, size = 0;

  for (i = 0; attr->sample_id_all && i < sizeof(fields) / sizeof(*fields); i++)
    size += attr->sample_type & fields[i] ? sizeof(uint64_t) : 0;
  return size;
}

int record_synth_end(const record_synth_t *synth, record_synth_build_t *build) {
  struct perf_event_header header;

  align(build);
  memcpy(&header, build->words, sizeof(header));
  if (header.type < FIRST_OF_PERF)
    put_zeros(build, trailer_bytes(synth->attr));
  header.size = (uint16_t)build->size;
  memcpy(build->words, &header, sizeof(header));
  return synth->write(synth->arg, build->words, build->size);
}
