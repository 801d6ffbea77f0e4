/* SPDX-License-Identifier: MIT */
/* A line of text that grows in the caller's memory. As with snprintf(3), text
 * that does not fit is left out but counted. Allocates no memory. */
#ifndef UVPERF_LIB_UTIL_LINE_H
#define UVPERF_LIB_UTIL_LINE_H

#include <stddef.h>
#include <stdint.h>

typedef struct uvperf__line_s {
  char *text;
  size_t size;   /* room, including the final NUL; 0: none */
  size_t length; /* of the whole text, without the NUL */
} uvperf__line_t;

/* Begins an empty line. */
void uvperf__line_begin(uvperf__line_t *line, char *text, size_t size);

/* Appends. */
void uvperf__line_put(uvperf__line_t *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a text from elsewhere, with '?' for each control character. */
void uvperf__line_put_text(uvperf__line_t *line, const char *text, size_t size);

/* Appends bytes as hexadecimal digits. */
void uvperf__line_put_hex(uvperf__line_t *line, const void *bytes, size_t size);

/* Appends nanoseconds as seconds: "5.000000123". */
void uvperf__line_put_time(uvperf__line_t *line, uint64_t ns);

/* Copies a whole text to a caller's buffer of *size bytes. *size receives the
 * size of the text, with the NUL. Returns 0, or -ENOBUFS if it does not fit. */
int uvperf__line_give(const char *text, char *room, size_t *size);

#endif
