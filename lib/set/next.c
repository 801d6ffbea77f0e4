/* SPDX-License-Identifier: MIT */
/* Returns records of a set one by one, without a callback or the loop. The
 * records come ring by ring, or in the order of time. The watch is not used, so
 * the user may poll the rings' fds on any loop. */
#include "set/internal.h"

#include "decode/decoder.h"
#include "loop/stats.h"

/* -- the lent record ------------------------------------------------------- */

static void next_consume(set_next_t *next,
                         int (*consume)(uvperf__merge_t *merge,
                                        const uvperf__merged_t *merged)) {
  if (next->lent == 0)
    return;
  if (next->merge == NULL)
    uvperf__ring_consume(&next->lender->ring, next->lent);
  else if (consume(next->merge, &next->merged))
    next->lender->stats.late_records += 1;
  next->lent = 0;
}

/* Other code may now read the rings, so the merge must begin again. The scratch
 * may be lent to another handle by now. */
void uvperf__set_take_back(set_t *impl) {
  next_consume(&impl->next, uvperf__merge_consume_last);
  impl->next.has_look = 0;
  impl->next.was_empty = 0;
}

/* -- in the order of time -------------------------------------------------- */

/* Adds new rings to the merge, drops rings that have ended, and begins a pass.
 * Returns 0 or -ENOMEM. */
static int next_look(set_t *impl) {
  size_t nr = uvperf__counters_nr_rings(impl->counters);
  set_next_t *next = &impl->next;
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  for (i = 0; i < nr; i++) {
    ring = uvperf__set_ring_at(impl, i);
    if (i == next->nr_merged) {
      rc = uvperf__merge_add(next->merge, &ring->ring, ring);
      if (rc != 0)
        return rc;
      next->nr_merged += 1;
    }
    if (ring->status != 0)
      uvperf__merge_drop(next->merge, i);
  }
  uvperf__set_begin_merge(impl, next->merge);
  next->has_look = 1;
  return 0;
}

/* Takes the next record of this pass. If there is none, begins a new pass and
 * takes its first record. Returns the same as uvperf__merge_next without a
 * horizon, or -ENOMEM. */
static int merge_next(set_t *impl) {
  set_next_t *next = &impl->next;
  int rc = 0;

  if (next->has_look)
    rc = uvperf__merge_next(next->merge, UINT64_MAX, &next->merged);
  if (rc != 0)
    return rc;
  uvperf__merge_end(next->merge);
  rc = next_look(impl);
  if (rc == 0)
    rc = uvperf__merge_next(next->merge, UINT64_MAX, &next->merged);
  if (rc == 0)
    uvperf__merge_end(next->merge);
  return rc;
}

/* -- the next record ------------------------------------------------------- */

static int next_prepare(set_t *impl) {
  int rc;

  if (!(impl->flags & UVPERF_SET_TIME_ORDER))
    return 0;
  if (impl->next.merge == NULL) {
    rc = uvperf__merge_new(&impl->next.merge,
                           uvperf__counters_decoder(impl->counters));
    if (rc != 0)
      return rc;
  }
  impl->next.merge->scratch = impl->base.room;
  return 0;
}

/* Finds the next record. Returns 1 if there is one, 0 if the rings are empty,
 * UV_EPROTO if a ring is unsound, or UV_ENOMEM. */
static int find(set_t *impl, const void **bytes, size_t *size,
                const uint64_t **time) {
  uvperf__cpu_rings_t *rings = uvperf__counters_rings(impl->counters);
  set_next_t *next = &impl->next;
  int rc;

  *time = NULL;
  if (next->merge == NULL) {
    rc = uvperf__cpu_rings_next(rings, &next->index, impl->base.room, bytes,
                                size);
    if (rc != 0)
      next->lender = uvperf__cpu_rings_at(rings, next->index);
    return rc;
  }
  rc = merge_next(impl);
  if (rc == 0 || rc == UV_ENOMEM)
    return rc;
  next->lender = uvperf__cpu_rings_at(rings, next->merged.ring);
  if (rc != 1)
    return rc;
  *bytes = next->merged.bytes;
  *size = next->merged.size;
  if (next->merged.is_bad) {
    *time = &next->merged.time;
    next->lender->stats.bad_times += 1;
  }
  return rc;
}

static int next_skip(set_t *impl, const uvperf_record_t **record) {
  uvperf__cpu_ring_t *ring = impl->next.lender;

  uvperf__stats_ring_skip(ring);
  *record =
      uvperf__decode_none(uvperf__counters_decoder(impl->counters), ring->cpu);
  return UV_EPROTO;
}

/* Returns UV_EAGAIN if the rings are empty. */
static int take(set_t *impl, const uvperf_record_t **record) {
  const uint64_t *time;
  const void *bytes;
  size_t size;
  int rc = find(impl, &bytes, &size, &time);

  if (rc == UV_EPROTO)
    return next_skip(impl, record);
  if (rc < 0)
    return rc;
  if (rc == 0)
    return uvperf__cpu_rings_have_ended(uvperf__counters_rings(impl->counters))
               ? UV_EOF
               : UV_EAGAIN;
  impl->next.lent = size;
  return uvperf__set_decode(impl, impl->next.lender, bytes, size, time, record);
}

/* Checking for ends takes system calls, so it is done only if the previous call
 * found nothing either. The second take finds records that targets wrote before
 * they ended, and records whose wakeup the check consumed. */
static int take_or_end(set_t *impl, const uvperf_record_t **record) {
  set_next_t *next = &impl->next;
  int was_empty = next->was_empty;
  int rc = take(impl, record);

  if (rc == UV_EAGAIN && was_empty) {
    uvperf__set_find_ends(impl);
    rc = take(impl, record);
    if (rc == UV_EAGAIN)
      return uvperf__set_take_ends(impl);
  }
  next->was_empty = rc == UV_EAGAIN;
  return rc;
}

static int check(const set_t *impl) {
  if (uvperf__counters_rings(impl->counters) == NULL ||
      !uvperf__counters_write_records(impl->counters))
    return UV_EINVAL;
  return impl->base.in_callback ? UV_EBUSY : 0;
}

int uvperf__set_next(void *owner, const uvperf_record_t **record) {
  set_t *impl = owner;
  int rc = check(impl);

  if (rc == 0 && impl->flags & UVPERF_SET_OVERWRITE)
    rc = UV_EINVAL;
  if (rc == 0 && impl->base.is_started)
    rc = UV_EBUSY;
  if (rc == 0)
    rc = next_prepare(impl);
  if (rc != 0)
    return rc;
  next_consume(&impl->next, uvperf__merge_consume);
  if (impl->eof_reported && uvperf__counters_have_ended(impl->counters))
    return UV_EOF;
  uvperf__set_free_sources(impl);
  return take_or_end(impl, record);
}

int uvperf__set_has_record(const void *owner) {
  const set_t *impl = owner;
  const uvperf__cpu_rings_t *rings = uvperf__counters_rings(impl->counters);

  return rings != NULL && uvperf__cpu_rings_have_record(
                              rings, impl->next.lender, impl->next.lent);
}
