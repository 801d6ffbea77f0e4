/* SPDX-License-Identifier: MIT */
/* For UVPERF_SET_RECORDS: decides into which ring each event writes, and how
 * its records are decoded, even after the event is closed. Other files wait for
 * the rings. */
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

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_shortage(error, -ENOMEM,
                                "cannot make the table of record sources");
}

/* -- begin and end -------------------------------------------------------- */

/* An overwritable ring must hold the largest stack dump. A record that is
 * larger than the ring overwrites its own header (__perf_output_begin in
 * kernel/events/ring_buffer.c). */
static int have_room(const uvperf__evlist_t *evlist,
                     uvperf__cpu_rings_options_t *rings,
                     uvperf_error_t *error) {
  size_t attr = 0;

  if (!rings->overwrite)
    return 0;
  rings->above_bytes = uvperf__evlist_largest_stack(evlist, &attr);
  if (uvperf__cpu_rings_fit(rings))
    return 0;
  uvperf__error_set(
      error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
      "sample_stack_user %zu of attr %zu does not fit overwritable rings of "
      "%zu bytes, so no record would be whole; raise options.ring_bytes",
      rings->above_bytes, attr, rings->ring_bytes);
  if (error != NULL)
    error->attr_index = (uint32_t)attr;
  return -EINVAL;
}

int uvperf__evlist_begin_records(uvperf__evlist_t *evlist,
                                 const uvperf_set_options_t *options,
                                 uvperf_error_t *error) {
  uvperf__cpu_rings_options_t rings = {
      .root = evlist->root,
      .ring_bytes = options->ring_bytes,
      .wakeup_bytes = options->wakeup_bytes,
      .clockid = evlist->records->clockid,
      .overwrite = (options->flags & UVPERF_SET_OVERWRITE) != 0,
      .opener = evlist->opening->opener,
  };
  int rc;

  if ((evlist->flags & UVPERF_SET_RECORDS) == 0)
    return 0;
  rc = have_room(evlist, &rings, error);
  if (rc != 0)
    return rc;
  rc = uvperf__evlist_unify_software(evlist, error);
  if (rc != 0)
    return rc;
  if (uvperf__cpu_rings_new(&evlist->records->rings, &rings) != 0 ||
      uvperf__decoder_make(&evlist->records->decoder) != 0)
    return no_memory(error);
  if ((evlist->flags & UVPERF_SET_TIME_ORDER) &&
      uvperf__system_clock_ahead(evlist->root, evlist->records->clockid,
                                 &evlist->records->clock_ahead) == 0)
    evlist->records->has_clock = 1;
  evlist->records->opened = uvperf__evlist_clock(evlist);
  if (evlist->records->opened == UINT64_MAX)
    evlist->records->opened = 0;
  return 0;
}

static void free_source(evlist_source_t *source) {
  uvperf__evlist_shape_release(source->shape);
  uvperf__free(source);
}

void uvperf__evlist_end_records(uvperf__evlist_t *evlist) {
  evlist_source_t *source;

  uvperf_decoder_free(evlist->records->decoder);
  while ((source = evlist->records->first_retired) != NULL) {
    evlist->records->first_retired = source->next;
    free_source(source);
  }
  uvperf__cpu_rings_free(evlist->records->rings);
}

/* -- sources --------------------------------------------------------------- */

/* Returns the shape of the attr with which all its events are opened. The
 * decoder recognizes the events of one attr by their shape. Records can outlive
 * the shape if a fallback is undone. */
static int take_shape(evlist_attr_t *attr, evlist_shape_t **taken) {
  evlist_shape_t *shape = attr->shape;

  if (shape == NULL) {
    shape = uvperf__calloc(1, sizeof(*shape));
    if (shape == NULL)
      return -ENOMEM;
    if (uvperf__attr_dup(&shape->attr, attr->attr) != 0) {
      uvperf__free(shape);
      return -ENOMEM;
    }
    shape->nr_users = 1;
    attr->shape = shape;
  }
  shape->nr_users++;
  *taken = shape;
  return 0;
}

static evlist_source_t *make_source(uvperf__evlist_t *evlist,
                                    const evlist_target_t *target,
                                    const evlist_place_t *place, size_t attr) {
  size_t first = evlist->attrs->at[attr].item.first;
  evlist_source_t *made = uvperf__calloc(1, sizeof(*made));
  uvperf_source_t *source;

  if (made == NULL)
    return NULL;
  if (take_shape(&evlist->attrs->at[attr], &made->shape) != 0) {
    uvperf__free(made);
    return NULL;
  }
  made->id = place->events[attr].id;
  source = &made->source;
  source->size = sizeof(*source);
  source->attr = made->shape->attr;
  source->ids = &made->id;
  source->nr_ids = 1;
  source->pid = place->place.pid;
  source->cpu = place->place.cpu;
  source->data = target->data;
  source->attr_index = (uint32_t)first;
  source->target_index = target->index;
  source->serial = place->place.serial;
  source->item = &evlist->attrs->at[first].item;
  return made;
}

/* -- events --------------------------------------------------------------- */

/* Notes where the event's records can begin. If the event does not write
 * records, this is where records of other events that have its count can begin.
 * The ring of such records may be opened later. */
static void note_begin(const uvperf__evlist_t *evlist,
                       evlist_source_t *source) {
  const uvperf__cpu_ring_t *ring = source->ring;

  if (ring == NULL)
    ring = uvperf__cpu_rings_find(evlist->records->rings, source->source.cpu);
  source->begin = ring != NULL ? uvperf__ring_head(&ring->ring) : 0;
}

