/* SPDX-License-Identifier: MIT */
/* Shared by the tests of sets: a plan of what to measure, and a set that notes
 * its readings. */
#ifndef UVPERF_TEST_LIVE_SET_H
#define UVPERF_TEST_LIVE_SET_H

#include "live.h"

#define LIVE_SET_MOST 16

/* What to measure. `options` is always ready; its pointers point into the plan,
 * which must not move. */
typedef struct live_plan_s {
  uvperf_set_options_t options;
  struct perf_event_attr attrs[LIVE_SET_MOST];
  const struct perf_event_attr *pointers[LIVE_SET_MOST];
  uvperf_event_list_t *list; /* of live_plan_group */
  uvperf_target_t targets[LIVE_SET_MOST];
} live_plan_t;

void live_plan_begin(live_plan_t *plan);
/* Adds an attr without a group, to be filled in. */
struct perf_event_attr *live_plan_attr(live_plan_t *plan);
/* The same for a software event, and for getpgid (live_syscall). */
void live_plan_software(live_plan_t *plan, uint64_t config);
void live_plan_syscall(live_plan_t *plan, uint64_t tracepoint);
/* The same for a hardware event of user space. */
struct perf_event_attr *live_plan_hardware(live_plan_t *plan, uint64_t config);
/* Makes groups of `nr` attrs each, when all attrs are filled in. They are in
 * plan->list then, to be freed when no more sets are made of it. */
void live_plan_group(live_plan_t *plan, size_t nr);
/* Adds a target. */
uvperf_target_t *live_plan_target(live_plan_t *plan, uint32_t type);

typedef struct live_set_s live_set_t;
struct live_set_s {
  uvperf_set_t set;
  uvperf_reading_t *reading; /* of live_set_read */
  int closed;
  /* The results of uvperf_set_read_start. */
  uint64_t callbacks;
  uint64_t failures;    /* callbacks with a status */
  int status;           /* the last one */
  uvperf_count_t total; /* of attr 0, the last without a failure */
  uvperf_count_t delta; /* likewise */
  uint64_t sum;         /* the sum of the values of all deltas of attr 0 */
  uint64_t interval_ns; /* of the last delta */
  /* Called at the end of each callback; may be NULL. */
  void (*hook)(live_set_t *live);
  void *hook_data;
};

/* Opens it; fails the test on error. */
void live_set_open(uv_loop_t *loop, live_set_t *live,
                   const uvperf_set_options_t *options);
/* Opens it and enables it. */
void live_set_begin(uv_loop_t *loop, live_set_t *live,
                    const uvperf_set_options_t *options);
/* Reads into live->reading, and returns the total of an attr. */
uvperf_count_t live_set_read(live_set_t *live, size_t attr);
/* The callback of uvperf_set_read_start. */
void live_set_on_read(uvperf_set_t *set, int status,
                      const uvperf_reading_t *reading,
                      const uvperf_reading_t *delta);
/* Closes it and runs the loop until its close callback was called. */
void live_set_close(live_set_t *live);
/* The same after uvperf_close has been called with live_set_on_close. */
void live_set_on_close(uvperf_handle_t *handle);
void live_set_wait_closed(live_set_t *live);

/* Returns what read(2) returns for an event without a group. */
uvperf_count_t live_read_fd(int fd);
/* Fails the test if a count is smaller than an older one. */
void live_assert_not_before(const uvperf_count_t *count,
                            const uvperf_count_t *older);

#endif
