/* SPDX-License-Identifier: MIT */
/* For UVPERF_SET_RECORDS: decides into which ring each event writes, and how
 * its records are decoded, even after the event is closed. Other files wait for
 * the rings.
 *
 * The good path: when an event is open, uvperf__evlist_join makes its source,
 * opens the ring of its CPU if it is the first there, makes its id known to the
 * decoder, and redirects it into the ring. When it is closed,
 * uvperf__evlist_leave retires the source. uvperf__evlist_free_sources frees
 * it, when the ring was read past its last record.
 *
 * It can fail in these ways:
 * - There is no ring or no memory: `is_vital`. The call that opens events
 *   fails, and closes the rings that it has opened: uvperf__evlist_cut_rings.
 *   If the rings used up the memory that may be locked, it tries again with
 *   smaller rings: uvperf__evlist_shrink_rings.
 * - The kernel refuses to redirect the event. Only that event has failed.
 * - A ring has ended. Nothing more is read from it, so its sources can be
 *   freed. */
#include "evlist/opening.h"
#include "evlist/records.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "attr/attr.h"
#include "decode/decoder.h"
#include "explain/explain.h"
#include "host/cpu_list.h"
#include "host/system.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

/* close(2) does not wait for a record that a CPU is writing at that moment. The
 * event is removed by an interrupt on that CPU, possibly in the middle of the
 * record, and the head moves when the record is complete. This takes
 * microseconds, or longer if a hypervisor has preempted the CPU. */
#define LATEST_RECORD_NS (100 * UINT64_C(1000000))

static int records_no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM,
                                "cannot make the table of record sources");
}

/* -- begin and end -------------------------------------------------------- */

/* An overwritable ring must hold the largest stack dump. A record that is
 * larger than the ring overwrites its own header (__perf_output_begin in
 * kernel/events/ring_buffer.c). */
static int rings_fit_stacks(const evlist_attrs_t *attrs,
                            uvperf__cpu_rings_options_t *rings,
                            uvperf_error_t *error) {
  const struct perf_event_attr *asked;
  size_t largest = 0;
  size_t i;

  for (i = 0; i < attrs->nr; i++) {
    asked = attrs->at[i].asked;
    if (!uvperf__attr_writes_records(asked) ||
        uvperf__attr_stack(asked) <= rings->above_bytes)
      continue;
    rings->above_bytes = uvperf__attr_stack(asked);
    largest = i;
  }
  if (uvperf__cpu_rings_fit(rings))
    return 0;
  uvperf__error_argument(
      error,
      "sample_stack_user %zu of attr %zu does not fit overwritable rings of "
      "%zu bytes, so no record would be whole; raise options.ring_bytes",
      rings->above_bytes, largest, rings->ring_bytes);
  if (error != NULL)
    error->attr_index = (uint32_t)largest;
  return -EINVAL;
}

/* The records of an array need no id, because all events are alike. */
static int records_make_decoder(const uvperf__evlist_t *evlist) {
  evlist_records_t *records = evlist->records;
  uvperf_source_t *source = &records->source;
  const uvperf_source_t *const all = source;

  if (!evlist->is_array)
    return uvperf__decoder_make(&records->decoder);
  source->size = sizeof(*source);
  source->attr = evlist->attrs->at[0].attr;
  source->pid = -1;
  source->cpu = -1;
  return uvperf_decoder_new(&records->decoder, &all, 1);
}

