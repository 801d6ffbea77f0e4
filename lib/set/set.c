/* SPDX-License-Identifier: MIT */
/* Several events as one libuv handle: makes the counters that hold the events,
 * and the ticker; closes these and the inner handles that the first start or
 * read_start adds (a watch, a hotplug). Readings on the loop are in set_read.c,
 * the delivery of records in set_stream.c, snapshots in set_snapshot.c, CPUs in
 * set_cpu.c, and all else that can be done in set_control.c. */
#include "set/internal.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "util/error.h"
#include "util/options.h"

/* A caller allocates the handle, so its size may never change. */
_Static_assert(sizeof(uvperf_set_t) == 8 * sizeof(void *),
               "uvperf_set_t is ABI");

#define NS_PER_US        ((uint64_t)1000)
#define DEFAULT_FLUSH_MS 100
#define DEFAULT_SLACK_US 1000

set_t *uvperf__set_impl(const uvperf_set_t *set) {
  set_t *impl = set->impl;

  assert(impl != NULL && !impl->closing);
  return impl;
}

uvperf__counters_t *uvperf__set_counters(const uvperf_set_t *set) {
  return uvperf__set_impl(set)->counters;
}

int uvperf__set_is_forked(const set_t *impl) {
  return uvperf__counters_check(impl->counters, NULL) != 0;
}

/* -- close ---------------------------------------------------------------- */

static void release(void *owner) {
  set_t *impl = owner;

  uvperf__merge_free(impl->merge);
  uvperf__free(impl->scratch);
  uvperf__ticker_free(impl->ticker);
  uvperf__watch_free(impl->watch);
  uvperf__hotplug_free(impl->hotplug);
  uvperf__counters_free(impl->counters);
  uvperf_reading_free(impl->readings[0]);
  uvperf_reading_free(impl->readings[1]);
  uvperf_reading_free(impl->delta);
  uvperf__free(impl);
}

/* As said in event.c, no fd that was polled, and no ring, is released before.
 */
static void closed(void *owner) {
  set_t *impl = owner;
  uvperf_set_t *handle = impl->handle;
  int closed_by_user = impl->closed_by_user;

  uvperf__teardown_let_go(&impl->teardown);
  handle->impl = NULL;
  /* What tells a close that is still owed from a second one. */
  if (closed_by_user)
    handle->reserved[0] = handle;
  if (handle->close_cb != NULL)
    handle->close_cb(handle);
}

/* Closing fds can wait for the loop, but nothing counts, and no program at an
 * event runs, from now on: a tracepoint runs its programs whether its events
 * are enabled or not. In a forked child the counters leave the events, the
 * parent's, alone. */
void uvperf__set_begin_close(void *owner) {
  set_t *impl = owner;

  impl->closing = 1;
  impl->session += 1;
  impl->is_started = 0;
  uvperf__counters_disable(impl->counters, NULL);
  uvperf__counters_detach(impl->counters);
  uvperf__ticker_close(impl->ticker, &impl->teardown);
  if (impl->watch != NULL)
    uvperf__watch_close(impl->watch, &impl->teardown);
  uvperf__set_close_cpus(impl);
  uvperf__teardown_end(&impl->teardown);
}

void uvperf_set_close(uvperf_set_t *set, uvperf_set_close_cb close_cb) {
  set_t *impl = set->impl;

  /* uvperf_walk_close has closed it and the teardown is done. */
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

static const uvperf__ticker_ops_t ticker_ops = {uvperf__set_tick,
                                                uvperf__set_begin_close};

/* -- init ----------------------------------------------------------------- */

/* The ticker is last, so that the loop knows of nothing when anything else
 * fails. */
static int open_set(set_t *impl, uv_loop_t *loop,
                    const uvperf_set_options_t *options,
                    uvperf_error_t *error) {
  int rc;

  if (impl->flags & UVPERF_SET_FOLLOW_CPUS &&
      uvperf__set_make_hotplug(impl, "") != 0)
    return uvperf__error_set(error, UV_ENOMEM, UVPERF_CAUSE_MEMORY,
                             "no memory to follow the CPUs");
  rc = uvperf__counters_new(&impl->counters, options, error);
  if (rc != 0)
    return rc;
  rc = uvperf__ticker_new(&impl->ticker, loop, &ticker_ops, impl);
  if (rc != 0)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_MEMORY,
                             "no memory for the inner handle");
  impl->opened_ns = uvperf__counters_opened(impl->counters);
  impl->clock_ns = impl->opened_ns;
  return 0;
}

int uvperf_set_init(uv_loop_t *loop, uvperf_set_t *set,
                    const uvperf_set_options_t *options,
                    uvperf_error_t *error) {
  uvperf_set_options_t own = UVPERF_SET_OPTIONS_INIT;
  set_t *impl;
  int rc;

  if (loop == NULL || set == NULL || options == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "loop, set and options must not be NULL");
  rc = uvperf__options_copy(&own, sizeof(own),
                            offsetof(uvperf_set_options_t, side_band), options);
  if (rc != 0)
    return uvperf__error_options(error, rc, "uvperf_set_options_t");
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__error_set(error, UV_ENOMEM, UVPERF_CAUSE_MEMORY,
                             "no memory for the handle");
  impl->handle = set;
  uvperf__teardown_init(&impl->teardown, loop, closed, release, impl);
  impl->lent = -1;
  impl->flags = own.flags;
  impl->default_flush_ms = own.wakeup_bytes == 1 ? 0 : DEFAULT_FLUSH_MS;
  impl->slack_ns =
      (own.slack_us == 0 ? DEFAULT_SLACK_US : own.slack_us) * NS_PER_US;
  rc = open_set(impl, loop, &own, error);
  if (rc != 0) {
    release(impl);
    return rc;
  }
  set->loop = loop;
  set->impl = impl;
  set->close_cb = NULL;
  memset(set->reserved, 0, sizeof(set->reserved));
  return 0;
}

/* -- as any uv handle ----------------------------------------------------- */

/* These may be asked of a closing handle too, and of one that is closed (impl
 * NULL) while its memory lives. */

static void set_ref(set_t *impl, int ref) {
  uvperf__ticker_set_ref(impl->ticker, ref);
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

  return impl != NULL && uvperf__ticker_has_ref(impl->ticker);
}

int uvperf_set_is_active(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl != NULL && !impl->closing &&
         (uvperf__ticker_is_active(impl->ticker) ||
          (impl->watch != NULL && uvperf__watch_is_started(impl->watch)));
}

int uvperf_set_is_closing(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl == NULL || impl->closing;
}

size_t uvperf_set_size(void) {
  return sizeof(uvperf_set_t);
}
