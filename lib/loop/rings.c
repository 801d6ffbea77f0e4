/* SPDX-License-Identifier: MIT */
/* The rings of a handle: which are watched, how their records are delivered,
 * how they end, and what happens when a CPU comes or goes. */
#include "loop/rings.h"

#include "loop/drain.h"
#include "loop/snapshot_job.h"
#include "loop/stats.h"
#include "util/error.h"

int uvperf__rings_watch(uvperf__handle_t *self) {
  uvperf__cpu_ring_t *ring;
  int rc = 0, watched;
  size_t i;

  if (self->watch == NULL || self->is_overwritable)
    return 0;
  for (i = uvperf__watch_nr_rings(self->watch);
       i < uvperf__cpu_rings_nr(self->rings) && rc == 0; i++) {
    ring = uvperf__cpu_rings_at(self->rings, i);
    rc = uvperf__watch_add(self->watch, &ring->ring, &ring->fd, 1);
  }
  if (self->kind->rings_watched == NULL)
    return rc;
  watched = self->kind->rings_watched(self);
  return rc != 0 ? rc : watched;
}

int uvperf__rings_start(uvperf__handle_t *self,
                        const uvperf__watch_options_t *options,
                        uvperf_error_t *error) {
  int rc;

  if (self->is_overwritable) {
    uvperf__watch_set_options(self->watch, options);
    return 0;
  }
  rc = uvperf__rings_watch(self);
  if (rc == 0)
    rc = uvperf__watch_start(self->watch, options);
  return rc == 0 ? 0 : uvperf__watch_explain(error, rc);
}

/* -- delivery -------------------------------------------------------------- */

/* The records of a BPF reader have the CPU of their ring, and the user learns
 * how much is left: its decoder has one reader, as no set's decoder has. The
 * record may be changed, because it belongs to our decoder. */
void uvperf__rings_deliver(uvperf__handle_t *self, uvperf__cpu_ring_t *ring,
                           const void *bytes, size_t size, uint64_t remaining,
                           const uint64_t *time, const uvperf__slice_t *slice) {
  const uvperf_record_t *record;
  int status = uvperf__decode(self->decoder, uvperf__cpu_ring_alone(ring),
                              bytes, size, &record);
  uvperf_record_t *own = (uvperf_record_t *)(uintptr_t)record;

  uvperf__stats_count(&ring->stats, record, status);
  if (self->ring == NULL && self->decoder->only.reader != NULL) {
    own->cpu = (uint32_t)ring->cpu;
    own->remaining = remaining;
  }
  if (status == 0 && time != NULL)
    own->time = *time;
  uvperf__stats_ring_slice(ring, slice);
  if (status == 0 && record->type == PERF_RECORD_EXIT &&
      self->kind->task_exited != NULL)
    self->kind->task_exited(self);
  self->in_callback = 1;
  self->record_cb(self->handle, status, record);
  self->in_callback = 0;
}

/* One drain of a ring, or of its image in a snapshot. A callback may replace
 * the decoder of an event. The old decoder stays until the drain ends. It fits
 * all samples of the drain: they were written before the change. */
typedef struct drain_s {
  uvperf__handle_t *self;
  uvperf_decoder_t *decoder;
  uvperf__cpu_ring_t *ring;
  const uvperf__slice_t *slice;
} drain_t;

static inline uvperf__reader_t *reader_of_all(const void *owner) {
  return ((const drain_t *)owner)->decoder->only.reader;
}

/* The source of each sample is found by its id. */
static inline uvperf__reader_t *no_reader(const void *owner) {
  (void)owner;
  return NULL;
}

__attribute__((always_inline)) static inline int
drain_sample(void *owner, uvperf__reader_t *reader, unsigned int form,
             const uint8_t *bytes, uint64_t header, uint64_t remaining) {
  const drain_t *drain = owner;
  const uvperf_record_t *record =
      form == UVPERF__FORM_OTHER
          ? uvperf__decode_sample(drain->decoder, bytes, header)
          : uvperf__decode_sample_of(
                reader, form, uvperf__form_front_size(form), bytes, header);

  (void)remaining;
  if (record == NULL)
    return 0;
  drain->self->record_cb(drain->self->handle, 0, record);
  return 1;
}

