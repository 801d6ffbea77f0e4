/* SPDX-License-Identifier: MIT */
/* Counts of one event, and readings of a set: its counts at one moment, or
 * between two moments. Needs no libuv. */
#ifndef UVPERF_COUNT_H
#define UVPERF_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a count has a value, and if not, why. */
enum uvperf_count_state {
  /* The attr is not measured at this place, on purpose: its PMU counts on other
   * CPUs, or once for each package. */
  UVPERF_COUNT_NONE = 0,
  /* The event was on a counter, all of the time or for a part of it. An event
   * without both times in its read_format is always in this state. */
  UVPERF_COUNT_COUNTING = 1,
  /* Nothing could be counted: the event was not enabled, its task did not run
   * here, or its CPU was offline. value is 0. For a task on one CPU this state
   * also stands for NEVER_SCHEDULED: see UVPERF_COUNT_UNSCALED. */
  UVPERF_COUNT_NOT_ENABLED = 2,
  /* The event was enabled but never on a counter. Other events had all
   * counters, or the event's group needs more counters than the PMU has. (The
   * kernel does not always refuse such a group.) value is 0 and means
   * nothing. */
  UVPERF_COUNT_NEVER_SCHEDULED = 3,
  /* The event could not be opened. `code` is the error; uvperf_set_failures and
   * uvperf_meter_failures have the reason. */
  UVPERF_COUNT_NOT_AVAILABLE = 4,
  /* The task has ended. value is its last count; counts of children that
   * inherited the event are still added. An event that was never on a counter
   * is NEVER_SCHEDULED instead. A reading checks for the end only if neither
   * the task nor such a child has run since the previous reading. So the first
   * reading after the end can still be COUNTING. A process that nobody waits
   * for is found within a second, and a thread whose id another task got at
   * once within ten. */
  UVPERF_COUNT_GONE = 5,
  /* The event cannot be read, and value means nothing. `code` is UV_EBADF for a
   * pinned event that the PMU could not hold. Otherwise it is the error of
   * read(2), or the error of opening the event again on a CPU that has come
   * back online. */
  UVPERF_COUNT_ERROR = 6
};

/* In uvperf_count_t.flags: `scaled` is the value itself, because the times do
 * not show how long the event could have been on a counter:
 * - its attr.read_format does not have both times; or
 * - it counts a task on one CPU. The kernel counts it as enabled also while the
 *   task runs on other CPUs (event_filter_match in kernel/events/core.c); or
 * - it counts a task, in a set, and its PMU belongs to one kind of cores. An
 *   event with a part for each kind of cores (uvperf_event_item_t.first) is
 *   scaled nevertheless, because it runs while one of its parts runs.
 * A sum has this flag if one of its counts has it. */
#define UVPERF_COUNT_UNSCALED 1u

/* A count of one event, or the sum of several. From an event handle or a record
 * it is the total since the event was opened. The kernel never resets the
 * times, not even by PERF_EVENT_IOC_RESET. Fields without their bit in
 * attr.read_format are 0.
 * Source: perf_event_open(2), "Reading results". */
