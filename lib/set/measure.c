/* SPDX-License-Identifier: MIT */
/* Measures functions. A meter is enabled for each call. No other code runs
 * between enabling and the call, or between the call and disabling. */
#include "uvperf/measure.h"

#include <stddef.h>
#include <string.h>

#include <uv.h>

#include "evlist/evlist.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

/* The events stay open, disabled: closing the last event of a tracepoint waits
 * for an RCU grace period (perf_trace_event_unreg in
 * kernel/trace/trace_event_perf.c). */
struct uvperf_meter_s {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  size_t nr;               /* events, without their further parts */
  uvperf__thread_t thread; /* no thread if the options have targets */
  int is_used;             /* the counts are no longer 0 */
};

static int out_of_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the meter");
}

/* Opens the events at the options' targets. If there are no targets, opens the
 * events of the calling thread (brief). Allocates the counts before the first
 * call, so that no call is wasted. */
static int meter_open(uvperf_meter_t *meter,
                      const uvperf_set_options_t *options,
                      uvperf_error_t *error) {
  uvperf_set_options_t brief = *options;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  int rc;

  if (options->nr_targets == 0) {
    uvperf__thread_init(&meter->thread);
    brief.targets = &self;
    brief.nr_targets = 1;
  }
  rc = uvperf__evlist_make(options->nr_targets == 0, &meter->evlist, &brief,
                           error);
  if (rc != 0)
    return rc;
  meter->nr = uvperf__evlist_nr_whole(meter->evlist);
  rc = uvperf_reading_new(&meter->reading);
  if (rc == 0)
    rc = uvperf__evlist_make_reading(meter->evlist, meter->reading);
  return rc == 0 ? 0 : out_of_memory(error);
}

int uvperf_meter_new(uvperf_meter_t **meter,
                     const uvperf_set_options_t *options,
                     uvperf_error_t *error) {
  uvperf_set_options_t own = UVPERF_SET_OPTIONS_INIT;
  uvperf_meter_t *made;
  int rc;

  if (meter == NULL || options == NULL)
    return uvperf__error_argument(error, "meter and options must not be NULL");
  *meter = NULL;
  rc = uvperf__options_copy(&own, sizeof(own),
                            offsetof(uvperf_set_options_t, side_band), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_set_options_t");
  if (own.flags & ~(UVPERF_SET_STRICT | UVPERF_SET_USER_READ))
    return uvperf__error_argument(
        error,
        "options.flags is 0x%x, but a meter only counts; set only "
        "UVPERF_SET_STRICT and UVPERF_SET_USER_READ",
        own.flags);
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL)
    return out_of_memory(error);
  rc = meter_open(made, &own, error);
  if (rc == 0)
    *meter = made;
  else
    uvperf_meter_free(made);
  return rc;
}

const uvperf_event_item_t *uvperf_meter_item(const uvperf_meter_t *meter,
                                             size_t index) {
  return index < meter->nr ? uvperf__evlist_item(meter->evlist, index) : NULL;
}

const uvperf_set_failure_t *uvperf_meter_failures(const uvperf_meter_t *meter,
                                                  size_t *nr) {
  size_t ignored;

  return uvperf__evlist_failures(meter->evlist, nr != NULL ? nr : &ignored);
}

/* `of` is the array of counts or runs. */
static int meter_check(const uvperf_meter_t *meter, uvperf_measure_fn fn,
                       const void *of, size_t nr, uvperf_error_t *error) {
  int rc;

  if (meter == NULL || fn == NULL || of == NULL)
    return uvperf__error_argument(error,
                                  "meter, fn and the results must not be NULL");
  if (nr != meter->nr)
    return uvperf__error_argument(
        error,
        "the meter has %zu events, but nr is %zu; pass one result per event",
        meter->nr, nr);
  rc = uvperf__evlist_check(meter->evlist, error);
  if (rc != 0)
    return rc;
  if (meter->thread.number != 0 && !uvperf__thread_is_mine(&meter->thread))
    return uvperf__error_argument(
        error, "the meter counts the thread that made it, and this is another; "
               "make a meter in each thread");
  if (uvperf__evlist_is_enabled(meter->evlist))
    return uvperf__error_set(error, UV_EBUSY, UVPERF_CAUSE_BUSY,
                             "the meter is measuring already; make another "
                             "meter for a measurement within it");
  return 0;
}

/* Resets, enables, calls the function, disables and reads. The caller has
 * checked the meter. Disabling and reading go on after a failure, and the first
 * code is returned. */
