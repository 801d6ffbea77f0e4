/* SPDX-License-Identifier: MIT */
/* The names of threads at any time within the last seconds. */
#ifndef FLIGHT_RECORDER_NAMES_H
#define FLIGHT_RECORDER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#define FLIGHT_NAME_BUCKETS 4096
/* The number of names that are kept for a living thread. */
#define FLIGHT_NAMES_OF_ONE 64

typedef struct flight_name_s {
  uint64_t since; /* ns; 0: from the beginning on */
  char *comm;
} flight_name_t;

/* All threads that had this id, one after the other. */
typedef struct flight_thread_s {
  uint32_t tid;
  int is_ended;
  uint64_t scan;        /* the last scan that found it */
  flight_name_t *names; /* the kept names begin at `first` */
  size_t first, nr;
  size_t capacity;
  struct flight_thread_s *next;
} flight_thread_t;

typedef struct flight_names_s {
  flight_thread_t *buckets[FLIGHT_NAME_BUCKETS];
  uint32_t *past; /* a ring: the thread of each past name, oldest first */
  size_t past_capacity;
  size_t past_first, past_nr;
  uint64_t scan; /* the number of scans */
  uint64_t lost; /* records with names, since the last scan */
  uint64_t lost_in_all;
  int has_outsiders; /* tasks of other pid namespaces, whose id is 0 here */
} flight_names_t;

/* The last nr_past (at least 1) past names are kept, including names of threads
 * that have ended. */
void flight_names_init(flight_names_t *names, size_t nr_past);
void flight_names_free(flight_names_t *names);

/* Processes a FORK, COMM, EXIT or LOST record; call it in time order. Ignores
 * other records. */
void flight_names_record(flight_names_t *names, const uvperf_record_t *record);

/* Returns the name that a thread had at a time, or "" if it is not known. The
 * string is valid until another function of this file is called. */
const char *flight_names_at(const flight_names_t *names, uint32_t tid,
                            uint64_t time);

/* A scan of all living threads, because records do not report all of them. Call
 * begin, then found for each thread, then end. `time` is the begin of the scan,
 * or 0 if its names are valid from the beginning on. `comm` is the name in
 * /proc. If /proc added the work of a kworker to the name, this part is cut
 * off. */
void flight_names_scan_begin(flight_names_t *names);
void flight_names_scan_found(flight_names_t *names, uint32_t tid,
                             const char *comm, uint64_t time);
void flight_names_scan_end(flight_names_t *names, uint64_t time);

#endif
