/* SPDX-License-Identifier: MIT */
/* Reads a whole recording, for tests. */
#ifndef UVPERF_TEST_RECORDING_READ_H
#define UVPERF_TEST_RECORDING_READ_H

#include "common/recording/recording.h"
#include "support.h"

typedef struct recording_read_s {
  size_t nr;
  size_t nr_of_type[64];
  size_t nr_inversions; /* records older than one before them */
  uint64_t late, damaged;
  int rc; /* the result that ended the reading */
  char message[1024];
  /* Called for each record, or NULL. */
  void (*cb)(void *arg, recording_t *recording, const uvperf_record_t *record);
  void *arg;
} recording_read_t;

/* Reads to the end, and waits for a pipe. rc is also -1 if it cannot be
 * opened. */
void recording_read(recording_read_t *read, const char *path);

/* Does the same, but fails the test if the reading ends with an error. */
void recording_read_well(recording_read_t *read, const char *path);

/* Returns 1 if this program can read what perf record -z wrote. */
int recording_read_has_zstd(void);

#endif