__attribute__((always_inline)) static inline int
drain_sample_of_cpu(void *owner, uvperf__reader_t *reader, unsigned int form,
                    const uint8_t *bytes, uint64_t header, uint64_t remaining) {
  reader->sample.remaining = remaining;
  return drain_sample(owner, reader, form, bytes, header, 0);
}

static unsigned int drain_record(void *owner, const void *bytes, size_t size,
                                 uint64_t remaining) {
  const drain_t *drain = owner;

  uvperf__rings_deliver(drain->self, drain->ring, bytes, size, remaining, NULL,
                        drain->slice);
  drain->self->in_callback = 1;
  return 1;
}

static inline const void *const *no_data(const void *owner) {
  (void)owner;
  return NULL;
}

static int drain_has_no_ring(const void *owner) {
  return uvperf__handle_has_no_rings(((const drain_t *)owner)->self);
}

static const uvperf__drain_ops_t event_ops = {
    &uvperf__perf_framing, reader_of_all, no_data,
    drain_sample,          drain_record,  drain_has_no_ring};
static const uvperf__drain_ops_t set_ops = {
    &uvperf__perf_framing, no_reader,    no_data,
    drain_sample,          drain_record, drain_has_no_ring};
static const uvperf__drain_ops_t reader_ops = {
    &uvperf__perf_framing, reader_of_all, no_data,
    drain_sample_of_cpu,   drain_record,  drain_has_no_ring};

/* Not inlined: its loop needs the registers. */
__attribute__((noinline)) static int
drain_by_id(drain_t *drain, uvperf__ring_t *from, uvperf__slice_t *slice) {
  return uvperf__drain(from, slice, &drain->ring->stats, &set_ops, drain);
}

static int drain_from(uvperf__handle_t *self, uvperf__cpu_ring_t *ring,
                      uvperf__ring_t *from, uvperf__slice_t *slice) {
  drain_t drain = {self, self->decoder, ring, slice};
  uvperf_stats_t *stats = &ring->stats;
  uint64_t records = slice->records;
  int rc;

  self->in_callback = 1;
  self->drained = from;
  self->drained_of = ring;
  if (self->ring != NULL) {
    rc = uvperf__drain(from, slice, stats, &event_ops, &drain);
  } else if (self->decoder->only.reader == NULL) {
    rc = drain_by_id(&drain, from, slice);
  } else {
    /* If samples have a CPU of their own, it is the same. */
    self->decoder->only.reader->sample.cpu = (uint32_t)ring->cpu;
    rc = uvperf__drain(from, slice, stats, &reader_ops, &drain);
  }
  self->drained_of = NULL;
  self->in_callback = 0;
  if (slice->records != records)
    uvperf__stats_ring_slice(ring, slice);
  return rc;
}

int uvperf__rings_drain(void *owner, size_t ring_index,
                        uvperf__slice_t *slice) {
  uvperf__handle_t *self = owner;
  uvperf__cpu_ring_t *ring = uvperf__handle_ring(self, ring_index);

  return drain_from(self, ring, &ring->ring, slice);
}

/* -- the end of a ring ----------------------------------------------------- */

int uvperf__rings_spare(void *owner, size_t ring_index) {
  const uvperf__handle_t *self = owner;

  return uvperf__cpu_rings_spare(self->rings, ring_index);
}

void uvperf__rings_skipped(void *owner, size_t ring_index) {
  uvperf__handle_t *self = owner;
  uvperf__cpu_ring_t *ring = uvperf__handle_ring(self, ring_index);

  ring->stats.corrupt += 1;
  uvperf__handle_report(self, UV_EPROTO, ring->cpu);
}

void uvperf__rings_ring_end(void *owner, size_t ring_index, int status) {
  uvperf__handle_t *self = owner;
  uvperf__cpu_ring_t *ring = uvperf__handle_ring(self, ring_index);

  uvperf__stats_ring_end(ring, status);
  uvperf__handle_report(self, status, ring->cpu);
}

/* The other rings have ended before, unless others have closed the inner
 * handles of the loop: then all end together. A ring that could not be polled
 * has not ended either. There may be no ring at all. */
