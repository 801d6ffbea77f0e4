/* SPDX-License-Identifier: MIT */
/* Other contents of the header: facts about the machine, and build ids. */
#ifndef RECORDING_FEATURES_H
#define RECORDING_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "common/recording/bytes.h"
#include "common/tally.h"

/* Bits of the header, HEADER_* of tools/perf/util/header.h. */
enum {
  RECORDING_TRACING_DATA = 1,
  RECORDING_BUILD_ID = 2,
  RECORDING_HOSTNAME = 3,
  RECORDING_OSRELEASE = 4,
  RECORDING_ARCH = 6,
  RECORDING_EVENT_DESC = 12,
  RECORDING_FEATURES = 256
};

typedef struct recording_features_s {
  char *hostname, *release, *arch; /* or NULL */
  /* private */
  common_tally_t paths; /* the weight is the index of the path's object */
  struct recording_object_s *objects;
  size_t nr, capacity;
} recording_features_t;

void recording_features_free(recording_features_t *features);

/* Reads HOSTNAME, OSRELEASE, ARCH or BUILD_ID; ignores others. */
void recording_features_take(recording_features_t *features, uint64_t feature,
                             recording_bytes_t *bytes);

/* Reads one entry of the table of build ids. The entry's header has been read;
 * `bytes` has the rest. */
void recording_features_object(recording_features_t *features, uint16_t misc,
                               recording_bytes_t *bytes);

/* Finds the build id of a path. Returns its size, or 0. */
size_t recording_features_build_id(recording_features_t *features,
                                   const char *path,
                                   unsigned char build_id[20]);

#endif
