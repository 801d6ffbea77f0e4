/* SPDX-License-Identifier: MIT */
/* The events of a perf.data file: attrs, names, ids, groups. */
#ifndef RECORD_EVENTS_H
#define RECORD_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "record/bytes.h"

typedef struct record_event_s {
  unsigned char *attr; /* attr_size bytes, as the caller passed them */
  size_t attr_size;
  char *name;
  uint64_t *ids;
  size_t nr_ids;
  size_t id_capacity;
  size_t nr_members; /* of the group that it leads; 0: none */
} record_event_t;

typedef struct record_events_s {
  record_event_t *events;
  size_t nr;
  size_t capacity;
} record_events_t;

/* Adds a copy of an event. Returns its index. */
size_t record_events_add(record_events_t *events,
                         const struct perf_event_attr *attr, const char *name);
void record_events_free(record_events_t *events);

/* Returns the size that all attrs have in the file. perf(1) refuses attrs that
 * are longer than the attr that it knows (read_attr of
 * tools/perf/util/header.c). So this is the shortest size that holds all
 * nonzero bytes. */
size_t record_events_attr_size(const record_events_t *events);

/* Appends an attr, cut or padded to attr_size. */
void record_events_put_attr(const record_event_t *event, size_t attr_size,
                            common_buffer_t *bytes);

/* Appends the section of attrs, then all ids. They will be at this offset in
 * the file. Returns the size of the section. */
size_t record_events_put(const record_events_t *events, uint64_t offset,
                         common_buffer_t *bytes);

/* The number of bytes that record_events_put appends. */
uint64_t record_events_bytes(const record_events_t *events);

/* Copies the beginning of an attr: the fields that our headers know. Fields
 * that are not in the attr are 0. */
void record_events_head(const record_event_t *event,
                        struct perf_event_attr *attr);

/* Finds the offset of PERF_SAMPLE_TIME in samples. Returns 0, or -1 if it is
 * not the same for all events. */
int record_events_time(const record_events_t *events, size_t *offset);

#endif
