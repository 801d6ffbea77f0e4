/* SPDX-License-Identifier: MIT */
/* The events of a recording, and the decoder of their records. */
#ifndef RECORDING_EVENTS_H
#define RECORDING_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/recording/bytes.h"
#include "common/tally.h"
#include "uvperf.h"

#define RECORDING_EVENTS_MAX 16384u
#define RECORDING_IDS_MAX    ((size_t)1 << 20) /* of all events */

typedef struct recording_source_s {
  uvperf_source_t source; /* attr_index is its index in `events` */
  struct perf_event_attr *attr;
  uint64_t *ids;
  char *name; /* or NULL */
} recording_source_t;

typedef struct recording_events_s {
  recording_source_t **events;
  size_t nr, capacity;
  int is_old_mmap2; /* see UVPERF_SOURCE_OLD_MMAP2 */
  int have_times;   /* all records have times; set with the decoder */
  /* private */
  size_t nr_ids;
  uint64_t work;
  uvperf_decoder_t *decoder;
  common_tally_t by_id; /* the weight is an event; only for foreign files */
} recording_events_t;

void recording_events_free(recording_events_t *events);

/* Adds an event: an attr of attr_bytes bytes, which can be any number, and its
 * ids. After the first records, an equal attr means the same event. Returns 0,
 * or -1 if this cannot be an event or there are too many events. */
int recording_events_add(recording_events_t *events, const unsigned char *attr,
                         size_t attr_bytes, recording_bytes_t *ids);

/* Reads the feature EVENT_DESC, which has the names in the order of the
 * events. */
void recording_events_name(recording_events_t *events,
                           recording_bytes_t *bytes);

/* Returns the decoder of all events. Returns NULL if there are no events, or if
 * their records cannot be distinguished. */
uvperf_decoder_t *recording_events_decoder(recording_events_t *events);

/* Converts a record of the other byte order to this machine's byte order. */
void recording_events_swap(recording_events_t *events,
                           struct perf_event_header *header);

#endif
