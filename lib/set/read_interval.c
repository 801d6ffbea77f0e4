/* SPDX-License-Identifier: MIT */
/* Makes readings of a set on its loop, one at each tick of an interval. */
#include "set/internal.h"

#include "loop/rings.h"
#include "util/error.h"

/* Calls back, with in_callback set: a record callback may have run the loop,
 * inside a flush. The callback may close the set, which is then freed at once
 * if others have closed all its inner handles. */
static void set_call_read_cb(set_t *impl, uvperf_set_read_cb cb, int status,
                             const uvperf_reading_t *reading,
                             const uvperf_reading_t *delta) {
  int was_in_callback = impl->base.in_callback;

  uvperf__teardown_hold(&impl->base.teardown);
  impl->base.in_callback = 1;
  cb(impl->base.handle, status, reading, delta);
  impl->base.in_callback = was_in_callback;
  impl->lent_reading = -1;
  /* If the set is not started, nothing else frees the sources. */
  if (status != UV_ECANCELED)
    uvperf__set_free_sources(impl);
  uvperf__teardown_let_go(&impl->base.teardown);
}

/* After a failed reading the next tick tries again. The reading at which the
 * delta begins is kept. */
int uvperf__set_tick(void *owner, int is_new, uint64_t max_ns) {
  set_t *impl = owner;
  int newer = 1 - impl->last_reading;
  int rc;

  /* The read callback is running the loop, inside another handle's flush. The
   * user still has a reading and the delta. */
  if (impl->lent_reading >= 0)
    return 0;
  if (is_new)
    uvperf__evlist_read_begin(impl->evlist);
  if (uvperf__evlist_read_some(impl->evlist, max_ns))
    return 1;
  rc = uvperf__evlist_read_end(impl->evlist, impl->readings[newer]);
  if (rc == 0)
    rc = uvperf_reading_delta(impl->delta, impl->readings[impl->last_reading],
                              impl->readings[newer]);
  uvperf__cursor_stop(&impl->base.cursor);
  if (rc == 0)
    impl->last_reading = impl->lent_reading = newer;
  set_call_read_cb(impl, impl->read_cb, rc,
                   rc == 0 ? impl->readings[newer] : NULL,
                   rc == 0 ? impl->delta : NULL);
  return 0;
}

void uvperf__set_cancel_reads(void *owner) {
  set_t *impl = owner;
  uvperf_set_read_cb cb = impl->read_cb;

  if (cb == NULL)
    return;
  impl->read_cb = NULL;
  uvperf__set_leave_cpus(impl);
  set_call_read_cb(impl, cb, UV_ECANCELED, NULL, NULL);
}

int uvperf_set_read_start(uvperf_set_t *set, uint64_t interval_ms,
                          uvperf_set_read_cb cb, uvperf_error_t *error) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  uvperf_reading_t **all[] = {&impl->readings[0], &impl->readings[1],
                              &impl->delta};
  /* Inside the callback the user has one of the readings. */
  int first = impl->lent_reading == 0 ? 1 : 0;
  size_t i;
  int rc = uvperf__handle_check(&impl->base, error);

  if (interval_ms == 0 || cb == NULL)
    return uvperf__error_argument(error,
                                  "interval_ms must not be 0, nor cb NULL");
  if (rc != 0)
    return rc;
  if (impl->read_cb != NULL)
    return uvperf__error_set(error, UV_EALREADY, UVPERF_CAUSE_ARGUMENT,
                             "the set is read at an interval already; call "
                             "uvperf_set_read_stop first");
  /* The readings are kept. They need more memory only if the set has grown. */
  for (i = 0; i < sizeof(all) / sizeof(all[0]) && rc == 0; i++)
    if (*all[i] == NULL)
      rc = uvperf_reading_new(all[i]);
  if (rc == 0)
    rc = uvperf__evlist_read_base(impl->evlist, impl->readings[first]);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot read the counts");
  rc = uvperf__interval_timer_start(impl->interval_timer, interval_ms);
  if (rc != 0)
    return uvperf__watch_explain(error, rc);
  rc = uvperf__rings_follow_cpus(&impl->base, "set UVPERF_SET_FIXED_CPUS",
                                 error);
  if (rc != 0) {
    uvperf__interval_timer_stop(impl->interval_timer);
    return rc;
  }
  impl->last_reading = first;
  impl->read_cb = cb;
  return 0;
}

int uvperf_set_read_stop(uvperf_set_t *set) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  int rc = uvperf__handle_check(&impl->base, NULL);

  if (rc != 0)
    return rc;
  uvperf__interval_timer_stop(impl->interval_timer);
  impl->read_cb = NULL;
  uvperf__set_leave_cpus(impl);
  return 0;
}
