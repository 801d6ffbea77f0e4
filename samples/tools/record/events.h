/* SPDX-License-Identifier: MIT */
/* The events of a perf.data file: attrs, names, ids, groups. */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "record/bytes.h"

typedef struct record_event_s {
  unsigned char *attr; /* attr_size bytes, as the caller had it */
  size_t attr_size;
  char *name;
  uint64_t *ids;
  size_t nr_ids;
  size_t id_capacity;
  size_t nr_members; /* of a group that it leads; 0 of none */
} record_event_t;

typedef struct record_events_s {
  record_event_t *events;
  size_t nr;
  size_t capacity;
} record_events_t;

/* Adds one, copied: its index. */
size_t record_events_add(record_events_t *events,
                         const struct perf_event_attr *attr, const char *name);
void record_events_free(record_events_t *events);

/* Bytes that an attr has in the file, the same for all. A perf(1) refuses a
 * file with attrs longer than it knows (read_attr of tools/perf/util/header.c),
 * so they are as short as holds all that is not 0. */
size_t record_events_attr_size(const record_events_t *events);

/* The attr as the file has it. */
void record_events_put_attr(const record_event_t *event, size_t attr_size,
                            record_bytes_t *bytes);

/* The section of attrs and behind it all ids, to lie at an offset in the file;
 * gives the size of the former. */
size_t record_events_put(const record_events_t *events, uint64_t offset,
                         record_bytes_t *bytes);

/* How much that is. */
uint64_t record_events_bytes(const record_events_t *events);

/* The head of an attr, for fields that each has. */
void record_events_head(const record_event_t *event,
                        struct perf_event_attr *attr);

/* Bytes before PERF_SAMPLE_TIME in a sample of these, and 0; or -1 if that is
 * not one number for all. */
int record_events_time(const record_events_t *events, size_t *offset);

#endif
