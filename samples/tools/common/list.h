/* SPDX-License-Identifier: MIT */
/* The events that a tool measures, by their names. */
#ifndef COMMON_LIST_H
#define COMMON_LIST_H

#include "uvperf.h"

/* Adds the value of one more -e to the names so far, NULL for none, which are
 * for free(). That they are empty or wrong is told when they are parsed. */
void common_list_add(char **names, const char *text);

/* Parses names: 0, or, after a message that points at what is wrong,
 * COMMON_EXIT_USAGE, or 1 where memory, files or privileges do not
 * suffice. */
int common_list_parse(uvperf_event_list_t **list, const char *names);

/* Says why names cannot be parsed, as common_list_parse does, and returns the
 * same. */
int common_list_explain(const char *names, const uvperf_error_t *error);

/* Whether the kernel's side of an event of a set is forbidden, so that its user
 * side alone is measured. */
int common_list_is_user_only(const uvperf_set_t *set, size_t attr);

/* How such an event is called: its label with an u among its modifiers, as
 * perf(1) does it; for free(). */
char *common_list_user_label(const char *label, int is_tracepoint);

#endif
