/* SPDX-License-Identifier: MIT */
/* The component uvperf_tracepoint: parses the text of a tracepoint's `format`
 * file in tracefs. The text need not come from a kernel, and no file is
 * read. */
#ifndef UVPERF_LIB_TRACEPOINT_FORMAT_H
#define UVPERF_LIB_TRACEPOINT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/tracepoint.h"

#define UVPERF__FORMAT_BYTES ((size_t)256 << 10)

typedef struct uvperf__format_s {
  uint64_t id;
  char *name;
  uvperf_field_t *fields; /* the fields common to all tracepoints are first */
  size_t nr_fields;
  size_t size; /* bytes, up to the end of the last field */
  char *texts; /* holds the names and types */
  size_t end;  /* byte after the fields, where the "print fmt" begins */
} uvperf__format_t;

/* The place of an error in a text. */
typedef struct uvperf__format_fault_s {
  size_t at;          /* byte, from 0 */
  const char *wanted; /* the expected text; static */
} uvperf__format_fault_t;

/* Parses the text. Returns 0, -EFBIG, -ENOMEM, or -EPROTO. Only -EPROTO fills
 * the fault. On error the format is empty and need not be freed. */
int uvperf__format_parse(uvperf__format_t *format, const char *text,
                         size_t bytes, uvperf__format_fault_t *fault);

void uvperf__format_free(uvperf__format_t *format);

#endif
