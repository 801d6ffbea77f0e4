/* SPDX-License-Identifier: MIT */
/* Looks whether a text is JSON. */
#ifndef UVPERF_TEST_JSON_CHECK_H
#define UVPERF_TEST_JSON_CHECK_H

/* Whether a line is one object of JSON (RFC 8259) whose members are strings and
 * numbers, in UTF-8, without an unpaired surrogate; the end of the line may
 * follow. */
int json_is_object(const char *line);

/* The same, but members may be null, true, false, such objects and arrays of
 * all these too. */
int json_is_tree(const char *line);

/* Whether a text is an array of such objects, each on a line of its own. */
int json_is_list(const char *text);

#endif