int uvperf__evlist_begin_records(uvperf__evlist_t *evlist,
                                 const uvperf_set_options_t *options,
                                 uvperf_error_t *error) {
  uvperf__cpu_rings_options_t rings = {
      .ring_bytes = options->ring_bytes,
      .wakeup_bytes = options->wakeup_bytes,
      .clockid = evlist->records->clockid,
      .overwrite = (options->flags & UVPERF_SET_OVERWRITE) != 0,
      .opener = evlist->opening->opener,
  };
  evlist_records_t *records = evlist->records;
  int rc = 0;

  if ((evlist->flags & UVPERF_SET_RECORDS) == 0)
    return 0;
  if (rings.overwrite)
    rc = rings_fit_stacks(evlist->attrs, &rings, error);
  if (rc == 0)
    rc = uvperf__evlist_unify_software(evlist, error);
  if (rc != 0)
    return rc;
  if (uvperf__cpu_rings_new(&records->rings, &rings) != 0)
    return records_no_memory(error);
  rc = records_make_decoder(evlist);
  if (rc == -ENOMEM)
    return records_no_memory(error);
  if (rc != 0)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_ARGUMENT,
                             "cannot decode the records of this attr");
  if ((evlist->flags & UVPERF_SET_TIME_ORDER) &&
      uvperf__system_clock_ahead(records->clockid, &records->clock_ahead) == 0)
    records->has_clock = 1;
  records->opened = uvperf__evlist_clock(evlist);
  if (records->opened == UINT64_MAX)
    records->opened = 0;
  return 0;
}

static void source_free(evlist_source_t *source) {
  uvperf__evlist_shape_release(source->shape);
  uvperf__free(source);
}

void uvperf__evlist_end_records(uvperf__evlist_t *evlist) {
  evlist_source_t *source;

  uvperf_decoder_free(evlist->records->decoder);
  while ((source = evlist->records->first_retired) != NULL) {
    evlist->records->first_retired = source->next;
    source_free(source);
  }
  uvperf__cpu_rings_free(evlist->records->rings);
}

/* -- sources --------------------------------------------------------------- */

/* The decoder recognizes the events of one attr by their shape. Records can
 * outlive the shape if a fallback is undone. Returns NULL if out of memory. */
static evlist_source_t *source_make(const uvperf__evlist_t *evlist,
                                    const evlist_target_t *target,
                                    const evlist_place_t *place, size_t attr) {
  evlist_attr_t *own = &evlist->attrs->at[attr];
  evlist_source_t *made = uvperf__calloc(1, sizeof(*made));
  evlist_shape_t *shape = own->shape;
  uvperf_source_t *source;

  if (made != NULL && shape == NULL)
    shape = uvperf__calloc(1, sizeof(*shape));
  if (shape != NULL && shape->attr == NULL &&
      uvperf__attr_copy(&shape->attr, own->attr, NULL) == 0)
    shape->nr_users = 1;
  if (made == NULL || shape == NULL || shape->attr == NULL) {
    if (own->shape == NULL)
      uvperf__free(shape);
    uvperf__free(made);
    return NULL;
  }
  own->shape = shape;
  shape->nr_users++;
  made->shape = shape;
  made->id = place->events[attr].id;
  source = &made->source;
  source->size = sizeof(*source);
  source->attr = made->shape->attr;
  source->ids = &made->id;
  source->nr_ids = 1;
  source->pid = place->place.pid;
  source->cpu = place->place.cpu;
  source->data = target->data;
  source->attr_index = (uint32_t)own->item.first;
  source->target_index = target->index;
  source->serial = place->place.serial;
  source->item = &evlist->attrs->at[own->item.first].item;
  return made;
}

static int ring_join(uvperf__cpu_ring_t *ring, int fd,
                     const struct perf_event_attr *attr,
                     uvperf_error_t *error) {
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_OUTPUT,
                                     .attr = attr};
  int rc = uvperf__cpu_ring_join(ring, fd);

  return rc == 0 ? 0 : uvperf__explain_control(error, rc, &control);
}

/* Notes where the source's records can begin, makes it known to the decoder,
 * and redirects its event. That step comes last: no step that can fail may
 * follow the redirection.
 *
 * If the event does not write records, it has no ring of its own. Records of
 * other events that have its count can then begin there, and their ring may be
 * opened later. */
static int source_connect(const uvperf__evlist_t *evlist,
                          evlist_source_t *source, int fd, int *is_vital,
                          uvperf_error_t *error) {
  const evlist_records_t *records = evlist->records;
  const uvperf__cpu_ring_t *ring = source->ring;
  int rc;

  if (ring == NULL)
    ring = uvperf__cpu_rings_find(records->rings, source->source.cpu);
  source->begin = ring != NULL ? uvperf__ring_head(&ring->ring) : 0;
  rc = uvperf__decoder_add(records->decoder, &source->source);
  *is_vital = rc == -ENOMEM;
  if (rc == -ENOMEM)
    return records_no_memory(error);
  if (rc != 0)
    return uvperf__error_set(error, rc, UVPERF_CAUSE_UNKNOWN,
                             "the kernel returned the same id for two events");
  if (source->ring != NULL)
    rc = ring_join(source->ring, fd, source->shape->attr, error);
  if (rc != 0)
    uvperf__decoder_remove(records->decoder, &source->source);
  return rc;
}

