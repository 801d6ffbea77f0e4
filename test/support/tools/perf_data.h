/* SPDX-License-Identifier: MIT */
/* Reads the records of a perf.data file by the library's decoder alone, to be
 * compared with what perf(1) says of it. */
#ifndef UVPERF_TEST_PERF_DATA_H
#define UVPERF_TEST_PERF_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "data_file.h"
#include "uvperf/record.h"

typedef struct perf_data_s {
  data_file_t file;
  uvperf_source_t *sources; /* one for each of its attrs */
  const char **names;       /* of these; NULL where the file does not tell */
  size_t nr;
  uvperf_decoder_t *decoder;
} perf_data_t;

/* Fails the test where the file cannot be right. */
void perf_data_open(perf_data_t *data, const char *path);
void perf_data_close(perf_data_t *data);

typedef struct perf_data_record_s {
  uint64_t offset; /* in the file */
  uint32_t type;
  uint16_t size;
  /* NULL for what perf(1) itself made (types from 64 on). */
  const uvperf_record_t *record;
} perf_data_record_t;

/* Calls for each record, in the order of the file; a record is valid until the
 * callback returns. How many there are. */
size_t perf_data_walk(const perf_data_t *data,
                      void (*cb)(void *arg, const perf_data_record_t *record),
                      void *arg);

/* The name of the event that wrote a record, "" for none. */
const char *perf_data_event_name(const perf_data_t *data,
                                 const uvperf_record_t *record);

/* Whether the file has a feature: HEADER_* of tools/perf/util/header.h. */
int perf_data_has(const perf_data_t *data, unsigned feature);

#endif
