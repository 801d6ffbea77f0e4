/* SPDX-License-Identifier: MIT */
/* What threads were called at any time within the last seconds. */
#ifndef FLIGHT_RECORDER_NAMES_H
#define FLIGHT_RECORDER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#define FLIGHT_NAME_BUCKETS 4096
/* Names that are kept of a thread as long as it lives. */
#define FLIGHT_NAMES_OF_ONE 64

typedef struct flight_name_s {
  uint64_t since; /* ns; 0: as long as can be known */
  char *comm;
} flight_name_t;

/* All threads that had one id, one after the other. */
typedef struct flight_thread_s {
  uint32_t tid;
  int is_ended;
  uint64_t scan;        /* the last that found it */
  flight_name_t *names; /* those that are kept begin at `first` */
  size_t first, nr;
  size_t capacity;
  struct flight_thread_s *next;
} flight_thread_t;

typedef struct flight_names_s {
  flight_thread_t *buckets[FLIGHT_NAME_BUCKETS];
  uint32_t *past; /* a ring: whose names are over, one for each, oldest first */
  size_t past_capacity;
  size_t past_first, past_nr;
  uint64_t scan; /* how many there were */
  uint64_t lost; /* records that would have told of names, since then */
  uint64_t lost_in_all;
  int has_outsiders; /* tasks of other pid namespaces, whose id is 0 here */
} flight_names_t;

/* Of the names that are over, also as their thread is, the last nr_past are
 * kept, at least 1. */
void flight_names_init(flight_names_t *names, size_t nr_past);
void flight_names_free(flight_names_t *names);

/* Takes in what FORK, COMM, EXIT and LOST say, in the order of time; others it
 * does not mind. */
void flight_names_record(flight_names_t *names, const uvperf_record_t *record);

/* What a thread was called at a time: "" if that is not known. Valid until the
 * next call that is not this one. */
const char *flight_names_at(const flight_names_t *names, uint32_t tid,
                            uint64_t time);

/* A scan of the threads that live, as records do not tell of all: first begin,
 * then each thread, and end. `time` is when it began, 0 where the names of then
 * are those from the beginning on. `comm` is as /proc has it: what that adds to
 * the name of a kworker is left out. */
void flight_names_scan_begin(flight_names_t *names);
void flight_names_scan_found(flight_names_t *names, uint32_t tid,
                             const char *comm, uint64_t time);
void flight_names_scan_end(flight_names_t *names, uint64_t time);

#endif
