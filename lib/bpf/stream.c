/* SPDX-License-Identifier: MIT */
/* The delivery of a BPF reader's records: started, stopped, flushed. What
 * happens in a turn of the loop is in drain.c, what is in the map in
 * bpf_reader_map.c. */
#include "bpf/internal.h"

#include "loop/ring_report.h"
#include "loop/stream.h"
#include "util/error.h"

/* -- rings ---------------------------------------------------------------- */

/* Nobody is woken for an overwritable ring. */
static int is_watched(const reader_t *impl) {
  return !(impl->flags & UVPERF_BPF_READER_OVERWRITE);
}

/* The watch counts as the rings do. */
int uvperf__bpf_reader_watch_rings(reader_t *impl) {
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  if (!is_watched(impl))
    return 0;
  for (i = uvperf__watch_nr_rings(impl->watch);
       i < uvperf__cpu_rings_nr(impl->rings); i++) {
    ring = uvperf__cpu_rings_at(impl->rings, i);
    rc = uvperf__watch_add(impl->watch, &ring->ring, &ring->fd, 1);
    if (rc != 0)
      return rc;
  }
  return 0;
}

/* -- start ---------------------------------------------------------------- */

static int check_start(const reader_t *impl, uvperf_bpf_sample_cb cb,
                       uvperf_error_t *error) {
  if (cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "a callback is needed");
  if (impl->is_started)
    return uvperf__error_set(error, UV_EALREADY, UVPERF_CAUSE_ARGUMENT,
                             "already started");
  return 0;
}

static int start_watch(reader_t *impl, const uvperf_stream_options_t *options,
                       uvperf_error_t *error) {
  uvperf__watch_options_t chosen;
  int rc;

  if (!is_watched(impl))
    return 0;
  uvperf__stream_choose(options, impl->default_flush_ms, &chosen);
  rc = uvperf__bpf_reader_watch_rings(impl);
  if (rc == 0)
    rc = uvperf__watch_start(impl->watch, &chosen);
  return rc == 0 ? 0 : uvperf__ring_report_refused(error, rc);
}

/* The watch comes first, so that the first record finds a reader. */
static int start(reader_t *impl, const uvperf_stream_options_t *options,
                 uvperf_error_t *error) {
  int rc;

  rc = start_watch(impl, options, error);
  if (rc != 0)
    return rc;
  rc = uvperf__bpf_reader_follow_cpus(impl, error);
  if (rc == 0 && !(options->flags & UVPERF_START_NO_ENABLE))
    rc = uvperf__bpf_reader_want(impl, error);
  if (rc != 0)
    uvperf__bpf_reader_end_delivery(impl);
  return rc;
}

int uvperf_bpf_reader_start(uvperf_bpf_reader_t *reader,
                            const uvperf_stream_options_t *options,
                            uvperf_bpf_sample_cb cb, uvperf_error_t *error) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);
  uvperf_stream_options_t own;
  int rc;

  rc = uvperf__stream_copy(&own, options, error);
  if (rc == 0)
    rc = uvperf__bpf_reader_check_process(impl, error);
  if (rc == 0)
    rc = check_start(impl, cb, error);
  if (rc == 0)
    rc = start(impl, &own, error);
  if (rc != 0)
    return rc;
  impl->is_started = 1;
  impl->start_flags = own.flags;
  impl->cb = cb;
  return 0;
}

/* -- stop and flush ------------------------------------------------------- */

void uvperf__bpf_reader_end_delivery(reader_t *impl) {
  impl->is_started = 0;
  /* Also when it is not started: this may be inside a flush. */
  uvperf__watch_stop(impl->watch);
  uvperf__bpf_reader_unwant(impl);
  uvperf__bpf_reader_leave_cpus(impl);
}

int uvperf_bpf_reader_stop(uvperf_bpf_reader_t *reader) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);

  if (uvperf__bpf_reader_is_forked(impl))
    return UV_EPERM;
  uvperf__bpf_reader_end_delivery(impl);
  return 0;
}

int uvperf_bpf_reader_flush(uvperf_bpf_reader_t *reader) {
  reader_t *impl = uvperf__bpf_reader_impl(reader);

  if (uvperf__bpf_reader_is_forked(impl))
    return UV_EPERM;
  if (!is_watched(impl) || impl->cb == NULL)
    return UV_EINVAL;
  if (impl->in_callback)
    return UV_EBUSY;
  impl->lost_at = 0;
  uvperf__teardown_hold(&impl->teardown);
  uvperf__watch_flush(impl->watch);
  uvperf__teardown_let_go(&impl->teardown);
  return 0;
}

void uvperf_bpf_reader_on_cpu(uvperf_bpf_reader_t *reader,
                              uvperf_bpf_cpu_cb cb) {
  uvperf__bpf_reader_impl(reader)->cpu_cb = cb;
}
