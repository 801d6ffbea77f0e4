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

/* Returns the first code that is not 0, because disabling and reading go on
 * after a failure. */
static int first_of(int rc, int later) {
  return rc != 0 ? rc : later;
}

/* Enables the evlist, calls the function, and disables the evlist. Returns
 * 0, and *disabled receives the code of disabling. If the function was not
 * called, returns the code of enabling. */
static int call(uvperf__evlist_t *evlist, uvperf_measure_fn fn, void *arg,
                int *disabled, uvperf_error_t *error) {
  int rc = uvperf__evlist_enable(evlist, error);

  if (rc != 0) {
    /* All other events are enabled now, except in a forked child. */
    uvperf__evlist_disable(evlist, NULL);
    return rc;
  }
  fn(arg);
  *disabled = uvperf__evlist_stop(evlist, error);
  return 0;
}

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
 * events of the calling thread (brief). */
static int open_counters(uvperf_meter_t *meter,
                         const uvperf_set_options_t *options,
                         uvperf_error_t *error) {
  uvperf_set_options_t brief = *options;
  uvperf_target_t self = UVPERF_TARGET_INIT;

  if (options->nr_targets > 0)
    return uvperf__evlist_new(&meter->evlist, options, error);
  uvperf__thread_init(&meter->thread);
  brief.targets = &self;
  brief.nr_targets = 1;
  return uvperf__evlist_make("", 1, &meter->evlist, &brief, error);
}

/* Allocates the counts before the first call, so that no call is wasted. */
static int make_reading(uvperf_meter_t *meter, uvperf_error_t *error) {
  int rc = uvperf_reading_new(&meter->reading);

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
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "meter and options must not be NULL");
  *meter = NULL;
  rc = uvperf__options_copy(&own, sizeof(own),
                            offsetof(uvperf_set_options_t, side_band), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_set_options_t");
  if (own.flags & ~(UVPERF_SET_STRICT | UVPERF_SET_USER_READ))
    return uvperf__error_set(
        error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
        "options.flags is 0x%x, but a meter only counts; set only "
        "UVPERF_SET_STRICT and UVPERF_SET_USER_READ",
        own.flags);
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL)
    return out_of_memory(error);
  rc = open_counters(made, &own, error);
  if (rc == 0)
    rc = make_reading(made, error);
  if (rc != 0) {
    uvperf_meter_free(made);
    return rc;
  }
  made->nr = uvperf__evlist_nr_whole(made->evlist);
  *meter = made;
  return 0;
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
static int check_meter(const uvperf_meter_t *meter, uvperf_measure_fn fn,
                       const void *of, size_t nr, uvperf_error_t *error) {
  int rc;

  if (meter == NULL || fn == NULL || of == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "meter, fn and the results must not be NULL");
  if (nr != meter->nr)
    return uvperf__error_set(
        error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
        "the meter has %zu events, but nr is %zu; pass one result per event",
        meter->nr, nr);
  rc = uvperf__evlist_check(meter->evlist, error);
  if (rc != 0)
    return rc;
  if (meter->thread.number != 0 && !uvperf__thread_is_mine(&meter->thread))
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "the meter counts the thread that made it, and "
                             "this is another; make a meter in each thread");
  if (uvperf__evlist_is_enabled(meter->evlist))
    return uvperf__error_set(error, UV_EBUSY, UVPERF_CAUSE_BUSY,
                             "the meter is measuring already; make another "
                             "meter for a measurement within it");
  return 0;
}

static void take_counts(const uvperf_meter_t *meter, uvperf_count_t *counts,
                        size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    uvperf_reading_total(meter->reading, i, &counts[i]);
}

/* The caller has checked the meter. */
static int measure_once(uvperf_meter_t *meter, uvperf_measure_fn fn, void *arg,
                        uvperf_count_t *counts, size_t nr,
                        uvperf_error_t *error) {
  int disabled = 0;
  int rc;

  if (meter->is_used)
    uvperf__evlist_reset(meter->evlist);
  meter->is_used = 1;
  rc = call(meter->evlist, fn, arg, &disabled, error);
  if (rc != 0)
    return rc;
  rc = uvperf__evlist_read(meter->evlist, meter->reading);
  if (rc == 0)
    take_counts(meter, counts, nr);
  return first_of(rc, disabled);
}

int uvperf_meter_measure(uvperf_meter_t *meter, uvperf_measure_fn fn, void *arg,
                         uvperf_count_t *counts, size_t nr,
                         uvperf_error_t *error) {
  int rc = check_meter(meter, fn, counts, nr, error);

  return rc != 0 ? rc : measure_once(meter, fn, arg, counts, nr, error);
}

void uvperf_meter_free(uvperf_meter_t *meter) {
  if (meter == NULL)
    return;
  uvperf__evlist_free(meter->evlist);
  uvperf_reading_free(meter->reading);
  uvperf__free(meter);
}

/* The meter is freed afterwards, so the failure of a missing event is
 * copied. */
static void say_missing(const uvperf_meter_t *meter, uvperf_error_t *error) {
  const uvperf_set_failure_t *failures;
  size_t nr;

  if (error == NULL)
    return;
  failures = uvperf_meter_failures(meter, &nr);
  if (nr > 0)
    *error = failures[0].error;
  else
    memset(error, 0, sizeof(*error));
}

int uvperf_measure_events(const char *names, uvperf_measure_fn fn, void *arg,
                          uvperf_count_t *counts, size_t nr,
                          uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_meter_t *meter;
  int rc;

  if (names == NULL || fn == NULL || counts == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "names, fn and counts must not be NULL");
  options.names = names;
  rc = uvperf_meter_new(&meter, &options, error);
  if (rc != 0)
    return rc;
  rc = uvperf_meter_measure(meter, fn, arg, counts, nr, error);
  if (rc == 0)
    say_missing(meter, error);
  uvperf_meter_free(meter);
  return rc;
}

/* -- repeated calls -------------------------------------------------------- */

/* Uses Welford's method, which stays precise if counts are large and close to
 * each other. `deviation` is the sum of squares until end_runs. */
static void add_run(uvperf_runs_t *runs, const uvperf_count_t *count) {
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

static void end_runs(uvperf_runs_t *runs) {
  runs->deviation =
      runs->nr > 1 ? root_of(runs->deviation / (double)(runs->nr - 1)) : 0;
}

int uvperf_meter_repeat(uvperf_meter_t *meter, uint64_t times,
                        uvperf_measure_fn fn, void *arg, uvperf_runs_t *runs,
                        size_t nr, uvperf_error_t *error) {
  uvperf_count_t *counts;
  uint64_t done;
  size_t i;
  int rc = check_meter(meter, fn, runs, nr, error);

  if (rc != 0)
    return rc;
  if (times == 0)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "times must not be 0");
  counts = uvperf__calloc(nr, sizeof(counts[0]));
  if (counts == NULL)
    return out_of_memory(error);
  memset(runs, 0, nr * sizeof(runs[0]));
  for (done = 0; done < times && rc == 0; done++) {
    rc = measure_once(meter, fn, arg, counts, nr, error);
    for (i = 0; i < nr && rc == 0; i++)
      add_run(&runs[i], &counts[i]);
  }
  for (i = 0; i < nr; i++)
    end_runs(&runs[i]);
  uvperf__free(counts);
  return rc;
}
