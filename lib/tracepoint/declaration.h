/* SPDX-License-Identifier: MIT */
/* The component uvperf_tracepoint: a field's declaration, as "char comm[16]" or
 * "__data_loc char[] name", taken apart. */
#ifndef UVPERF_LIB_TRACEPOINT_DECLARATION_H
#define UVPERF_LIB_TRACEPOINT_DECLARATION_H

#include <stddef.h>

#include "uvperf/tracepoint.h"

/* Bytes of the declaration; not terminated. */
typedef struct uvperf__text_s {
  const char *text;
  size_t length;
} uvperf__text_t;

typedef struct uvperf__declaration_s {
  uvperf__text_t type; /* without the brackets behind the name */
  uvperf__text_t name;
  uvperf__text_t brackets; /* behind the name, "[16]"; empty: none */
} uvperf__declaration_t;

/* 1, or 0 if it has no type or no name, or if brackets have no partner. */
int uvperf__declaration_split(uvperf__declaration_t *declaration,
                              const char *text, size_t length);

/* Sets what the declaration tells of a field whose size and UVPERF_FIELD_SIGNED
 * are set: flags, element_size and count. */
void uvperf__declaration_apply(const uvperf__declaration_t *declaration,
                               uvperf_field_t *field);

#endif
