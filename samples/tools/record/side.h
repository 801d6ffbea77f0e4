/* SPDX-License-Identifier: MIT */
/* A separate set for the tasks and mappings of a recording whose rings are
 * overwritten. This set keeps all names, because old samples need even older
 * names. */
#ifndef RECORD_SIDE_H
#define RECORD_SIDE_H

#include <stddef.h>

#include "common/buffer.h"
#include "common/targets.h"
#include "uvperf.h"

typedef struct record_side_s {
  uvperf_set_t set;
  uvperf_reading_t *reading;
  common_buffer_t *records; /* the owner's */
  common_ids_t *born;       /* the owner's: new processes; or NULL */
  size_t limit;             /* of `records`, in bytes */
  int has_set;
  void *owner;
} record_side_t;

/* The part of side_band that stays in the overwritten rings. There are too many
 * of these records to keep them all. */
#define RECORD_SIDE_IN_RINGS UVPERF_SIDE_BAND_SWITCH

/* Opens the set, with the targets, flags and fallbacks of these options.
 * Returns 0, or a UV_E*. */
int record_side_open(record_side_t *side, uv_loop_t *loop,
                     const uvperf_set_options_t *options, uint32_t side_band,
                     uvperf_error_t *error);

/* Enables the set, and adds its records to a buffer whenever the loop runs.
 * Returns 0, or a UV_E*. */
int record_side_start(record_side_t *side, common_buffer_t *records,
                      uvperf_error_t *error);

/* Returns 1 if there were too many records, and drops all records. Then the
 * owner adds the running tasks again and calls record_side_allow, which doubles
 * the limit if there are many tasks. */
int record_side_is_long(record_side_t *side);
void record_side_allow(record_side_t *side);

/* Call it only after record_side_open. */
void record_side_stop(record_side_t *side);

#endif
