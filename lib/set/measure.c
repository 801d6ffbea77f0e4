/* SPDX-License-Identifier: MIT */
/* What a function costs: a set, or one event by its name, that is enabled for
 * each call. Nothing is between enabling and the call, nor between the call and
 * disabling. */
#include "uvperf/measure.h"

#include <uv.h>

#include "name/list.h"
#include "set/counters.h"
#include "set/internal.h"
#include "sys/fork.h"
#include "util/alloc.h"
#include "util/error.h"

#define DEFAULT_RUNS 100

/* The first code that is not 0, as disabling goes on after a failure, and so
 * does reading. */
static int first_of(int rc, int later) {
  return rc != 0 ? rc : later;
}

/* Enables, calls and disables: 0; *disabled is what disabling gave. Or why it
 * was not called. */
static int call(uvperf__counters_t *counters, uvperf_measure_fn fn, void *arg,
                int *disabled, uvperf_error_t *error) {
  int rc = uvperf__counters_enable(counters, error);

  if (rc != 0) {
    /* Those before the one that failed are on; but not in a forked child. */
    uvperf__counters_disable(counters, NULL);
    return rc;
  }
  fn(arg);
  *disabled = uvperf__counters_stop(counters, error);
  return 0;
}

/* A reading that was filled before has room, so that the call is not for
 * nothing. */
static int make_room(const uvperf__counters_t *counters,
                     uvperf_reading_t *reading) {
  if (uvperf_reading_nr_places(reading) > 0)
    return 0;
  return uvperf__counters_make_reading(counters, reading);
}

int uvperf_measure(uvperf_set_t *set, uvperf_measure_fn fn, void *arg,
                   uvperf_reading_t *reading) {
  uvperf__counters_t *counters;
  int disabled = 0;
  int rc;

  if (set == NULL || fn == NULL || reading == NULL)
    return UV_EINVAL;
  counters = uvperf__set_counters(set);
  rc = uvperf__counters_check(counters, NULL);
  if (rc == 0 && uvperf__counters_is_enabled(counters))
    rc = UV_EBUSY;
  if (rc == 0)
    rc = make_room(counters, reading);
  if (rc == 0)
    rc = uvperf__counters_reset(counters);
  if (rc == 0)
    rc = call(counters, fn, arg, &disabled, NULL);
  if (rc != 0)
    return rc;
  rc = uvperf__counters_read(counters, reading);
  return first_of(rc, disabled);
}

static void do_nothing(void *arg) {
  (void)arg;
}

/* As often as asked for, each time through the same call as any other function:
 * it is volatile so that no compiler sees which one it is. */
static int measure_nothing(uvperf_set_t *set, uint32_t runs,
                           uvperf_reading_t *overhead,
                           uvperf_reading_t *reading) {
  uvperf_measure_fn volatile nothing = do_nothing;
  uint32_t i;
  int rc;

  rc = uvperf_measure(set, nothing, NULL, overhead);
  for (i = 1; i < runs && rc == 0; i++) {
    rc = uvperf_measure(set, nothing, NULL, reading);
    if (rc == 0)
      rc = uvperf__reading_least(overhead, reading);
  }
  return rc;
}

int uvperf_measure_overhead(uvperf_set_t *set, uint32_t runs,
                            uvperf_reading_t *overhead) {
  uvperf_reading_t *reading;
  int rc;

  if (set == NULL || overhead == NULL)
    return UV_EINVAL;
  rc = uvperf_reading_new(&reading);
  if (rc != 0)
    return rc;
  rc = measure_nothing(set, runs == 0 ? DEFAULT_RUNS : runs, overhead, reading);
  uvperf_reading_free(reading);
  return rc;
}

/* -- one event ------------------------------------------------------------ */

static int parse_one(uvperf_event_list_t **list, const char *name,
                     uvperf_error_t *error) {
  size_t nr;
  int rc = uvperf_event_list_parse(list, name, error);

  if (rc != 0)
    return rc;
  nr = uvperf__event_list_nr_whole(*list);
  if (nr == 1)
    return 0;
  uvperf_event_list_free(*list);
  return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "'%.80s' stands for %zu events, and one is "
                           "measured here: a set measures several",
                           name, nr);
}