static int meter_measure(uvperf_meter_t *meter, uvperf_measure_fn fn, void *arg,
                         uvperf_count_t *counts, size_t nr,
                         uvperf_error_t *error) {
  int disabled, rc;
  size_t i;

  if (meter->is_used)
    uvperf__evlist_reset(meter->evlist);
  meter->is_used = 1;
  rc = uvperf__evlist_enable(meter->evlist, error);
  if (rc != 0) {
    /* All other events are enabled now, except in a forked child. */
    uvperf__evlist_disable(meter->evlist, NULL);
    return rc;
  }
  fn(arg);
  disabled = uvperf__evlist_stop(meter->evlist, error);
  rc = uvperf__evlist_read(meter->evlist, meter->reading);
  if (rc != 0)
    return rc;
  for (i = 0; i < nr; i++)
    uvperf_reading_total(meter->reading, i, &counts[i]);
  return disabled;
}

int uvperf_meter_measure(uvperf_meter_t *meter, uvperf_measure_fn fn, void *arg,
                         uvperf_count_t *counts, size_t nr,
                         uvperf_error_t *error) {
  int rc = meter_check(meter, fn, counts, nr, error);

  return rc != 0 ? rc : meter_measure(meter, fn, arg, counts, nr, error);
}

void uvperf_meter_free(uvperf_meter_t *meter) {
  if (meter == NULL)
    return;
  uvperf__evlist_free(meter->evlist);
  uvperf_reading_free(meter->reading);
  uvperf__free(meter);
}

int uvperf_measure_events(const char *names, uvperf_measure_fn fn, void *arg,
                          uvperf_count_t *counts, size_t nr,
                          uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  const uvperf_set_failure_t *failures;
  uvperf_meter_t *meter;
  size_t nr_failures;
  int rc;

  if (names == NULL || fn == NULL || counts == NULL)
    return uvperf__error_argument(error,
                                  "names, fn and counts must not be NULL");
  options.names = names;
  rc = uvperf_meter_new(&meter, &options, error);
  if (rc != 0)
    return rc;
  rc = uvperf_meter_measure(meter, fn, arg, counts, nr, error);
  /* The meter is freed, so the failure of a missing event is copied. */
  failures = uvperf_meter_failures(meter, &nr_failures);
  if (rc == 0 && error != NULL) {
    memset(error, 0, sizeof(*error));
    if (nr_failures > 0)
      *error = failures[0].error;
  }
  uvperf_meter_free(meter);
  return rc;
}

/* -- repeated calls -------------------------------------------------------- */

/* Uses Welford's method, which stays precise if counts are large and close to
 * each other. `deviation` is the sum of squares until all calls are done. */
static void runs_add(uvperf_runs_t *runs, const uvperf_count_t *count) {
  double off = (double)count->scaled - runs->mean;

  uvperf_count_add(&runs->sum, count);
  if (count->state != UVPERF_COUNT_COUNTING)
    return;
  if (runs->nr == 0 || count->scaled < runs->least)
    runs->least = count->scaled;
  if (count->scaled > runs->most)
    runs->most = count->scaled;
  runs->nr++;
  runs->mean += off / (double)runs->nr;
  runs->deviation += off * ((double)count->scaled - runs->mean);
}

/* Computes the square root with Newton's method, from above, so that libm is
 * not needed. */
static double root_of(double x) {
  double root = x > 1 ? x : 1, next = (root + x / root) / 2;

  while (x > 0 && next < root) {
    root = next;
    next = (root + x / root) / 2;
  }
  return x > 0 ? root : 0;
}

int uvperf_meter_repeat(uvperf_meter_t *meter, uint64_t times,
                        uvperf_measure_fn fn, void *arg, uvperf_runs_t *runs,
                        size_t nr, uvperf_error_t *error) {
  uvperf_count_t *counts;
  uint64_t done;
  size_t i;
  int rc = meter_check(meter, fn, runs, nr, error);

  if (rc != 0)
    return rc;
  if (times == 0)
    return uvperf__error_argument(error, "times must not be 0");
  counts = uvperf__calloc(nr, sizeof(counts[0]));
  if (counts == NULL)
    return out_of_memory(error);
  memset(runs, 0, nr * sizeof(runs[0]));
  for (done = 0; done < times && rc == 0; done++) {
    rc = meter_measure(meter, fn, arg, counts, nr, error);
    for (i = 0; i < nr && rc == 0; i++)
      runs_add(&runs[i], &counts[i]);
  }
  for (i = 0; i < nr; i++)
    runs[i].deviation =
        runs[i].nr > 1 ? root_of(runs[i].deviation / (double)(runs[i].nr - 1))
                       : 0;
  uvperf__free(counts);
  return rc;
}
