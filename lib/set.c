/* SPDX-License-Identifier: MIT */
/* Several events as one libuv handle: makes the counters that hold the events,
 * and the ticker that is its one inner handle, and closes both. Readings on the
 * loop are in set_read.c, all else that can be done is in set_control.c. */
#include "set.h"

#include <assert.h>
#include <string.h>

#include "alloc.h"
#include "explain.h"
#include "options.h"
#include "sys.h"

set_t *uvperf__set_impl(const uvperf_set_t *set) {
  set_t *impl = set->impl;

  assert(impl != NULL && !impl->closing);
  return impl;
}

uvperf__counters_t *uvperf__set_counters(const uvperf_set_t *set) {
  return uvperf__set_impl(set)->counters;
}

/* -- close ---------------------------------------------------------------- */

static void release(set_t *impl) {
  uvperf__counters_free(impl->counters);
  uvperf_reading_free(impl->readings[0]);
  uvperf_reading_free(impl->readings[1]);
  uvperf_reading_free(impl->delta);
  uvperf__free(impl);
}

static void closed(void *owner) {
  set_t *impl = owner;
  uvperf_set_t *handle = impl->handle;
  int closed_by_user = impl->closed_by_user;

  release(impl);
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
static void begin_close(void *owner) {
  set_t *impl = owner;

  impl->closing = 1;
  uvperf__counters_disable(impl->counters, NULL);
  uvperf__counters_detach(impl->counters);
  uvperf__ticker_close(impl->ticker);
}

void uvperf_set_close(uvperf_set_t *set, uvperf_set_close_cb close_cb) {
  set_t *impl = set->impl;

  /* uvperf_walk_close has closed it and the teardown is over. */
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
    begin_close(impl);
}

static const uvperf__ticker_ops_t ticker_ops = {uvperf__set_tick, begin_close,
                                                closed};

/* -- init ----------------------------------------------------------------- */

/* The ticker is last, so that the loop knows of nothing when anything else
 * fails. */
static int open_set(set_t *impl, uv_loop_t *loop,
                    const uvperf_set_options_t *options,
                    uvperf_error_t *error) {
  int rc = uvperf__counters_new(&impl->counters, options, error);

  if (rc != 0)
    return rc;
  rc = uvperf__ticker_new(&impl->ticker, loop, &ticker_ops, impl);
  if (rc != 0)
    return uvperf__explain(error, rc, UVPERF_CAUSE_MEMORY,
                           "no memory for the inner handle");
  return 0;
}

int uvperf_set_init(uv_loop_t *loop, uvperf_set_t *set,
                    const uvperf_set_options_t *options,
                    uvperf_error_t *error) {
  uvperf_set_options_t own = UVPERF_SET_OPTIONS_INIT;
  set_t *impl;
  int rc;

  if (loop == NULL || set == NULL || options == NULL)
    return uvperf__explain(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "loop, set and options must not be NULL");
  rc = uvperf__options_copy(&own, sizeof(own),
                            offsetof(uvperf_set_options_t, side_band), options);
  if (rc != 0)
    return uvperf__explain_options(error, rc, "uvperf_set_options_t");
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__explain(error, UV_ENOMEM, UVPERF_CAUSE_MEMORY,
                           "no memory for the handle");
  impl->handle = set;
  impl->pid = uvperf__sys_getpid();
  impl->lent = -1;
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

void uvperf_set_ref(uvperf_set_t *set) {
  set_t *impl = set->impl;

  if (impl != NULL && !impl->closing)
    uvperf__ticker_set_ref(impl->ticker, 1);
}

void uvperf_set_unref(uvperf_set_t *set) {
  set_t *impl = set->impl;

  if (impl != NULL && !impl->closing)
    uvperf__ticker_set_ref(impl->ticker, 0);
}

int uvperf_set_has_ref(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl != NULL && uvperf__ticker_has_ref(impl->ticker);
}

int uvperf_set_is_active(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl != NULL && !impl->closing &&
         uvperf__ticker_is_active(impl->ticker);
}

int uvperf_set_is_closing(const uvperf_set_t *set) {
  const set_t *impl = set->impl;

  return impl == NULL || impl->closing;
}

size_t uvperf_set_size(void) {
  return sizeof(uvperf_set_t);
}
