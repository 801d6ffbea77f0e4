/* SPDX-License-Identifier: MIT */
/* uvperf_next: records one by one, without a callback or the loop.
 *
 * Samples that lie in place are taken as a run, as in drain.h. Between two of
 * them only the cursor and the next header are read. The run ends at a record
 * that is not a sound sample in place, at the head that was read, where the
 * ring wraps, and where the tail must be published. It also ends if a call may
 * have changed something (uvperf__cursor_stop). The next call then checks
 * everything (uvperf__next_checked). */
#include "loop/handle.h"

#include "loop/hub.h"
#include "loop/stats.h"

/* -- with all checks ------------------------------------------------------- */

__attribute__((noinline)) int
uvperf__next_checked(const uvperf_handle_t *handle,
                     const uvperf_record_t **record) {
  uvperf__handle_t *self = uvperf__handle_impl(handle);
  int rc = uvperf__handle_check(self, NULL);
  int is_behind;

  if (record == NULL)
    return UV_EINVAL;
  *record = NULL;
  if (rc != 0)
    return rc;
  if (self->in_callback)
    return UV_EBUSY;
  if (self->room == NULL)
    self->room = uvperf__hub_lend(self->teardown.hub);
  if (self->room == NULL)
    return UV_ENOMEM;
  is_behind = self->cursor.lent != 0 && self->cursor.merge != NULL;
  uvperf__handle_consume(self);
  if (is_behind) {
    self->cursor.merge->scratch = self->room;
    uvperf__merge_advance(self->cursor.merge, self->cursor.merge->top.track);
  }
  self->cursor.decoder = self->decoder;
  uvperf__teardown_hold(&self->teardown);
  rc = self->kind->next(self, record);
  if (rc == UV_EAGAIN && self->cursor.was_empty &&
      self->kind->next_or_end != NULL)
    rc = self->kind->next_or_end(self, record);
  else
    self->cursor.was_empty = rc == UV_EAGAIN;
  if (*record == NULL || (*record)->bytes != self->room)
    uvperf__handle_give_back(self);
  uvperf__teardown_let_go(&self->teardown);
  return rc;
}

/* -- in a run -------------------------------------------------------------- */

/* There is a function for each kind of decoder, which needs few registers. A
 * function calls others only at its end, so it does not save registers. */

/* Takes the next record if it is a sound sample of this form. */
__attribute__((always_inline)) static inline int
next_of_form(uvperf__handle_t *self, uvperf__reader_t *reader,
             unsigned int form, size_t front_size, uint64_t header,
             const uvperf_record_t **record) {
  uvperf__cursor_t *cursor = &self->cursor;
  size_t size = uvperf__header_size(header);

  if (uvperf__decode_sample_of(reader, form, front_size, cursor->at, header) ==
      NULL)
    return uvperf__next_checked(self->handle, record);
  cursor->stats->bytes += size;
  cursor->ring->tail += cursor->lent;
  cursor->stats->records += 1;
  cursor->lent = size;
  cursor->at += size;
  *record = &reader->sample;
  return 0;
}

/* Takes a sample of any form and source. */
__attribute__((noinline)) static int
next_of_any(uvperf__handle_t *self, uint64_t header,
            const uvperf_record_t **record) {
  uvperf__reader_t *reader =
      uvperf__decoder_reader(self->cursor.decoder, self->cursor.at, header);

  if (reader == NULL)
    return uvperf__next_checked(self->handle, record);
  return next_of_form(self, reader, reader->plan.form, reader->plan.front_size,
                      header, record);
}

#define NEXT(form)                                                             \
  case form:                                                                   \
    return next_of_form(self, reader, form, uvperf__form_front_size(form),     \
                        header, record);

static int next_is_cut(const uvperf__cursor_t *cursor, uint64_t header) {
  return uvperf__header_size(header) > (size_t)(cursor->end - cursor->at);
}

/* The samples have one source. */
static int next_of_one(uvperf__handle_t *self, const uvperf_record_t **record) {
  uvperf__reader_t *reader = self->cursor.decoder->only.reader;
  uint64_t header = uvperf__u64(self->cursor.at);

  if (next_is_cut(&self->cursor, header))
    return uvperf__next_checked(self->handle, record);
  if (self->cursor.waiting != 0) {
    self->cursor.waiting -= uvperf__header_size(header);
    reader->sample.remaining = self->cursor.waiting;
  }
  switch (reader->plan.form) {
    UVPERF__FORMS_OF_ONE(NEXT)
    default:
      return next_of_any(self, header, record);
  }
}

/* The source of a sample is found by its id. It is usually in the id's first
 * slot. */
static int next_by_id(uvperf__handle_t *self, const uvperf_record_t **record) {
  uvperf_decoder_t *decoder = self->cursor.decoder;
  uint64_t header = uvperf__u64(self->cursor.at);
  const uvperf__id_slot_t *slot;
  uvperf__reader_t *reader;
  uint64_t id;

  if (next_is_cut(&self->cursor, header) ||
      uvperf__header_size(header) < decoder->id_front + sizeof(id))
    return uvperf__next_checked(self->handle, record);
  id = uvperf__u64(self->cursor.at + decoder->id_front);
  slot = &decoder->ids.slots[uvperf__id_table_home(&decoder->ids, id)];
  reader = slot->reader;
  if (slot->id != id || reader == NULL)
    return next_of_any(self, header, record);
  reader->sample.source = slot->source;
  decoder->last = reader;
  switch (__builtin_expect(
      (long)reader->plan.form,
      (long)UVPERF__FORM(UVPERF__FRONT_IDENTIFIED, UVPERF__TAIL_NONE))) {
    UVPERF__FORMS_BY_ID(NEXT)
    default:
      return next_of_any(self, header, record);
  }
}
#undef NEXT

