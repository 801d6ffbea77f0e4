/* SPDX-License-Identifier: MIT */
/* Measures how many events a function costs: with a meter, which needs no loop,
 * or with an open event. */
#ifndef UVPERF_MEASURE_H
#define UVPERF_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"
#include "uvperf/count.h"
#include "uvperf/event.h"
#include "uvperf/name.h"
#include "uvperf/set_options.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The function that is measured.
 *  @param arg  The caller's, as it was passed with the function. */
typedef void (*uvperf_measure_fn)(void *arg);

/* A meter: events and groups that measure calls of functions, one call after
 * the other. A meter needs no loop.
 *
 * A meter's events stay open but disabled, so that a measurement takes only a
 * few system calls. Opening an event can take 15 ms (see uvperf_set_init).
 * Closing the last event on a tracepoint or probe takes the kernel 27 to 90 ms.
 * While a meter has such an event open, uvperf_measure_events is fast for the
 * same tracepoint. But every process that hits the tracepoint is a little
 * slower, and the probe or its module cannot be removed (EBUSY). So the library
 * keeps no event open by itself.
 *
 * If an event cannot be opened, for example because it has no PMU here, the
 * other events still work. The failed event's count is
 * UVPERF_COUNT_NOT_AVAILABLE, and uvperf_meter_failures has the reason. It is
 * an error if no event can be opened. */
typedef struct uvperf_meter_s uvperf_meter_t;

/** Makes a meter. Its events are disabled. Without targets it measures the
 *  calling thread.
 *
 *    options.names = "{cycles,instructions}:u,page-faults";
 *    rc = uvperf_meter_new(&meter, &options, &error);
 *
 *  The events of a group are on counters together or not at all, so the ratio
 *  of their counts is right. Without modifiers an event counts on the user side
 *  and in the kernel. This needs perf_event_paranoid 1 or less, or CAP_PERFMON.
 *  With ":u" it counts on the user side alone.
 *  @param meter    Receives the meter, NULL on error. Free it with
 *    uvperf_meter_free.
 *  @param options  Caller's, copied. Start from UVPERF_SET_OPTIONS_INIT. These
 *    fields are used: `names`, `events`, or `attrs` with `nr_attrs`;
 *    `targets`, whose counts are added up; `fallbacks`; and `flags`, which may
 *    have UVPERF_SET_USER_READ and UVPERF_SET_STRICT. With UVPERF_SET_STRICT an
 *    event that cannot be opened is an error. The attrs only count:
 *    sample_period and the fields of samples are unused.
 *  @param error    Receives the most specific failure of all events; may be
 *    NULL.
 *  @return 0, or
 *    UV_EINVAL  meter or options is NULL, options.flags has another flag, or an
 *      event's PMU counts whole CPUs only (cause argument);
 *    another    see uvperf_set_init and uvperf_event_list_parse. */
UVPERF_EXTERN int uvperf_meter_new(uvperf_meter_t **meter,
                                   const uvperf_set_options_t *options,
                                   uvperf_error_t *error);

/** Returns the label, unit and scale of an event, as it was opened. Events that
 *  could not be opened are included. The events are in the order of the names
 *  or attrs. An event with a part for each kind of cores is one event (see
 *  uvperf_event_item_t.first).
 *  @param meter  The meter.
 *  @param index  From 0.
 *  @return The item, owned by the meter and valid until the meter is freed;
 *    NULL after the last event. */
UVPERF_EXTERN const uvperf_event_item_t *
uvperf_meter_item(const uvperf_meter_t *meter, size_t index);

/** Returns the events that could not be opened, with the reasons, as
 *  uvperf_set_failures does. attr_index is the index of the event.
 *  @param nr  Receives the number of failures; may be NULL.
 *  @return The failures, owned by the meter and valid until the meter is freed;
 *    NULL without failures. */
UVPERF_EXTERN const uvperf_set_failure_t *
uvperf_meter_failures(const uvperf_meter_t *meter, size_t *nr);

/** Measures one call of a function. Counts are of this call alone. A meter for
 *  the calling thread works only in the thread that made it.
 *  @param meter   The meter.
 *  @param fn      Called once, or not at all after an error. It may measure
 *    with other meters, but neither use nor free this one. It must return
 *    exactly once: a forked child must exit or become another program.
 *  @param arg     Passed to fn.
 *  @param counts  Caller's; receives nr counts: counts[i] is the count of event
 *    i. Check the state: only UVPERF_COUNT_COUNTING has a value. `scaled` and
 *    `ratio` show whether the PMU was shared meanwhile.
 *  @param nr      Number of counts: exactly one for each event.
 *  @return 0, or a code: then fn was not called and counts are unchanged,
 *    unless this list says so:
 *    UV_EINVAL  meter, fn or counts is NULL; nr is not the number of events; or
 *      another thread made the meter (cause argument);
 *    UV_EBUSY   the meter is measuring (cause busy);
 *    UV_EPERM   called in a forked child (cause argument);
 *    another    a code of uvperf_enable; or of uvperf_disable: then fn
 *      was called and the counts are filled. */
UVPERF_EXTERN int uvperf_meter_measure(uvperf_meter_t *meter,
                                       uvperf_measure_fn fn, void *arg,
                                       uvperf_count_t *counts, size_t nr,
                                       uvperf_error_t *error);

