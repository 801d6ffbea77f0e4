/* SPDX-License-Identifier: MIT */
/* The component uvperf_tracepoint: parses the declaration of a field, such as
 * "char comm[16]" or "__data_loc char[] name". */
#ifndef UVPERF_LIB_TRACEPOINT_DECLARATION_H
#define UVPERF_LIB_TRACEPOINT_DECLARATION_H

#include <stddef.h>

#include "uvperf/tracepoint.h"

/* A part of the declaration; not terminated. */
typedef struct uvperf__text_s {
  const char *text;
  size_t length;
} uvperf__text_t;

/* The type of a number. */
typedef struct uvperf__number_s {
  uint32_t size; /* in bytes; 0: not a number */
  int is_signed; /* 1, 0, or -1 if a cast to it is not only a cut */
  int is_pointer;
} uvperf__number_t;

typedef struct uvperf__declaration_s {
  uvperf__text_t type; /* without the brackets after the name */
  uvperf__text_t name;
  uvperf__text_t brackets; /* after the name, "[16]"; empty if none */
} uvperf__declaration_t;

/* Splits a declaration. Returns 1, or 0 if the type or the name is missing or
 * the brackets are not balanced. */
int uvperf__declaration_split(uvperf__declaration_t *declaration,
                              const char *text, size_t length);

/* Finds the type of a number by its name, as in a cast. The size is 0 if the
 * type is not known. */
uvperf__number_t uvperf__declaration_number(uvperf__text_t type);

/* Sets flags, element_size and count of a field from its declaration. The size
 * of the field and UVPERF_FIELD_SIGNED must be set already. */
void uvperf__declaration_apply(const uvperf__declaration_t *declaration,
                               uvperf_field_t *field);

#endif
