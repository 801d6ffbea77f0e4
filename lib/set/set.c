/* SPDX-License-Identifier: MIT */
/* Several events as one libuv handle: init, start, stop, flush, close, and
 * calls that are passed on to the counters. */
#include "set/internal.h"

#include <assert.h>
#include <string.h>

#include "decode/decoder.h"
#include "loop/stats.h"
#include "loop/stream_options.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

/* The caller allocates the handle, so its size must never change. */
_Static_assert(sizeof(uvperf_set_t) == 8 * sizeof(void *),
               "uvperf_set_t is ABI");

#define NS_PER_US        ((uint64_t)1000)
#define DEFAULT_SLACK_US 1000

/* -- close ---------------------------------------------------------------- */

static void release(void *owner) {
  set_t *impl = owner;

  uvperf__set_free_opening(impl);
  /* If the set was closed inside a flush, the events can still be enabled: the
   * pool should have disabled them, but it did not get them. */
  if (impl->counters != NULL && uvperf__counters_is_enabled(impl->counters) &&
      uvperf__counters_nr_open(impl->counters) != 0)
    uvperf__counters_disable(impl->counters, NULL);
  uvperf__merge_free(impl->merge);
  uvperf__merge_free(impl->next.merge);
  uvperf__free(impl->scratch);
  uvperf__interval_timer_free(impl->interval_timer);
  uvperf__watch_free(impl->watch);
  uvperf__hotplug_free(impl->hotplug);
  uvperf__counters_free(impl->counters);
  uvperf_reading_free(impl->readings[0]);
  uvperf_reading_free(impl->readings[1]);
  uvperf_reading_free(impl->delta);
  uvperf__free(impl);
}

static void give_up(void *owner, uvperf__leftovers_t *leftovers) {
  set_t *impl = owner;

  uvperf__counters_give_up(impl->counters, leftovers);
}

/* No polled fd and no ring is released before the last close callback of an
 * inner handle: see event/event.c. */
static void closed(void *owner) {
  set_t *impl = owner;
  uvperf_set_t *handle = impl->handle;
  int closed_by_user = impl->closed_by_user;

  uvperf__snapshot_job_closed(impl->snapshot);
  uvperf__teardown_let_go(&impl->teardown);
  if (handle == NULL)
    return; /* uvperf_set_open failed: the caller has the struct */
  handle->impl = NULL;
  /* Marks that the user has closed the handle, to detect a second close. */
  if (closed_by_user)
    handle->reserved[0] = handle;
  if (handle->close_cb != NULL)
    handle->close_cb(handle);
}

void uvperf_set_close(uvperf_set_t *set, uvperf_set_close_cb close_cb) {
  set_t *impl = set->impl;

  /* uvperf_walk_close has closed the handle, and the teardown is done. */
  if (impl == NULL) {
    assert(set->reserved[0] == NULL);
    set->reserved[0] = set;
    if (close_cb != NULL)
      close_cb(set);
    return;
  }
  assert(!impl->closed_by_user);
  impl->closed_by_user = 1;
  set->close_cb = close_cb;
  if (!impl->closing)
    uvperf__set_begin_close(impl);
}

static const uvperf__interval_timer_ops_t interval_ops = {
    uvperf__set_tick, uvperf__set_begin_close};

/* -- init ----------------------------------------------------------------- */

/* The state of an init or an open. */
typedef struct make_s {
  uv_loop_t *loop;
  uvperf_set_t *set;
  uvperf_set_options_t options;
  set_t *impl;
} make_t;

/* A set without targets would count nothing, without any error. So it is
 * refused. */
static int check_targets(const uvperf_set_options_t *options,
                         uvperf_error_t *error) {
  if (options->nr_targets != 0 || (options->flags & UVPERF_SET_TARGETS_LATER))
    return 0;
  return uvperf__error_set(
      error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "%s",
      options->targets != NULL
          ? "options.targets is set, but options.nr_targets is 0; set it to "
            "the number of targets"
          : "options.targets is NULL, so nothing would be measured; set it and "
            "options.nr_targets, or UVPERF_SET_TARGETS_LATER to add targets "
            "later");
}