static int open_one(uvperf__counters_t **counters, const char *name,
                    uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_event_list_t *list;
  int rc = parse_one(&list, name, error);

  if (rc != 0)
    return rc;
  options.events = list;
  options.targets = &self;
  options.nr_targets = 1;
  rc = uvperf__counters_new_brief(counters, &options, error);
  uvperf_event_list_free(list);
  return rc;
}

/* The event stays open, disabled: what closes last on a tracepoint waits for a
 * grace period of RCU (perf_trace_event_unreg in
 * kernel/trace/trace_event_perf.c). */
struct uvperf_meter_s {
  uvperf__counters_t *counters;
  uvperf_reading_t *reading;
  uvperf__thread_t thread;
  int is_used; /* the counts are not 0 any more */
};

static int make_reading(uvperf_meter_t *meter, uvperf_error_t *error) {
  int rc = uvperf_reading_new(&meter->reading);

  if (rc == 0)
    rc = make_room(meter->counters, meter->reading);
  if (rc == 0)
    return 0;
  return uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                           "no memory to read the event into");
}

int uvperf_meter_new(uvperf_meter_t **meter, const char *name,
                     uvperf_error_t *error) {
  uvperf_meter_t *made;
  int rc;

  if (meter == NULL || name == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "uvperf_meter_new needs a meter and a name");
  *meter = NULL;
  made = uvperf__calloc(1, sizeof(*made));
  if (made == NULL)
    return uvperf__error_set(error, UV_ENOMEM, UVPERF_CAUSE_MEMORY,
                             "no memory for the meter");
  uvperf__thread_init(&made->thread);
  rc = open_one(&made->counters, name, error);
  if (rc == 0)
    rc = make_reading(made, error);
  if (rc != 0) {
    uvperf_meter_free(made);
    return rc;
  }
  *meter = made;
  return 0;
}

static int check_meter(const uvperf_meter_t *meter, uvperf_error_t *error) {
  int rc = uvperf__counters_check(meter->counters, error);

  if (rc != 0)
    return rc;
  if (!uvperf__thread_is_mine(&meter->thread))
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "the meter counts for the thread that made it, "
                             "and another one calls: each thread needs a meter "
                             "of its own");
  if (uvperf__counters_is_enabled(meter->counters))
    return uvperf__error_set(error, UV_EBUSY, UVPERF_CAUSE_BUSY,
                             "the meter is measuring: a measurement within a "
                             "measurement needs a meter of its own");
  return 0;
}

int uvperf_meter_measure(uvperf_meter_t *meter, uvperf_measure_fn fn, void *arg,
                         uvperf_count_t *count, uvperf_error_t *error) {
  int disabled = 0;
  int rc;

  if (meter == NULL || fn == NULL || count == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "a meter, a function and a count are needed");
  rc = check_meter(meter, error);
  if (rc != 0)
    return rc;
  if (meter->is_used)
    uvperf__counters_reset(meter->counters);
  meter->is_used = 1;
  rc = call(meter->counters, fn, arg, &disabled, error);
  if (rc != 0)
    return rc;
  rc = uvperf__counters_read(meter->counters, meter->reading);
  if (rc == 0)
    rc = uvperf_reading_total(meter->reading, 0, count);
  return first_of(rc, disabled);
}

void uvperf_meter_free(uvperf_meter_t *meter) {
  if (meter == NULL)
    return;
  uvperf__counters_free(meter->counters);
  uvperf_reading_free(meter->reading);
  uvperf__free(meter);
}

int uvperf_measure_event(const char *name, uvperf_measure_fn fn, void *arg,
                         uvperf_count_t *count, uvperf_error_t *error) {
  uvperf_meter_t *meter;
  int rc;

  if (name == NULL || fn == NULL || count == NULL)
    return uvperf__error_set(
        error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
        "uvperf_measure_event needs a name, a function and "
        "a count");
  rc = uvperf_meter_new(&meter, name, error);
  if (rc != 0)
    return rc;
  rc = uvperf_meter_measure(meter, fn, arg, count, error);
  uvperf_meter_free(meter);
  return rc;
}
