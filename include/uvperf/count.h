/* SPDX-License-Identifier: MIT */
/* What was counted: by one event, and by a set at one moment and between two.
 * Needs no libuv. */
#ifndef UVPERF_COUNT_H
#define UVPERF_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a count is worth. */
enum uvperf_count_state {
  /* This attr is not measured here, on purpose: its PMU counts on other CPUs,
   * or once a package is enough. */
  UVPERF_COUNT_NONE = 0,
  /* It was on a counter, all of the time or a part of it. An event whose
   * read_format has not both times is always in this state: nothing tells
   * whether it was. */
  UVPERF_COUNT_COUNTING = 1,
  /* It was never enabled, or its task did not run here since, or its CPU was
   * offline: nothing can have happened. value is 0. (Of a task on one CPU this
   * stands for NEVER_SCHEDULED too: see UVPERF_COUNT_UNSCALED.) */
  UVPERF_COUNT_NOT_ENABLED = 2,
  /* It was enabled and never on a counter: others had them all, or its group is
   * larger than the PMU, which the kernel does not always refuse. What happened
   * is not known. value is 0 and means nothing. */
  UVPERF_COUNT_NEVER_SCHEDULED = 3,
  /* It could not be opened; `code` says why. uvperf_set_failures and
   * uvperf_meter_failures say more. */
  UVPERF_COUNT_NOT_AVAILABLE = 4,
  /* Its task is gone: value is its last one (what children that inherited it
   * count is still added). One that was never on a counter before its task went
   * is NEVER_SCHEDULED. A reading looks for that only if neither the task nor
   * such a child has run since the one before: the first after the end has the
   * last value, and can still be COUNTING. */
  UVPERF_COUNT_GONE = 5,
  /* It cannot be read: `code` is UV_EBADF for one that is pinned and that the
   * PMU could not hold, else what read(2) says; or why it could not be opened
   * again when its CPU had come back (UVPERF_SET_FOLLOW_CPUS). value means
   * nothing. */
  UVPERF_COUNT_ERROR = 6
};

/* In uvperf_count_t.flags: `scaled` is the value itself, since the times do not
 * say for how long the event could have been on a counter.
 * - Its attr.read_format asks for no times, or only one of them.
 * - It is of a task on one CPU. The kernel counts it as enabled also while the
 *   task runs on other CPUs, where it cannot be on a counter
 *   (event_filter_match in kernel/events/core.c).
 * - It is of a task, in a set, and its PMU is of one kind of cores only. The
 *   same happens there. But a whole event, with a part for each kind of cores
 *   (uvperf_event_item_t.first), is scaled: it is enabled as long as the task,
 *   and runs while one of its parts does.
 * Of a sum: so is one of its parts. */
#define UVPERF_COUNT_UNSCALED 1u

/* What was counted: by one event, or by several (a sum). Of an event handle or
 * a record these are totals since the event was opened; the kernel never resets
 * the times, not even by PERF_EVENT_IOC_RESET. Fields that were not asked for
 * (attr.read_format) are 0.
 * Source: perf_event_open(2), "Reading results". */
typedef struct uvperf_count_s {
  /* enum uvperf_count_state. Of a sum: COUNTING if any is, else GONE, ERROR,
   * NEVER_SCHEDULED, NOT_AVAILABLE, NOT_ENABLED or NONE, the first that any
   * is. */
  uint32_t state;
  /* 0, or why there is no value: a UV_E*. Of a sum: the first, also if others
   * count. */
  int32_t code;
  /* As counted, in units of the event: events, or nanoseconds for the clocks.
   * The value of an item of a list is value * item->scale in item->unit. */
  uint64_t value;
  /* What it would be had it been on a counter for as long as it was enabled:
   * value * time_enabled / time_running, exact, rounded down; of a sum each is
   * scaled by itself. UINT64_MAX where it does not fit. The value itself with
   * UVPERF_COUNT_UNSCALED. Being an estimate it can be less than in an older
   * count; what must never fall is a sum of the deltas' scaled. */
  uint64_t scaled;
  /* Nanoseconds; of a sum, all of them added. Less running than enabled means
   * that the PMU was shared (multiplexed), unless UVPERF_COUNT_UNSCALED. */
  uint64_t time_enabled;
  uint64_t time_running;
  /* Records that the kernel could not write, PERF_FORMAT_LOST (Linux 6.0).
   * Overlaps with the LOST records in the ring: never add the two. */
  uint64_t lost;
  /* The event's id, PERF_FORMAT_ID; 0 in readings and sums. */
  uint64_t id;
  /* time_running / time_enabled: 1 for never multiplexed; 0 if time_enabled
   * is 0. */
  double ratio;
  /* How many counts value is the sum of (COUNTING, GONE, NOT_ENABLED; 1 for a
   * single one), and how many are missing in it: NEVER_SCHEDULED,
   * NOT_AVAILABLE, ERROR. NONE is neither. */
  uint32_t nr_counts;
  uint32_t nr_missing;
  /* UVPERF_COUNT_UNSCALED. */
  uint32_t flags;
  uint32_t reserved0;
  uint64_t reserved[4];
} uvperf_count_t;