typedef struct uvperf_count_s {
  /* enum uvperf_count_state. A sum is COUNTING if one of its counts is.
   * Otherwise it has the first of these states that one of its counts has:
   * GONE, ERROR, NEVER_SCHEDULED, NOT_AVAILABLE, NOT_ENABLED and NONE. */
  uint32_t state;
  /* 0, or the UV_E* code of a count without a value. A sum has the first such
   * code. */
  int32_t code;
  /* The count, in units of the event: events, or nanoseconds for clocks. If the
   * event comes from a list, the count in item->unit is value * item->scale. */
  uint64_t value;
  /* The estimated count if the event had been on a counter all the time.
   * `scaled` is value times time_enabled divided by time_running, computed
   * exactly and rounded down, or UINT64_MAX if the result does not fit. With
   * UVPERF_COUNT_UNSCALED it is value. In a sum each count is scaled before it
   * is added. Because `scaled` is an estimate, it can be less than in an older
   * count. To get a number that never falls, add up the `scaled` of deltas. */
  uint64_t scaled;
  /* Nanoseconds. A sum adds the times of all its counts. If time_running is
   * less than time_enabled, the PMU was shared (multiplexed). With
   * UVPERF_COUNT_UNSCALED the times do not show this. */
  uint64_t time_enabled;
  uint64_t time_running;
  /* Records that the kernel could not write, PERF_FORMAT_LOST (Linux 6.0). LOST
   * records in the ring report some of the same losses: never add the two. */
  uint64_t lost;
  /* The event's id, PERF_FORMAT_ID; 0 in readings and sums. */
  uint64_t id;
  /* time_running / time_enabled: 1 if the PMU was not shared; 0 if time_enabled
   * is 0. */
  double ratio;
  /* nr_counts is the number of counts that are in the value. These counts are
   * COUNTING, GONE or NOT_ENABLED. nr_missing is the number of counts that are
   * missing. These counts are NEVER_SCHEDULED, NOT_AVAILABLE or ERROR. A single
   * count has 1 in one of the two numbers. A count that is NONE has 0 in
   * both. */
  uint32_t nr_counts;
  uint32_t nr_missing;
  /* UVPERF_COUNT_UNSCALED. */
  uint32_t flags;
  uint32_t reserved0;
  uint64_t reserved[4];
} uvperf_count_t;

/** Subtracts two counts of the same event. In the delta, value, times and lost
 *  are differences, and `scaled` uses the ratio of this interval alone. If the
 *  newer value is less than the older, the count was reset in between
 *  (uvperf_reset), and the delta is the newer value. The same holds for
 *  lost, and for both times together.
 *
 *  The state describes the interval, as in uvperf_reading_delta, which
 *  subtracts each count of a reading. Do not use this function for sums.
 *  @param older  The first count.
 *  @param newer  The second count.
 *  @param delta  Caller's; receives the difference. May be `older` or `newer`.
 *  @return 0, or
 *    -EINVAL  an argument is NULL, or both counts have ids and these differ;
 *      delta is unchanged.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_RESET. */
UVPERF_EXTERN int uvperf_count_delta(const uvperf_count_t *older,
                                     const uvperf_count_t *newer,
                                     uvperf_count_t *delta);

/** Adds a count to a sum, for example over the places of one CPU.
 *  @param sum    Caller's; all zero at first. A field that would overflow
 *    becomes the greatest number.
 *  @param count  A count or a sum. May be `sum`.
 *  @return 0, or
 *    -EINVAL  an argument is NULL or has a state that is not in enum
 *      uvperf_count_state; sum is unchanged. */
UVPERF_EXTERN int uvperf_count_add(uvperf_count_t *sum,
                                   const uvperf_count_t *count);

/** Returns the name of a state.
 *  @param state  enum uvperf_count_state.
 *  @return "counting", "did not run", "never scheduled", "not available",
 *    "gone", "error" or "none"; "unknown" for any other value. The string is
 *    static. */
UVPERF_EXTERN const char *uvperf_count_state_name(uint32_t state);

struct uvperf_event_item_s;

/** Writes a count as one line of text, for logs and tools: the number with its
 *  unit, the event's label, and the quality of the count:
 *
 *    1204 cycles
 *    12.35 Joules power/energy-pkg/
 *    8000 cycles (multiplexed: counted 37.50% of the time)
 *    <not counted: never scheduled> cycles
 *    5 page-faults (1 of 3 are missing) (4 records lost)
 *
 *  The number is `scaled`. If the item has a scale, the number is multiplied by
 *  it and has two decimals. The function allocates no memory and does not
 *  depend on the locale.
 *  @param count  A count of an event, a record or a reading; not NULL.
 *  @param item   Its event (name.h), from uvperf_set_item, uvperf_meter_item or
 *    uvperf_event_list_get; NULL for the number alone.
 *  @param text   Caller's; receives the terminated line, cut to size. May be
 *    NULL if size is 0.
 *  @param size   Bytes of text.
 *  @return the length of the whole line, as snprintf(3) does: size or more if
 *    the line was cut. */