int uvperf__evlist_join(uvperf__evlist_t *evlist, const evlist_target_t *target,
                        const evlist_place_t *place, size_t attr, int *is_vital,
                        uvperf_error_t *error) {
  const struct perf_event_attr *own = evlist->attrs->at[attr].attr;
  evlist_event_t *event = &place->events[attr];
  evlist_source_t *source;
  int rc = 0;

  if (evlist->records->rings == NULL)
    return 0;
  *is_vital = 1;
  source = evlist->is_array ? uvperf__calloc(1, sizeof(*source))
                            : source_make(evlist, target, place, attr);
  if (source == NULL)
    return records_no_memory(error);
  if (uvperf__attr_writes_records(own))
    rc = uvperf__cpu_rings_get(evlist->records->rings, place->place.cpu,
                               &source->ring, error);
  if (rc == 0)
    rc = evlist->is_array
             ? ring_join(source->ring, event->fd, own, error)
             : source_connect(evlist, source, event->fd, is_vital, error);
  if (rc != 0) {
    source_free(source);
    return rc;
  }
  if (source->ring != NULL)
    event->source = source;
  else
    event->silent = source;
  source->writes_samples =
      !evlist->is_array && uvperf__attr_writes_samples(own);
  if (source->writes_samples)
    uvperf__cpu_ring_add_source(source->ring, &source->source);
  return 0;
}

/* close(2) ends an event only if nothing else has the event's file open. A
 * forked child that has not called execve(2) still has the file open, and so
 * does a BPF map that contains the fd. */
