/* SPDX-License-Identifier: MIT */
/* The reader of a BPF ring buffer as a libuv handle: init, start, delivery,
 * next, close. There are no events: BPF programs of all CPUs write into one
 * ring, which belongs to the map. */
#include "bpf/ringbuf.h"

#include <errno.h>
#include <string.h>

#include "bpf/counter.h"
#include "explain/explain.h"
#include "loop/drain.h"
#include "loop/handle.h"
#include "loop/rings.h"
#include "loop/snapshot_job.h"
#include "loop/stats.h"
#include "loop/stream_options.h"
#include "ring/bpf_ring.h"
#include "util/alloc.h"
#include "util/error.h"

/* uvperf_bpf_reader_t.impl points to this. */
typedef struct ringbuf_s {
  uvperf__handle_t base;
  uvperf__cpu_rings_t *rings; /* base.rings, once it is open for the user */
  uvperf__bpf_counter_t counter;
  uvperf_record_t record; /* the one that the user gets */
} ringbuf_t;

/* The record of a callback without one. */
static const uvperf_record_t no_record = {.type = UVPERF_RECORD_NONE,
                                          .cpu = UINT32_MAX};

static const uvperf__handle_kind_t ringbuf_kind;
static const uvperf__watch_ops_t watch_ops;

/* -- opening --------------------------------------------------------------- */

/* Returns the option that only a perf event array has, or NULL. A ring buffer
 * wakes the loop for each record that a program does not mark, as
 * wakeup_events 1 asks. It follows no CPUs. */
static const char *array_option(const uvperf_bpf_reader_options_t *options) {
  if (options->attr != NULL)
    return "attr: it has no events";
  if (options->cpus != NULL)
    return "cpus: programs of all CPUs write into one ring";
  if (options->ring_bytes != 0)
    return "ring_bytes: max_entries of the map are its bytes";
  if (options->wakeup_events > 1)
    return "wakeup_events: the programs decide, by BPF_RB_NO_WAKEUP and "
           "BPF_RB_FORCE_WAKEUP";
  if (options->wakeup_bytes != 0)
    return "wakeup_bytes: the programs decide, by BPF_RB_NO_WAKEUP and "
           "BPF_RB_FORCE_WAKEUP";
  if (options->flags & UVPERF_BPF_READER_PERF_CLOCK)
    return "flags UVPERF_BPF_READER_PERF_CLOCK: its records have no time";
  if (options->open != NULL)
    return "open: it has no events";
  return NULL;
}

/* The consumer's page is mapped for writing: ringbuf_map_mmap_kern in
 * kernel/bpf/ringbuf.c, bpf_map_mmap in kernel/bpf/syscall.c. */
static int explain_mapping(int code, uvperf_error_t *error) {
  static const char what[] = "cannot map the ring buffer";

  if (code == -EPERM || code == -EACCES)
    return uvperf__error_set(error, code, UVPERF_CAUSE_PERMISSION,
                             "%s: the map was opened for reading or writing "
                             "only, or is frozen; it must be open for both",
                             what);
  if (code == -EPROTO)
    return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                             "%s: another reader has left its position between "
                             "two records",
                             what);
  return uvperf__explain_bpf(error, code, what);
}

static int ringbuf_check(const uvperf__bpf_map_t *map,
                         const uvperf_bpf_reader_options_t *options,
                         uvperf_error_t *error) {
  const char *option = array_option(options);
  int asks = (options->flags & UVPERF_BPF_READER_OVERWRITE) != 0;

  if (option != NULL)
    return uvperf__error_argument(
        error, "the map is a ring buffer, which cannot have options.%s",
        option);
  if (asks != map->is_overwritten)
    return uvperf__error_argument(
        error, "%s",
        asks ? "the map is a ring buffer without BPF_F_RB_OVERWRITE, so "
               "UVPERF_BPF_READER_OVERWRITE cannot be set"
             : "the map has BPF_F_RB_OVERWRITE, so only snapshots read it; set "
               "UVPERF_BPF_READER_OVERWRITE");
  /* The position that shows what was overwritten is the third word of the
   * kernel's. */
  if (asks && sizeof(long) != sizeof(uint64_t))
    return uvperf__error_set(error, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED,
                             "a program of 32 bits cannot read a ring buffer "
                             "with BPF_F_RB_OVERWRITE");
  return 0;
}

