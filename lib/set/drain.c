/* SPDX-License-Identifier: MIT */
/* Delivers the records of a set's rings to the user in the order of time.
 * Without this order, loop/rings.c delivers them. Also makes the watch. */
#include "set/internal.h"

#include "decode/decoder.h"
#include "loop/rings.h"
#include "loop/snapshot_job.h"
#include "loop/stats.h"
#include "util/error.h"

#define NS_PER_MS 1000000u

/* The kernel reads its clocks without a lock, so a record's time can be a
 * little ahead of our clock. */
#define AHEAD_NS NS_PER_MS

/* Delivers a record of a merge. A record with an impossible time is counted,
 * and delivered with the time that the merge chose. */
static void deliver_merged(set_t *impl, const uvperf__merged_t *merged,
                           const uvperf__slice_t *slice) {
  uvperf__cpu_ring_t *ring = merged->owner;

  ring->stats.bad_times += (uint64_t)merged->is_bad;
  uvperf__rings_deliver(&impl->base, ring, merged->bytes, merged->size, 0,
                        merged->is_bad ? &merged->time : NULL, slice);
}

/* -- in the order of time ------------------------------------------------- */

/* Reads the heads before the clock, so that no record is later than the clock.
 * A snapshot has its own merge. */
void uvperf__set_begin_merge(set_t *impl, uvperf__merge_t *merge) {
  uint64_t now;

  uvperf__merge_heads(merge);
  now = uvperf__evlist_clock(impl->evlist);
  /* CLOCK_REALTIME and CLOCK_TAI can be set back. After this, earlier records
   * seem to be from the future, and new records can seem to be from before the
   * opening. Such records must not be held back or counted as late. */
  if (now < impl->clock_ns) {
    impl->opened_ns = 0;
    uvperf__merge_rewind(merge);
  }
  impl->clock_ns = now;
  uvperf__merge_begin(merge, impl->opened_ns,
                      now < UINT64_MAX - AHEAD_NS ? now + AHEAD_NS
                                                  : UINT64_MAX);
}

/* Returns the latest time of records that are delivered now. If a ring is more
 * than half full, records do not wait for the slack. In a flush, records do not
 * wait at all. */
static uint64_t horizon_at(const set_t *impl, uint64_t now, int is_pressed) {
  uint64_t slack = now < impl->slack_ns ? now : impl->slack_ns;

  if (impl->is_flushing || now == UINT64_MAX)
    return UINT64_MAX;
  return is_pressed ? now : now - slack;
}

/* One drain of all rings, by one callback: only a new start changes it. */
typedef struct merge_drain_s {
  uvperf_record_cb cb;
  uvperf_handle_t *handle;
  uvperf_decoder_t *decoder;
  const uvperf__slice_t *slice;
  const uint64_t *session;
  uint64_t own_session;
} merge_drain_t;

static inline int merge_sample(void *user, void *owner, const uint8_t *bytes,
                               uint64_t header) {
  const merge_drain_t *drain = user;
  uvperf__cpu_ring_t *ring = owner;
  const uvperf_record_t *record;

  record = uvperf__decode_sample(drain->decoder, bytes, header);
  if (record == NULL)
    return -1;
  ring->stats.records += 1;
  uvperf__stats_ring_slice(ring, drain->slice);
  ring->stats.bytes += uvperf__header_size(header);
  drain->cb(drain->handle, 0, record);
  return *drain->session == drain->own_session;
}

/* Delivers the next record by itself, not as part of a run. Returns the same as
 * uvperf__merge_next. */
static int merge_one(set_t *impl, uint64_t horizon, uvperf__slice_t *slice,
                     size_t *ring_index) {
  uvperf__cpu_ring_t *ring;
  uvperf__merged_t merged;
  int rc;

  rc = uvperf__merge_next(impl->merge, horizon, &merged);
  if (rc < 0)
    *ring_index = merged.ring;
  if (rc != 1)
    return rc;
  ring = merged.owner;
  deliver_merged(impl, &merged, slice);
  slice->records += 1;
  slice->bytes += merged.size;
  if (!uvperf__handle_has_no_rings(&impl->base) &&
      uvperf__merge_consume(impl->merge, &merged))
    ring->stats.late_records += 1;
  return 1;
}

