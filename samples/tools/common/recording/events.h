/* SPDX-License-Identifier: MIT */
/* The events of a recording, and the decoder of their records. */
#ifndef RECORDING_EVENTS_H
#define RECORDING_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/recording/bytes.h"
#include "uvperf.h"

#define RECORDING_EVENTS_MAX 16384u
#define RECORDING_IDS_MAX    ((size_t)1 << 20) /* of all events */

typedef struct recording_source_s {
  uvperf_source_t source; /* attr_index is its place */
  struct perf_event_attr *attr;
  uint64_t *ids;
  char *name; /* or NULL */
} recording_source_t;

typedef struct recording_events_s {
  recording_source_t **events;
  size_t nr, capacity;
  int is_old_mmap2; /* see UVPERF_SOURCE_OLD_MMAP2 */
  int have_times;   /* all records; known with the decoder */
  /* private */
  size_t nr_ids;
  uint64_t work;
  uvperf_decoder_t *decoder;
  struct recording_id_s *by_id; /* sorted; only for foreign files */
} recording_events_t;

void recording_events_free(recording_events_t *events);

/* Adds an event of so many bytes of attr, of any size, and then its ids. Once
 * records came an equal attr means the same event. 0, or -1 if that cannot be
 * one or there are too many. */
int recording_events_add(recording_events_t *events, const unsigned char *attr,
                         size_t attr_bytes, recording_bytes_t *ids);

/* The feature EVENT_DESC: names, in the order of the events. */
void recording_events_name(recording_events_t *events,
                           recording_bytes_t *bytes);

/* The decoder of all events; NULL if there is none, or they cannot be told
 * apart. */
uvperf_decoder_t *recording_events_decoder(recording_events_t *events);

/* Turns a record of the other byte order into one of this. */
void recording_events_swap(recording_events_t *events,
                           struct perf_event_header *header);

#endif