/* The records of all rings come in the order of time. */
static int next_in_order(uvperf__handle_t *self,
                         const uvperf_record_t **record) {
  uvperf__cursor_t *cursor = &self->cursor;
  uvperf__merge_t *merge = cursor->merge;
  uvperf__track_t *track =
      uvperf__merge_step(merge, merge->top.track, cursor->at);
  uvperf__cpu_ring_t *ring;

  if (track == NULL)
    return uvperf__next_checked(self->handle, record);
  cursor->ring->tail += cursor->lent;
  cursor->lent = 0;
  if (track->bytes == NULL) {
    uvperf__cursor_stop(cursor);
    return uvperf__next_checked(self->handle, record);
  }
  ring = track->owner;
  cursor->ring = &ring->ring;
  cursor->stats = &ring->stats;
  cursor->at = track->bytes;
  cursor->end = track->stop;
  return next_by_id(self, record);
}

/* -- for the handles ------------------------------------------------------- */

int uvperf__next_lend(uvperf__cursor_t *cursor, uvperf__ring_t *ring,
                      uvperf_stats_t *stats, const uvperf_source_t *alone,
                      const void *bytes, size_t size,
                      const uvperf_record_t **record) {
  int rc = uvperf__decode(cursor->decoder, alone, bytes, size, record);
  size_t piece = uvperf__ring_contiguous(ring, &cursor->at);

  uvperf__stats_count(stats, *record, rc);
  cursor->ring = ring;
  cursor->stats = stats;
  cursor->lent = size;
  cursor->end = cursor->at + (piece > size ? piece : size);
  cursor->at += size;
  cursor->next = cursor->merge != NULL                  ? next_in_order
                 : cursor->decoder->only.reader != NULL ? next_of_one
                                                        : next_by_id;
  cursor->was_empty = 0;
  return rc;
}

/* A BPF reader's records have the CPU of their ring, and the user learns how
 * much is left: see uvperf__rings_deliver. */
static void next_of_cpu(uvperf__cursor_t *cursor,
                        const uvperf__cpu_ring_t *ring,
                        const uvperf_record_t **record) {
  uvperf_record_t *own = (uvperf_record_t *)(uintptr_t)*record;

  cursor->waiting = ring->ring.head - ring->ring.tail - cursor->lent;
  own->remaining = cursor->waiting;
  own->cpu = (uint32_t)ring->cpu;
  cursor->decoder->only.reader->sample.cpu = (uint32_t)ring->cpu;
}

int uvperf__next_of_rings(uvperf__handle_t *self,
                          const uvperf_record_t **record) {
  uvperf__cpu_rings_t *rings = self->rings;
  uvperf__cursor_t *cursor = &self->cursor;
  uvperf__merged_t merged;
  uvperf__cpu_ring_t *ring;
  int is_late;
  int rc;

  if (cursor->merge == NULL)
    rc = uvperf__cpu_rings_next(rings, &cursor->index, self->room,
                                &merged.bytes, &merged.size);
  else
    rc = uvperf__merge_next(cursor->merge, UINT64_MAX, &merged);
  if (rc == 0)
    return uvperf__cpu_rings_have_ended(rings) ? UV_EOF : UV_EAGAIN;
  ring = uvperf__cpu_rings_at(rings, cursor->merge == NULL ? cursor->index
                                                           : merged.ring);
  if (rc < 0) {
    uvperf__stats_ring_skip(ring);
    *record = uvperf__decode_none(cursor->decoder, ring->cpu);
    return rc;
  }
  rc = uvperf__next_lend(cursor, &ring->ring, &ring->stats,
                         uvperf__cpu_ring_alone(ring), merged.bytes,
                         merged.size, record);
  if (cursor->decoder->only.reader != NULL)
    next_of_cpu(cursor, ring, record);
  if (cursor->merge == NULL)
    return rc;
  is_late = merged.has_time && merged.time < cursor->merge->newest;
  if (is_late || merged.track->bytes == NULL)
    uvperf__cursor_stop(cursor);
  ring->stats.late_records += (uint64_t)is_late;
  ring->stats.bad_times += (uint64_t)merged.is_bad;
  if (rc == 0 && merged.is_bad)
    ((uvperf_record_t *)(uintptr_t)*record)->time = merged.time;
  return rc;
}

int uvperf_next(uvperf_handle_t *handle, const uvperf_record_t **record) {
  uvperf__handle_t *self = handle->impl;

  if (self == NULL || record == NULL || self->cursor.at == self->cursor.end ||
      atomic_load_explicit(self->number, memory_order_relaxed) != self->process)
    return uvperf__next_checked(handle, record);
  return self->cursor.next(self, record);
}