/* Delivers records up to the horizon. Returns UVPERF__DRAINED, _CUT or
 * _STOPPED. */
static int merge_until(set_t *impl, uint64_t horizon, uvperf__slice_t *slice) {
  merge_drain_t drain = {impl->base.record_cb, impl->base.handle,
                         impl->base.decoder,   slice,
                         slice->session,       slice->own_session};
  uint64_t records, bytes;
  size_t ring_index;
  int rc;

  for (;;) {
    impl->base.in_callback = 1;
    records = uvperf__merge_run(impl->merge, horizon, uvperf__slice_left(slice),
                                slice->max_bytes - slice->bytes, merge_sample,
                                &drain, &bytes);
    impl->base.in_callback = 0;
    slice->records += records;
    slice->bytes += bytes;
    rc = 1;
    if (records == 0)
      rc = merge_one(impl, horizon, slice, &ring_index);
    if (rc == 0)
      return UVPERF__DRAINED;
    if (rc < 0) /* the merge has found the ring unsound */
      rc = uvperf__watch_ring_failed(impl->base.watch, ring_index, UV_EPROTO,
                                     impl->is_flushing ? NULL : slice);
    else
      rc = uvperf__slice_check(slice);
    if (rc != UVPERF__DRAINED)
      return rc;
  }
}

static int drain_all(void *owner, uvperf__slice_t *slice) {
  set_t *impl = owner;
  uint64_t records = slice->records;
  /* This clock is read before the heads. All records that are older than this
   * time minus the slack are visible now, in any ring. */
  uint64_t now = uvperf__evlist_clock(impl->evlist);
  int is_pressed;
  int rc;

  impl->merge->scratch = slice->scratch;
  uvperf__set_begin_merge(impl, impl->merge);
  is_pressed = uvperf__merge_is_pressed(impl->merge);
  rc = merge_until(impl, horizon_at(impl, now, is_pressed), slice);
  /* Nothing was delivered, perhaps because another process's clock is a little
   * ahead. */
  if (rc == UVPERF__DRAINED && is_pressed && slice->records == records)
    rc = merge_until(impl, UINT64_MAX, slice);
  if (uvperf__handle_has_no_rings(&impl->base)) {
    uvperf__merge_forget(impl->merge);
    return UVPERF__STOPPED;
  }
  /* Records that are still too young are delivered by the flush timer. If there
   * is no such timer, or if the end of a target waits for these records,
   * schedule a flush. */
  if (rc == UVPERF__DRAINED && uvperf__merge_has_more(impl->merge) &&
      (impl->flush_ms == 0 || impl->ends_found))
    uvperf__watch_flush_in(impl->base.watch, impl->slack_ns / NS_PER_MS + 1);
  uvperf__merge_end(impl->merge);
  return rc;
}

/* -- snapshots ------------------------------------------------------------- */

static int deliver_by_time(set_t *impl, uvperf__snapshot_job_t *job,
                           uvperf__slice_t *slice) {
  uvperf__cpu_ring_t *ring;
  uvperf__merged_t merged;
  int rc = UVPERF__DRAINED;

  uvperf__set_begin_merge(impl, job->merge);
  while (rc == UVPERF__DRAINED &&
         uvperf__merge_next(job->merge, UINT64_MAX, &merged) == 1) {
    ring = merged.owner;
    deliver_merged(impl, &merged, slice);
    ring->stats.late_records +=
        (uint64_t)uvperf__merge_consume(job->merge, &merged);
    rc = uvperf__slice_take(slice, merged.size);
  }
  uvperf__merge_end(job->merge);
  for (; rc == UVPERF__DRAINED && job->at < job->nr; job->at++) {
    if (job->snapshots[job->at].code != 0)
      uvperf__rings_skipped(impl, job->at);
    if (uvperf__slice_is_stopped(slice))
      rc = UVPERF__STOPPED;
  }
  return rc;
}

int uvperf__set_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                 uvperf__slice_t *slice) {
  return job->merge != NULL ? deliver_by_time(owner, job, slice)
                            : uvperf__rings_deliver_snapshot(owner, job, slice);
}

