/* SPDX-License-Identifier: MIT */
/* Lists of events by their names, with the memory that they need. */
#ifndef UVPERF_LIB_NAME_LIST_H
#define UVPERF_LIB_NAME_LIST_H

#include "name/modifier.h"
#include "name/name.h"
#include "uvperf/event_list.h"

/* uvperf_event_list_parse with the system's files under a root ("" is the real
 * one). */
int uvperf__event_list_parse(const char *root, uvperf_event_list_t **list,
                             const char *names, uvperf_error_t *error);

/* What a list has room for. */
#define UVPERF__EVENT_LIST_MOST 65536

/* An empty list, or NULL. */
uvperf_event_list_t *uvperf__event_list_new(void);

/* Keeps a list alive until one more uvperf_event_list_free: a set holds it for
 * the strings that the attrs of probes point to. */
uvperf_event_list_t *uvperf__event_list_hold(const uvperf_event_list_t *list);

/* Adds an event that was found. 0 or -errno, explained. */
int uvperf__event_list_add(const uvperf__parse_t *parse,
                           uvperf_event_list_t *list,
                           const uvperf__named_event_t *event);

/* Makes a group of the events from `first` on. 0 or -errno, explained. */
int uvperf__event_list_group(const uvperf__parse_t *parse,
                             uvperf_event_list_t *list, size_t first,
                             uvperf__span_t name,
                             const uvperf__modifiers_t *modifiers);

#endif