/* Maps the ring, which owns the map's fd from then on. */
static int ringbuf_map(ringbuf_t *impl, uvperf__bpf_map_t *map,
                       uvperf_error_t *error) {
  static const uvperf__cpu_rings_options_t options = {.clockid = -1};
  int rc = uvperf__cpu_rings_new(&impl->rings, &options);

  if (rc == 0)
    rc = uvperf__cpu_rings_add_map(impl->rings, map->fd, map->max_entries);
  if (rc != 0)
    return explain_mapping(rc, error);
  map->fd = -1;
  return 0;
}

/* With options.open_cb, the handle is open when libuv's pool has made this
 * step, as the reader of a perf event array is: a program need not know which
 * of the two it has. */
static int open_nothing(uvperf__job_t *job) {
  (void)job;
  return 0;
}

typedef struct ringbuf_opening_s {
  uvperf__handle_job_t base;
  uvperf__calls_t calls; /* none */
} ringbuf_opening_t;

static int on_opened(uvperf__handle_job_t *job, int rc, uvperf_error_t *error) {
  ringbuf_t *impl = (ringbuf_t *)job->owner;

  (void)error;
  if (rc == 0)
    impl->base.rings = impl->rings;
  return rc;
}

static void free_opening(uvperf__handle_job_t *job) {
  uvperf__free(job);
}