UVPERF_EXTERN size_t uvperf_count_format(const uvperf_count_t *count,
                                         const struct uvperf_event_item_s *item,
                                         char *text, size_t size);

/* -- readings of a set ---------------------------------------------------- */

/* A reading: a count of each attr at each place, and the sum of each attr. A
 * set fills it; the functions below read it and make deltas. One thread at a
 * time may use a reading. A reading from uvperf_reading_new belongs to the
 * caller. A reading in a callback belongs to the set. */
typedef struct uvperf_reading_s uvperf_reading_t;

/* A place: where a count comes from. */
typedef struct uvperf_place_s {
  /* The index of its target, as in uvperf_set_failure_t. */
  uint32_t target;
  /* A thread's id, or -1 for all tasks. */
  int32_t pid;
  /* A CPU, or -1 for all CPUs on which the task runs. */
  int32_t cpu;
  uint32_t reserved0;
  /* The number of this place, to compare two readings. A set never uses a
   * number twice. */
  uint64_t serial;
  uint64_t reserved[2];
} uvperf_place_t;

/** Makes an empty reading, for uvperf_set_read and uvperf_reading_delta. These
 *  functions can fill a reading any number of times, and allocate memory only
 *  when it grows.
 *  @param reading  Receives the reading, NULL on failure. Free it with
 *    uvperf_reading_free.
 *  @return 0, or
 *    -EINVAL  reading is NULL;
 *    -ENOMEM  out of memory. */
UVPERF_EXTERN int uvperf_reading_new(uvperf_reading_t **reading);

/** Frees a reading that uvperf_reading_new made.
 *  @param reading  NULL is allowed. */
UVPERF_EXTERN void uvperf_reading_free(uvperf_reading_t *reading);

/** Copies a reading or a delta, for example to keep the reading of a callback.
 *  @param copy     Caller's; its old contents are replaced. It must not be
 *    `reading`.
 *  @param reading  The reading to copy.
 *  @return 0, or, with copy unchanged,
 *    -EINVAL  copy or reading is NULL, or they are the same; reading was never
 *      filled;
 *    -ENOMEM  out of memory. */
UVPERF_EXTERN int uvperf_reading_copy(uvperf_reading_t *copy,
                                      const uvperf_reading_t *reading);

/* What a reading is about. A reading that was never filled has 0 in all
 * fields. */
typedef struct uvperf_reading_info_s {
  size_t nr_attrs; /* the same as in the set */
  /* The places of all targets at the time of the reading. */
  size_t nr_places;
  /* When the reading was begun, in nanoseconds of CLOCK_MONOTONIC, as
   * uv_hrtime. A delta has the time of the newer reading. If a set has many
   * events, some events are read later than this: see uvperf_set_read_start. */
  uint64_t time;
  /* Nanoseconds that the reading covers: since the set was made or last reset.
   * A delta covers the time since the older reading, or since a later reset. */
  uint64_t interval;
  uint64_t reserved[4];
} uvperf_reading_info_t;

/** Describes a reading.
 *  @param reading  A reading.
 *  @return the description, owned by the reading and valid until it is filled
 *    again or freed. */
UVPERF_EXTERN const uvperf_reading_info_t *
uvperf_reading_info(const uvperf_reading_t *reading);

/* All targets, or all places. */
#define UVPERF_ALL SIZE_MAX