/** Scales a count for the time that its event was not on a counter: value *
 *  enabled / running, in 128 bits, exact, rounded down. With running not below
 *  enabled it is the value.
 *
 *  Not for an event of a task on one CPU: the kernel counts it as enabled also
 *  while the task runs on another.
 *  @param value    In units of the event.
 *  @param enabled  Nanoseconds.
 *  @param running  Nanoseconds.
 *  @param scaled   Receives the result.
 *  @return 0, or
 *    -ENODATA    running is 0 and enabled is not: it never ran, and nothing is
 *      known; *scaled is 0;
 *    -EOVERFLOW  the result does not fit; *scaled is UINT64_MAX;
 *    -EINVAL     scaled is NULL.
 *  Source: perf_event_open(2), PERF_FORMAT_TOTAL_TIME_RUNNING. */
UVPERF_EXTERN int uvperf_count_scale(uint64_t value, uint64_t enabled,
                                     uint64_t running, uint64_t *scaled);

/** Gives what was counted between two counts of the same event: value, times
 *  and lost are differences, scaled by the ratio of that interval alone. A
 *  value that became less was reset in between (uvperf_event_reset): then it is
 *  the newer's. So is lost, and so are both times if one of them became less.
 *  Not for sums: uvperf_reading_delta makes theirs.
 *
 *  The state is that of the interval, as in uvperf_reading_delta, which does
 *  this for each count of a reading.
 *  @param older  The first.
 *  @param newer  The second.
 *  @param delta  Receives the difference; may be one of the two.
 *  @return 0, or
 *    -EINVAL  an argument is NULL, or both have ids and these differ; delta is
 *      left alone.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_RESET. */
UVPERF_EXTERN int uvperf_count_delta(const uvperf_count_t *older,
                                     const uvperf_count_t *newer,
                                     uvperf_count_t *delta);

/** Adds a count to a sum, as the totals of a reading are made: for sums over
 *  the places of one CPU, say.
 *  @param sum    Caller's; all zero at first. Where value, scaled, lost, a time
 *    or a number would not fit it becomes the greatest that does.
 *  @param count  What to add: a count, or a sum. May be `sum`.
 *  @return 0, or
 *    -EINVAL  one is NULL, or its state is not of enum uvperf_count_state; sum
 *      is left alone. */
UVPERF_EXTERN int uvperf_count_add(uvperf_count_t *sum,
                                   const uvperf_count_t *count);

/** Names a state.
 *  @param state  enum uvperf_count_state.
 *  @return "counting", "not enabled", "never scheduled", "not available",
 *    "gone", "error", "none"; "unknown" for another; static. */
UVPERF_EXTERN const char *uvperf_count_state_name(uint32_t state);

struct uvperf_event_item_s; /* name.h */

/** Writes a count as one line of text, for logs and tools: what was counted, in
 *  its unit; the event's label; and what the count is worth:
 *
 *    1204 cycles
 *    12.35 Joules power/energy-pkg/
 *    8000 cycles (multiplexed: counted 37.50% of the time)
 *    <not counted: never scheduled> cycles
 *    5 page-faults (1 of 3 are missing) (4 records lost)
 *
 *  The number is `scaled`, times the item's scale, with two digits then.
 *  Allocates nothing, and does not depend on the locale.
 *  @param count  Any count: of an event, a record or a reading; not NULL.
 *  @param item   Its event, by uvperf_set_item, uvperf_meter_item or
 *    uvperf_event_list_get; NULL
 *    for the number alone.
 *  @param text   Caller's; receives what fits, terminated. May be NULL if size
 *    is 0.
 *  @param size   Bytes of text.
 *  @return the length of the whole line, without its end: as of snprintf(3) it
 *    is not less than size if the line was cut. */
