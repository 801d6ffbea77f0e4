/* SPDX-License-Identifier: MIT */
/* Layer 3: PERF_RECORD_SAMPLE. */
#ifndef UVPERF_LIB_SAMPLE_H
#define UVPERF_LIB_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "layout.h"

/* Where decoding stands in a sample. */
typedef struct uvperf__cursor_s {
  const uint8_t *at;
  const uint8_t *end;
  /* The second reading of a branch stack, see sample.c. */
  int second;
} uvperf__cursor_t;

/* Takes one variable field. 0, or -EPROTO if it does not fit. */
typedef int (*uvperf__sample_step)(const uvperf__layout_t *layout,
                                   uvperf__cursor_t *cursor,
                                   uvperf_sample_t *sample);

/* How to decode the samples of one event, made once. */
typedef struct uvperf__sample_plan_s {
  uvperf__layout_t layout;
  /* The one-word fields at the front, whose places are fixed: from an offset in
   * the bytes to one in the record. */
  struct {
    uint16_t from;
    uint16_t to;
  } copies[8];
  size_t nr_copies;
  size_t cpu_from;   /* PERF_SAMPLE_CPU, 0: not asked for */
  size_t front_size; /* bytes up to the fields that vary, with the header */
  /* The fields that vary and those behind them, in the kernel's order. */
  uvperf__sample_step steps[16];
  size_t nr_steps;
} uvperf__sample_plan_t;

/* Makes the plan, and prepares the record that it is used with: zero but for
 * what is the same in all samples of the event (type, present, masks). */
void uvperf__sample_plan(uvperf__sample_plan_t *plan,
                         const uvperf__layout_t *layout,
                         uvperf_record_t *record);

/* Decodes the body of a record of `size` bytes, header included, into a record
 * that was prepared with this plan. Writes all fields that were asked for and
 * no other. 0, or -EPROTO. */
int uvperf__sample_decode(const uvperf__sample_plan_t *plan,
                          const uint8_t *bytes, size_t size,
                          uvperf_record_t *record);

#endif
