/* SPDX-License-Identifier: MIT */
/* Lists of events by their names, with the memory that they need. */
#ifndef UVPERF_LIB_NAME_LIST_H
#define UVPERF_LIB_NAME_LIST_H

#include "name/parse.h"
#include "uvperf/name.h"

/* The maximum number of events in a list. */
#define UVPERF__EVENT_LIST_MOST 65536

/* Returns the number of whole events. The list has these first. After them come
 * the further parts of events that have several parts. */
size_t uvperf__event_list_nr_whole(const uvperf_event_list_t *list);

/* Keeps a list alive until uvperf_event_list_free is called once more. A set
 * holds the list because its probes' attrs point to the list's strings. */
uvperf_event_list_t *uvperf__event_list_hold(const uvperf_event_list_t *list);

#endif
