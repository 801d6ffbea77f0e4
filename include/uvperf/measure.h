/* SPDX-License-Identifier: MIT */
/* What a function costs, in events. */
#ifndef UVPERF_MEASURE_H
#define UVPERF_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"
#include "uvperf/count.h"
#include "uvperf/event.h"
#include "uvperf/name.h"
#include "uvperf/set.h"
#include "uvperf/set_options.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is measured.
 *  @param arg  The caller's, as it was given with the function. */
typedef void (*uvperf_measure_fn)(void *arg);

/** Measures one call of a function: resets the set (as uvperf_set_reset),
 *  enables it, calls, disables it and reads it. Counts and times are of this
 *  call alone, of each member of a group too, and never add up over several.
 *  Groups, and attrs that are in none, are switched one after the other, so
 *  that on the kernel's side each also counts the switching of others. The
 *  members of one group are switched as one.
 *
 *  The set's targets say who is measured. With UVPERF_TARGET_SELF that is the
 *  thread that made the set: call from this thread. Other targets are measured
 *  for as long as the call takes, whatever they do.
 *
 *  The function may use the set, but not close it: that is a programming error.
 *  Targets that it removes are not in the reading; those that it adds count
 *  from then on, and so does everything if it resets the set. If it disables
 *  the set, that was the end. A measurement within a measurement needs a set
 *  of its own. The function must return, once: a child that it forks must not
 *  return from it, but exit or become another program.
 *  @param set      The handle, disabled. Disabled again when this returns.
 *  @param fn       Called once, or, where it is said so, not at all.
 *  @param arg      Passed to fn.
 *  @param reading  The caller's; filled. Of an attr that could not be opened
 *    the state says so, as after uvperf_set_read. How long the call took is in
 *    time_enabled of its counts; the interval of the reading is longer.
 *  @param error    Receives why it failed.
 *  @return 0, or, fn not called and the set disabled,
 *    UV_EINVAL  set, fn or reading is NULL;
 *    UV_EBUSY   the set is enabled, by uvperf_set_enable or since it is being
 *      measured;
 *    UV_ENOMEM  out of memory. Only if the reading was last filled by a smaller
 *      set, or if fn added targets, is this found out after the call;
 *    UV_EPERM   called in a forked child;
 *    another    what uvperf_set_enable gives, if not all could be enabled;
 *    or, after the call and with the reading filled, what uvperf_set_disable
 *    gives.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_measure(uvperf_set_t *set, uvperf_measure_fn fn,
                                 void *arg, uvperf_reading_t *reading,
                                 uvperf_error_t *error);

/** Measures what measuring itself adds to a count, which is the end of one
 *  system call and the beginning of another, and those between that switch
 *  other groups and places: the least of each count in so many measurements of
 *  a function that does nothing. uvperf_reading_subtract takes
 *  it off a reading of uvperf_measure. It depends on the attrs, the targets and
 *  the machine, so measure it where and when you measure the rest.
 *  @param set       As for uvperf_measure.
 *  @param runs      How many measurements; 0 is the default, 100.
 *  @param overhead  The caller's; filled. After a failure it holds what may
 *    have been measured by then, or nothing.
 *  @param error     Receives why it failed.
 *  @return 0, or what uvperf_measure gives; UV_EINVAL if set or overhead is
 *    NULL. */
UVPERF_EXTERN int uvperf_measure_overhead(uvperf_set_t *set, uint32_t runs,
                                          uvperf_reading_t *overhead,
                                          uvperf_error_t *error);

/* -- without a set -------------------------------------------------------- */

/* Events and groups that measure calls of functions, one after the other. Needs
 * no loop. Opaque; of uvperf_meter_new or uvperf_meter_new_options.
 *
 * Its events stay open, disabled, so that a measurement takes a few system
 * calls. To open an event may take 15 ms, see uvperf_set_init, and to close the
 * last one on a tracepoint or probe takes the kernel 27 to 90 ms. As long as a
 * meter is open on one, calls of uvperf_measure_events by the same tracepoint
 * are as fast; but all processes that pass it are a little slower, and the
 * probe or the module that it belongs to cannot be removed (EBUSY). So the
 * library keeps no event open by itself.
 *
 * An event that cannot be opened, because there is no PMU for it, say, does not
 * fail the others. Its count is UVPERF_COUNT_NOT_AVAILABLE, and
 * uvperf_meter_failures says why. It is an error if none can be opened. */
typedef struct uvperf_meter_s uvperf_meter_t;

