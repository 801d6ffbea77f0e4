/* SPDX-License-Identifier: MIT */
/* A file of JSON, an object a line, as an array of what is picked out. */
#ifndef UVPERF_TEST_JSON_LINES_H
#define UVPERF_TEST_JSON_LINES_H

#include <stddef.h>
#include <stdio.h>

/* Picks what is wanted out of a line into an element of the array. */
typedef void (*json_lines_cb)(void *element, const char *text);

/* Reads all lines of a file, from its start, into an array of elements of so
 * many bytes, all zero before they are picked: the caller's to free, NULL if
 * there is no line. Asserts that each is JSON, as `is_json` sees it. */
void *json_lines_read(FILE *file, int (*is_json)(const char *line),
                      json_lines_cb pick, size_t size, size_t *nr);

#endif