UVPERF_EXTERN size_t uvperf_count_format(const uvperf_count_t *count,
                                         const struct uvperf_event_item_s *item,
                                         char *text, size_t size);

/* -- readings of a set ---------------------------------------------------- */

/* A set fills a reading; the functions here look into it and make deltas. One
 * reading belongs to one thread at a time. */

/* A reading: a count of each attr at each place, and the sum of each attr.
 * Opaque; of uvperf_reading_new it is the caller's, in a callback the set's. */
typedef struct uvperf_reading_s uvperf_reading_t;

/* Where a count comes from. */
typedef struct uvperf_place_s {
  /* The target that it belongs to, as in uvperf_set_failure_t. */
  uint32_t target;
  /* A thread's id (that of the calling thread too), or -1 for every task. */
  int32_t pid;
  /* A CPU, or -1 for each that the task runs on. */
  int32_t cpu;
  uint32_t reserved0;
  /* Which place this is, for comparing two readings: never used twice in a
   * set. */
  uint64_t serial;
  uint64_t reserved[2];
} uvperf_place_t;

/** Makes an empty reading, for uvperf_set_read and uvperf_reading_delta, which
 *  can fill it again and again and take memory only when it grows.
 *  @param reading  Receives the reading, to be freed by uvperf_reading_free;
 *    NULL on failure.
 *  @return 0, or
 *    -EINVAL  reading is NULL;
 *    -ENOMEM  out of memory. */
UVPERF_EXTERN int uvperf_reading_new(uvperf_reading_t **reading);

/** Frees a reading that uvperf_reading_new made.
 *  @param reading  NULL is allowed. */
UVPERF_EXTERN void uvperf_reading_free(uvperf_reading_t *reading);

/** Copies a reading, or a delta: to keep what a callback of
 *  uvperf_set_read_start was given, for a delta of one's own.
 *  @param copy     Caller's; filled anew. Not the other one.
 *  @param reading  What to copy.
 *  @return 0, or, with copy left alone,
 *    -EINVAL  copy or reading is NULL, or they are the same; reading was never
 *      filled;
 *    -ENOMEM  out of memory. */
UVPERF_EXTERN int uvperf_reading_copy(uvperf_reading_t *copy,
                                      const uvperf_reading_t *reading);

/** Tells how many attrs a reading has: those of the set.
 *  @param reading  A reading.
 *  @return 0 for one that was never filled. */
UVPERF_EXTERN size_t uvperf_reading_nr_attrs(const uvperf_reading_t *reading);

/** Tells how many places a reading has: all of all targets of that moment.
 *  @param reading  A reading.
 *  @return 0 for one that was never filled. */
UVPERF_EXTERN size_t uvperf_reading_nr_places(const uvperf_reading_t *reading);

/** Tells when the reading was begun (of a delta: the newer one). Many events
 *  are read some time later: see uvperf_set_read_start.
 *  @param reading  A reading.
 *  @return nanoseconds of CLOCK_MONOTONIC, as uv_hrtime gives them; 0 for one
 *    that was never filled. */
UVPERF_EXTERN uint64_t uvperf_reading_time(const uvperf_reading_t *reading);

/** Tells for how long it counts: since the set was made or last reset, or, of a
 *  delta, since the older reading or, if that was later, the reset.
 *  @param reading  A reading.
 *  @return nanoseconds; 0 for one that was never filled. */
UVPERF_EXTERN uint64_t uvperf_reading_interval(const uvperf_reading_t *reading);

/** Gives the sum of an attr over all places, which it adds up. What two targets
 *  share, as a cgroup and one below it do, is in it twice. The first part of an
 *  event of several kinds of cores stands for the whole: the sum is of all
 *  its parts. Any other part is counted alone.
 *  @param reading  A reading.
 *  @param attr     The attr's index.
 *  @param count    Receives the sum.
 *  @return 0, or
 *    -EINVAL  the reading has no such attr, or count is NULL; count is left
 *      alone. */
UVPERF_EXTERN int uvperf_reading_total(const uvperf_reading_t *reading,
                                       size_t attr, uvperf_count_t *count);

