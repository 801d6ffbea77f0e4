/* SPDX-License-Identifier: MIT */
/* Without libtraceevent: the bytes of a hit as they are. */
#include "trace/fields.h"

#include <errno.h>
#include <stdlib.h>

#include "common/memory.h"
#include "trace/bytes.h"

struct trace_fields_s {
  char nothing;
};

const char *trace_fields_lack(void) {
  return "built without libtraceevent, so that fields come as bytes: install "
         "libtraceevent-dev, or what your system calls it, and build again";
}

int trace_fields_new(trace_fields_t **fields, const char *name,
                     uvperf_error_t *error) {
  (void)name;
  (void)error;
  *fields = common_calloc(1, sizeof(**fields));
  return 0;
}

void trace_fields_free(trace_fields_t *fields) {
  free(fields);
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