static int ringbuf_begin_opening(ringbuf_t *impl, uvperf_open_cb cb,
                                 uvperf_error_t *error) {
  ringbuf_opening_t *opening = uvperf__calloc(1, sizeof(*opening));
  int rc;

  if (opening == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the reader");
  opening->base.job.step = open_nothing;
  opening->base.done = on_opened;
  opening->base.free = free_opening;
  opening->base.open_cb = cb;
  rc = uvperf__handle_job_begin(&impl->base, &opening->base, &opening->calls,
                                error);
  if (rc != 0)
    uvperf__free(opening);
  return rc;
}

static int ringbuf_open(ringbuf_t *impl, uvperf__bpf_map_t *map,
                        const uvperf_bpf_reader_options_t *options,
                        uvperf_error_t *error) {
  int rc = 0;

  if (options->lost != NULL)
    rc = uvperf__bpf_counter_open(&impl->counter, options->lost, error);
  if (rc == 0)
    rc = ringbuf_map(impl, map, error);
  if (rc != 0)
    return rc;
  rc = uvperf__watch_new(&impl->base.watch, &impl->base.teardown, &watch_ops,
                         impl);
  if (rc != 0)
    return uvperf__error_shortage(error, rc, "cannot make the reader");
  if (options->open_cb != NULL)
    return ringbuf_begin_opening(impl, options->open_cb, error);
  impl->base.rings = impl->rings;
  return 0;
}

int uvperf__ringbuf_init(uv_loop_t *loop, uvperf_bpf_reader_t *reader,
                         uvperf__bpf_map_t *map,
                         const uvperf_bpf_reader_options_t *options,
                         uvperf_error_t *error) {
  ringbuf_t *impl;
  int rc = ringbuf_check(map, options, error);

  if (rc != 0)
    return rc;
  impl = uvperf__calloc(1, sizeof(*impl));
  if (impl == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot make the reader");
  uvperf__handle_init(&impl->base, loop, &ringbuf_kind);
  impl->base.is_overwritable = map->is_overwritten;
  impl->counter.fd = -1;
  impl->record.type = PERF_RECORD_SAMPLE;
  impl->record.cpu = UINT32_MAX;
  impl->record.present = PERF_SAMPLE_RAW;
  rc = ringbuf_open(impl, map, options, error);
  if (rc == 0)
    uvperf__handle_publish(&impl->base, &reader->handle);
  else
    uvperf__handle_fail(&impl->base);
  return rc;
}

/* -- start ----------------------------------------------------------------- */

/* Programs can mark records that wake nobody, so there is a flush timer. */
static int ringbuf_start(void *owner, const uvperf_stream_options_t *options,
                         int enables, uvperf_record_cb cb,
                         uvperf_error_t *error) {
  ringbuf_t *impl = owner;
  uvperf__watch_options_t chosen;

  (void)enables;
  if (cb == NULL)
    return uvperf__error_argument(error, "cb must not be NULL");
  uvperf__stream_options_for_watch(options, UVPERF__DEFAULT_FLUSH_MS, &chosen);
  chosen.wakes_each = 1;
  return uvperf__rings_start(&impl->base, &chosen, error);
}

/* -- delivery -------------------------------------------------------------- */

typedef struct ringbuf_drain_s {
  uvperf__handle_t *self;
  uvperf__cpu_ring_t *ring;
  const uvperf__ring_t *from; /* its ring, or an image of it */
  uvperf_record_t *record;
  const uvperf__slice_t *slice;
} ringbuf_drain_t;

static inline void record_fill(uvperf_record_t *record, const uint8_t *at,
                               uint32_t length, uint64_t remaining) {
  record->sample.raw.size = length;
  record->sample.raw.data = at + UVPERF__BPF_HEADER;
  record->remaining = remaining;
}

static inline uint64_t ringbuf_header(const uint8_t *at) {
  return uvperf__bpf_ring_length(at);
}

static inline size_t ringbuf_size(uint64_t header) {
  return uvperf__bpf_ring_run_size((uint32_t)header);
}

/* uvperf__bpf_ring_next reports a head that makes no sense. */
static inline int ringbuf_can_run(const uvperf__ring_t *ring) {
  return ring->tail != ring->head && ring->head % UVPERF__BPF_HEADER == 0;
}

static inline uvperf__reader_t *ringbuf_reader(const void *owner) {
  (void)owner;
  return NULL;
}

static inline const void *const *ringbuf_data(const void *owner) {
  return &((const ringbuf_drain_t *)owner)->record->sample.raw.data;
}

/* A record that is busy or discarded does not get here: see
 * uvperf__bpf_ring_run_size. */
__attribute__((always_inline)) static inline int
ringbuf_sample(void *owner, uvperf__reader_t *reader, unsigned int form,
               const uint8_t *bytes, uint64_t header, uint64_t remaining) {
  const ringbuf_drain_t *drain = owner;

  (void)reader;
  (void)form;
  record_fill(drain->record, bytes, (uint32_t)header, remaining);
  drain->self->record_cb(drain->self->handle, 0, drain->record);
  return 1;
}

static unsigned int ringbuf_record(void *owner, const void *bytes, size_t size,
                                   uint64_t remaining) {
  const ringbuf_drain_t *drain = owner;
  uint32_t length = drain->from->length;

  drain->ring->stats.bytes += size;
  if (length & UVPERF__BPF_DISCARD)
    return 0;
  drain->ring->stats.records += 1;
  record_fill(drain->record, bytes, length, remaining);
  uvperf__stats_ring_slice(drain->ring, drain->slice);
  drain->self->record_cb(drain->self->handle, 0, drain->record);
  return 1;
}

static int ringbuf_has_no_ring(const void *owner) {
  return uvperf__handle_has_no_rings(((const ringbuf_drain_t *)owner)->self);
}

static const uvperf__framing_t framing = {
    ringbuf_header, ringbuf_size, ringbuf_can_run, 1, uvperf__bpf_ring_next};
static const uvperf__drain_ops_t drain_ops = {
    &framing,       ringbuf_reader, ringbuf_data,
    ringbuf_sample, ringbuf_record, ringbuf_has_no_ring};

/* Drains the ring, or its image in a snapshot. */
static int drain_from(ringbuf_t *impl, uvperf__ring_t *from,
                      uvperf__slice_t *slice) {
  uvperf__handle_t *self = &impl->base;
  uvperf__cpu_ring_t *ring = uvperf__handle_ring(self, 0);
  ringbuf_drain_t drain = {self, ring, from, &impl->record, slice};
  uint64_t records = slice->records;
  int rc;

  self->in_callback = 1;
  self->drained = from;
  self->drained_of = ring;
  rc = uvperf__drain(from, slice, &ring->stats, &drain_ops, &drain);
  self->drained_of = NULL;
  self->in_callback = 0;
  if (slice->records != records)
    uvperf__stats_ring_slice(ring, slice);
  return rc;
}

/* Programs may have finished a record before they could see the tail: then they
 * have not woken the loop for it, and the next turn looks. The fence is for
 * the watch, which looks for more after a slice of one record. */
static int ringbuf_drain(void *owner, size_t ring_index,
                         uvperf__slice_t *slice) {
  ringbuf_t *impl = owner;
  uvperf__ring_t *ring = &uvperf__handle_ring(&impl->base, ring_index)->ring;
  int rc = drain_from(impl, ring, slice);

  if (rc == UVPERF__CUT)
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (rc != UVPERF__DRAINED)
    return rc;
  if (uvperf__bpf_ring_is_ready(ring, 0)) {
    uvperf__watch_drain(impl->base.watch);
    rc = UVPERF__CUT;
  } else if (ring->tail != ring->head)
    rc = UVPERF__BLOCKED;
  return rc;
}

static int ringbuf_deliver(void *owner, uvperf__snapshot_job_t *job,
                           uvperf__slice_t *slice) {
  ringbuf_t *impl = owner;
  int rc;

  if (job->at == job->nr)
    return UVPERF__DRAINED;
  rc = drain_from(impl, &job->snapshots[0].image, slice);
  if (rc < 0)
    job->snapshots[0].code = rc;
  else if (rc != UVPERF__DRAINED)
    return rc;
  job->at = job->nr;
  if (job->snapshots[0].code != 0)
    uvperf__rings_skipped(owner, 0);
  return uvperf__slice_is_stopped(slice) ? UVPERF__STOPPED : UVPERF__DRAINED;
}

/* -- next ------------------------------------------------------------------ */

/* Takes the next record of the cursor's piece of the ring, if it is all in the
 * piece and neither busy nor discarded. */
static int next_in_piece(uvperf__handle_t *self,
                         const uvperf_record_t **record) {
  ringbuf_t *impl = (ringbuf_t *)self;
  uvperf__cursor_t *cursor = &self->cursor;
  uint32_t length = uvperf__bpf_ring_length(cursor->at);
  size_t size = uvperf__bpf_ring_run_size(length);

  if (size > (size_t)(cursor->end - cursor->at))
    return uvperf__next_checked(self->handle, record);
  cursor->waiting -= size;
  record_fill(&impl->record, cursor->at, length, cursor->waiting);
  cursor->ring->tail += cursor->lent;
  cursor->stats->records += 1;
  cursor->stats->bytes += size;
  cursor->lent = size;
  cursor->at += size;
  *record = &impl->record;
  return 0;
}

/* Finds the next record that was not discarded, up to the head that was read.
 * Returns the same as uvperf__ring_next. */
static int find_record(uvperf__cpu_ring_t *ring, const void **bytes,
                       size_t *size) {
  int rc;

  while ((rc = uvperf__bpf_ring_next(&ring->ring, NULL, bytes, size)) == 1 &&
         ring->ring.length & UVPERF__BPF_DISCARD) {
    ring->stats.bytes += *size;
    uvperf__ring_consume(&ring->ring, *size);
  }
  return rc;
}

static int ringbuf_next(void *owner, const uvperf_record_t **record) {
  ringbuf_t *impl = owner;
  uvperf__cursor_t *cursor = &impl->base.cursor;
  uvperf__cpu_ring_t *ring = uvperf__handle_ring(&impl->base, 0);
  const void *bytes;
  size_t size, piece;
  int reads = 0, rc;

  if (impl->base.is_overwritable)
    return UV_EINVAL;
  if (impl->base.is_started)
    return UV_EBUSY;
  if (ring->status != 0)
    return UV_EOF;
  while ((rc = find_record(ring, &bytes, &size)) == 0) {
    uvperf__ring_end(&ring->ring);
    /* Programs that discard all their records must not keep the caller. */
    if (reads++ == 2 || !uvperf__bpf_ring_is_ready(&ring->ring, 0))
      return UV_EAGAIN;
    rc = uvperf__ring_begin(&ring->ring);
    if (rc != 0)
      break;
  }
  if (rc < 0) {
    uvperf__stats_ring_skip(ring);
    *record = &no_record;
    return rc;
  }
  piece = uvperf__ring_contiguous(&ring->ring, &cursor->at);
  cursor->ring = &ring->ring;
  cursor->stats = &ring->stats;
  cursor->lent = size;
  cursor->end = cursor->at + (piece > size ? piece : size);
  cursor->at += size;
  cursor->waiting = ring->ring.head - ring->ring.tail - size;
  cursor->next = next_in_piece;
  cursor->was_empty = 0;
  record_fill(&impl->record, bytes, ring->ring.length, cursor->waiting);
  ring->stats.records += 1;
  ring->stats.bytes += size;
  *record = &impl->record;
  return 0;
}

/* -- the kind -------------------------------------------------------------- */

static int ringbuf_count_lost(void *owner) {
  const ringbuf_t *impl = owner;
  uint64_t lost;

  if (impl->counter.fd < 0 || impl->base.rings == NULL ||
      uvperf__bpf_counter_read(&impl->counter, &lost) != 0)
    return 0;
  uvperf__handle_ring(&impl->base, 0)->lost = lost;
  return 1;
}

static const struct perf_event_attr *ringbuf_attr(const void *owner,
                                                  size_t attr) {
  (void)owner;
  (void)attr;
  return NULL;
}

/* The next reader of the map begins after the records that the user has had. A
 * drain publishes that itself. */
static void ringbuf_quit(void *owner) {
  ringbuf_t *impl = owner;
  uvperf__handle_t *self = &impl->base;

  self->is_started = 0;
  if (self->rings == NULL || self->is_overwritable || self->in_callback ||
      uvperf__handle_is_forked(self))
    return;
  uvperf__handle_consume(self);
  uvperf__ring_end(&uvperf__handle_ring(self, 0)->ring);
}

static void ringbuf_release(void *owner) {
  ringbuf_t *impl = owner;

  uvperf__watch_free(impl->base.watch);
  uvperf__cpu_rings_free(impl->rings);
  uvperf__bpf_counter_close(&impl->counter);
  uvperf__free(impl);
}

static const uvperf__watch_ops_t watch_ops = {
    .drain = ringbuf_drain,
    .slice_end = uvperf__handle_slice_end,
    .ring_skipped = uvperf__rings_skipped,
    .ring_end = uvperf__rings_ring_end,
    .end = uvperf__rings_end,
    .close = uvperf__handle_begin_close,
};

static const uvperf__handle_kind_t ringbuf_kind = {
    .type = UVPERF_HANDLE_BPF_READER,
    .noun = "reader",
    .is_active = uvperf__handle_is_watching,
    .start = ringbuf_start,
    .stop = uvperf__handle_stop,
    .next = ringbuf_next,
    .overwritable_by = "BPF_F_RB_OVERWRITE in the flags of the map, and "
                       "UVPERF_BPF_READER_OVERWRITE in options.flags",
    .deliver = ringbuf_deliver,
    .attr = ringbuf_attr,
    .count_lost = ringbuf_count_lost,
    .quit = ringbuf_quit,
    .release = ringbuf_release,
};

int uvperf__ringbuf_is(const uvperf_bpf_reader_t *reader) {
  const uvperf__handle_t *self = uvperf__handle_impl(&reader->handle);

  return self->kind == &ringbuf_kind;
}
