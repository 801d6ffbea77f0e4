/* SPDX-License-Identifier: MIT */
/* The events that record samples, as attrs for a set. */
#ifndef RECORD_ATTRS_H
#define RECORD_ATTRS_H

#include <stddef.h>
#include <stdint.h>

#include "record/options.h"
#include "uvperf.h"

typedef struct record_attrs_s {
  uvperf_event_list_t *list; /* the attrs of probes point into it */
  struct perf_event_attr **attrs;
  uvperf_event_list_t *events; /* of these attrs, for the set */
  size_t nr;
  uint64_t frequency_hz;
  int reads_groups; /* a leader's samples have its group's counts */
} record_attrs_t;

/* Makes the attrs from the options. Returns 0, or the exit status after a
 * message. Call record_attrs_free in either case. */
int record_attrs_make(record_attrs_t *attrs, const record_options_t *options);

/* Returns the records that a set writes besides samples: UVPERF_SIDE_BAND_*. */
uint32_t record_attrs_side_band(const record_options_t *options);

/* Returns the name of an event as on the command line. The last event is added
 * for side_band. For this event, returns a description. */
const char *record_attrs_label(const record_attrs_t *attrs, size_t index);

/* Returns the name of an event of the set, after fallbacks. The caller frees
 * the name. */
char *record_attrs_name(const record_attrs_t *attrs, const uvperf_set_t *set,
                        size_t index);

void record_attrs_free(record_attrs_t *attrs);

#endif
