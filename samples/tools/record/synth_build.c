/* SPDX-License-Identifier: MIT */
#include "record/synth_build.h"

#include <string.h>

/* Types from here on are perf(1)'s own. Records of these types have no
 * sample_id. */
#define FIRST_OF_PERF 64

common_buffer_t *record_synth_begin(record_synth_t *synth, uint32_t type,
                                    uint16_t misc) {
  synth->build.used = 0;
  record_bytes_begin(&synth->build, type, misc);
  return &synth->build;
}

void record_synth_put_path(common_buffer_t *build, const char *path) {
  record_bytes_put_text(
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

int record_synth_end(record_synth_t *synth) {
  common_buffer_t *build = &synth->build;
  struct perf_event_header header;

  record_bytes_align(build, sizeof(uint64_t));
  memcpy(&header, build->text, sizeof(header));
  if (header.type < FIRST_OF_PERF)
    record_bytes_put_zeros(build, trailer_bytes(synth->attr));
  record_bytes_end(build, 0);
  return synth->write(synth->arg, build->text, build->used);
}