/* The counts of one event in several calls of a function. */
typedef struct uvperf_runs_s {
  /* The counts of all calls, added by uvperf_count_add. */
  uvperf_count_t sum;
  /* The number of calls in which the event counted. The fields below are
   * statistics of `scaled` in these calls. */
  uint64_t nr;
  double mean; /* events */
  /* The standard deviation of one call, in events: the square root of the
   * sample variance; 0 for fewer than two calls. The error of the mean is
   * deviation / sqrt(nr). */
  double deviation;
  uint64_t least; /* events of one call */
  uint64_t most;  /* events of one call */
  uint64_t reserved[4];
} uvperf_runs_t;

/** Measures several calls of a function one by one, as a benchmark does. The
 *  least count is the best estimate of the function's cost without
 *  disturbances.
 *
 *  Each call also counts the end of the system call that enables the events,
 *  the beginning of the system call that disables them, and with several groups
 *  or targets all calls in between. A meter does not subtract this cost, which
 *  depends on the events, the targets and the machine. To get it, repeat a
 *  function that does nothing: its least count is the cost.
 *  @param meter  As for uvperf_meter_measure.
 *  @param times  Number of calls, at least 1.
 *  @param fn     Called that many times.
 *  @param arg    Passed to fn.
 *  @param runs   Caller's; receives nr results: runs[i] is the result of event
 *    i. After a failure the results are of the calls before the failed call.
 *  @param nr     Number of runs: exactly one for each event.
 *  @return 0, or
 *    UV_EINVAL  times is 0;
 *    UV_ENOMEM  out of memory; fn was not called;
 *    another    see uvperf_meter_measure. After a call that fails, no further
 *      call is made. */
UVPERF_EXTERN int uvperf_meter_repeat(uvperf_meter_t *meter, uint64_t times,
                                      uvperf_measure_fn fn, void *arg,
                                      uvperf_runs_t *runs, size_t nr,
                                      uvperf_error_t *error);

/** Closes the events and frees the meter. This takes as long as the kernel
 *  needs: see uvperf_meter_t. Any thread may call it, also one of libuv's pool
 *  (uv_queue_work), if no other thread uses the meter.
 *  @param meter  The meter, or NULL. */
UVPERF_EXTERN void uvperf_meter_free(uvperf_meter_t *meter);

/** Measures one call of a function in the calling thread. It makes a meter,
 *  measures, and frees the meter, so that nothing stays open or allocated. With
 *  a tracepoint each call takes some 40 ms, unless another event is open on the
 *  tracepoint. To measure more than once, make a meter.
 *
 *    uvperf_count_t counts[2];
 *    rc = uvperf_measure_events("{instructions,cycles}:u", fn, arg, counts, 2,
 *                               &error);
 *
 *  @param names   As in uvperf_set_options_t.
 *  @param fn      Called once. It may measure in the same way.
 *  @param arg     Passed to fn.
 *  @param counts  As for uvperf_meter_measure.
 *  @param nr      Number of counts: exactly one for each event of the names.
 *  @param error   Receives why the call failed; may be NULL. If the call
 *    returns 0 but an event is missing, the error has the reason, and
 *    attr_index says which event. If no event is missing, error->code is 0.
 *  @return 0, or a code of uvperf_meter_new or uvperf_meter_measure. */
UVPERF_EXTERN int uvperf_measure_events(const char *names, uvperf_measure_fn fn,
                                        void *arg, uvperf_count_t *counts,
                                        size_t nr, uvperf_error_t *error);

/* -- open events ---------------------------------------------------------- */

/** Measures one call of a function with an open event and the siblings that it
 *  leads. These events are read before and after the call, and enabled during
 *  the call. Their targets (options.pid and options.cpu) are measured while the
 *  call lasts. Records are written as usual.
 *  @param event   The handle. It must be disabled, and have no group or be the
 *    leader of its group. It is disabled when this returns. With
 *    PERF_FORMAT_GROUP in its attr.read_format one read(2) reads all events.
 *  @param fn      Called once, or not at all after an error. It may use the
 *    events, but not close them. It must return, as for uvperf_meter_measure.
 *  @param arg     Passed to fn.
 *  @param counts  Caller's; receives the event's count, then the counts of its
 *    siblings in the order in which they were opened. The counts are scaled if
 *    attr.read_format has both times.
 *  @param nr      Number of counts: exactly the number of events.
 *  @return 0, or a code: then fn was not called and counts are unchanged,
 *    unless this list says so:
 *    UV_EINVAL  event, fn or counts is NULL; nr is not the number of events; or
 *      the event is a sibling (cause argument);
 *    UV_EBUSY   the event is enabled (cause busy);
 *    UV_EPERM   called in a forked child (cause argument);
 *    UV_ENOMEM  out of memory;
 *    another    a code of uvperf_event_read or uvperf_enable; or, after
 *      fn was called, a code of uvperf_disable or uvperf_event_read: then
 *      the counts mean nothing.
 *  Source: perf_event_open(2), PERF_EVENT_IOC_ENABLE. */
UVPERF_EXTERN int uvperf_event_measure(uvperf_event_t *event,
                                       uvperf_measure_fn fn, void *arg,
                                       uvperf_count_t *counts, size_t nr,
                                       uvperf_error_t *error);

#ifdef __cplusplus
}
#endif

#endif