/** Opens events for the calling thread, disabled.
 *
 *  An event is as its name says: without modifiers it counts on the user's side
 *  and in the kernel, which needs perf_event_paranoid 1 or less, or
 *  CAP_PERFMON; with ":u" on the user's side alone.
 *  @param meter  Receives the meter, to be freed by uvperf_meter_free; NULL on
 *    error.
 *  @param names  As for uvperf_event_list_parse: "{cycles,instructions}:u,
 *    page-faults". The events of a group are on counters together or not at
 *    all, so that their counts can be divided.
 *  @param error  Receives why it failed: of several events the most specific
 *    failure.
 *  @return 0, or
 *    UV_EINVAL  meter or names is NULL (ARGUMENT); what no list takes
 *      (ARGUMENT), and what no thread has (events of a PMU that counts on CPUs
 *      alone);
 *    another    what uvperf_event_list_parse or uvperf_event_init return. */
UVPERF_EXTERN int uvperf_meter_new(uvperf_meter_t **meter, const char *names,
                                   uvperf_error_t *error);

/** Opens events as a set does: by attrs, or a list; strict or with fallbacks;
 *  of the calling thread, or of other targets, whose counts are added up.
 *  @param meter    As for uvperf_meter_new.
 *  @param options  Start from UVPERF_SET_OPTIONS_INIT. `attrs`, `nr_attrs` and
 *    `leaders`, or `events`; `targets`, without which it is the calling thread;
 *    `fallbacks`; of the flags UVPERF_SET_STRICT, with which an event that
 *    cannot be opened is an error, and UVPERF_SET_USER_READ. The attrs count
 *    only: sample_period and the fields of samples do nothing here.
 *  @param error    As for uvperf_meter_new.
 *  @return 0, or
 *    UV_EINVAL  meter or options is NULL, or options.flags has another flag
 *      (ARGUMENT);
 *    another    what uvperf_set_init returns. */
UVPERF_EXTERN int uvperf_meter_new_options(uvperf_meter_t **meter,
                                           const uvperf_set_options_t *options,
                                           uvperf_error_t *error);

/** Gets how many events a meter has: in the order of the names or attrs, also
 *  those that could not be opened. An event of several kinds of cores is one
 *  (see uvperf_event_item_t.first). */
UVPERF_EXTERN size_t uvperf_meter_nr_events(const uvperf_meter_t *meter);

/** Gets the label, unit and scale of an event, as it was opened.
 *  @param index  Below uvperf_meter_nr_events.
 *  @return The meter's, valid until it is freed; NULL for another index. */
UVPERF_EXTERN const uvperf_event_item_t *
uvperf_meter_item(const uvperf_meter_t *meter, size_t index);

/** Gets the events that could not be opened, and why: as uvperf_set_failures,
 *  where attr_index is the index of the event.
 *  @param nr  Receives how many there are; may be NULL.
 *  @return The meter's, valid until it is freed; NULL if there are none. */
UVPERF_EXTERN const uvperf_set_failure_t *
uvperf_meter_failures(const uvperf_meter_t *meter, size_t *nr);

/** Measures one call of a function. If the meter is of the calling thread, only
 *  the thread that made the meter may call. Counts are of this call alone and
 *  never add up over several.
 *  @param meter   The meter.
 *  @param fn      Called once, or not at all after an error. It may
 *    measure by other meters, but neither use nor free this one. It must
 *    return, as for uvperf_measure.
 *  @param arg     Passed to fn.
 *  @param counts  The caller's; filled, the ith for the ith event. Look at the
 *    state: only in UVPERF_COUNT_COUNTING there is a value; scaled and ratio
 *    say whether the PMU was shared meanwhile.
 *  @param nr      How many counts there is room for: exactly
 *    uvperf_meter_nr_events.
 *  @param error   Receives why it failed.
 *  @return 0, or, fn not called and counts left alone,
 *    UV_EINVAL  meter, fn or counts is NULL; nr is not the number of events; or
 *      another thread made the meter (ARGUMENT);
 *    UV_EBUSY   the meter is measuring (BUSY);
 *    UV_EPERM   called in a forked child (ARGUMENT);
 *    another    what uvperf_set_enable returns;
 *    or, after the call and with counts filled, what uvperf_set_disable
 *    returns. */
UVPERF_EXTERN int uvperf_meter_measure(uvperf_meter_t *meter,
                                       uvperf_measure_fn fn, void *arg,
                                       uvperf_count_t *counts, size_t nr,
                                       uvperf_error_t *error);

