/* SPDX-License-Identifier: MIT */
/* Members of an object of JSON, found by their names wherever they stand, for
 * lines whose names are each there once. */
#ifndef UVPERF_TEST_JSON_PICK_H
#define UVPERF_TEST_JSON_PICK_H

#include <stddef.h>

/* A number; `missing` where there is none of that name. */
long json_pick_number(const char *text, const char *key, long missing);

/* The same with a fraction. Asserts that it is there. */
double json_pick_double(const char *text, const char *key);

/* Copies a string as it stands there, escaped; "" where there is none of that
 * name. */
void json_pick_string(const char *text, const char *key, char *copy,
                      size_t size);

#endif
