/* SPDX-License-Identifier: MIT */
/* The delivery of a set's records: started, stopped, flushed. What happens in a
 * turn of the loop is in set_drain.c and set_end.c. */
#include "set/internal.h"

#include "loop/ring_report.h"
#include "loop/stream.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

/* -- rings ---------------------------------------------------------------- */

/* The merge follows the watch, so that it reads no ring that is not watched. Of
 * one that could not be polled nothing is to be delivered. */
static int merge_rings(set_t *impl) {
  uvperf__cpu_rings_t *rings = uvperf__counters_rings(impl->counters);
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  if (impl->merge == NULL)
    return 0;
  while (impl->nr_merged < uvperf__watch_nr_rings(impl->watch)) {
    i = impl->nr_merged;
    ring = uvperf__cpu_rings_at(rings, i);
    rc = uvperf__merge_add(impl->merge, &ring->ring, ring);
    if (rc != 0)
      return rc;
    impl->nr_merged += 1;
    if (uvperf__watch_has_ended(impl->watch, i))
      uvperf__merge_drop(impl->merge, i);
  }
  return 0;
}

/* Nobody would be woken for overwritable rings; the watch without a ring takes
 * the turns in which ends are looked for, and keeps the loop alive. */
int uvperf__set_watch_rings(set_t *impl) {
  uvperf__cpu_rings_t *rings = uvperf__counters_rings(impl->counters);
  uvperf__cpu_ring_t *ring;
  int merged, rc = 0;
  size_t i;

  if (impl->watch == NULL || impl->flags & UVPERF_SET_OVERWRITE)
    return 0;
  for (i = uvperf__watch_nr_rings(impl->watch);
       i < uvperf__cpu_rings_nr(rings) && rc == 0; i++) {
    ring = uvperf__cpu_rings_at(rings, i);
    rc = uvperf__watch_add(impl->watch, &ring->ring, &ring->fd, 1);
  }
  merged = merge_rings(impl);
  return rc != 0 ? rc : merged;
}

static const uvperf__watch_ops_t by_ring = {
    .drain = uvperf__set_drain,
    .slice_end = uvperf__set_slice_end,
    .spare = uvperf__set_spare,
    .turned = uvperf__set_turned,
    .ring_skipped = uvperf__set_ring_skipped,
    .ring_end = uvperf__set_ring_end,
    .end = uvperf__set_end,
    .close = uvperf__set_begin_close,
};

static const uvperf__watch_ops_t by_time = {
    .drain_all = uvperf__set_drain_all,
    .slice_end = uvperf__set_slice_end,
    .spare = uvperf__set_spare,
    .turned = uvperf__set_turned,
    .ring_skipped = uvperf__set_ring_skipped,
    .ring_end = uvperf__set_ring_end,
    .end = uvperf__set_end,
    .close = uvperf__set_begin_close,
};

/* At the first start, and not in init, so that an init that fails leaves
 * nothing with the loop. */
static int make_watch(set_t *impl) {
  int in_order =
      (impl->flags & (UVPERF_SET_TIME_ORDER | UVPERF_SET_OVERWRITE)) ==
      UVPERF_SET_TIME_ORDER;
  int rc;

  if (impl->watch != NULL)
    return 0;
  if (impl->scratch == NULL)
    impl->scratch = uvperf__calloc(1, UVPERF__RING_SCRATCH_BYTES);
  if (impl->scratch == NULL)
    return UV_ENOMEM;
  if (in_order && impl->merge == NULL) {
    rc = uvperf__merge_new(
        &impl->merge, uvperf__counters_decoder(impl->counters), impl->scratch);
    if (rc != 0)
      return rc;
  }
  rc = uvperf__watch_new(&impl->watch, impl->handle->loop,
                         in_order ? &by_time : &by_ring, impl);
  if (rc != 0)
    return rc;
  uvperf__watch_set_ref(impl->watch, uvperf__ticker_has_ref(impl->ticker));
  return 0;
}

/* -- start ---------------------------------------------------------------- */

static int check_start(const set_t *impl, uvperf_set_record_cb cb,
                       uvperf_error_t *error) {
  if (uvperf__counters_rings(impl->counters) == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "there are no records without UVPERF_SET_RECORDS");
  if (cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "a record callback is needed");
  if (impl->is_started)
    return uvperf__error_set(error, UV_EALREADY, UVPERF_CAUSE_ARGUMENT,
                             "already started");
  if (impl->eof_told && uvperf__counters_have_ended(impl->counters))
    return uvperf__error_set(error, UV_EOF, UVPERF_CAUSE_NO_TASK,
                             "every target is gone: nothing more will come");
  return 0;
}

static int start_watch(set_t *impl, const uvperf_stream_options_t *options,
                       uvperf_error_t *error) {
  uvperf__watch_options_t chosen;
  int rc;

  uvperf__stream_choose(options, impl->default_flush_ms, &chosen);
  if (impl->flags & UVPERF_SET_OVERWRITE)
    chosen.flush_ms = 0; /* there is nothing that could wait */
  rc = make_watch(impl);
  if (rc == 0)
    rc = uvperf__set_watch_rings(impl);
  if (rc == 0)
    rc = uvperf__watch_start(impl->watch, &chosen);
  if (rc != 0)
    return uvperf__ring_report_refused(error, rc);
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

  rc = uvperf__stream_copy(&own, options, error);
  if (rc == 0)
    rc = uvperf__counters_check(impl->counters, error);
  if (rc == 0)
    rc = check_start(impl, cb, error);
  if (rc == 0)
    rc = start(impl, &own, error);
  if (rc != 0)
    return rc;
  impl->session += 1;
  impl->is_started = 1;
  impl->start_flags = own.flags;
  impl->record_cb = cb;
  impl->eof_told = 0;
  impl->probe_at = 0;
  return 0;
}

/* -- stop and flush ------------------------------------------------------- */

void uvperf__set_end_delivery(set_t *impl) {
  impl->session += 1;
  impl->is_started = 0;
  /* Also when it is not started: this may be inside a flush. */
  if (impl->watch != NULL)
    uvperf__watch_stop(impl->watch);
  if (impl->enabled_by_start)
    uvperf__counters_disable(impl->counters, NULL);
  impl->enabled_by_start = 0;
  uvperf__set_leave_cpus(impl);
}

int uvperf_set_stop(uvperf_set_t *set) {
  set_t *impl = uvperf__set_impl(set);

  if (uvperf__set_is_forked(impl))
    return UV_EPERM;
  uvperf__set_end_delivery(impl);
  return 0;
}

int uvperf_set_flush(uvperf_set_t *set) {
  set_t *impl = uvperf__set_impl(set);

  if (uvperf__set_is_forked(impl))
    return UV_EPERM;
  if (impl->record_cb == NULL || impl->flags & UVPERF_SET_OVERWRITE)
    return UV_EINVAL;
  if (impl->in_callback)
    return UV_EBUSY;
  uvperf__teardown_hold(&impl->teardown);
  impl->is_flushing = 1;
  uvperf__watch_flush(impl->watch);
  impl->is_flushing = 0;
  if (!impl->closing)
    uvperf__counters_settle(impl->counters);
  uvperf__teardown_let_go(&impl->teardown);
  return 0;
}

void uvperf_set_on_end(uvperf_set_t *set, uvperf_set_end_cb cb) {
  uvperf__set_impl(set)->end_cb = cb;
}

void uvperf_set_on_cpu(uvperf_set_t *set, uvperf_set_cpu_cb cb) {
  uvperf__set_impl(set)->cpu_cb = cb;
}
