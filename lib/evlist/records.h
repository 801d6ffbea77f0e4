/* SPDX-License-Identifier: MIT */
/* The rings, and the sources of the records in them. */
#ifndef UVPERF_LIB_EVLIST_RECORDS_H
#define UVPERF_LIB_EVLIST_RECORDS_H

#include "evlist/attrs.h"
#include "evlist/places.h"
#include "ring/cpu_rings.h"

/* The part of an event that outlives the event. Records that the event has
 * written, or that have its count (PERF_SAMPLE_READ), can be read later. */
struct evlist_source_s {
  uvperf_source_t source;
  uint64_t id;
  evlist_shape_t *shape;
  uvperf__cpu_ring_t *ring;
  int writes_samples;
  uint64_t begin; /* where in the ring its records can begin */
  /* After the event is closed: */
  struct evlist_source_s *next;
  uint64_t left_at; /* ns */
  int has_end;
  uint64_t end; /* where in the ring its records end, once known */
};

struct evlist_records_s {
  /* With UVPERF_SET_RECORDS, else NULL. */
  uvperf__cpu_rings_t *rings;
  uvperf_decoder_t *decoder;
  uvperf_source_t source; /* of an array: of all its records */
  int clockid;         /* of all writing events; -1: the kernel's own clock */
  int has_clock;       /* TIME_ORDER, and the clock can be read */
  int64_t clock_ahead; /* ns: see uvperf__system_clock_ahead */
  uint64_t opened;     /* see uvperf__evlist_opened */
  /* Sources of closed events, in the order of closing. */
  evlist_source_t *first_retired;
  evlist_source_t *last_retired;
};

/* -- sources.c -- */

/* Makes the rings and the decoder, if the options ask for records. Returns 0,
 * or a code and the error. */
int uvperf__evlist_begin_records(uvperf__evlist_t *evlist,
                                 const uvperf_set_options_t *options,
                                 uvperf_error_t *error);

/* Closes and frees the rings and the decoder. Call it when all targets are
 * closed. */
void uvperf__evlist_end_records(uvperf__evlist_t *evlist);

/* Redirects a new event into the ring of its CPU, if it writes records, and
 * makes its id known to the decoder. Returns 0, or a code and the error.
 * *is_vital is then set if the failure is not specific to this event: no ring,
 * or no memory. */
int uvperf__evlist_join(uvperf__evlist_t *evlist, const evlist_target_t *target,
                        const evlist_place_t *place, size_t attr, int *is_vital,
                        uvperf_error_t *error);

/* Disables the events of a target that is about to be closed, so that they
 * write nothing more, even if another process has their files. */
void uvperf__evlist_stop_writing(const uvperf__evlist_t *evlist,
                                 const evlist_target_t *target);

/* Retires the sources of an event that was just closed. */
void uvperf__evlist_leave(uvperf__evlist_t *evlist, evlist_event_t *event);

/* Call it after a failed call. Closes the rings from `nr` on, which that call
 * has opened. No event writes into them. */
void uvperf__evlist_cut_rings(uvperf__evlist_t *evlist, size_t nr);

/* Call it after a failed call that had opened `nr` rings, when these rings are
 * closed again. Returns 1 if the call may succeed with smaller rings. Rings are
 * opened smaller from now on. */
int uvperf__evlist_shrink_rings(uvperf__evlist_t *evlist, size_t nr);

/* Returns how many more rings the planned events of the targets from `first` on
 * need. */
size_t uvperf__evlist_nr_new_rings(const uvperf__evlist_t *evlist,
                                   size_t first);

#endif