/* Prepares everything before the images are taken, because later snapshots do
 * not contain records that were taken. Each snapshot has its own merge.
 * Otherwise, with UVPERF_SNAPSHOT_ALL, its records would count as late after an
 * earlier snapshot has delivered newer records. */
int uvperf__set_prepare(void *owner, uvperf__snapshot_job_t *job,
                        uvperf_error_t *error) {
  set_t *impl = owner;
  size_t i;
  int rc;

  if (!(impl->flags & UVPERF_SET_TIME_ORDER))
    return 0;
  job->flags |= UVPERF_SNAPSHOT_OLDEST_FIRST;
  rc = uvperf__merge_new(&job->merge, impl->base.decoder);
  for (i = 0; rc == 0 && i < job->nr; i++)
    rc = uvperf__merge_add(job->merge, &job->snapshots[i].image,
                           uvperf__handle_ring(&impl->base, i));
  return rc == 0 ? 0
                 : uvperf__error_shortage(error, rc, "cannot copy the rings");
}

/* -- other operations of the watch ----------------------------------------- */

/* From now on nothing is read from this ring. */
static void ring_end(void *owner, size_t ring_index, int status) {
  set_t *impl = owner;

  uvperf__merge_drop(impl->merge, ring_index);
  uvperf__rings_ring_end(owner, ring_index, status);
}

static void end_all(void *owner, size_t ring_index, int status) {
  set_t *impl = owner;
  size_t i;

  for (i = 0; i < impl->merge->nr_tracks; i++)
    uvperf__merge_drop(impl->merge, i);
  uvperf__rings_end(owner, ring_index, status);
}

/* -- the watch ------------------------------------------------------------- */

int uvperf__set_rings_watched(void *owner) {
  set_t *impl = owner;
  uvperf__cpu_ring_t *ring;
  size_t i;
  int rc;

  if (impl->merge == NULL)
    return 0;
  for (i = impl->merge->nr_tracks; i < uvperf__watch_nr_rings(impl->base.watch);
       i++) {
    ring = uvperf__cpu_rings_at(impl->base.rings, i);
    rc = uvperf__merge_add(impl->merge, &ring->ring, ring);
    if (rc != 0)
      return rc;
    if (uvperf__watch_has_ended(impl->base.watch, i))
      uvperf__merge_drop(impl->merge, i);
  }
  return 0;
}

static const uvperf__watch_ops_t by_ring = {
    .drain = uvperf__rings_drain,
    .slice_end = uvperf__handle_slice_end,
    .spare = uvperf__rings_spare,
    .iteration_end = uvperf__set_iteration_end,
    .flush_due = uvperf__set_flush_due,
    .ring_skipped = uvperf__rings_skipped,
    .ring_end = uvperf__rings_ring_end,
    .end = uvperf__rings_end,
    .close = uvperf__handle_begin_close,
};

static const uvperf__watch_ops_t by_time = {
    .drain_all = drain_all,
    .slice_end = uvperf__handle_slice_end,
    .spare = uvperf__rings_spare,
    .iteration_end = uvperf__set_iteration_end,
    .flush_due = uvperf__set_flush_due,
    .ring_skipped = uvperf__rings_skipped,
    .ring_end = ring_end,
    .end = end_all,
    .close = uvperf__handle_begin_close,
};

/* Called at the first start, not in init, so that an init that fails leaves
 * nothing in the loop. */
int uvperf__set_make_watch(set_t *impl) {
  int in_order =
      (impl->flags & (UVPERF_SET_TIME_ORDER | UVPERF_SET_OVERWRITE)) ==
      UVPERF_SET_TIME_ORDER;
  int rc;

  if (impl->base.watch != NULL)
    return 0;
  if (in_order && impl->merge == NULL) {
    rc = uvperf__merge_new(&impl->merge, impl->base.decoder);
    if (rc != 0)
      return rc;
  }
  rc = uvperf__watch_new(&impl->base.watch, &impl->base.teardown,
                         in_order ? &by_time : &by_ring, impl);
  if (rc != 0)
    return rc;
  uvperf__watch_set_ref(impl->base.watch, !impl->base.is_unref);
  return 0;
}
