/* SPDX-License-Identifier: MIT */
/* The format of pipes: the contents of a file's header come as records, once,
 * before the kernel's records. A record's size has 16 bits. A feature that does
 * not fit is left out, as perf record does. Build ids are left out too, because
 * they are read during the recording: perf inject -b adds them. */
#include <errno.h>
#include <string.h>

#include "record/features.h"
#include "record/state.h"

/* Of tools/lib/perf/include/perf/event.h. */
enum {
  HEADER_ATTR = 64,
  HEADER_TRACING_DATA = 66,
  EVENT_UPDATE = 78,
  HEADER_FEATURE = 80
};

/* PERF_EVENT_UPDATE__NAME. */
#define UPDATE_NAME 2

#define MOST_BYTES 65528

/* PUSH_BYTES are buffered before a system call is made. If WAITING_BYTES or
 * more wait for a slow reader, further records wait in the rings. */
#define PUSH_BYTES    ((size_t)64 << 10)
#define WAITING_BYTES ((size_t)1 << 20)
#define WAIT_MS       100

/* Ends the record that begins at `start`. A record that is too long is
 * removed. */
static void end_record(common_buffer_t *bytes, size_t start) {
  record_bytes_align(bytes, sizeof(uint64_t));
  if (bytes->used - start > MOST_BYTES)
    bytes->used = start;
  else
    record_bytes_end(bytes, start);
}

static void put_name(const record_event_t *event, uint64_t id,
                     common_buffer_t *bytes) {
  size_t start = record_bytes_begin(bytes, EVENT_UPDATE, 0);

  record_bytes_put_u64(bytes, UPDATE_NAME);
  record_bytes_put_u64(bytes, id);
  common_buffer_add(bytes, event->name, strlen(event->name) + 1);
  end_record(bytes, start);
}

/* Each attr makes an event, which is named by its first id. If one record has
 * no room for all ids, another record follows. */
static void put_event(const record_event_t *event, size_t attr_size,
                      const uint64_t *ids, size_t nr, common_buffer_t *bytes) {
  size_t most = (MOST_BYTES - sizeof(struct perf_event_header) - attr_size) /
                sizeof(uint64_t);
  size_t start, now;

  do {
    now = nr < most ? nr : most;
    start = record_bytes_begin(bytes, HEADER_ATTR, 0);
    record_events_put_attr(event, attr_size, bytes);
    common_buffer_add(bytes, ids, now * sizeof(*ids));
    end_record(bytes, start);
    if (now > 0)
      put_name(event, ids[0], bytes);
    ids += now;
    nr -= now;
  } while (nr > 0);
}

static void put_feature(const record_file_t *file, unsigned feature,
                        common_buffer_t *bytes) {
  size_t start = record_bytes_begin(bytes, HEADER_FEATURE, 0);

  record_bytes_put_u64(bytes, feature);
  if (record_feature_put(file, feature, bytes))
    end_record(bytes, start);
  else
    bytes->used = start;
}

/* The data follow the record and are not part of its size. */
static void put_tracing_data(const record_file_t *file,
                             common_buffer_t *bytes) {
  size_t start = record_bytes_begin(bytes, HEADER_TRACING_DATA, 0), data;
  uint32_t size;

  record_bytes_put_u32(bytes, 0);
  end_record(bytes, start);
  data = bytes->used;
  if (!record_put_tracing_data(&file->events, bytes)) {
    bytes->used = start;
    return;
  }
  record_bytes_align(bytes, sizeof(uint64_t));
  size = (uint32_t)(bytes->used - data);
  memcpy(bytes->text + start + sizeof(struct perf_event_header), &size,
         sizeof(size));
}

static int push(record_file_t *file, int wait_ms) {
  common_output_push(&file->output, wait_ms);
  return -file->output.error;
}

int record_pipe_push(record_file_t *file) {
  return push(file, 0);
}

int record_pipe_write(record_file_t *file, const void *bytes, size_t size) {
  size_t used;

  common_buffer_add(&file->output.buffer, bytes, size);
  file->end += size;
  used = file->output.buffer.used;
  if (used >= WAITING_BYTES && !file->is_hurried)
    return push(file, WAIT_MS);
  return used >= PUSH_BYTES ? push(file, 0) : 0;
}

int record_pipe_drain(record_file_t *file) {
  if (!common_output_drain(&file->output))
    return -EAGAIN;
  return -file->output.error;
}

static int write_out(record_file_t *file, common_buffer_t *bytes) {
  int rc = record_pipe_write(file, bytes->text, bytes->used);

  if (rc == 0)
    rc = push(file, 0);
  common_buffer_free(bytes);
  return rc;
}

static int is_known_at_the_end(unsigned feature) {
  return feature == RECORD_CMDLINE || feature == RECORD_SAMPLE_TIME;
}

int record_pipe_begin(record_file_t *file) {
  const record_events_t *events = &file->events;
  size_t i, attr_size = record_events_attr_size(events);
  common_buffer_t bytes = {NULL, 0, 0};
  unsigned feature;

  record_bytes_put_u64(&bytes, RECORD_MAGIC);
  record_bytes_put_u64(&bytes, 16);
  for (i = 0; i < events->nr; i++)
    put_event(&events->events[i], attr_size, events->events[i].ids,
              events->events[i].nr_ids, &bytes);
  for (feature = 1; feature < RECORD_FEATURES; feature++) {
    if (feature != RECORD_TRACING_DATA && feature != RECORD_BUILD_ID &&
        !is_known_at_the_end(feature))
      put_feature(file, feature, &bytes);
  }
  put_tracing_data(file, &bytes);
  return write_out(file, &bytes);
}

/* perf(1) reads the formats of tracepoints only once, and crashes if an event
 * of a tracepoint comes later. So late ids of tracepoints are dropped, and
 * perf(1) reports samples whose id is not in the header. */
int record_pipe_add_id(record_file_t *file, size_t event, uint64_t id) {
  common_buffer_t bytes = {NULL, 0, 0};
  struct perf_event_attr attr;
  int rc;

  record_events_head(&file->events.events[event], &attr);
  if (attr.type == PERF_TYPE_TRACEPOINT)
    return 0;
  rc = record_file_sync(file);
  if (rc != 0)
    return rc;
  put_event(&file->events.events[event], record_events_attr_size(&file->events),
            &id, 1, &bytes);
  return write_out(file, &bytes);
}

int record_pipe_end(record_file_t *file) {
  common_buffer_t bytes = {NULL, 0, 0};
  unsigned feature;

  for (feature = 1; feature < RECORD_FEATURES; feature++) {
    if (is_known_at_the_end(feature))
      put_feature(file, feature, &bytes);
  }
  return write_out(file, &bytes);
}