/** Returns the sum of an attr over the places of one target, such as all CPUs
 *  of a cgroup; otherwise as uvperf_reading_total.
 *  @param reading  A reading.
 *  @param attr     The attr's index.
 *  @param target   The target's index, as uvperf_set_add_target returned it.
 *  @param count    Receives the sum.
 *  @return 0, or
 *    -EINVAL  the reading has no such attr, or count is NULL;
 *    -ENOENT  the target was not open when the reading was begun;
 *    count is left alone. */
UVPERF_EXTERN int uvperf_reading_target_total(const uvperf_reading_t *reading,
                                              size_t attr, uint32_t target,
                                              uvperf_count_t *count);

/** Gives the count of an attr at one place; as uvperf_reading_total, all parts
 *  of an event if the attr is the first of them.
 *  @param reading  A reading.
 *  @param attr     The attr's index.
 *  @param place    The place's, below uvperf_reading_nr_places.
 *  @param count    Receives the count.
 *  @return 0, or
 *    -EINVAL  no such attr or place, or count is NULL; count is left alone. */
UVPERF_EXTERN int uvperf_reading_count(const uvperf_reading_t *reading,
                                       size_t attr, size_t place,
                                       uvperf_count_t *count);

/** Gives the count of one part of an event at one place: also of the first part
 *  alone. Its time_running is what the task spent on this kind of cores. The
 *  same as uvperf_reading_count for an event without parts.
 *  @param reading  A reading.
 *  @param attr     The index of the part.
 *  @param place    The place's, below uvperf_reading_nr_places.
 *  @param count    Receives the count.
 *  @return 0, or
 *    -EINVAL  no such attr or place, or count is NULL; count is left alone. */
UVPERF_EXTERN int uvperf_reading_part(const uvperf_reading_t *reading,
                                      size_t attr, size_t place,
                                      uvperf_count_t *count);

/** Tells what a place is.
 *  @param reading  A reading.
 *  @param place    The place's index; they are in the order of their targets,
 *    and those of a target in the order of their serials.
 *  @return the reading's own, valid until it is filled again or freed; NULL
 *    where there is none. */
UVPERF_EXTERN const uvperf_place_t *
uvperf_reading_place(const uvperf_reading_t *reading, size_t place);

/** Fills a reading with what was counted between two of the same set: value,
 *  times and lost of each count are differences, scaled by the ratio of that
 *  interval alone. What was reset in between (by uvperf_set_reset, or by others
 *  with PERF_EVENT_IOC_RESET) counts from there; a place that is new counts
 *  from its beginning; one that is no more is left out; counts of events that
 *  are no sums (UVPERF_ITEM_SNAPSHOT) are those of the newer. No difference is
 *  ever negative.
 *
 *  The states are those of the interval: an event that was on a counter before
 *  it and not in it is NEVER_SCHEDULED, and one that was not enabled in it
 *  NOT_ENABLED. GONE stays GONE. What could not be read at one of its ends is
 *  ERROR, as the difference is not known.
 *  @param delta  Caller's; filled. Not one of the other two.
 *  @param older  NULL, or one never filled: all zero, the delta is the newer.
 *  @param newer  Of the same set, and not older.
 *  @return 0, or, with delta left alone,
 *    -EINVAL  delta or newer is NULL, or delta is one of the others; newer was
 *      never filled; they are of two sets, in the wrong order, or deltas
 *      themselves;
 *    -ENOMEM  out of memory.
 *  Source: tools/perf/util/stat.c of Linux, process_counter_values, for
 *    snapshots. */
UVPERF_EXTERN int uvperf_reading_delta(uvperf_reading_t *delta,
                                       const uvperf_reading_t *older,
                                       const uvperf_reading_t *newer);

/** Takes off what measuring itself costs (uvperf_measure_overhead): from the
 *  value of each count that has one, that of the same attr and place, down to
 *  0. It is scaled anew, and so are the sums; states, times and lost stay.
 *  Events that are no sums (UVPERF_ITEM_SNAPSHOT) are left alone.
 *  @param reading   Caller's; changed.
 *  @param overhead  Of the same set.
 *  @return 0, or
 *    -EINVAL  one is NULL or was never filled, or they are of two sets; nothing
 *      was changed. */
UVPERF_EXTERN int uvperf_reading_subtract(uvperf_reading_t *reading,
                                          const uvperf_reading_t *overhead);

#ifdef __cplusplus
}
#endif

#endif
