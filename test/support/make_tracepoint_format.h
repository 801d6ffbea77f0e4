/* SPDX-License-Identifier: MIT */
/* Parsing a format, and comparing a field of it. In a header, because the
 * component is not linked to all tests. */
#ifndef UVPERF_TEST_MAKE_TRACEPOINT_FORMAT_H
#define UVPERF_TEST_MAKE_TRACEPOINT_FORMAT_H

#include "support.h"
#include "make_tracepoint_text.h"

#include "uvperf/tracepoint.h"

#define VALUE    UVPERF_FIELD_VALUE
#define SIGNED   UVPERF_FIELD_SIGNED
#define STRING   UVPERF_FIELD_STRING
#define ARRAY    UVPERF_FIELD_ARRAY
#define DYNAMIC  UVPERF_FIELD_DYNAMIC
#define RELATIVE UVPERF_FIELD_RELATIVE
#define POINTER  UVPERF_FIELD_POINTER
#define COMMON   UVPERF_FIELD_COMMON

/* From a copy of exactly its size, which is gone when the tracepoint is
 * read. */
static int parse(uvperf_tracepoint_t **tracepoint, const char *text,
                 size_t bytes, uvperf_error_t *error) {
  char *copy = malloc(bytes > 0 ? bytes : 1);
  int rc;

  assert_non_null(copy);
  memcpy(copy, text, bytes);
  rc =
      uvperf_tracepoint_new_from_format(tracepoint, "test", copy, bytes, error);
  memset(copy, 'x', bytes);
  free(copy);
  return rc;
}

static uvperf_tracepoint_t *parsed(const char *text) {
  uvperf_tracepoint_t *tracepoint;
  uvperf_error_t error;

  if (parse(&tracepoint, text, strlen(text), &error) != 0)
    fail_msg("%s", error.reason);
  return tracepoint;
}

static void expect_field(const uvperf_field_t *field,
                         const uvperf_field_t *wanted) {
  assert_non_null(field);
  assert_string_equal(field->name, wanted->name);
  assert_string_equal(field->type, wanted->type);
  assert_int_equal(field->offset, wanted->offset);
  assert_int_equal(field->size, wanted->size);
  assert_int_equal(field->element_size, wanted->element_size);
  assert_int_equal(field->count, wanted->count);
  assert_int_equal(field->flags, wanted->flags);
}

#endif
