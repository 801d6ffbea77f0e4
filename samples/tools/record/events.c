/* SPDX-License-Identifier: MIT */
#include "record/events.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* A perf_file_section. */
#define SECTION_BYTES 16

size_t record_events_add(record_events_t *events,
                         const struct perf_event_attr *attr, const char *name) {
  record_event_t *event;

  event = COMMON_ADD(events->events, events->nr, events->capacity);
  event->attr_size = attr->size == 0 ? PERF_ATTR_SIZE_VER0 : attr->size;
  event->attr = common_copy(attr, event->attr_size);
  event->name = common_copy_text(name);
  return events->nr - 1;
}

void record_events_free(record_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++) {
    free(events->events[i].attr);
    free(events->events[i].name);
    free(events->events[i].ids);
  }
  free(events->events);
  memset(events, 0, sizeof(*events));
}

/* Returns a published size of attrs: PERF_ATTR_SIZE_VER0 to _VER8 of
 * <linux/perf_event.h>. Larger attrs have the next multiple of 8. */
static size_t published_size(size_t used) {
  static const size_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136};
  size_t i;

  for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    if (used <= sizes[i])
      return sizes[i];
  }
  return (used + 7) / 8 * 8;
}

size_t record_events_attr_size(const record_events_t *events) {
  const record_event_t *event;
  size_t i, end, most = 0;

  for (i = 0; i < events->nr; i++) {
    event = &events->events[i];
    end = event->attr_size;
    while (end > 0 && event->attr[end - 1] == 0)
      end--;
    most = end > most ? end : most;
  }
  return published_size(most);
}

void record_events_put_attr(const record_event_t *event, size_t attr_size,
                            common_buffer_t *bytes) {
  size_t copied = event->attr_size < attr_size ? event->attr_size : attr_size;
  size_t start = bytes->used;
  uint32_t size = (uint32_t)attr_size;

  common_buffer_add(bytes, event->attr, copied);
  record_bytes_put_zeros(bytes, attr_size - copied);
  memcpy(bytes->text + start + offsetof(struct perf_event_attr, size), &size,
         sizeof(size));
}

size_t record_events_put(const record_events_t *events, uint64_t offset,
                         common_buffer_t *bytes) {
  size_t attr_size = record_events_attr_size(events);
  size_t attrs_bytes = events->nr * (attr_size + SECTION_BYTES);
  uint64_t ids = offset + attrs_bytes;
  const record_event_t *event;
  size_t i;

  for (i = 0; i < events->nr; i++) {
    event = &events->events[i];
    record_events_put_attr(event, attr_size, bytes);
    record_bytes_put_u64(bytes, ids);
    record_bytes_put_u64(bytes, event->nr_ids * sizeof(uint64_t));
    ids += event->nr_ids * sizeof(uint64_t);
  }
  for (i = 0; i < events->nr; i++) {
    event = &events->events[i];
    common_buffer_add(bytes, event->ids, event->nr_ids * sizeof(uint64_t));
  }
  return attrs_bytes;
}

uint64_t record_events_bytes(const record_events_t *events) {
  size_t attr_size = record_events_attr_size(events) + SECTION_BYTES;
  uint64_t ids = 0;
  size_t i;

  for (i = 0; i < events->nr; i++)
    ids += events->events[i].nr_ids;
  return events->nr * attr_size + ids * sizeof(uint64_t);
}

void record_events_head(const record_event_t *event,
                        struct perf_event_attr *attr) {
  memset(attr, 0, sizeof(*attr));
  memcpy(attr, event->attr,
         event->attr_size < sizeof(*attr) ? event->attr_size : sizeof(*attr));
}

/* The order of fields in a sample: perf_output_sample of
 * kernel/events/core.c. */
static int time_offset(const struct perf_event_attr *attr, size_t *offset) {
  static const uint64_t before[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,
                                    PERF_SAMPLE_TID};
  size_t i;

  if ((attr->sample_type & PERF_SAMPLE_TIME) == 0)
    return -1;
  *offset = sizeof(struct perf_event_header);
  for (i = 0; i < sizeof(before) / sizeof(*before); i++) {
    if (attr->sample_type & before[i])
      *offset += sizeof(uint64_t);
  }
  return 0;
}

/* A dummy event has no samples. */
static int has_samples(const struct perf_event_attr *attr) {
  return attr->type != PERF_TYPE_SOFTWARE ||
         attr->config != PERF_COUNT_SW_DUMMY;
}

int record_events_time(const record_events_t *events, size_t *offset) {
  struct perf_event_attr attr;
  size_t i, of_this, nr = 0;

  for (i = 0; i < events->nr; i++) {
    record_events_head(&events->events[i], &attr);
    if (!has_samples(&attr))
      continue;
    if (time_offset(&attr, &of_this) != 0 || (nr > 0 && of_this != *offset))
      return -1;
    *offset = of_this;
    nr++;
  }
  return nr > 0 ? 0 : -1;
}