/** Returns the count of an attr: at one place, or the sum over the places of
 *  one target (such as all CPUs of a cgroup), or over all places.
 *
 *  If two targets overlap, such as a cgroup and a cgroup below it, the common
 *  part is counted twice. If the event has a part for each kind of cores, the
 *  index of its first part returns the sum of all parts. The index of another
 *  part returns that part alone.
 *  @param reading  A reading.
 *  @param attr     The attr's index.
 *  @param target   The target's index, as uvperf_set_add returned it; or
 *    UVPERF_ALL.
 *  @param place    The place's index, below nr_places; or UVPERF_ALL. If it is
 *    not UVPERF_ALL, `target` is the place's own or UVPERF_ALL.
 *  @param count    Caller's; receives the count.
 *  @return 0, or, with count unchanged,
 *    -EINVAL  no such attr or place, or count is NULL;
 *    -ENOENT  the target was not open when the reading was begun, or the place
 *      is another target's. */
UVPERF_EXTERN int uvperf_reading_get(const uvperf_reading_t *reading,
                                     size_t attr, size_t target, size_t place,
                                     uvperf_count_t *count);

/** Returns the sum of an attr over all places.
 *  @param reading  A reading.
 *  @param attr     The attr's index.
 *  @param count    Caller's; receives the sum.
 *  @return as uvperf_reading_get. */
static inline int uvperf_reading_total(const uvperf_reading_t *reading,
                                       size_t attr, uvperf_count_t *count) {
  return uvperf_reading_get(reading, attr, UVPERF_ALL, UVPERF_ALL, count);
}

/** Returns the count of one part of an event at one place. Unlike
 *  uvperf_reading_get, it can also return the first part alone. time_running is
 *  the time that the task ran on this kind of cores. For an event without parts
 *  it does the same as uvperf_reading_get.
 *  @param reading  A reading.
 *  @param attr     The index of the part.
 *  @param place    The place's index, below nr_places.
 *  @param count    Caller's; receives the count.
 *  @return 0, or
 *    -EINVAL  no such attr or place, or count is NULL; count is unchanged. */
UVPERF_EXTERN int uvperf_reading_part(const uvperf_reading_t *reading,
                                      size_t attr, size_t place,
                                      uvperf_count_t *count);

/** Describes a place.
 *  @param reading  A reading.
 *  @param place    The place's index. Places are sorted by target, then by
 *    serial.
 *  @return the place, owned by the reading and valid until it is filled again
 *    or freed; NULL if there is no such place. */
UVPERF_EXTERN const uvperf_place_t *
uvperf_reading_place(const uvperf_reading_t *reading, size_t place);

/** Subtracts two readings of the same set. In each count of the delta, value,
 *  times and lost are differences, and `scaled` uses the ratio of this interval
 *  alone. No difference is negative: after a reset (uvperf_reset, or
 *  another process's PERF_EVENT_IOC_RESET) counting begins at the reset. A new
 *  place counts from its beginning; a place that has gone is left out. Counts
 *  that are not sums (UVPERF_ITEM_SNAPSHOT) have the newer value.
 *
 *  The states describe the interval. An event that was on a counter only before
 *  the interval is NEVER_SCHEDULED. An event that was not enabled in the
 *  interval is NOT_ENABLED. GONE stays GONE. A count that could not be read in
 *  one of the readings is ERROR.
 *  @param delta  Caller's; receives the delta. It must not be one of the other
 *    readings.
 *  @param older  The older reading. NULL, or a reading that was never filled,
 *    stands for zeros.
 *  @param newer  The newer reading, of the same set.
 *  @return 0, or, with delta unchanged,
 *    -EINVAL  delta or newer is NULL, or delta is older or newer; newer was
 *      never filled; the readings are of different sets, in the wrong order, or
 *      deltas themselves;
 *    -ENOMEM  out of memory.
 *  Source: tools/perf/util/stat.c of Linux, process_counter_values, for
 *    snapshots. */
UVPERF_EXTERN int uvperf_reading_delta(uvperf_reading_t *delta,
                                       const uvperf_reading_t *older,
                                       const uvperf_reading_t *newer);

#ifdef __cplusplus
}
#endif

#endif
