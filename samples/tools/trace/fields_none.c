/* SPDX-License-Identifier: MIT */
/* Without uvperf_tracepoint: prints the bytes of a hit. */
#include "trace/fields.h"

#include <errno.h>
#include <stdlib.h>

#include "common/memory.h"
#include "trace/bytes.h"

struct trace_fields_s {
  char nothing;
};

const char *trace_fields_lack(void) {
  return "built without uvperf_tracepoint, so fields are printed as bytes: "
         "build again with -DUVPERF_TRACEPOINT=ON";
}

int trace_fields_new(trace_fields_t **fields, const char *name,
                     uvperf_error_t *error) {
  (void)name;
  (void)error;
  *fields = common_calloc(1, sizeof(**fields));
  return 0;
}

void trace_fields_of_text(trace_fields_t **fields, const char *text,
                          size_t bytes, uvperf_error_t *error) {
  (void)text;
  (void)bytes;
  (void)error;
  *fields = common_calloc(1, sizeof(**fields));
}

void trace_fields_free(trace_fields_t *fields) {
  free(fields);
}

const struct uvperf_field_s *trace_fields_find(const trace_fields_t *fields,
                                               const char *name) {
  (void)fields;
  (void)name;
  return NULL;
}

int trace_fields_number(const struct uvperf_field_s *field, const void *raw,
                        size_t size, uint64_t *number) {
  (void)field;
  (void)raw;
  (void)size;
  (void)number;
  return -ENOTSUP;
}

void trace_fields_text(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size) {
  (void)fields;
  common_buffer_print(buffer, " raw=");
  trace_bytes(buffer, raw, size);
}

void trace_fields_json(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size) {
  (void)fields;
  common_buffer_print(buffer, ",\"raw\":\"");
  trace_bytes(buffer, raw, size);
  common_buffer_print(buffer, "\"");
}

int trace_fields_print(trace_fields_t *fields, common_buffer_t *buffer,
                       const void *raw, size_t size) {
  (void)fields;
  (void)buffer;
  (void)raw;
  (void)size;
  return -ENOTSUP;
}
