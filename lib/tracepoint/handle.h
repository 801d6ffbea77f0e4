/* SPDX-License-Identifier: MIT */
/* The component uvperf_tracepoint: the inside of a uvperf_tracepoint_t. */
#ifndef UVPERF_LIB_TRACEPOINT_HANDLE_H
#define UVPERF_LIB_TRACEPOINT_HANDLE_H

#include <stddef.h>

#include "tracepoint/format.h"

struct uvperf_tracepoint_s {
  uvperf__format_t format;
  uvperf_tracepoint_info_t info;     /* points into the format */
  const uvperf_field_t *common_type; /* NULL: the format has none */
  char *category;
  char *text; /* of the format file */
  size_t bytes;
  /* print.c: */
  struct uvperf__program_s *program; /* made for the first text */
  int is_refused;                    /* the "print fmt" cannot be evaluated */
};

/* Does the same as uvperf_tracepoint_new, with the path at which tracefs is
 * mounted. */
int uvperf__handle_new(uvperf_tracepoint_t **tracepoint, const char *tracefs,
                       const char *name, uvperf_error_t *error);

/* Frees a parsed "print fmt", which may be NULL. */
void uvperf__print_free(struct uvperf__program_s *program);

#endif