static int know_source(uvperf__evlist_t *evlist, const evlist_source_t *source,
                       uvperf_error_t *error) {
  int rc = uvperf__decoder_add(evlist->records->decoder, &source->source);

  if (rc == 0)
    return 0;
  if (rc == -ENOMEM)
    return no_memory(error);
  return uvperf__error_set(error, rc, UVPERF_CAUSE_UNKNOWN,
                           "the kernel returned the same id for two events");
}

/* This step comes last: no step that can fail may follow the redirection. */
static int redirect(uvperf__evlist_t *evlist, evlist_source_t *source, int fd,
                    uvperf_error_t *error) {
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_OUTPUT,
                                     .attr = source->shape->attr};
  int rc = uvperf__cpu_ring_join(source->ring, fd);

  if (rc == 0)
    return 0;
  uvperf__decoder_remove(evlist->records->decoder, &source->source);
  return uvperf__explain_control(error, rc, evlist->root, &control);
}

int uvperf__evlist_join(uvperf__evlist_t *evlist, const evlist_target_t *target,
                        const evlist_place_t *place, size_t attr, int *is_vital,
                        uvperf_error_t *error) {
  int writes = uvperf__attr_writes_records(evlist->attrs->at[attr].attr);
  evlist_event_t *event = &place->events[attr];
  evlist_source_t *source;
  int rc = 0;

  if (evlist->records->rings == NULL)
    return 0;
  *is_vital = 1;
  source = make_source(evlist, target, place, attr);
  if (source == NULL)
    return no_memory(error);
  if (writes)
    rc = uvperf__cpu_rings_get(evlist->records->rings, place->place.cpu,
                               &source->ring, error);
  if (rc == 0) {
    note_begin(evlist, source);
    rc = know_source(evlist, source, error);
    *is_vital = rc == -ENOMEM;
  }
  if (rc == 0 && writes)
    rc = redirect(evlist, source, event->fd, error);
  if (rc != 0) {
    free_source(source);
    return rc;
  }
  if (writes)
    event->source = source;
  else
    event->silent = source;
  source->writes_samples =
      uvperf__attr_writes_samples(evlist->attrs->at[attr].attr);
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

static void retire(uvperf__evlist_t *evlist, evlist_source_t *source) {
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
    retire(evlist, event->source);
  }
  /* The event's count may be in records that other events of its group have
   * written. */
  if (event->silent != NULL) {
    event->silent->ring = uvperf__cpu_rings_find(evlist->records->rings,
                                                 event->silent->source.cpu);
    retire(evlist, event->silent);
  }
  event->source = NULL;
  event->silent = NULL;
}

/* -- sources of events that are closed ------------------------------------ */

/* A snapshot can return everything in an overwritable ring, so the last record
 * of a source must be overwritten. The last record begins at `end`, and the
 * head moves down. How often the ring was read does not matter. */
static int is_overwritten(const evlist_source_t *source) {
  const uvperf__ring_t *ring = &source->ring->ring;
  uint64_t written = source->end - uvperf__ring_head(ring);

  return written >= ring->size;
}

static int is_read(evlist_source_t *source) {
  uvperf__cpu_ring_t *ring = source->ring;

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
    return is_overwritten(source);
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
    free_source(source);
  }
  evlist->records->last_retired = last;
}

static int is_past(evlist_source_t *source, uint64_t now) {
  if (now - source->left_at < LATEST_RECORD_NS)
    return -1;
  return is_read(source);
}

void uvperf__evlist_free_sources(uvperf__evlist_t *evlist) {
  if (evlist->records->first_retired != NULL &&
      uvperf__evlist_check(evlist, NULL) == 0)
    free_sources(evlist, is_past, uvperf__evlist_now());
}

static int is_of_cut(evlist_source_t *source, uint64_t nr) {
  return source->ring != NULL && source->ring->index >= nr;
}

void uvperf__evlist_cut_rings(uvperf__evlist_t *evlist, size_t nr) {
  if (evlist->records->rings == NULL)
    return;
  free_sources(evlist, is_of_cut, nr);
  uvperf__cpu_rings_cut(evlist->records->rings, nr);
}

int uvperf__evlist_shrink_rings(uvperf__evlist_t *evlist, size_t nr) {
  return evlist->records->rings != NULL &&
         uvperf__cpu_rings_shrink(evlist->records->rings, nr);
}

/* -- planned events -------------------------------------------------------- */

static int is_to_write(const uvperf__evlist_t *evlist,
                       const evlist_place_t *place) {
  size_t i;

  for (i = 0; i < evlist->attrs->nr; i++)
    if (place->events[i].state == COUNTER_PLANNED &&
        uvperf__attr_writes_records(evlist->attrs->at[i].attr))
      return 1;
  return 0;
}

size_t uvperf__evlist_nr_new_rings(const uvperf__evlist_t *evlist,
                                   size_t first) {
  uint8_t seen[(UVPERF__MAX_CPU + 8) / 8] = {0};
  const evlist_target_t *target;
  size_t nr = 0;
  size_t i, place;
  int cpu;

  for (i = first;
       evlist->records->rings != NULL && i < evlist->places->nr_targets; i++) {
    target = evlist->places->targets[i];
    for (place = 0; place < target->nr_places; place++) {
      cpu = target->places[place].place.cpu;
      if (cpu < 0 || (seen[cpu / 8] >> cpu % 8 & 1) ||
          !is_to_write(evlist, &target->places[place]))
        continue;
      seen[cpu / 8] |= (uint8_t)(1 << cpu % 8);
      nr += uvperf__cpu_rings_find(evlist->records->rings, cpu) == NULL;
    }
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
