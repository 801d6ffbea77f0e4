/* SPDX-License-Identifier: MIT */
/* The events that a tool measures, by their names. */
#ifndef COMMON_LIST_H
#define COMMON_LIST_H

#include "uvperf.h"

/* Adds the value of another -e to the names. *names is NULL before the first
 * call. Free it with free(). Empty or wrong names are reported when they are
 * parsed. */
void common_list_add(char **names, const char *text);

/* Parses names. Returns 0, or COMMON_EXIT_USAGE after a message that points at
 * the mistake, or 1 after a message if memory, files or privileges are
 * missing. */
int common_list_parse(uvperf_event_list_t **list, const char *names);

/* Prints why names cannot be parsed, like common_list_parse, and returns the
 * same exit status. */
int common_list_explain(const char *names, const uvperf_error_t *error);

/* Writes the label of an event without the terms about its sampling. Returns 0,
 * or a UV_E*. */
int common_list_label(const struct perf_event_attr *attr, char *label,
                      size_t size);

/* Returns 1 if an event of a set was changed by this fallback. */
int common_list_has_change(const uvperf_set_t *set, size_t attr,
                           enum uvperf_fallback fallback);

/* Returns the label of an event of user code only, with u among its modifiers,
 * as perf(1) prints it. Free the label with free(). */
char *common_list_user_label(const char *label, int is_tracepoint);

#endif
