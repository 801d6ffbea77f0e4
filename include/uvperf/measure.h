/* SPDX-License-Identifier: MIT */
/* What a function costs, in events. */
#ifndef UVPERF_MEASURE_H
#define UVPERF_MEASURE_H

#include <stdint.h>

#include "uvperf/error.h"
#include "uvperf/count.h"
#include "uvperf/set.h"
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
                                 void *arg, uvperf_reading_t *reading);

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
 *  @return 0, or what uvperf_measure gives; UV_EINVAL if set or overhead is
 *    NULL. */
UVPERF_EXTERN int uvperf_measure_overhead(uvperf_set_t *set, uint32_t runs,
                                          uvperf_reading_t *overhead);

/* -- one event ------------------------------------------------------------ */

/* One event that measures calls of functions, one after the other. Needs no
 * loop and no set. Opaque; of uvperf_meter_new.
 *
 * The event stays open, disabled, so that a measurement takes a few system
 * calls. To open an event may take 15 ms, see uvperf_set_init, and to close the
 * last one on a tracepoint or probe takes the kernel 27 to 90 ms. As long as a
 * meter is open on one, calls of uvperf_measure_event by the same tracepoint
 * are as fast; but all processes that pass it are a little slower, and the
 * probe or the module that it belongs to cannot be removed (EBUSY). So the
 * library keeps no event open by itself. */
typedef struct uvperf_meter_s uvperf_meter_t;

/** Opens an event for the calling thread, disabled.
 *
 *  The event is as its name says: without modifiers it counts on the user's
 *  side and in the kernel, which needs perf_event_paranoid 1 or less, or
 *  CAP_PERFMON; with ":u" on the user's side alone.
 *  @param meter  Receives the meter, to be freed by uvperf_meter_free; NULL on
 *    error.
 *  @param name   As for uvperf_event_list_parse; it must stand for one event,
 *    which may have a part for each kind of cores: they count as one.
 *  @param error  Receives why it failed.
 *  @return 0, or
 *    UV_EINVAL  meter or name is NULL, or the name stands for several events
 *      (ARGUMENT); what no list takes (ARGUMENT), and what no thread has
 *      (events of a PMU that counts on CPUs alone);
 *    another    what uvperf_event_list_parse gives, or uvperf_event_init. */
UVPERF_EXTERN int uvperf_meter_new(uvperf_meter_t **meter, const char *name,
                                   uvperf_error_t *error);

/** Measures one call of a function, in the thread that made the meter. The
 *  count is of this call alone and never adds up over several.
 *  @param meter  The meter.
 *  @param fn     Called once, or, where it is said so, not at all. It may
 *    measure by other meters, but neither use nor free this one. It must
 *    return, as for uvperf_measure.
 *  @param arg    Passed to fn.
 *  @param count  The caller's; filled. Look at its state: only in
 *    UVPERF_COUNT_COUNTING there is a value; scaled and ratio tell whether the
 *    PMU was shared meanwhile.
 *  @param error  Receives why it failed.
 *  @return 0, or, fn not called and count left alone,
 *    UV_EINVAL  meter, fn or count is NULL, or another thread made the meter
 *      (ARGUMENT);
 *    UV_EBUSY   the meter is measuring (BUSY);
 *    UV_EPERM   called in a forked child (ARGUMENT);
 *    another    what uvperf_set_enable gives;
 *    or, after the call and with count filled, what uvperf_set_disable
 *    gives. */
UVPERF_EXTERN int uvperf_meter_measure(uvperf_meter_t *meter,
                                       uvperf_measure_fn fn, void *arg,
                                       uvperf_count_t *count,
                                       uvperf_error_t *error);

/** Closes the event and frees the meter. Takes as long as that takes the
 *  kernel, see uvperf_meter_t. Any thread may do it, one of libuv's pool too
 *  (uv_queue_work), if no other uses the meter.
 *  @param meter  The meter, or NULL. */
UVPERF_EXTERN void uvperf_meter_free(uvperf_meter_t *meter);

/** Measures one event, by its name, in one call of a function: makes a meter,
 *  measures, and frees it. Nothing stays open or allocated. By a tracepoint
 *  each call takes some 40 ms, unless another event is open on it: make a meter
 *  for more than one call, and a set for more than one event.
 *  @param name   As for uvperf_event_list_parse; it must stand for one event,
 *    which may have a part for each kind of cores: they count as one.
 *  @param fn     Called once. It may measure other events in the same way.
 *  @param arg    Passed to fn.
 *  @param count  The caller's; filled. Look at its state: only in
 *    UVPERF_COUNT_COUNTING there is a value; scaled and ratio tell whether the
 *    PMU was shared meanwhile.
 *  @param error  Receives why it failed.
 *  @return 0, or, fn not called and count left alone,
 *    UV_EINVAL  name, fn or count is NULL, or the name stands for several
 *      events (ARGUMENT); what no list takes (ARGUMENT), and what no thread has
 *      (events of a PMU that counts on CPUs alone);
 *    another    what uvperf_event_list_parse gives, or uvperf_event_init;
 *    or, after the call and with count filled, what uvperf_set_disable
 *    gives. */
UVPERF_EXTERN int uvperf_measure_event(const char *name, uvperf_measure_fn fn,
                                       void *arg, uvperf_count_t *count,
                                       uvperf_error_t *error);

#ifdef __cplusplus
}
#endif

#endif
