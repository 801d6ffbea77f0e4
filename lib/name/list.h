/* SPDX-License-Identifier: MIT */
/* Lists of events by their names, with the memory that they need. */
#ifndef UVPERF_LIB_NAME_LIST_H
#define UVPERF_LIB_NAME_LIST_H

#include "name/parse.h"
#include "uvperf/name.h"

/* uvperf_event_list_parse with the system's files under a root ("" is the real
 * one). */
int uvperf__event_list_parse(const char *root, uvperf_event_list_t **list,
                             const char *names, uvperf_error_t *error);

/* What a list has room for. */
#define UVPERF__EVENT_LIST_MOST 65536

/* How many events were named: all before the first that is a further part of
 * one of them. */
size_t uvperf__event_list_nr_whole(const uvperf_event_list_t *list);

/* Keeps a list alive until one more uvperf_event_list_free: a set holds it for
 * the strings that the attrs of probes point to. */
uvperf_event_list_t *uvperf__event_list_hold(const uvperf_event_list_t *list);

#endif