static int begin_make(make_t *make, const uvperf_set_options_t *options,
                      uvperf_error_t *error) {
  static const uvperf_set_options_t init = UVPERF_SET_OPTIONS_INIT;
  uvperf_set_options_t *own = &make->options;
  set_t *impl;
  int rc;

  if (make->loop == NULL || make->set == NULL || options == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "loop, set and options must not be NULL");
  *own = init;
  rc = uvperf__options_copy(own, sizeof(*own),
                            offsetof(uvperf_set_options_t, side_band), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_set_options_t");
  rc = check_targets(own, error);
  if (rc != 0)
    return rc;
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the set");
  uvperf__teardown_init(&impl->teardown, make->loop, closed, release, give_up,
                        impl);
  impl->lent = -1;
  impl->flags = own->flags;
  impl->default_flush_ms =
      own->wakeup_bytes == 1 ? 0 : UVPERF__DEFAULT_FLUSH_MS;
  impl->slack_ns =
      (own->slack_us == 0 ? DEFAULT_SLACK_US : own->slack_us) * NS_PER_US;
  make->impl = impl;
  return 0;
}

static int make_hotplug(set_t *impl, uvperf_error_t *error) {
  if (impl->flags & UVPERF_SET_FOLLOW_CPUS &&
      uvperf__set_make_hotplug(impl, "") != 0)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the set");
  return 0;
}

/* This is the last step, so that the loop has no handle if another step
 * fails. */
static int make_timer(const make_t *make, uvperf_error_t *error) {
  int rc = uvperf__interval_timer_new(&make->impl->interval_timer, make->loop,
                                      &interval_ops, make->impl);

  return rc == 0 ? 0 : uvperf__error_shortage(error, rc, "cannot make the set");
}

static void end_make(const make_t *make) {
  uvperf_set_t *set = make->set;

  make->impl->handle = set;
  set->loop = make->loop;
  set->impl = make->impl;
  set->close_cb = NULL;
  memset(set->reserved, 0, sizeof(set->reserved));
}

int uvperf_set_init(uv_loop_t *loop, uvperf_set_t *set,
                    const uvperf_set_options_t *options,
                    uvperf_error_t *error) {
  make_t make = {.loop = loop, .set = set};
  set_t *impl;
  int rc = begin_make(&make, options, error);

  if (rc != 0)
    return rc;
  impl = make.impl;
  rc = make_hotplug(impl, error);
  if (rc == 0)
    rc = uvperf__counters_new(&impl->counters, &make.options, error);
  if (rc == 0)
    rc = make_timer(&make, error);
  if (rc != 0) {
    release(impl);
    return rc;
  }
  impl->opened_ns = uvperf__counters_opened(impl->counters);
  impl->clock_ns = impl->opened_ns;
  end_make(&make);
  return 0;
}

int uvperf_set_open(uv_loop_t *loop, uvperf_set_t *set,
                    const uvperf_set_options_t *options, uvperf_set_open_cb cb,
                    uvperf_error_t *error) {
  make_t make = {.loop = loop, .set = set};
  set_t *impl;
  int rc;

  if (cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "cb must not be NULL");
  rc = begin_make(&make, options, error);
  if (rc != 0)
    return rc;
  impl = make.impl;
  rc = make_hotplug(impl, error);
  if (rc == 0)
    rc = uvperf__set_new_opening(impl, &make.options, cb, error);
  if (rc == 0)
    rc = make_timer(&make, error);
  if (rc != 0) {
    release(impl);
    return rc;
  }
  rc = uvperf__set_begin_opening(impl, loop, error);
  if (rc != 0) {
    uvperf__set_free_opening(impl);
    uvperf__set_begin_close(impl); /* freed later: the loop has a timer */
    return rc;
  }
  end_make(&make);
  return 0;
}

/* -- libuv handle functions ------------------------------------------------ */

/* These functions may also be called for a handle that is closing, or closed
 * (impl NULL) while its memory lives. */

static void set_ref(set_t *impl, int ref) {
  uvperf__interval_timer_set_ref(impl->interval_timer, ref);
  if (impl->watch != NULL)
    uvperf__watch_set_ref(impl->watch, ref);
}

void uvperf_set_ref(uvperf_set_t *set) {
  set_t *impl = set->impl;

  if (impl != NULL && !impl->closing)
    set_ref(impl, 1);
}

void uvperf_set_unref(uvperf_set_t *set) {
  set_t *impl = set->impl;

  if (impl != NULL && !impl->closing)
    set_ref(impl, 0);
}

int uvperf_set_has_ref(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl != NULL && uvperf__interval_timer_has_ref(impl->interval_timer);
}

int uvperf_set_is_active(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl != NULL && !impl->closing &&
         (impl->openings != NULL ||
          uvperf__interval_timer_is_active(impl->interval_timer) ||
          (impl->watch != NULL && uvperf__watch_is_started(impl->watch)));
}

int uvperf_set_is_closing(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl == NULL || impl->closing;
}

size_t uvperf_set_size(void) {
  return sizeof(uvperf_set_t);
}

/* -- start ---------------------------------------------------------------- */

static int check_start(const set_t *impl, uvperf_set_record_cb cb,
                       uvperf_error_t *error) {
  if (uvperf__counters_rings(impl->counters) == NULL)
    return uvperf__error_set(
        error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
        "the set has no records; set UVPERF_SET_RECORDS in options.flags");
  if (!uvperf__counters_write_records(impl->counters))
    return uvperf__error_set(
        error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
        "all events of the set only count, so the callback would never be "
        "called; set the period of one (uvperf_attr_set_period), or "
        "options.side_band");
  if (cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "cb must not be NULL");
  if (impl->is_started)
    return uvperf__error_set(error, UV_EALREADY, UVPERF_CAUSE_ARGUMENT,
                             "the set is already started");
  if (impl->eof_reported && uvperf__counters_have_ended(impl->counters))
    return uvperf__error_set(
        error, UV_EOF, UVPERF_CAUSE_NO_TASK,
        "every target has ended; no more records will come");
  return uvperf__counters_check_writers(impl->counters, error);
}

static int start_watch(set_t *impl, const uvperf_stream_options_t *options,
                       uvperf_error_t *error) {
  uvperf__watch_options_t chosen;
  int rc;

  uvperf__stream_options_for_watch(options, impl->default_flush_ms, &chosen);
  if (impl->flags & UVPERF_SET_OVERWRITE)
    chosen.flush_ms = 0; /* no record waits for a flush */
  rc = uvperf__set_make_watch(impl);
  if (rc == 0)
    rc = uvperf__set_watch_rings(impl);
  if (rc == 0)
    rc = uvperf__watch_start(impl->watch, &chosen);
  if (rc != 0)
    return uvperf__watch_explain(error, rc);
  impl->flush_ms = chosen.flush_ms;
  return 0;
}

/* The watch comes first, so that the first record finds a reader. */
static int start(set_t *impl, const uvperf_stream_options_t *options,
                 uvperf_error_t *error) {
  int enables = !(options->flags & UVPERF_START_NO_ENABLE);
  int rc;

  rc = start_watch(impl, options, error);
  if (rc != 0)
    return rc;
  rc = uvperf__set_follow_cpus(impl, error);
  if (rc == 0 && enables) {
    impl->enabled_by_start = 1;
    rc = uvperf__counters_enable(impl->counters, error);
  }
  if (rc != 0)
    uvperf__set_end_delivery(impl);
  return rc;
}

int uvperf_set_start(uvperf_set_t *set, const uvperf_stream_options_t *options,
                     uvperf_set_record_cb cb, uvperf_error_t *error) {
  set_t *impl = uvperf__set_impl(set);
  uvperf_stream_options_t own;
  int rc;

  rc = uvperf__stream_options_copy(&own, options, error);
  if (rc == 0)
    rc = uvperf__counters_check(impl->counters, error);
  if (rc == 0)
    rc = check_start(impl, cb, error);
  if (rc != 0)
    return rc;
  uvperf__set_take_back(impl);
  rc = start(impl, &own, error);
  if (rc != 0)
    return rc;
  impl->session += 1;
  impl->is_started = 1;
  impl->start_flags = own.flags;
  impl->record_cb = cb;
  impl->eof_reported = 0;
  uvperf__set_start_probes(impl);
  return 0;
}

/* -- stop and flush ------------------------------------------------------- */

int uvperf_set_stop(uvperf_set_t *set) {
  set_t *impl = uvperf__set_impl(set);
  int rc = uvperf__set_check(impl);

  if (rc != 0)
    return rc;
  uvperf__set_end_delivery(impl);
  return 0;
}

int uvperf_set_flush(uvperf_set_t *set) {
  set_t *impl = uvperf__set_impl(set);
  int rc = uvperf__set_check(impl);

  if (rc != 0)
    return rc;
  if (impl->record_cb == NULL || impl->flags & UVPERF_SET_OVERWRITE)
    return UV_EINVAL;
  if (impl->in_callback)
    return UV_EBUSY;
  uvperf__set_take_back(impl);
  uvperf__teardown_hold(&impl->teardown);
  impl->is_flushing = 1;
  uvperf__watch_flush(impl->watch);
  impl->is_flushing = 0;
  if (!impl->closing)
    uvperf__counters_free_sources(impl->counters);
  uvperf__teardown_let_go(&impl->teardown);
  return 0;
}

int uvperf_set_on_end(uvperf_set_t *set, uvperf_set_end_cb cb) {
  set_t *impl = uvperf__set_impl(set);

  if (cb != NULL && !(impl->flags & UVPERF_SET_RECORDS))
    return UV_EINVAL;
  impl->end_cb = cb;
  return 0;
}

int uvperf_set_on_cpu(uvperf_set_t *set, uvperf_set_cpu_cb cb) {
  set_t *impl = uvperf__set_impl(set);

  if (cb != NULL && !(impl->flags & UVPERF_SET_FOLLOW_CPUS))
    return UV_EINVAL;
  impl->cpu_cb = cb;
  return 0;
}

/* -- control --------------------------------------------------------------- */

int uvperf_set_enable(uvperf_set_t *set, uvperf_error_t *error) {
  return uvperf__counters_enable(uvperf__set_counters(set), error);
}

int uvperf_set_disable(uvperf_set_t *set, uvperf_error_t *error) {
  return uvperf__counters_disable(uvperf__set_counters(set), error);
}

int uvperf_set_reset(uvperf_set_t *set, uvperf_error_t *error) {
  uvperf__counters_t *counters = uvperf__set_counters(set);
  int rc = uvperf__counters_check(counters, error);

  return rc != 0 ? rc : uvperf__counters_reset(counters);
}

int uvperf_set_read(uvperf_set_t *set, uvperf_reading_t *reading,
                    uvperf_error_t *error) {
  set_t *impl = uvperf__set_impl(set);
  int rc = uvperf__counters_check(impl->counters, error);

  if (reading == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "reading must not be NULL");
  if (rc != 0)
    return rc;
  rc = uvperf__counters_read(impl->counters, reading);
  return rc == 0 ? 0
                 : uvperf__error_shortage(error, rc, "cannot read the counts");
}

static int remove_target(set_t *impl, uint32_t index) {
  set_closing_t *closing = uvperf__set_begin_closing(impl);
  int rc = uvperf__counters_remove_target(impl->counters, index);

  uvperf__set_end_closing(closing);
  return rc;
}

/* If the new rings cannot be watched, the target is not added. */
int uvperf_set_add_target(uvperf_set_t *set, const uvperf_target_t *target,
                          uint32_t *index, uvperf_error_t *error) {
  set_t *impl = uvperf__set_impl(set);
  uint32_t added;
  int rc;

  /* If the set is not started, nothing else frees the sources. */
  uvperf__set_free_sources(impl);
  rc = uvperf__counters_add_target(impl->counters, target, &added, error);
  if (rc != 0)
    return rc;
  rc = uvperf__set_watch_rings(impl);
  if (rc != 0) {
    remove_target(impl, added);
    return uvperf__watch_explain(error, rc);
  }
  if (index != NULL)
    *index = added;
  uvperf__set_check_ends(impl);
  return 0;
}

int uvperf_set_remove_target(uvperf_set_t *set, uint32_t index) {
  set_t *impl = uvperf__set_impl(set);
  int rc = remove_target(impl, index);

  if (rc == 0)
    uvperf__set_check_ends(impl);
  return rc;
}

int uvperf_set_apply_filter(uvperf_set_t *set, size_t attr, const char *filter,
                            uvperf_error_t *error) {
  return uvperf__counters_set_filter(uvperf__set_counters(set), attr, filter,
                                     error);
}

int uvperf_set_change_period(uvperf_set_t *set, size_t attr, uint64_t period,
                             uvperf_error_t *error) {
  return uvperf__counters_set_period(uvperf__set_counters(set), attr, period,
                                     error);
}

int uvperf_set_attach_bpf(uvperf_set_t *set, size_t attr, int prog_fd,
                          uint64_t cookie, uvperf_error_t *error) {
  return uvperf__counters_set_bpf(uvperf__set_counters(set), attr, prog_fd,
                                  cookie, error);
}

int uvperf_set_fill_map(uvperf_set_t *set, size_t attr, int map_fd,
                        uvperf_error_t *error) {
  return uvperf__counters_fill_map(uvperf__set_counters(set), attr, map_fd,
                                   error);
}

/* -- getters --------------------------------------------------------------- */

const uvperf_set_failure_t *uvperf_set_failures(const uvperf_set_t *set,
                                                size_t *nr) {
  return uvperf__counters_failures(uvperf__set_counters(set), nr);
}

size_t uvperf_set_nr_attrs(const uvperf_set_t *set) {
  return uvperf__counters_nr_attrs(uvperf__set_counters(set));
}

const uvperf_event_item_t *uvperf_set_item(const uvperf_set_t *set,
                                           size_t attr) {
  return uvperf__counters_item(uvperf__set_counters(set), attr);
}

const uvperf_change_t *uvperf_set_changes(const uvperf_set_t *set, size_t attr,
                                          size_t *nr) {
  return uvperf__counters_changes(uvperf__set_counters(set), attr, nr);
}

size_t uvperf_set_nr_open(const uvperf_set_t *set) {
  return uvperf__counters_nr_open(uvperf__set_counters(set));
}

size_t uvperf_set_nr_closing(const uvperf_set_t *set) {
  return uvperf__set_impl(set)->nr_put_aside;
}

int uvperf_set_fd(const uvperf_set_t *set, size_t attr, uint64_t serial) {
  return uvperf__counters_fd(uvperf__set_counters(set), attr, serial);
}

const uvperf_source_t *uvperf_set_source(const uvperf_set_t *set, uint64_t id) {
  const uvperf_decoder_t *decoder =
      uvperf__counters_decoder(uvperf__set_counters(set));

  return decoder == NULL ? NULL : uvperf__decoder_source(decoder, id);
}

size_t uvperf_set_nr_rings(const uvperf_set_t *set) {
  return uvperf__counters_nr_rings(uvperf__set_counters(set));
}

void uvperf_set_stats(const uvperf_set_t *set, uvperf_stats_t *stats) {
  const set_t *impl = uvperf__set_impl(set);

  uvperf__stats_of_rings(uvperf__counters_rings(impl->counters), impl->watch,
                         uvperf__set_is_forked(impl), stats);
  stats->cpus_gone = impl->cpus_gone;
  stats->cpus_come = impl->cpus_come;
}

int uvperf_set_ring(const uvperf_set_t *set, size_t index,
                    uvperf_ring_info_t *ring) {
  const set_t *impl = uvperf__set_impl(set);

  return uvperf__stats_ring_info(uvperf__counters_rings(impl->counters), index,
                                 impl->watch, uvperf__set_is_forked(impl),
                                 ring);
}

int uvperf_set_failed_ring(const uvperf_set_t *set, uvperf_ring_info_t *ring) {
  const set_t *impl = uvperf__set_impl(set);

  if (impl->failed_ring == NULL)
    return UV_ENOENT;
  return uvperf_set_ring(set, impl->failed_ring->index, ring);
}
