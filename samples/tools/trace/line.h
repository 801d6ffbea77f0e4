/* SPDX-License-Identifier: MIT */
/* Formats a hit, a loss or the end as one line of text or of JSON. */
#ifndef TRACE_LINE_H
#define TRACE_LINE_H

#include <stdint.h>

#include "uvperf/record.h"

#include "common/buffer.h"
#include "trace/fields.h"

/* The format. */
typedef struct trace_form_s {
  int json;
  int print_fmt;           /* fields as the kernel prints them */
  common_buffer_t scratch; /* all zero at first; the owner frees it */
} trace_form_t;

typedef struct trace_hit_s {
  const uvperf_record_t *record; /* a sample */
  const char *comm;              /* "" if it is not known */
  const char *label;
  trace_fields_t *fields; /* NULL if the sample has none */
} trace_hit_t;

/* Each adds a line, with its end, to a buffer. */
void trace_line_hit(common_buffer_t *buffer, trace_form_t *form,
                    const trace_hit_t *hit);
/* Adds the line of a LOST record. The caller passes the time, because the
 * record's own time is later than the time of the next record. */
void trace_line_lost(common_buffer_t *buffer, const trace_form_t *form,
                     uint64_t time, const uvperf_record_t *record);
void trace_line_end(common_buffer_t *buffer, uint64_t time, uint64_t hits,
                    uint64_t lost, uint64_t late);

#endif
