/* SPDX-License-Identifier: MIT */
/* Makes readings of a set on its loop, one at each tick of an interval. */
#include "set/internal.h"

#include "util/error.h"

/* After a failed reading the next tick tries again. The reading at which the
 * delta begins is kept. */
int uvperf__set_tick(void *owner, int is_new, uint64_t max_ns) {
  set_t *impl = owner;
  uvperf_set_read_cb cb = impl->cb;
  int newer = 1 - impl->last;
  /* A record callback may have run the loop, inside a flush. */
  int was_in_callback = impl->base.in_callback;
  int rc;

  /* The read callback is running the loop, inside another handle's flush. The
   * user still has a reading and the delta. */
  if (impl->lent >= 0)
    return 0;
  if (is_new)
    uvperf__evlist_read_begin(impl->evlist);
  if (uvperf__evlist_read_some(impl->evlist, max_ns))
    return 1;
  rc = uvperf__evlist_read_end(impl->evlist, impl->readings[newer]);
  if (rc == 0)
    rc = uvperf_reading_delta(impl->delta, impl->readings[impl->last],
                              impl->readings[newer]);
  uvperf__teardown_hold(&impl->base.teardown);
  uvperf__cursor_stop(&impl->base.cursor);
  impl->base.in_callback = 1;
  if (rc != 0) {
    cb(impl->base.handle, rc, NULL, NULL);
  } else {
    impl->last = newer;
    impl->lent = newer;
    cb(impl->base.handle, 0, impl->readings[newer], impl->delta);
  }
  impl->lent = -1;
  impl->base.in_callback = was_in_callback;
  /* If the set is not started, nothing else frees the sources. */
  uvperf__set_free_sources(impl);
  uvperf__teardown_let_go(&impl->base.teardown);
  return 0;
}

/* The callback may close the set, which is then freed at once if others have
 * closed all its inner handles. */
void uvperf__set_cancel_reads(void *owner) {
  set_t *impl = owner;
  uvperf_set_read_cb cb = impl->cb;
  int was_in_callback = impl->base.in_callback;

  if (cb == NULL)
    return;
  impl->cb = NULL;
  uvperf__set_leave_cpus(impl);
  uvperf__teardown_hold(&impl->base.teardown);
  impl->base.in_callback = 1;
  cb(impl->base.handle, UV_ECANCELED, NULL, NULL);
  impl->base.in_callback = was_in_callback;
  uvperf__teardown_let_go(&impl->base.teardown);
}

/* The readings are kept. They need more memory only if the set has grown. */
static int make_readings(set_t *impl) {
  uvperf_reading_t **all[] = {&impl->readings[0], &impl->readings[1],
                              &impl->delta};
  size_t i;
  int rc;

  for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
    if (*all[i] != NULL)
      continue;
    rc = uvperf_reading_new(all[i]);
    if (rc != 0)
      return rc;
  }
  return 0;
}

int uvperf_set_read_start(uvperf_set_t *set, uint64_t interval_ms,
                          uvperf_set_read_cb cb, uvperf_error_t *error) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  /* Inside the callback the user has one of the readings. */
  int first = impl->lent == 0 ? 1 : 0;
  int rc = uvperf__handle_check(&impl->base, error);

  if (interval_ms == 0 || cb == NULL)
    return uvperf__error_set(error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "interval_ms must not be 0, nor cb NULL");
  if (rc != 0)
    return rc;
  if (impl->cb != NULL)
    return uvperf__error_set(error, UV_EALREADY, UVPERF_CAUSE_ARGUMENT,
                             "the set is read at an interval already; call "
                             "uvperf_set_read_stop first");
  rc = make_readings(impl);
  if (rc == 0)
    rc = uvperf__evlist_read_base(impl->evlist, impl->readings[first]);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot read the counts");
  rc = uvperf__interval_timer_start(impl->interval_timer, interval_ms);
  if (rc != 0)
    return uvperf__watch_explain(error, rc);
  rc = uvperf__handle_follow_cpus(&impl->base, "set UVPERF_SET_FIXED_CPUS",
                                  error);
  if (rc != 0) {
    uvperf__interval_timer_stop(impl->interval_timer);
    return rc;
  }
  impl->last = first;
  impl->cb = cb;
  return 0;
}

int uvperf_set_read_stop(uvperf_set_t *set) {
  set_t *impl = uvperf__handle_impl(&set->handle);
  int rc = uvperf__handle_check(&impl->base, NULL);

  if (rc != 0)
    return rc;
  uvperf__interval_timer_stop(impl->interval_timer);
  impl->cb = NULL;
  uvperf__set_leave_cpus(impl);
  return 0;
}
