/* SPDX-License-Identifier: MIT */
/* Shared by the live tests of a set's records: plans of events that produce
 * exactly as many records as a test asks for, and a set that notes its
 * callbacks. */
#ifndef UVPERF_TEST_LIVE_STREAM_H
#define UVPERF_TEST_LIVE_STREAM_H

#include "live_set.h"

#define LIVE_STREAM_ENDS 64

typedef struct live_stream_s live_stream_t;
struct live_stream_s {
  live_set_t live; /* first: the set's `data` is its address */
  uint64_t records;
  uint64_t comms;        /* COMM records whose name is "live<n>" */
  uint64_t out_of_order; /* of those: not the expected next one */
  uint64_t by_attr[LIVE_SET_MOST];
  uint64_t by_target[LIVE_SET_MOST];
  uint64_t foreign; /* source or data differ from the plan */
  uint64_t samples;
  uint64_t corrupt;              /* UV_EPROTO with a record */
  uint64_t faults;               /* a status except UV_EOF, without a record */
  int fault;                     /* the last of them */
  uvperf_ring_info_t fault_ring; /* and its ring */
  uint64_t slice_ends;
  uint64_t eofs;
  uint64_t after_end; /* anything after UV_EOF */
  /* An independent count of records that are older than one delivered
   * before. */
  uint64_t last_time;
  uint64_t inversions;
  /* Targets that ended, and how many records had come by then. */
  uint64_t nr_ends;
  uint32_t ended[LIVE_STREAM_ENDS];
  uint64_t records_at_end[LIVE_STREAM_ENDS];
  /* Called at the end of each callback; may be NULL. */
  void (*on_record)(live_stream_t *stream, const uvperf_record_t *record);
  void (*on_end)(live_stream_t *stream, uint32_t target);
  void *hook_data;
};

/* An attr of COMM records, and a plan of sets with records, each of which
 * wakes. */
void live_stream_plan(live_plan_t *plan);
struct perf_event_attr *live_stream_plan_comm(live_plan_t *plan);
/* How records are delivered: 0 ring by ring, 1 in the order of time. */
#define LIVE_STREAM_MODES 2
void live_stream_plan_mode(live_plan_t *plan, size_t mode);
/* Adds a target, with its index as `data`. */
uvperf_target_t *live_stream_plan_target(live_plan_t *plan, uint32_t type,
                                         pid_t pid);
/* The usual plan: COMM records of the calling thread. */
void live_stream_plan_own(live_plan_t *plan);

/* Opens it; fails the test on error. */
void live_stream_open(uv_loop_t *loop, live_stream_t *stream,
                      const uvperf_set_options_t *options);
/* Starts it, by default without a flush timer and with slices that time does
 * not end. */
void live_stream_start(live_stream_t *stream,
                       const uvperf_stream_options_t *options);
extern const uvperf_stream_options_t live_stream_plain;
/* Opens and starts it. */
void live_stream_begin(uv_loop_t *loop, live_stream_t *stream,
                       const live_plan_t *plan);
void live_stream_close(live_stream_t *stream);

/* live_comm on the first CPU that the calling thread may use. If rings are read
 * one after the other, records come in the order in which they were made only
 * if they are all in one ring. */
void live_stream_comm(uint64_t *next, uint64_t nr);

/* The callbacks. */
void live_stream_on_record(uvperf_handle_t *handle, int status,
                           const uvperf_record_t *record);
void live_stream_on_end(uvperf_set_t *set, uint32_t target);

#define LIVE_STREAM_CHILDREN    100
#define LIVE_STREAM_CHILD_COMMS 3
/* For support_fork: waits for a byte of the pipe that `go` (an int *) is the
 * end of, and makes these children, every fourth with a thread; some are
 * zombies for a while. They make this number of COMM records. */
#define LIVE_STREAM_STORM_COMMS                                                \
  (LIVE_STREAM_CHILD_COMMS * (LIVE_STREAM_CHILDREN + LIVE_STREAM_CHILDREN / 4))
int live_stream_be_storm(void *go);

#endif