/* What one event counted in several calls of a function. */
typedef struct uvperf_runs_s {
  /* All calls added up by uvperf_count_add. */
  uvperf_count_t sum;
  /* In how many calls the event has counted. The fields below are of these, of
   * the `scaled` of each. */
  uint64_t nr;
  double mean; /* events */
  /* Of one call from the mean: the square root of the sample variance; 0 for
   * fewer than two. The error of the mean is deviation / sqrt(nr). */
  double deviation;
  uint64_t least; /* events of one call */
  uint64_t most;  /* events of one call */
  uint64_t reserved[4];
} uvperf_runs_t;

/** Measures several calls of a function, each by itself, as a benchmark does.
 *  The least is the best estimate of the cost of the function when nothing
 *  disturbs it. Repeat a function that does nothing for the cost of measuring.
 *  @param meter  As for uvperf_meter_measure.
 *  @param times  How many calls, at least 1.
 *  @param fn     Called so often.
 *  @param arg    Passed to fn.
 *  @param runs   The caller's; filled, the ith for the ith event. After a
 *    failure they are of the calls before it.
 *  @param nr     How many runs there is room for: exactly
 *    uvperf_meter_nr_events.
 *  @param error  Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL  times is 0;
 *    UV_ENOMEM  out of memory; fn was not called;
 *    another    what uvperf_meter_measure returns, of the first call that
 *      failed: the last one. */
UVPERF_EXTERN int uvperf_meter_repeat(uvperf_meter_t *meter, uint64_t times,
                                      uvperf_measure_fn fn, void *arg,
                                      uvperf_runs_t *runs, size_t nr,
                                      uvperf_error_t *error);

/** Closes the events and frees the meter. Takes as long as that takes the
 *  kernel, see uvperf_meter_t. Any thread may do it, one of libuv's pool too
 *  (uv_queue_work), if no other uses the meter.
 *  @param meter  The meter, or NULL. */
UVPERF_EXTERN void uvperf_meter_free(uvperf_meter_t *meter);

/** Measures one call of a function in the calling thread: makes a meter,
 *  measures, and frees it. Nothing stays open or allocated. By a tracepoint
 *  each call takes some 40 ms, unless another event is open on it: make a meter
 *  for more than one call.
 *
 *    uvperf_count_t counts[2];
 *    rc = uvperf_measure_events("{instructions,cycles}:u", fn, arg, counts, 2,
 *                               &error);
 *  @param names   As for uvperf_meter_new.
 *  @param fn      Called once. It may measure in the same way.
 *  @param arg     Passed to fn.
 *  @param counts  As for uvperf_meter_measure.
 *  @param nr      How many counts there is room for: exactly one for each event
 *    that the names stand for.
 *  @param error   Receives why it failed; of a measurement without one of the
 *    events why that is missing (attr_index), and code 0 if all were there.
 *  @return 0, or what uvperf_meter_new and uvperf_meter_measure return. */
UVPERF_EXTERN int uvperf_measure_events(const char *names, uvperf_measure_fn fn,
                                        void *arg, uvperf_count_t *counts,
                                        size_t nr, uvperf_error_t *error);

/* -- open events ---------------------------------------------------------- */

/** Measures one call of a function by an open event and the siblings that it
 *  leads: reads them, enables them, calls, disables and reads them again.
 *  Whatever they measure (options.pid and options.cpu) is measured for as long
 *  as the call takes. Records are written as ever.
 *  @param event   The handle, disabled: alone or the leader of its group.
 *    Disabled again when this returns. With PERF_FORMAT_GROUP in its
 *    attr.read_format all are read by one read(2).
 *  @param fn      Called once, or not at all after an error. It may use
 *    the events, but not close them. It must return, as for uvperf_measure.
 *  @param arg     Passed to fn.
 *  @param counts  The caller's; filled: the event's, then its siblings' in the
 *    order of opening. They are scaled if
 *    attr.read_format asks for both times.
 *  @param nr      How many counts there is room for: exactly as many as there
 *    are events.
 *  @param error   Receives why it failed.
 *  @return 0, or, fn not called and counts left alone,
 *    UV_EINVAL  event, fn or counts is NULL; nr is not the number of events; or
 *      the event is a sibling (ARGUMENT);
 *    UV_EBUSY   the event is enabled (BUSY);
 *    UV_EPERM   called in a forked child (ARGUMENT);
 *    UV_ENOMEM  out of memory;
 *    another    what uvperf_event_read or uvperf_event_enable return;
 *    or, after the call, with counts that mean nothing, what
 *    uvperf_event_disable or uvperf_event_read return.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_event_measure(uvperf_event_t *event,
                                       uvperf_measure_fn fn, void *arg,
                                       uvperf_count_t *counts, size_t nr,
                                       uvperf_error_t *error);

#ifdef __cplusplus
}
#endif

#endif