void uvperf__rings_end(void *owner, size_t ring_index, int status) {
  uvperf__handle_t *self = owner;
  size_t nr = uvperf__stats_nr_rings(self);
  uvperf__cpu_ring_t *ring;
  int cpu = -1;
  size_t i;

  for (i = 0; i < nr; i++) {
    ring = uvperf__handle_ring(self, i);
    uvperf__stats_ring_end(ring, i == ring_index ? status : UV_EBADF);
    if (i == ring_index)
      cpu = ring->cpu;
  }
  self->kind->stop(self);
  uvperf__handle_report(self, status, cpu);
}

/* -- snapshots ------------------------------------------------------------- */

/* The images are in the snapshot's own memory, so a callback may do anything.
 * It may also fork, and close the handle in the child. If a ring proves
 * unsound, records that are older than the delivered records cannot be
 * read. */
int uvperf__rings_deliver_snapshot(void *owner, uvperf__snapshot_job_t *job,
                                   uvperf__slice_t *slice) {
  uvperf__snapshot_t *snapshot;
  int rc = UVPERF__DRAINED;

  for (; rc == UVPERF__DRAINED && job->at < job->nr; job->at++) {
    snapshot = &job->snapshots[job->at];
    rc = drain_from(owner, uvperf__handle_ring(owner, job->at),
                    &snapshot->image, slice);
    if (rc != UVPERF__DRAINED)
      return rc;
    uvperf__snapshots_free(snapshot, 1);
    if (snapshot->code != 0)
      uvperf__rings_skipped(owner, job->at);
    if (uvperf__slice_is_stopped(slice))
      rc = UVPERF__STOPPED;
  }
  return rc;
}

/* -- CPU hotplug ----------------------------------------------------------- */

/* Like uvperf__handle_report. */
void uvperf__rings_report_cpu(uvperf__handle_t *self, int cpu, int status,
                              const uvperf_error_t *error) {
  int was_in_callback = self->in_callback;

  if (self->cpu_cb == NULL)
    return;
  uvperf__cursor_stop(&self->cursor);
  self->in_callback = 1;
  self->cpu_cb(self->handle, cpu, status, error);
  self->in_callback = was_in_callback;
}

static int uses_cpu(const uvperf__handle_t *self, int cpu) {
  return self->kind->uses_cpu == NULL || self->kind->uses_cpu(self, cpu);
}

/* The ring already has all records of events that are bound to the CPU. Drain
 * now, because fewer bytes than the watermark cause no wakeup. The user's
 * callback before this one may have forked. */
static void on_gone(void *owner, int cpu) {
  uvperf__handle_t *self = owner;

  if (uvperf__handle_is_forked(self) || !uses_cpu(self, cpu))
    return;
  self->cpus_gone += 1;
  self->kind->cpu_gone(self, cpu);
  if (self->watch != NULL)
    uvperf__watch_drain(self->watch);
  uvperf__rings_report_cpu(self, cpu, UV_ENODEV, NULL);
}

static void on_come(void *owner, int cpu) {
  uvperf__handle_t *self = owner;
  uvperf_error_t error;
  int status, rc;

  if (uvperf__handle_is_forked(self))
    return;
  status = self->kind->cpu_come(self, cpu, &error);
  if (!uses_cpu(self, cpu))
    return;
  self->cpus_come += 1;
  rc = uvperf__rings_watch(self);
  if (rc != 0 && status == 0)
    status = uvperf__watch_explain_ring(&error, rc, cpu);
  uvperf__rings_report_cpu(self, cpu, status, status == 0 ? NULL : &error);
}

int uvperf__rings_make_hotplug(uvperf__handle_t *self) {
  static const uvperf__hotplug_ops_t ops = {on_come, on_gone};

  return uvperf__hotplug_new(&self->hotplug, &ops, self);
}

int uvperf__rings_follow_cpus(uvperf__handle_t *self, const char *remedy,
                              uvperf_error_t *error) {
  int rc;

  if (self->hotplug == NULL)
    return 0;
  rc = uvperf__hotplug_start(self->hotplug, &self->teardown,
                             UVPERF__HOTPLUG_RESCAN_MS);
  if (rc == 0)
    return 0;
  return rc == UV_EINVAL ? uvperf__watch_explain(error, rc)
                         : uvperf__error_online(error, rc, remedy);
}
