/* SPDX-License-Identifier: MIT */
/* Reads a whole recording, for the tests of it. */
#ifndef UVPERF_TEST_RECORDING_READ_H
#define UVPERF_TEST_RECORDING_READ_H

#include "common/recording/recording.h"
#include "support.h"

typedef struct recording_read_s {
  size_t nr;
  size_t nr_of_type[64];
  size_t nr_inversions; /* a record that is older than one before it */
  uint64_t late, damaged;
  int rc; /* what ended it */
  char message[1024];
  /* Called for each record, or NULL. */
  void (*cb)(void *arg, recording_t *recording, const uvperf_record_t *record);
  void *arg;
} recording_read_t;

/* Reads to the end, waiting for a pipe; rc is -1 too if it cannot be opened. */
void recording_read(recording_read_t *read, const char *path);

/* The same, which is to end well. */
void recording_read_well(recording_read_t *read, const char *path);

/* Whether this program can read what perf record -z wrote. */
int recording_read_has_zstd(void);

#endif
