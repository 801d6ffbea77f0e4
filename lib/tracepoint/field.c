/* SPDX-License-Identifier: MIT */
/* Checks whether raw data is a record of a tracepoint, and reads its fields.
 * Reads nothing outside of the data. Functions that need one load are in
 * uvperf/tracepoint.h. */
#include <errno.h>
#include <string.h>

#include "tracepoint/handle.h"

int uvperf_tracepoint_fits(const uvperf_tracepoint_t *tracepoint,
                           const void *raw, size_t raw_size) {
  const uvperf_field_t *type = tracepoint->common_type;

  if (raw == NULL || raw_size < tracepoint->format.size)
    return 0;
  return type == NULL || (type->flags & UVPERF_FIELD_VALUE) == 0 ||
         uvperf_field_load(type, raw) == tracepoint->format.id;
}

/* The low half of a dynamic field is the offset of its bytes. The high half is
 * the number of bytes. The offset of __rel_loc is relative to the end of the
 * field. Source: include/trace/stages/stage4_event_fields.h and
 * perf_trace_##call. */
int uvperf_field_bytes(const uvperf_field_t *field, const void *raw,
                       size_t raw_size, const void **bytes, size_t *size) {
  size_t end = (size_t)field->offset + field->size;
  size_t offset = field->offset;
  size_t length = field->size;
  uint32_t place;

  if (raw_size < end)
    return -EPROTO;
  if ((field->flags & UVPERF_FIELD_DYNAMIC) != 0) {
    memcpy(&place, (const char *)raw + offset, sizeof(place));
    /* The data may change: see uvperf_record_t. The compiler must not read
     * `place` again after the check. */
    __asm__("" : "+r"(place));
    offset = place & 0xffff;
    length = place >> 16;
    if ((field->flags & UVPERF_FIELD_RELATIVE) != 0)
      offset += end;
    if (offset > raw_size || length > raw_size - offset)
      return -EPROTO;
  }
  *bytes = (const char *)raw + offset;
  *size = length;
  return 0;
}

int uvperf_field_string(const uvperf_field_t *field, const void *raw,
                        size_t raw_size, const char **text, size_t *length) {
  const void *bytes;
  const char *nul;
  size_t size;
  int rc;

  if ((field->flags & UVPERF_FIELD_STRING) == 0)
    return -EINVAL;
  rc = uvperf_field_bytes(field, raw, raw_size, &bytes, &size);
  if (rc != 0)
    return rc;
  nul = size > 0 ? memchr(bytes, '\0', size) : NULL;
  *text = bytes;
  *length = nul != NULL ? (size_t)(nul - (const char *)bytes) : size;
  return 0;
}

int uvperf_field_element(const uvperf_field_t *field, const void *raw,
                         size_t raw_size, size_t index, uint64_t *value) {
  uvperf_field_t element = *field;
  const void *bytes;
  size_t size;
  int rc;

  switch (field->element_size) {
    case 1:
    case 2:
    case 4:
    case 8:
      break;
    default:
      return -EINVAL;
  }
  rc = uvperf_field_bytes(field, raw, raw_size, &bytes, &size);
  if (rc != 0)
    return rc;
  if (index >= size / field->element_size)
    return -ENOENT;
  element.offset = 0;
  element.size = field->element_size;
  *value = uvperf_field_load(&element,
                             (const char *)bytes + index * field->element_size);
  return 0;
}
