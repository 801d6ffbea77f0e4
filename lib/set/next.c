/* SPDX-License-Identifier: MIT */
/* Returns records of a set one by one, without a callback or the loop. The
 * records come ring by ring, or in the order of time. The watch is not used, so
 * the user may poll the rings' fds on any loop. */
#include "set/internal.h"

#include "decode/decoder.h"
#include "loop/stats.h"

/* Adds new rings to the merge, drops rings that have ended, and begins a pass.
 * Returns 0 or -ENOMEM. */
static int begin_pass(set_t *impl) {
  size_t nr = uvperf__evlist_nr_rings(impl->evlist);
  uvperf__merge_t *merge = impl->next_merge;
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  for (i = 0; i < nr; i++) {
    ring = uvperf__handle_ring(&impl->base, i);
    if (i == merge->nr_tracks) {
      rc = uvperf__merge_add(merge, &ring->ring, ring);
      if (rc != 0)
        return rc;
    }
    if (ring->status != 0)
      uvperf__merge_drop(merge, i);
  }
  uvperf__set_begin_merge(impl, merge);
  impl->base.cursor.merge = merge;
  return 0;
}

/* In the order of time, takes the next record of this pass. If there is none,
 * begins a new pass. */
static int set_take(set_t *impl, const uvperf_record_t **record) {
  uvperf__cursor_t *cursor = &impl->base.cursor;
  int rc = UV_EAGAIN;

  if (impl->next_merge == NULL || cursor->merge != NULL)
    rc = uvperf__next_of_rings(&impl->base, record);
  if (rc != UV_EAGAIN || impl->next_merge == NULL)
    return rc;
  uvperf__merge_end(impl->next_merge);
  rc = begin_pass(impl);
  return rc == 0 ? uvperf__next_of_rings(&impl->base, record) : rc;
}

int uvperf__set_next(void *owner, const uvperf_record_t **record) {
  set_t *impl = owner;
  int rc = 0;

  if (impl->base.decoder == NULL || impl->base.is_overwritable ||
      !uvperf__evlist_write_records(impl->evlist))
    return UV_EINVAL;
  if (impl->base.is_started)
    return UV_EBUSY;
  if (impl->next_merge == NULL && impl->flags & UVPERF_SET_TIME_ORDER)
    rc = uvperf__merge_new(&impl->next_merge, impl->base.decoder);
  if (rc != 0)
    return rc;
  if (impl->next_merge != NULL)
    impl->next_merge->scratch = impl->base.room;
  if (impl->eof_reported && uvperf__evlist_have_ended(impl->evlist))
    return UV_EOF;
  uvperf__set_free_sources(impl);
  return set_take(impl, record);
}

/* Checking for ends takes system calls. Afterwards it looks again for records
 * that targets wrote before they ended, and for records whose wakeup the check
 * consumed. */
int uvperf__set_next_or_end(void *owner, const uvperf_record_t **record) {
  set_t *impl = owner;
  int rc;

  uvperf__set_find_ends(impl);
  rc = set_take(impl, record);
  return rc == UV_EAGAIN ? uvperf__set_take_ends(impl) : rc;
}
