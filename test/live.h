/* SPDX-License-Identifier: MIT */
/* What the live tests of handles share: events of this kernel that come exactly
 * as often as one asks, a collector of what is delivered, and a loop that runs
 * until something is so. */
#ifndef UVPERF_TEST_LIVE_H
#define UVPERF_TEST_LIVE_H

#include <sys/types.h>

#include "support.h"

#include "uvperf.h"

/* Counts what a callback gets. Its address is the handle's `data`. */
typedef struct live_collector_s {
  uvperf_event_t event;
  uint64_t comms; /* COMM records whose name is "live<n>", in order */
  uint64_t out_of_order;
  uint64_t others; /* any other record */
  uint64_t slice_ends;
  uint64_t ends; /* callbacks without a record and with a status */
  uint64_t after_end;
  int end_status;
  int closed;
  /* Called with each record, before it is counted; may be NULL. */
  void (*hook)(struct live_collector_s *collector,
               const uvperf_record_t *record);
  void *hook_data;
} live_collector_t;

/* An attr of the calling thread's COMM records, each of which wakes. */
void live_comm_attr(struct perf_event_attr *attr);

/* Makes exactly nr COMM records of the calling thread: "live0", "live1"… going
 * on from *next. */
void live_comm(uint64_t *next, uint64_t nr);

/* The record callback of a collector. */
void live_on_record(uvperf_event_t *event, int status,
                    const uvperf_record_t *record);

/* Initializes the collector and its event; fails the test on error. */
void live_init(uv_loop_t *loop, live_collector_t *collector,
               const struct perf_event_attr *attr,
               const uvperf_event_options_t *options);

/* Starts it with no flush timer (flush_ms 0) unless options say otherwise. */
void live_start(live_collector_t *collector,
                const uvperf_stream_options_t *options);

/* Closes it and runs the loop until its close callback was called. */
void live_close(live_collector_t *collector);

/* Runs the loop until *counter has reached nr: 1, or 0 after 20 seconds. */
int live_run_until(uv_loop_t *loop, const uint64_t *counter, uint64_t nr);

/* Runs the loop for so many milliseconds and gives the number of its turns. */
uint64_t live_turns_in(uv_loop_t *loop, uint64_t ms);

/* Forks a child that makes nr COMM records once live_child_go is called, and
 * exits then. */
typedef struct live_child_s {
  pid_t pid;
  int go;
} live_child_t;

void live_child_fork(live_child_t *child, uint64_t nr);
void live_child_go(live_child_t *child);
void live_child_wait(live_child_t *child);

#endif
