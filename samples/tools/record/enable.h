/* SPDX-License-Identifier: MIT */
/* Turns single events of a set on and off during a recording. The last event,
 * which records tasks and mappings, stays on. */
#ifndef RECORD_ENABLE_H
#define RECORD_ENABLE_H

#include <stddef.h>

#include "record/attrs.h"
#include "uvperf.h"

typedef struct record_enable_s {
  unsigned char *is_off; /* for each attr; NULL: no event was changed */
  size_t nr;
} record_enable_t;

/* Turns on the event for tasks and mappings. Returns 0, or -errno. */
int record_enable_side_band(const record_attrs_t *attrs,
                            const uvperf_set_t *set,
                            const uvperf_reading_t *reading);

/* Marks all events as off, for -D. */
void record_enable_later(record_enable_t *enable, const record_attrs_t *attrs);

/* Marks the events with a name as on or off. With NULL marks all events.
 * record_enable_apply then turns the marked events on or off. Returns 0, or -1
 * if no event has the name. */
int record_enable_choose(record_enable_t *enable, const record_attrs_t *attrs,
                         const uvperf_set_t *set, const char *name, int is_on);

/* Enables and disables the events at all places of a reading. Returns 0, or
 * -errno of the first failure. */
int record_enable_apply(const record_enable_t *enable, const uvperf_set_t *set,
                        const uvperf_reading_t *reading);

#endif
