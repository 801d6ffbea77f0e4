/* SPDX-License-Identifier: MIT */
/* The fields of a tracepoint's hits, as text and as JSON. A build takes
 * one of fields_named.c and fields_none.c. */
#ifndef TRACE_FIELDS_H
#define TRACE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"

#include "common/buffer.h"

typedef struct trace_fields_s trace_fields_t;

/* What this build cannot do and what would help, in words; NULL if nothing. */
const char *trace_fields_lack(void);

/* Looks up the fields of "category:name". 0, or a negative errno. */
int trace_fields_new(trace_fields_t **fields, const char *name,
                     uvperf_error_t *error);
/* The fields by the text of a format that anyone may have written. If it makes
 * no sense, the reason is in *error, and the fields come as bytes; so they do
 * if it is NULL. */
void trace_fields_of_text(trace_fields_t **fields, const char *text,
                          size_t bytes, uvperf_error_t *error);
/* NULL is allowed. */
void trace_fields_free(trace_fields_t *fields);

/* A field, which lives as long as the fields; NULL if there is none of that
 * name. */
const struct uvperf_field_s *trace_fields_find(const trace_fields_t *fields,
                                               const char *name);
/* Reads a number: 0, or a negative errno. */
int trace_fields_number(const struct uvperf_field_s *field, const void *raw,
                        size_t size, uint64_t *number);

/* Each of these adds what the raw data of a hit says to a buffer. */

/* ` name=value` of each. */
void trace_fields_text(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size);
/* `,"fields":{"name":value,...}` */
void trace_fields_json(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size);
/* In the words of the kernel's "print fmt", terminated, into an empty buffer;
 * not escaped. 0, or a negative errno and nothing is added. */
int trace_fields_print(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size);

#endif
