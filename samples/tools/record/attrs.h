/* SPDX-License-Identifier: MIT */
/* What record samples: the events by their names, as attrs for a set. */
#ifndef RECORD_ATTRS_H
#define RECORD_ATTRS_H

#include <stddef.h>
#include <stdint.h>

#include "record/options.h"
#include "uvperf.h"

typedef struct record_attrs_s {
  uvperf_event_list_t *list; /* the attrs of probes point into it */
  struct perf_event_attr **attrs;
  size_t *leaders;
  size_t nr;
  uint64_t frequency_hz;
  int reads_groups; /* a sample of a leader has the counts of its group */
} record_attrs_t;

/* Makes the attrs of what was asked for: 0, or the status to exit with after a
 * message. To be followed by record_attrs_free in any case. */
int record_attrs_make(record_attrs_t *attrs, const record_options_t *options);

/* What a set is to tell beside samples: UVPERF_SIDE_BAND_*. */
uint32_t record_attrs_side_band(const record_options_t *options);

/* How an event was called on the command line; of the one that is added for
 * side_band, which comes last, what it is. */
const char *record_attrs_label(const record_attrs_t *attrs, size_t index);

/* Whether it is a clock, as there are no cycles. */
int record_attrs_is_clock(const uvperf_set_t *set, size_t index);

/* How an event of the set is called, with what fallbacks made of it. For
 * free(). */
char *record_attrs_name(const record_attrs_t *attrs, const uvperf_set_t *set,
                        size_t index);

void record_attrs_free(record_attrs_t *attrs);

#endif
