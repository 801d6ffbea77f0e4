/* SPDX-License-Identifier: MIT */
/* Shared by the files of evlist/. All other files include evlist.h.
 *
 * An evlist has five parts. The header of a part has its fields and functions,
 * so the includes of a file show which parts it uses. */
#ifndef UVPERF_LIB_EVLIST_INTERNAL_H
#define UVPERF_LIB_EVLIST_INTERNAL_H

#include "evlist/evlist.h"
#include "sys/fork.h"

typedef struct evlist_attrs_s evlist_attrs_t;     /* attrs.h */
typedef struct evlist_places_s evlist_places_t;   /* places.h */
typedef struct evlist_opening_s evlist_opening_t; /* opening.h */
typedef struct evlist_reading_s evlist_reading_t; /* reading.h */
typedef struct evlist_records_s evlist_records_t; /* records.h */
typedef struct evlist_source_s evlist_source_t;   /* records.h */

/* The parts are in one piece of memory with the evlist: see evlist.c. */
struct uvperf__evlist_s {
  evlist_attrs_t *attrs;
  evlist_places_t *places;
  evlist_opening_t *opening;
  evlist_reading_t *reading;
  evlist_records_t *records;
  uint32_t flags;   /* UVPERF_SET_* */
  uint32_t process; /* the process that opened the events */
  int is_none;      /* see uvperf__evlist_new_none */
  int is_enabled;
  int is_array; /* see array.c */
};

/* -- base.c -- */

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t uvperf__evlist_now(void);

/* Like uvperf__evlist_check, but returns -EINVAL if there is no such attr. */
int uvperf__evlist_check_attr(const uvperf__evlist_t *evlist, size_t attr,
                              uvperf_error_t *error);

/* Sets which attr and target an error is about. NULL is allowed. */
void uvperf__evlist_locate(uvperf_error_t *error, size_t attr, uint32_t target);

/* Returns a copy by uvperf__calloc, or NULL if out of memory. */
char *uvperf__evlist_copy_text(const char *text);

#endif
