/* SPDX-License-Identifier: MIT */
/* Sets with overwritable rings on this kernel, and the records of their
 * snapshots. */
#ifndef UVPERF_TEST_LIVE_FLIGHT_H
#define UVPERF_TEST_LIVE_FLIGHT_H

#include "live_stream.h"

#define LIVE_FLIGHT_CPUS 2 /* at most this number of CPUs is written on */

/* The records of one ring in one snapshot: COMM records "live<n>" of one thread
 * of this process, which stays on its CPU. */
typedef struct live_flight_track_s {
  int has_comm;
  uint64_t first; /* in the order in which they came */
  uint64_t last;
  uint64_t comms;
  uint64_t missing; /* gaps between the numbers of one target */
  uint32_t target;
  uint64_t lost;
  uint64_t disordered;
  uint64_t time;
  uint64_t inversions;
} live_flight_track_t;

typedef struct live_flight_s live_flight_t;
struct live_flight_s {
  live_stream_t stream; /* first: the set's `data` is its address */
  /* Set by the test: whether the thread pool takes snapshots, and a function to
   * call after one has begun; or NULL. */
  int is_on_pool;
  void (*meanwhile)(live_flight_t *flight);
  uint32_t target; /* set by the test */
  uint64_t nr_done;
  int newest_first;
  size_t nr_cpus;
  int cpus[LIVE_FLIGHT_CPUS];
  live_flight_track_t tracks[LIVE_FLIGHT_CPUS];
  uint64_t strange; /* records that no test has caused, or that are not whole */
  /* All records in the order in which they came, of any ring. */
  live_flight_track_t all;
};

/* Plans rings of ring_bytes, without events and targets. */
void live_flight_plan(live_plan_t *plan, size_t ring_bytes);
void live_flight_begin(uv_loop_t *loop, live_flight_t *flight,
                       const live_plan_t *plan);

/* Takes a snapshot, which must be sound. The tracks then describe only this
 * one. */
void live_flight_snap(live_flight_t *flight, uint32_t flags);

/* The index of a CPU's track; LIVE_FLIGHT_CPUS if there is none. */
size_t live_flight_cpu_index(const live_flight_t *flight, int32_t cpu);

/* Makes nr COMM records of the calling thread on one CPU. */
void live_flight_comm_on(const live_flight_t *flight, size_t cpu,
                         uint64_t *next, uint64_t nr);

#endif
