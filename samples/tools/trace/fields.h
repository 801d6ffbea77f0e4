/* SPDX-License-Identifier: MIT */
/* The fields of a tracepoint's hits, as text and as JSON. */
#ifndef TRACE_FIELDS_H
#define TRACE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"

#include "common/buffer.h"

typedef struct trace_fields_s trace_fields_t;

/* Looks up the fields of "category:name". Returns 0 or a negative errno. */
int trace_fields_new(trace_fields_t **fields, const char *name,
                     uvperf_error_t *error);
/* Reads the fields from the text of a format. The text may be hostile. If the
 * text is invalid, *error has the reason, and fields are printed as bytes.
 * Fields are also printed as bytes if text is NULL. */
void trace_fields_of_text(trace_fields_t **fields, const char *text,
                          size_t bytes, uvperf_error_t *error);
/* NULL is allowed. */
void trace_fields_free(trace_fields_t *fields);

/* Returns a field, which lives as long as `fields`, or NULL if none has that
 * name. */
const struct uvperf_field_s *trace_fields_find(const trace_fields_t *fields,
                                               const char *name);

/* These functions add the fields in the raw data of a hit to a buffer. */

/* ` name=value` for each field. */
void trace_fields_text(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size);
/* `,"fields":{"name":value,...}` */
void trace_fields_json(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size);
/* Writes the kernel's "print fmt", terminated and not escaped, into an empty
 * buffer. Returns 0. On failure adds nothing and returns a negative errno. */
int trace_fields_print(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size);

#endif
