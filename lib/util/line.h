/* SPDX-License-Identifier: MIT */
/* A line of text that grows in a caller's room. As with snprintf(3), text that
 * does not fit is left out, but counted. No memory. */
#ifndef UVPERF_LIB_UTIL_LINE_H
#define UVPERF_LIB_UTIL_LINE_H

#include <stddef.h>
#include <stdint.h>

typedef struct uvperf__line_s {
  char *text;
  size_t size;   /* room, with the end; 0: none */
  size_t length; /* of all of it, without the end */
} uvperf__line_t;

/* An empty line. */
void uvperf__line_begin(uvperf__line_t *line, char *text, size_t size);

/* Appends. */
void uvperf__line_put(uvperf__line_t *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a text from elsewhere: '?' for its control characters. */
void uvperf__line_put_text(uvperf__line_t *line, const char *text, size_t size);

/* Appends bytes as hexadecimal digits. */
void uvperf__line_put_hex(uvperf__line_t *line, const void *bytes, size_t size);

/* Appends nanoseconds as seconds: "5.000000123". */
void uvperf__line_put_time(uvperf__line_t *line, uint64_t ns);

#endif