void uvperf__evlist_stop_writing(const uvperf__evlist_t *evlist,
                                 const evlist_target_t *target) {
  size_t i;

  for (i = 0; i < target->nr_places * evlist->attrs->nr; i++)
    if (target->events[i].source != NULL)
      uvperf__sys_ioctl(target->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void source_retire(uvperf__evlist_t *evlist, evlist_source_t *source) {
  if (evlist->is_array) {
    source_free(source);
    return;
  }
  source->left_at = uvperf__evlist_now();
  if (evlist->records->first_retired == NULL)
    evlist->records->first_retired = source;
  else
    evlist->records->last_retired->next = source;
  evlist->records->last_retired = source;
}

void uvperf__evlist_leave(uvperf__evlist_t *evlist, evlist_event_t *event) {
  if (event->source != NULL) {
    uvperf__cpu_ring_leave(event->source->ring);
    source_retire(evlist, event->source);
  }
  /* The event's count may be in records that other events of its group have
   * written. */
  if (event->silent != NULL) {
    event->silent->ring = uvperf__cpu_rings_find(evlist->records->rings,
                                                 event->silent->source.cpu);
    source_retire(evlist, event->silent);
  }
  event->source = NULL;
  event->silent = NULL;
}

/* -- sources of events that are closed ------------------------------------ */

/* A snapshot can return everything in an overwritable ring, so the last record
 * of a source must be overwritten. The last record begins at `end`, and the
 * head moves down. How often the ring was read does not matter. */
static int source_is_read(evlist_source_t *source) {
  const uvperf__cpu_ring_t *ring = source->ring;

  if (ring == NULL || ring->status != 0)
    return 1;
  if (!source->has_end) {
    source->has_end = 1;
    source->end = uvperf__ring_head(&ring->ring);
  }
  /* A source that wrote nothing is freed without waiting for a reader. So if
   * there is no reader, only sources that wrote something are kept. */
  if (source->end == source->begin)
    return 1;
  if (ring->ring.overwrite)
    return source->end - uvperf__ring_head(&ring->ring) >= ring->ring.size;
  return (int64_t)(ring->ring.tail - source->end) >= 0;
}

/* Frees the sources for which `is_done` returns 1. is_done returns -1 if it
 * would return 0 for all later sources too. */
static void free_sources(uvperf__evlist_t *evlist,
                         int (*is_done)(evlist_source_t *source, uint64_t data),
                         uint64_t data) {
  evlist_source_t **link = &evlist->records->first_retired;
  evlist_source_t *last = NULL;
  evlist_source_t *source;
  int done;

  while ((source = *link) != NULL) {
    done = is_done(source, data);
    if (done < 0)
      return;
    if (!done) {
      last = source;
      link = &source->next;
      continue;
    }
    *link = source->next;
    if (source->writes_samples)
      uvperf__cpu_ring_remove_source(source->ring, &source->source);
    uvperf__decoder_remove(evlist->records->decoder, &source->source);
    source_free(source);
  }
  evlist->records->last_retired = last;
}

static int source_is_past(evlist_source_t *source, uint64_t now) {
  if (now - source->left_at < LATEST_RECORD_NS)
    return -1;
  return source_is_read(source);
}

void uvperf__evlist_free_sources(uvperf__evlist_t *evlist) {
  if (evlist->records->first_retired != NULL &&
      uvperf__evlist_check(evlist, NULL) == 0)
    free_sources(evlist, source_is_past, uvperf__evlist_now());
}

static int source_is_of_cut(evlist_source_t *source, uint64_t nr) {
  return source->ring != NULL && source->ring->index >= nr;
}

void uvperf__evlist_cut_rings(uvperf__evlist_t *evlist, size_t nr) {
  if (evlist->records->rings == NULL)
    return;
  free_sources(evlist, source_is_of_cut, nr);
  uvperf__cpu_rings_cut(evlist->records->rings, nr);
}

int uvperf__evlist_shrink_rings(uvperf__evlist_t *evlist, size_t nr) {
  return evlist->records->rings != NULL &&
         uvperf__cpu_rings_shrink(evlist->records->rings, nr);
}

/* -- planned events -------------------------------------------------------- */

size_t uvperf__evlist_nr_new_rings(const uvperf__evlist_t *evlist,
                                   size_t first) {
  const uvperf__cpu_rings_t *rings = evlist->records->rings;
  const evlist_attrs_t *attrs = evlist->attrs;
  uint8_t seen[(UVPERF__MAX_CPU + 8) / 8] = {0};
  evlist_at_t at = uvperf__evlist_walk_some(evlist, first,
                                            evlist->places->nr_targets - first);
  size_t nr = 0;
  size_t i;
  int cpu;

  while (rings != NULL && uvperf__evlist_walk_next(&at)) {
    cpu = at.place->place.cpu;
    if (cpu < 0 || (seen[cpu / 8] >> cpu % 8 & 1))
      continue;
    for (i = 0; i < attrs->nr; i++)
      if (at.place->events[i].state == EVENT_PLANNED &&
          uvperf__attr_writes_records(attrs->at[i].attr))
        break;
    if (i == attrs->nr)
      continue;
    seen[cpu / 8] |= (uint8_t)(1 << cpu % 8);
    nr += uvperf__cpu_rings_find(rings, cpu) == NULL;
  }
  return nr;
}

/* -- getters -------------------------------------------------------------- */

size_t uvperf__evlist_nr_rings(const uvperf__evlist_t *evlist) {
  return evlist->records->rings == NULL
             ? 0
             : uvperf__cpu_rings_nr(evlist->records->rings);
}

uvperf__cpu_rings_t *uvperf__evlist_rings(const uvperf__evlist_t *evlist) {
  return evlist->records->rings;
}

uvperf_decoder_t *uvperf__evlist_decoder(const uvperf__evlist_t *evlist) {
  return evlist->records->decoder;
}

uint64_t uvperf__evlist_clock(const uvperf__evlist_t *evlist) {
  uint64_t now;

  if (!evlist->records->has_clock ||
      uvperf__sys_now(evlist->records->clockid, &now) != 0)
    return UINT64_MAX;
  return now - (uint64_t)evlist->records->clock_ahead;
}

uint64_t uvperf__evlist_opened(const uvperf__evlist_t *evlist) {
  return evlist->records->opened;
}
