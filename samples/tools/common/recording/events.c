/* SPDX-License-Identifier: MIT */
#include "common/recording/events.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/recording/swap.h"

/* The tables of ids are made again each time an event is added. This limits the
 * total number of entries that are made. */
#define WORK_MAX (UINT64_C(1) << 28)

static void forget_tables(recording_events_t *events) {
  uvperf_decoder_free(events->decoder);
  events->decoder = NULL;
  common_tally_free(&events->by_id);
}

void recording_events_free(recording_events_t *events) {
  recording_source_t *event;
  size_t i;

  forget_tables(events);
  for (i = 0; i < events->nr; i++) {
    event = events->events[i];
    free(event->attr);
    free(event->ids);
    free(event->name);
    free(event);
  }
  free(events->events);
  memset(events, 0, sizeof(*events));
}

/* -- attrs and ids --------------------------------------------------------- */

/* Copies an attr to at least the size of the struct, and sets its true size. */
static struct perf_event_attr *copy_attr(const unsigned char *bytes,
                                         size_t size, int is_foreign) {
  size_t room = sizeof(struct perf_event_attr), used;
  struct perf_event_attr *attr;

  if (size < PERF_ATTR_SIZE_VER0)
    return NULL;
  attr = common_calloc(1, size > room ? size : room);
  memcpy(attr, bytes, size);
  if (is_foreign)
    recording_swap_attr((unsigned char *)attr, size);
  used = attr->size == 0 ? PERF_ATTR_SIZE_VER0 : attr->size;
  if (used < PERF_ATTR_SIZE_VER0) {
    free(attr);
    return NULL;
  }
  attr->size = (uint32_t)(used < size ? used : size);
  return attr;
}

static recording_source_t *find_equal(const recording_events_t *events,
                                      const struct perf_event_attr *attr) {
  size_t i;

  for (i = 0; i < events->nr; i++) {
    if (events->events[i]->attr->size == attr->size &&
        memcmp(events->events[i]->attr, attr, attr->size) == 0)
      return events->events[i];
  }
  return NULL;
}

static recording_source_t *append(recording_events_t *events,
                                  struct perf_event_attr *attr) {
  recording_source_t *event = common_calloc(1, sizeof(*event));

  event->attr = attr;
  event->source.size = sizeof(event->source);
  event->source.attr = attr;
  event->source.pid = event->source.cpu = -1;
  event->source.attr_index = (uint32_t)events->nr;
  *COMMON_ADD(events->events, events->nr, events->capacity) = event;
  return event;
}

static void add_ids(recording_events_t *events, recording_source_t *event,
                    recording_bytes_t *bytes) {
  size_t nr = bytes->left / sizeof(uint64_t), old = event->source.nr_ids, i;
  uint64_t *ids;

  if (nr == 0)
    return;
  ids = common_calloc(old + nr, sizeof(*ids));
  if (old > 0)
    memcpy(ids, event->ids, old * sizeof(*ids));
  for (i = 0; i < nr; i++)
    ids[old + i] = recording_bytes_u64(bytes);
  free(event->ids);
  event->source.ids = event->ids = ids;
  event->source.nr_ids = old + nr;
  events->nr_ids += nr;
}

int recording_events_add(recording_events_t *events, const unsigned char *attr,
                         size_t attr_bytes, recording_bytes_t *ids) {
  struct perf_event_attr *copy = copy_attr(attr, attr_bytes, ids->is_foreign);
  recording_source_t *event = NULL;

  if (copy == NULL || events->nr == RECORDING_EVENTS_MAX ||
      ids->left / sizeof(uint64_t) > RECORDING_IDS_MAX - events->nr_ids) {
    free(copy);
    return -1;
  }
  if (events->work > 0)
    event = find_equal(events, copy);
  if (event == NULL)
    event = append(events, copy);
  else
    free(copy);
  add_ids(events, event, ids);
  forget_tables(events);
  return 0;
}

/* The feature has the number of events and the size of an attr. Then it has for
 * each event: the attr, the number of ids, the name with its size, the ids. */
void recording_events_name(recording_events_t *events,
                           recording_bytes_t *bytes) {
  uint32_t nr = recording_bytes_u32(bytes), nr_ids, i;
  uint32_t attr_size = recording_bytes_u32(bytes);
  char *name;

  for (i = 0; i < nr && i < events->nr; i++) {
    recording_bytes_take(bytes, attr_size);
    nr_ids = recording_bytes_u32(bytes);
    name = recording_bytes_string(bytes);
    if (name == NULL || nr_ids > bytes->left / sizeof(uint64_t)) {
      free(name);
      return;
    }
    recording_bytes_take(bytes, nr_ids * sizeof(uint64_t));
    free(events->events[i]->name);
    events->events[i]->name = name;
  }
}

/* -- the decoder ----------------------------------------------------------- */

/* Lists the events that have ids. An event that was never opened has no ids. A
 * single event may have no ids, because perf(1) needs ids only for several
 * events, too. */
static size_t list_sources(const recording_events_t *events,
                           const uvperf_source_t **sources) {
  size_t i, nr = 0;

  for (i = 0; i < events->nr; i++) {
    if (events->events[i]->source.nr_ids > 0)
      sources[nr++] = &events->events[i]->source;
  }
  if (nr == 0)
    sources[nr++] = &events->events[0]->source;
  return nr;
}

uvperf_decoder_t *recording_events_decoder(recording_events_t *events) {
  const uvperf_source_t **sources;
  size_t i, nr;

  if (events->decoder != NULL || events->nr == 0)
    return events->decoder;
  events->work += events->nr_ids + events->nr;
  if (events->work > WORK_MAX)
    return NULL;
  events->have_times = 1;
  for (i = 0; i < events->nr; i++) {
    events->have_times &= events->events[i]->attr->sample_id_all;
    events->events[i]->source.flags =
        events->is_old_mmap2 ? UVPERF_SOURCE_OLD_MMAP2 : 0;
  }
  sources = common_calloc(events->nr, sizeof(*sources));
  nr = list_sources(events, sources);
  if (uvperf_decoder_new(&events->decoder, sources, nr) != 0)
    events->decoder = NULL;
  free(sources);
  return events->decoder;
}

/* -- the other byte order -------------------------------------------------- */

/* An id of several events belongs to the first one. */
static void make_ids(recording_events_t *events) {
  common_entry_t *entry;
  size_t i, j;

  for (i = 0; i < events->nr; i++) {
    for (j = 0; j < events->events[i]->source.nr_ids; j++) {
      entry =
          common_tally_get(&events->by_id, events->events[i]->ids[j], NULL, 0);
      if (entry != NULL && entry->samples++ == 0)
        entry->weight = i;
    }
  }
}

/* Returns the first event for an unknown id. */
static size_t find_event(recording_events_t *events, uint64_t id) {
  const common_entry_t *entry;

  if (events->by_id.nr == 0)
    make_ids(events);
  entry = common_tally_find(&events->by_id, id, NULL, 0);
  return entry == NULL ? 0 : (size_t)entry->weight;
}

void recording_events_swap(recording_events_t *events,
                           struct perf_event_header *header) {
  const struct perf_event_attr *attr = events->events[0]->attr;

  if (events->nr > 1)
    attr = events->events[find_event(events, recording_swap_id(attr, header))]
               ->attr;
  recording_swap_record(header, attr);
}
